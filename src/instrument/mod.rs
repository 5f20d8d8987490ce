//! Passes, each IR to IR plus the layout of its part of the probe buffer.
//!
//! A pass inserts calls to `runtime-cl` names; what they do is written there, in OpenCL C. Every pass takes the canonical
//! form that its sites were read from, unchanged, and leaves a module that verifies.
//!
//! Must never know: how code is run.

pub mod accesses;
pub mod comparisons;
pub mod coverage;
pub mod guard;
pub mod host;
pub mod ids;
pub mod implication;
pub mod layout;
pub mod marks;
pub mod mutants;
mod runtime;
