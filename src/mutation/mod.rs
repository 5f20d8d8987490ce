//! Mutation testing: operators, ids, equivalence, orders, verdicts, score.
//!
//! Must never know: devices (it asks `exec`).

mod book;
pub mod campaign;
mod classes;
pub mod configuration;
pub mod control;
pub mod engine;
pub mod enumerate;
pub mod equivalence;
pub mod forge;
pub mod meeting;
pub mod mutant;
mod observed;
pub mod operations;
pub mod operators;
pub mod orders;
pub mod passable;
pub mod prunable;
pub mod reference;
pub mod runner;
pub mod selection;
pub mod sizing;
pub mod subject;
pub mod trial;
pub mod verdict;
mod watched;

pub use enumerate::{Enumeration, enumerate};
pub use mutant::{Mutant, SourceRange, Spot};
pub use selection::Selection;
