//! Symbolic execution of kernels: finds inputs that reach a given point of the kernel, and proves that no input does.
//!
//! Must never know: how the first launches are chosen, and what happens to those that are found.

pub mod concolic;
pub mod implementation_defined;
pub mod infeasible;
pub mod race_freedom;
pub mod transfer;
