//! Checks terms of kernels: the results of instructions, and proofs that places are unreachable.

mod builtins;
#[path = "../coverage_support/mod.rs"]
mod coverage_support;
mod infeasible;
mod mathematics;
mod soundness;
mod support;
mod transfer;
