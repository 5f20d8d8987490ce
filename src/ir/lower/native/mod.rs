//! Lowers for this host, where the simulator runs the code.
//!
//! [`prepare`](prepare::prepare) turns a kernel into a single function that calls no builtins and in which nothing is
//! optimised; then the hooks are woven in; [`emit`](emit::emit) compiles the result to an object file.

mod annotate;
mod builtins;
pub mod emit;
mod gpu_assumptions;
mod handles;
mod inline;
pub mod machine;
mod plain;
pub mod prepare;
mod wrapper;
