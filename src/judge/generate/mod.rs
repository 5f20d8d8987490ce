//! Generates launches for kernels that have no suite.
//!
//! `roles` infers what each argument is for, as a `model`. `launches` builds launches whose sizes and contents fit
//! together, checked by a `dry_run`; `buffer_growth` corrects the lengths that the dry run only guessed. Launches in
//! which work-items conflict are solved for (`collisions`) and searched for (`evolve`). `seeds` begins a search with
//! the launches of a suite and keeps to their `likely_invariants`.
//!
//! All of it reads a `program`: the kernel, promoted (`program::promoted`) and translated from LLVM into plain
//! data (`program::reader`).
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
pub mod conditions;
mod content_roles;
mod contradictions;
mod decode;
mod dry_run;
pub mod evolve;
mod fault_avoidance;
mod faulting_coverage;
mod faulting_launches;
mod fill;
mod fitting;
pub mod fuzz;
mod genotype;
mod geometry;
mod group_sizes;
mod held_indices;
mod id_uses;
mod index_patterns;
mod input_mutations;
mod input_to_state;
pub mod instrumented;
pub mod interface_file;
mod intervals;
pub mod journal;
mod launch_builder;
mod launch_mutations;
pub mod launches;
pub mod likely_invariants;
mod lists;
mod minimise;
pub mod model;
pub mod mutants;
pub mod output_dir;
mod outside_invariants;
mod path_conditions;
mod per_item;
mod pitches;
pub mod planned_launch;
mod polynomial;
mod pool;
mod repeated_writes;
mod resize_buffers;
pub mod roles;
mod scalar_bounds;
mod scalars_in_buffers;
pub mod search;
mod seed_run;
mod seeded_genotype;
pub mod seeds;
pub mod solving;
