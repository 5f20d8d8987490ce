//! Mutation testing: operators, mutant ids, equivalence, higher-order mutants, verdicts and the score.
//!
//! Must never know: devices (it asks `exec`).

pub mod baseline;
pub mod campaign;
mod campaign_context;
mod case;
pub mod changed_lines;
pub mod configuration;
pub mod content_hashes;
pub mod control;
mod decided_row;
pub mod engine;
pub mod enumerate;
pub mod equivalence;
pub mod equivalence_classes;
pub mod higher_order;
pub mod indices;
pub mod item_interaction;
mod joint_baselines;
pub mod joint_runs;
mod joint_verdict;
pub mod ledger;
pub mod level;
pub mod module_builder;
pub mod module_sizing;
mod moved_places;
pub mod mutant;
pub mod mutant_pool;
mod mutant_set;
pub mod operators;
pub mod own_host;
mod promises;
pub mod prunable;
pub mod redirect_legality;
pub mod reference;
pub mod runner;
mod searched_ahead;
pub mod selection;
mod simulator_verdict;
pub mod source_level;
pub mod source_ops;
pub mod subject;
pub mod synchronisation;
pub mod takeover;
pub mod test_lists;
pub mod twins;
pub mod verdict;

pub use enumerate::{Enumeration, enumerate};
pub use indices::{ByMutant, ByTest, MutantIndex, TestIndex};
pub use level::{MutationLevel, OperatorLevel};
pub use mutant::{Mutant, SourceRange, Spot};
pub use selection::Selection;
