//! Mutation testing: operators, mutant ids, equivalence, higher-order mutants, verdicts and the score.
//!
//! Must never know: devices (it asks `exec`).

pub mod build;
pub mod campaign;
pub mod catalogue;
pub mod equivalence;
pub mod run;

pub use catalogue::enumerate::{Enumeration, enumerate};
pub use catalogue::indices::{ByMutant, ByTest, MutantIndex, TestIndex};
pub use catalogue::level::{MutationLevel, OperatorLevel};
pub use catalogue::mutant::{Mutant, SourceRange, Spot};
pub use catalogue::selection::Selection;
