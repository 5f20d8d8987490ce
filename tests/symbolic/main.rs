//! Checks terms of kernels: the results of instructions, proofs that places are unreachable, and concolic execution.

mod builtins;
#[path = "../common/mod.rs"]
mod common;
mod concolic;
mod infeasible;
mod mathematics;
mod soundness;
mod support;
mod transfer;
