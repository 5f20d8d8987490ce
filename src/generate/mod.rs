//! Launches for a kernel that has no suite: what its arguments are for (`roles`, into a `model`), launches whose sizes and contents
//! fit together (`launches`, tried out by `dry_run`), and the search for launches in which work-items meet (`evolve`).
//!
//! All of it reads a `program`: the kernel promoted (`promoted`) and taken from LLVM (`read`), as plain data.
//!
//! Must never know: how a run is instrumented.

pub mod evolve;
pub mod launches;
pub mod model;
pub mod program;
pub mod promoted;
pub mod read;
pub mod roles;
