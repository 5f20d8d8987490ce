//! Contains the instrumentation passes. Each rewrites IR and defines the layout of its part of the probe buffer.
//!
//! A pass inserts calls of functions in `runtime-cl`, whose behaviour is defined there, in OpenCL C. Every pass expects
//! the unchanged canonical form that its sites were read from, and leaves a module that verifies.
//!
//! Must never know: how code is run.

pub mod access;
pub mod accesses;
pub mod comparisons;
pub mod coverage;
pub mod def_use;
pub mod device_races;
pub mod guard;
pub mod host;
pub mod ids;
pub mod implication;
pub mod layout;
pub mod lowering;
pub mod marks;
pub mod mutants;
mod runtime;
mod ways;
