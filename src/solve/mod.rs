//! From IR to the solver: symbolic values, path conditions, proofs, and values that fulfil conditions.
//!
//! Must never know: devices, mutants.

pub mod concrete;
pub mod expression;
mod fold;
pub mod lockstep;
pub mod proof;
pub mod purity;
pub mod query;
mod translate;
mod values;
