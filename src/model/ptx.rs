//! Names the target: what LLVM, drivers and results call it.

/// LLVM's triple for what NVIDIA's OpenCL driver builds (for CUDA's, kernels have parameters of other forms).
pub const TRIPLE: &str = "nvptx64-nvidia-nvcl";

/// The architecture that code is made for, and the version of PTX: the oldest that have what is needed. The driver
/// compiles the code for its device; it refuses code for a newer one.
pub const ARCHITECTURE: &str = "sm_70";
/// The version of PTX, as a feature of LLVM's target.
pub const FEATURES: &str = "+ptx70";

/// What results call this code.
pub const NAME: &str = "PTX_7.0_sm_70";

/// Work-items of a sub-group on NVIDIA's devices.
pub const WARP: u32 = 32;

/// Work-items of the largest work-group that a device takes.
pub const MOST_ITEMS: u32 = 1024;
