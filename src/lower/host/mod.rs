//! Lowering for this host: what the simulator runs.
//!
//! [`prepare`](prepare::prepare) makes one function without builtins of a kernel, in which nothing is optimised; then accesses and the
//! like are woven in; [`emit`](emit::emit) makes an object file of that.

pub mod abi;
mod annotate;
mod builtins;
pub mod emit;
mod gpu_assumptions;
mod handles;
mod inline;
mod mangling;
mod plain;
pub mod prepare;
pub mod runtime_support;
pub mod table;

mod wrapper;
