//! Results of `kassay mutate` without a device: what follows from the fates of mutants, shards and their merge, the journal.

mod journal;
mod merging;
mod random;
mod summaries;
