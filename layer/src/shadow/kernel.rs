//! Kernels and their arguments.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::program::Build;
use super::{Handle, State};
use crate::live::Slot;

/// A kernel object.
#[derive(Clone)]
pub struct Kernel {
    pub references: u32,
    pub name: Arc<str>,
    pub build: Arc<Build>,
    pub arguments: Vec<Argument>,
    /// For each argument a number that no other setting of an argument has.
    pub stamps: Vec<u64>,
    /// What was set by `clSetKernelExecInfo`, and its stamp; 0: nothing was.
    pub settings: Arc<Settings>,
    pub settings_stamp: u64,
    /// Shared virtual memory that the kernel reaches through other memory (`CL_KERNEL_EXEC_INFO_SVM_PTRS`).
    pub indirect: Vec<usize>,
    /// Its kind (`capture::kinds`) on the device it was last launched on.
    pub kind: Option<(Handle, usize)>,
    /// Whether its memory arguments have been marked as written since they were set.
    pub marked: bool,
    /// Its twins, one for each device that it was launched on; not shared with clones.
    pub twins: Vec<Slot>,
}

/// Settings of `clSetKernelExecInfo`: their bytes by `cl_kernel_exec_info`; no bytes for a null pointer.
pub type Settings = BTreeMap<u32, Box<[u8]>>;

/// An argument, copied when it was set.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Argument {
    #[default]
    Unset,
    /// The bytes; `memory` is the serial of the memory object whose handle they were then.
    Value { bytes: Bytes, memory: Option<u64> },
    /// No value was given: local memory of that many bytes, or a null buffer.
    Sized(usize),
    /// A pointer to shared virtual memory.
    Pointer(usize),
}

/// Bytes of an argument; nearly all are a handle or a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Bytes {
    Few(u8, [u8; 16]),
    Many(Box<[u8]>),
}

impl Bytes {
    pub fn new(bytes: &[u8]) -> Bytes {
        let mut few = [0; 16];
        match few.get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                Bytes::Few(bytes.len() as u8, few)
            }
            None => Bytes::Many(bytes.into()),
        }
    }

    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Few(length, bytes) => &bytes[..usize::from(*length)],
            Bytes::Many(bytes) => bytes,
        }
    }

    /// The bytes as a handle or pointer, if there are as many.
    pub fn as_handle(&self) -> Option<Handle> {
        self.as_slice().try_into().ok().map(usize::from_ne_bytes)
    }
}

/// More arguments than a kernel can have; an index above is not from a successful call.
const MOST_ARGUMENTS: usize = 65_536;

impl State {
    /// Adds a kernel that a driver has just made.
    pub fn add_kernel(&mut self, handle: Handle, name: &str, build: Arc<Build>) {
        let kernel = Kernel {
            references: 1,
            name: name.into(),
            build,
            arguments: Vec::new(),
            stamps: Vec::new(),
            settings: Arc::default(),
            settings_stamp: 0,
            indirect: Vec::new(),
            kind: None,
            marked: true,
            twins: Vec::new(),
        };
        self.put_kernel(handle, kernel);
    }

    /// Puts a kernel in place.
    pub fn put_kernel(&mut self, handle: Handle, kernel: Kernel) {
        // One whose release was not seen may have left twins, which must not be released under the lock.
        if let Some(old) = self.kernels.insert(handle, kernel) {
            std::mem::forget(old.twins);
        }
    }

    /// Notes a setting of `clSetKernelExecInfo`.
    pub fn set_exec_info(&mut self, kernel: Handle, what: u32, bytes: Box<[u8]>) {
        let stamp = self.serial();
        if let Some(kernel) = self.kernels.get_mut(&kernel) {
            Arc::make_mut(&mut kernel.settings).insert(what, bytes);
            kernel.settings_stamp = stamp;
        }
    }

    /// Sets an argument. `value` is called only if the kernel is known.
    pub fn set_argument(&mut self, kernel: Handle, index: usize, value: impl FnOnce(&State) -> Argument) {
        if index >= MOST_ARGUMENTS || !self.kernels.contains_key(&kernel) {
            return;
        }
        let value = value(self);
        let stamp = self.serial();
        if let Entry::Occupied(mut entry) = self.kernels.entry(kernel) {
            let kernel = entry.get_mut();
            if kernel.arguments.len() <= index {
                kernel.arguments.resize(index + 1, Argument::Unset);
                kernel.stamps.resize(index + 1, 0);
            }
            kernel.arguments[index] = value;
            kernel.stamps[index] = stamp;
            kernel.marked = false;
        }
    }

    /// Marks the memory that a launched kernel has as arguments as written.
    pub fn mark_arguments(&mut self, kernel: Handle) {
        let Some(entry) = self.kernels.get_mut(&kernel).filter(|kernel| !kernel.marked) else { return };
        entry.marked = true;
        let handles: Vec<Handle> = entry
            .arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Value { bytes, memory: Some(_) } => bytes.as_handle(),
                _ => None,
            })
            .collect();
        for handle in handles {
            if let Some(memory) = self.memory.get_mut(&handle) {
                memory.written = true;
            }
        }
    }
}
