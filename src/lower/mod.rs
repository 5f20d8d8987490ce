//! Instrumented IR to code.
//!
//! Must never know: what the probes mean.

mod guarded;
pub mod spirv;
