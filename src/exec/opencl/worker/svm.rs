//! Memory that host and device share (OpenCL 2.0's fine-grained buffers, section 3.3.3.3).

use std::ffi::c_void;

use opencl3::context::Context;
use opencl3::device::{self, CL_DEVICE_SVM_CAPABILITIES};
use opencl3::kernel;
use opencl3::memory::{CL_MEM_READ_WRITE, svm_alloc, svm_free};
use opencl3::types::{cl_context, cl_device_id};

use super::program::LoadedProgram;
use super::refusal::{Refusal, outside};

/// The bits of `CL_DEVICE_SVM_FINE_GRAIN_BUFFER` and `CL_MEM_SVM_FINE_GRAIN_BUFFER`.
const CAN_FINE_GRAIN: u64 = 1 << 1;
const FINE_GRAIN: u64 = 1 << 10;

/// Number of unused bytes before and after each buffer, so that an access slightly out of bounds does no harm.
const MARGIN: usize = 4096;

/// Returns whether host and device can share memory without commands.
pub fn fine_grained(device: cl_device_id) -> bool {
    let capabilities = device::get_device_data(device, CL_DEVICE_SVM_CAPABILITIES).unwrap_or_default();
    capabilities.first().is_some_and(|c| u64::from(*c) & CAN_FINE_GRAIN != 0)
}

/// Memory that host and device share.
#[derive(Debug)]
pub struct SvmBuffer {
    context: cl_context,
    start: *mut c_void,
    len: usize,
}

impl SvmBuffer {
    /// Allocates `len` bytes with a margin on either side.
    pub fn new(context: &Context, len: usize) -> Result<SvmBuffer, Refusal> {
        let size = len.saturating_add(2 * MARGIN);
        // SAFETY: the context is alive for the call, and the device offers the OpenCL 2.0 feature that the
        // flags request.
        let start = unsafe { svm_alloc(context.get(), CL_MEM_READ_WRITE | FINE_GRAIN, size, 128) }
            .map_err(|code| Refusal::driver(&format!("making a buffer of {len} bytes"), code))?;
        Ok(SvmBuffer { context: context.get(), start, len })
    }

    fn address(&self) -> *mut c_void {
        // SAFETY: the allocation has `MARGIN` bytes before and after the contents, so the address lies inside it.
        unsafe { self.start.byte_add(MARGIN) }
    }

    /// The contents. Must not be called while a launch runs.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has `len` bytes after the margin, and no launch writes to it meanwhile.
        unsafe { std::slice::from_raw_parts(self.address().cast::<u8>(), self.len) }
    }

    /// The contents, mutably. Must not be called while a launch runs.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation has `len` bytes after the margin, no launch uses it meanwhile, and `&mut self`
        // excludes other references.
        unsafe { std::slice::from_raw_parts_mut(self.address().cast::<u8>(), self.len) }
    }

    /// Sets a kernel argument to the byte of this memory at `offset`, which lies in it.
    pub fn set(&self, loaded: &LoadedProgram, position: u32, offset: u64) -> Result<(), Refusal> {
        let offset = usize::try_from(offset).ok().filter(|at| *at <= self.len).ok_or_else(outside)?;
        // SAFETY: the address lies in an SVM allocation that lives until the launches are over.
        unsafe { kernel::set_kernel_arg_svm_pointer(loaded.kernel.0, position, self.address().byte_add(offset)) }
            .map_err(|code| Refusal::driver(&format!("setting argument {position}"), code))
    }
}

impl Drop for SvmBuffer {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it in this context, nothing else frees it, and the launches that use it have ended.
        let _ = unsafe { svm_free(self.context, self.start) };
    }
}
