//! From IR to the solver: symbolic values, path conditions, proofs.
//!
//! Must never know: devices, mutants.

pub mod concrete;
pub mod expression;
pub mod lockstep;
pub mod proof;
pub mod purity;
mod values;
