//! Runs mutants on tests and says what each run shows.

pub mod baseline;
pub mod case;
pub mod engine;
pub mod joint;
pub mod module_sizing;
pub mod mutant_pool;
pub mod runner;
pub mod simulator_verdict;
pub mod single;
pub mod sweeper;
pub mod synchronisation;
pub mod test_lists;
pub mod verdict;
