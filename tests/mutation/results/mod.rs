//! Checks results of `kassay mutate` without a device: summaries of mutants' outcomes, shards and their merge,
//! the journal.

mod gathering;
mod joining;
mod journal;
mod merging;
mod random;
mod summaries;
