//! Launches for a kernel that has no suite: what its arguments are for (`roles`, into a `model`), launches whose sizes and contents
//! fit together (`launches`, tried out by `dry_run`; `buffer_growth` mends what that guessed), and launches in which work-items meet: solved for
//! (`collisions`) and searched for (`evolve`).
//!
//! All of it reads a `program`: the kernel promoted (`promoted`) and taken from LLVM (`read`), as plain data.
//!
//! Must never know: how a run is instrumented.

mod access_summary;
mod assign;
mod atomic_counters;
mod branch_distance;
pub mod buffer_growth;
mod buffer_lengths;
pub mod campaign;
pub mod collisions;
mod content_roles;
mod decode;
mod dry_run;
pub mod evolve;
mod fault_avoidance;
mod faulting_launches;
mod fill;
pub mod fuzz;
mod genotype;
mod geometry;
mod group_sizes;
mod input_mutations;
mod input_to_state;
pub mod interface_file;
mod intervals;
pub mod journal;
mod launch_builder;
mod launch_mutations;
pub mod launches;
mod minimise;
pub mod model;
pub mod mutants;
pub mod output_dir;
mod path_conditions;
mod polynomial;
mod resize_buffers;
pub mod roles;
mod scalar_bounds;
pub mod search;
pub mod solving;
