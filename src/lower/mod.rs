//! Lowers instrumented IR to code.
//!
//! Must never know: what the probes mean.

mod builtins;
pub mod code;
pub mod memory_intrinsics;
pub use crate::kernel::forked;
pub mod cached;
mod copy_alignment;
mod emitted;
pub mod host;
pub mod image_buffers;
mod item_bounds;
pub mod joint;
mod legalise;
mod libclc;
mod narrowed;
pub mod ptx;
#[cfg(test)]
mod rewriting;
pub mod spirv;
mod undefined;
mod vector_selects;
