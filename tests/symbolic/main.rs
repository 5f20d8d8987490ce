//! Checks terms of kernels: the results of instructions, and proofs that places are unreachable.

mod builtins;
#[path = "../common/mod.rs"]
mod common;
mod concolic;
mod infeasible;
mod mathematics;
mod soundness;
mod support;
mod transfer;
