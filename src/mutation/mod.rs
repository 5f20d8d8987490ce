//! Mutation testing: operators, ids, equivalence, orders, verdicts, score.
//!
//! Must never know: devices (it asks `exec`).

pub mod control;
pub mod mutant;
pub mod operators;

pub use mutant::{Mutant, SourceRange, Spot};
