//! Mutation testing: operators, ids, equivalence, orders, verdicts, score.
//!
//! Must never know: devices (it asks `exec`).

pub mod control;
pub mod enumerate;
pub mod equivalence;
pub mod mutant;
pub mod operations;
pub mod operators;
pub mod selection;

pub use enumerate::{Enumeration, enumerate};
pub use mutant::{Mutant, SourceRange, Spot};
pub use selection::Selection;
