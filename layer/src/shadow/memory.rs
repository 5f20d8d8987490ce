//! Memory objects and shared virtual memory.

use super::Handle;

/// What a memory object is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Buffer,
    Image(Image),
    Pipe,
}

/// An image, with the constants of OpenCL.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// `CL_MEM_OBJECT_IMAGE2D` and so on.
    pub object: u32,
    pub channel_order: u32,
    pub channel_type: u32,
    /// Bytes of one element.
    pub element: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    /// The number of images in an array, else 0.
    pub layers: usize,
    pub mip_levels: u32,
    pub samples: u32,
    /// The root of the buffer whose memory it is, if any.
    pub buffer: Option<u64>,
}

/// A memory object.
#[derive(Debug, Clone)]
pub struct Memory {
    pub references: u32,
    /// Tells objects apart that had the same handle one after the other.
    pub serial: u64,
    pub kind: Kind,
    /// The flags that the driver tells (sub-buffers inherit some of their buffer's).
    pub flags: u64,
    /// Bytes.
    pub size: usize,
    /// The serial of the object that has the memory: its own, or that of the buffer that this is a part of.
    pub root: u64,
    /// Where it begins in the root, in bytes.
    pub origin: usize,
    /// Whether the host or a kernel may have written to the object. Kept at the root.
    pub written: bool,
}

/// An allocation of shared virtual memory.
#[derive(Debug, Clone)]
pub struct SvmAllocation {
    pub serial: u64,
    pub size: usize,
    pub flags: u64,
    pub context: Handle,
    /// Allocated through `cl_intel_unified_shared_memory`.
    pub unified: bool,
}
