//! Instrumented IR to code.
//!
//! Must never know: what the probes mean.

mod async_copies;
mod guarded;
pub mod spirv;
mod undefined;
