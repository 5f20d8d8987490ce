//! A launch as the program asks for it, the memory that it reaches, and the contents of that.

pub mod contents;
pub mod reached;

use std::sync::Arc;

use opencl_sys::{cl_command_queue, cl_event, cl_kernel};

use crate::driver::signature::Signature;
use crate::spool::blobs::Id;

/// What is launched, whatever objects it is launched through.
pub struct Subject {
    pub program: Id,
    pub name: Arc<str>,
    pub signature: Signature,
}

/// A launch as the program asks for it.
pub struct Request {
    pub queue: cl_command_queue,
    pub kernel: cl_kernel,
    /// By `clEnqueueTask`.
    pub task: bool,
    pub dimensions: u32,
    pub offset: Option<[usize; 3]>,
    pub global: [usize; 3],
    pub local: Option<[usize; 3]>,
    pub waits: u32,
    pub wait_list: *const cl_event,
}

impl Request {
    /// Whether the local size does not divide the global one.
    pub fn has_partial_groups(&self) -> bool {
        let mut sizes = self.global.iter().zip(self.local.iter().flatten()).take(self.dimensions as usize);
        sizes.any(|(global, local)| global.checked_rem(*local) != Some(0))
    }
}
