//! Memory objects and shared virtual memory.

use super::{Handle, State};

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

impl State {
    /// Marks the memory of an object as written; tells the snapshots that have it.
    pub fn write(&mut self, handle: Handle) {
        let Some(memory) = self.memory.get_mut(&handle) else { return };
        memory.written = true;
        let (root, serial) = (memory.root, memory.serial);
        if root != serial
            && let Some(whole) = self.memory.values_mut().find(|other| other.serial == root)
        {
            whole.written = true;
        }
        self.disturb(root, None);
    }

    /// Tells the snapshots that have the allocation which `pointer` points into.
    pub fn write_svm(&mut self, pointer: usize) {
        if let Some((_, allocation)) = self.svm_at(pointer) {
            self.disturb(allocation.serial, None);
        }
    }

    /// Finds the allocation that `pointer` points into, with its address.
    pub fn svm_at(&self, pointer: usize) -> Option<(usize, &SvmAllocation)> {
        let (base, allocation) = self.svm.range(..=pointer).next_back()?;
        (pointer - base < allocation.size.max(1)).then_some((*base, allocation))
    }

    /// Whether the host or a kernel may have written to the memory that an object has or shares.
    pub fn is_written(&self, memory: &Memory) -> bool {
        memory.written
            || self
                .memory
                .values()
                .any(|other| other.root == memory.root && other.serial != memory.serial && other.written)
    }

    /// Forgets an object when its last reference goes. Sub-buffers live on.
    pub fn release_memory(&mut self, handle: Handle) {
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.references -= 1;
            if memory.references == 0 {
                let gone = self.memory.remove(&handle);
                if let Some(gone) = gone.filter(|gone| gone.written && gone.root == gone.serial) {
                    // What is known of the whole is kept with its parts.
                    self.memory.values_mut().filter(|part| part.root == gone.root).for_each(|part| part.written = true);
                }
            }
        }
    }
}
