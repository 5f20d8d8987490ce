//! Checks `kassay generate`, and launches for kernels without a suite: argument roles, the launches themselves, and
//! what the simulator finds in them.

mod budget;
mod collisions;
mod command;
#[path = "../common/mod.rs"]
mod common;
mod evolution;
mod folder;
mod grown;
mod guided;
mod launched;
mod marks;
mod mutants;
mod roles;
mod seeded;
mod simulated;
mod support;
