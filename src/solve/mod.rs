//! Translates IR for the solver: symbolic values, path conditions, proofs of equality, and values
//! that satisfy conditions.
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
