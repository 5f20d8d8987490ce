//! Mutation testing: operators, ids, equivalence, orders, verdicts, score.
//!
//! Must never know: devices (it asks `exec`).

pub mod mutant;
pub mod operations;
pub mod operators;

pub use mutant::{Mutant, SourceRange, Spot};
