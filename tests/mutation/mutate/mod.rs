//! Checks `kassay mutate` from end to end: whole campaigns on the kernels of `testdata/`, through the program itself.

mod agreement;
pub(crate) mod bench;
mod equivalents;
mod exits;
mod faults;
mod forms;
mod joint;
mod orders;
mod reports;
mod resume;
mod shards;
mod source_level;
mod source_level_cuda;
mod synchronisation;
