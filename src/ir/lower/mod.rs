//! Lowers instrumented IR to code.
//!
//! `spirv` prepares and emits SPIR-V. Before LLVM's back end sees it, `builtins` lowers calls of OpenCL's builtins, to
//! plain IR for every target or to SPIR-V's instructions, and `legalise` takes what devices have no types for: integers
//! of odd widths, vectors of odd lengths, many intrinsics; `emitted` corrects what comes out. `native` makes one
//! function for this host out of a kernel and everything it calls (`prepare`, `builtins` of libclc and `runtime-cl`,
//! `inline`, `emit`). `ptx` retargets the module for NVIDIA GPUs (`retarget`), with `builtins` and `collectives`.
//! `image_buffers` gives code for devices buffers instead of images; the simulator has images of its own, because it
//! also reports each texel to its race detector. `memory_intrinsics` expands what copies, fills or accesses memory lane
//! by lane. `libclc` is what the host and GPUs share: libraries of builtins, names by `mangling`.
//!
//! Must never know: what the probes mean.

mod builtins;
pub mod memory_intrinsics;
pub use kassay_base::forked;
pub mod cached;
mod copy_alignment;
mod emitted;
pub mod image_buffers;
mod item_bounds;
mod legalise;
mod libclc;
mod names;
mod narrow_atomics;
mod narrowed;
pub mod native;
pub mod ptx;
#[cfg(test)]
mod rewriting;
pub mod spirv;
pub mod traps;
mod undefined;
mod vector_selects;
