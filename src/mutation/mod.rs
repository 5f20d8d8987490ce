//! Mutation testing: operators, ids, equivalence, orders, verdicts, score.
//!
//! Must never know: devices (it asks `exec`).

mod ledger;
pub mod campaign;
mod equivalence_classes;
pub mod configuration;
pub mod control;
pub mod engine;
pub mod enumerate;
pub mod equivalence;
pub mod module_builder;
pub mod item_interaction;
pub mod mutant;
mod simulator_verdict;
pub mod source_ops;
pub mod operators;
pub mod higher_order;
pub mod redirect_legality;
pub mod prunable;
pub mod reference;
pub mod runner;
pub mod selection;
pub mod module_sizing;
pub mod subject;
pub mod baseline;
pub mod verdict;
mod synchronisation;

pub use enumerate::{Enumeration, enumerate};
pub use mutant::{Mutant, SourceRange, Spot};
pub use selection::Selection;
