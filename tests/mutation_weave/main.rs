//! Mutants woven into kernels: those of a schema do the same as each alone, none the same as the plain kernel, and infection
//! tells of what differs.

mod edits;
mod forms;
mod runs;
mod support;
