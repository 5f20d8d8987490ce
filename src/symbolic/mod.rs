//! Symbolic execution of kernels: finds inputs that reach a given point of the kernel, and proves that no input does.
//!
//! Must never know: how the first launches are chosen, and what happens to those that are found.

/// Concolic execution: solves the path conditions of launches that ran for launches that take other paths.
pub mod concolic;
/// The instruction semantics that hold on every conforming device.
pub mod implementation_defined;
/// Proofs that no execution reaches a mark.
pub mod infeasible;
/// Exact semantics of instructions and builtins on terms.
pub mod transfer;
