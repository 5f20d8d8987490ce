//! Kernels and their arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Handle;
use crate::program::Build;

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
