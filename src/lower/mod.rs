//! Lowers instrumented IR to code.
//!
//! Must never know: what the probes mean.

mod async_copies;
mod atomic_instructions;
pub mod code;
pub use crate::kernel::forked;
pub mod cached;
mod generic_atomics;
pub mod host;
pub mod image_buffers;
pub mod joint;
mod libclc;
pub mod ptx;
pub mod spirv;
mod undefined;
mod vector_selects;
