//! Translates IR for the solver: symbolic values, path conditions, proofs of equality, and values
//! that satisfy conditions.
//!
//! Must never know: devices, mutants.

pub mod concrete;
pub mod evaluation;
pub mod expression;
mod fold;
pub mod houdini;
pub mod integers;
mod invariants;
pub mod launch_query;
pub mod lockstep;
pub mod opcodes;
mod operation;
pub mod proof;
pub mod purity;
pub mod query;
pub mod question;
mod substitution;
mod subterms;
mod translate;
mod values;

/// The solver with its version, such as `Z3 4.8.12.0`.
pub fn solver() -> String {
    format!("Z3 {}", z3::full_version())
}
