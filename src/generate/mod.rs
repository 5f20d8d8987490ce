//! Launches for a kernel that has no suite: what its arguments are for (`roles`, into a `model`), launches whose sizes and contents
//! fit together (`launches`, tried out by `dry_run`; `buffer_growth` mends what that guessed), and launches in which work-items meet: solved for
//! (`collisions`) and searched for (`evolve`).
//!
//! All of it reads a `program`: the kernel promoted (`promoted`) and taken from LLVM (`read`), as plain data.
//!
//! Must never know: how a run is instrumented.

mod assign;
pub mod campaign;
mod atomic_counters;
pub mod collisions;
mod content_roles;
mod scalar_bounds;
mod dry_run;
pub mod evolve;
mod path_conditions;
mod faulting_launches;
mod fill;
mod launch_builder;
pub mod output_dir;
pub mod fuzz;
mod genotype;
mod geometry;
mod group_sizes;
pub mod buffer_growth;
pub mod interface_file;
pub mod journal;
pub mod launches;
mod buffer_lengths;
mod fault_avoidance;
mod minimise;
pub mod model;
pub mod mutants;
mod input_mutations;
mod branch_distance;
mod decode;
mod intervals;
mod access_summary;
mod resize_buffers;
pub mod roles;
pub mod search;
mod launch_mutations;
pub mod solving;
mod input_to_state;
mod polynomial;
