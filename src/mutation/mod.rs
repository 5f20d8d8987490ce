//! Mutation testing: operators, mutant ids, equivalence, higher-order mutants, verdicts and the score.
//!
//! Must never know: devices (it asks `exec`).

pub mod baseline;
pub mod campaign;
mod campaign_context;
pub mod configuration;
pub mod control;
pub mod engine;
pub mod enumerate;
pub mod equivalence;
mod equivalence_classes;
pub mod higher_order;
pub mod indices;
pub mod item_interaction;
mod ledger;
pub mod module_builder;
pub mod module_sizing;
pub mod mutant;
pub mod mutant_pool;
mod mutant_set;
pub mod operators;
pub mod prunable;
pub mod redirect_legality;
pub mod reference;
pub mod runner;
pub mod selection;
mod simulator_verdict;
pub mod source_level;
pub mod source_ops;
pub mod subject;
mod synchronisation;
pub mod verdict;

pub use enumerate::{Enumeration, enumerate};
pub use indices::{ByMutant, ByTest, MutantIndex, TestIndex};
pub use mutant::{Mutant, SourceRange, Spot};
pub use selection::Selection;
