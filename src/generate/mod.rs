//! Launches for a kernel that has no suite: what its arguments are for (`roles`, into a `model`), launches whose sizes and contents
//! fit together (`launches`, tried out by `dry_run`; `growth` mends what that guessed), and launches in which work-items meet: solved for
//! (`collisions`) and searched for (`evolve`).
//!
//! All of it reads a `program`: the kernel promoted (`promoted`) and taken from LLVM (`read`), as plain data.
//!
//! Must never know: how a run is instrumented.

mod assign;
pub mod campaign;
mod claims;
pub mod collisions;
mod contents_of;
mod demands;
mod dry_run;
pub mod evolve;
mod facts;
mod faulted;
mod fill;
mod fitting;
pub mod folder;
pub mod fuzz;
mod genes;
mod geometry;
mod groups;
pub mod growth;
pub mod interface_file;
pub mod journal;
pub mod launches;
mod lengths;
mod mending;
mod minimise;
pub mod model;
pub mod mutants;
mod mutate;
mod near;
mod press;
mod ranges;
mod reading;
mod refit;
pub mod roles;
pub mod search;
mod sizes;
pub mod solving;
mod steer;
mod symbolic;
