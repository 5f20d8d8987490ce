//! Kernels executed on terms: inputs that lead to a place, and proofs that none does.
//!
//! Must never know: how launches are chosen at first, and what becomes of those that are found.

pub mod concolic;
pub mod implementation_defined;
pub mod infeasible;
pub mod transfer;
