//! Checks mutants woven into kernels: those of a schema do the same as each alone, number 0 does the same as the plain
//! kernel, and infection probes report differing values.

mod edits;
mod forms;
mod runs;
mod support;
