//! Instrumented IR to code.
//!
//! Must never know: what the probes mean.

mod async_copies;
pub mod code;
pub use crate::kernel::guarded;
pub mod host;
pub mod kept;
pub mod spirv;
mod undefined;
