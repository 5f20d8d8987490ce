//! Terms of kernels: what instructions make of them, and what is proved of places that none reaches.

mod builtins;
#[path = "../coverage_support/mod.rs"]
mod coverage_support;
mod infeasible;
mod mathematics;
mod soundness;
mod support;
mod transfer;
