//! Checks mutation: the mutants that operators find, how they are woven, guarded, compared and run, and the results of
//! `kassay mutate`.

#[path = "../common/mod.rs"]
mod common;
mod equivalence;
mod examples;
mod flow;
mod gpu_operators;
mod guard;
mod holes;
mod ir_level;
mod mutate;
mod operators;
mod operators_reference;
mod peng;
mod results;
mod weave;
