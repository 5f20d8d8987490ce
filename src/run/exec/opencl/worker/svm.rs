//! Shared virtual memory (OpenCL 2.0, section 3.3.3): memory that host and device share without commands, and memory
//! into which pointers may lead anywhere, on devices that share none.

use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::device::{self, CL_DEVICE_SVM_CAPABILITIES};
use opencl3::kernel;
use opencl3::memory::{CL_MEM_READ_WRITE, svm_alloc, svm_free};
use opencl3::types::{CL_TRUE, cl_command_queue, cl_context, cl_device_id};

use super::handles::Event;
use super::program::LoadedProgram;
use super::refusal::{Refusal, outside};

/// The bits of `CL_DEVICE_SVM_COARSE_GRAIN_BUFFER`, `CL_DEVICE_SVM_FINE_GRAIN_BUFFER` and
/// `CL_MEM_SVM_FINE_GRAIN_BUFFER`.
const CAN_COARSE_GRAIN: u8 = 1;
const CAN_FINE_GRAIN: u8 = 1 << 1;
const FINE_GRAIN: u64 = 1 << 10;

/// Number of unused bytes before and after each buffer, so that an access slightly out of bounds does no harm.
const MARGIN: usize = 4096;

/// Returns whether host and device can share memory without commands.
pub fn fine_grained(device: cl_device_id) -> bool {
    can(device, CAN_FINE_GRAIN)
}

/// Returns whether a kernel can be given pointers into the middle of memory.
pub fn coarse_grained(device: cl_device_id) -> bool {
    can(device, CAN_COARSE_GRAIN)
}

fn can(device: cl_device_id, what: u8) -> bool {
    let capabilities = device::get_device_data(device, CL_DEVICE_SVM_CAPABILITIES).unwrap_or_default();
    capabilities.first().is_some_and(|bits| bits & what != 0)
}

/// An allocation with a margin on either side of its contents.
#[derive(Debug)]
struct Allocation {
    context: cl_context,
    start: *mut c_void,
    margin: usize,
    len: usize,
}

impl Allocation {
    fn new(context: &Context, flags: u64, len: usize, margin: usize) -> Result<Allocation, Refusal> {
        let size = margin.saturating_mul(2).saturating_add(len);
        // SAFETY: the context is alive for the call, and the device offers the OpenCL 2.0 feature that the
        // flags request.
        let start = unsafe { svm_alloc(context.get(), CL_MEM_READ_WRITE | flags, size, 128) }
            .map_err(|code| Refusal::driver(&format!("making a buffer of {len} bytes"), code))?;
        Ok(Allocation { context: context.get(), start, margin, len })
    }

    fn address(&self) -> *mut c_void {
        // SAFETY: the allocation has `margin` bytes before and after the contents, so the address lies inside it.
        unsafe { self.start.byte_add(self.margin) }
    }

    /// Sets a kernel argument to the byte of the contents at `offset`, which lies in them.
    fn set(&self, loaded: &LoadedProgram, position: u32, offset: u64) -> Result<(), Refusal> {
        let offset = usize::try_from(offset).ok().filter(|at| *at <= self.len).ok_or_else(outside)?;
        loaded.note_pointer();
        // SAFETY: the address lies in an SVM allocation that lives until the launches are over.
        unsafe { kernel::set_kernel_arg_svm_pointer(loaded.kernel(), position, self.address().byte_add(offset)) }
            .map_err(|code| Refusal::driver(&format!("setting argument {position}"), code))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it in this context, nothing else frees it, and the launches that use it have ended.
        let _ = unsafe { svm_free(self.context, self.start) };
    }
}

/// Memory that host and device share (fine-grained buffers, section 3.3.3.3).
#[derive(Debug)]
pub struct SvmBuffer(Allocation);

impl SvmBuffer {
    /// Allocates `len` bytes with a margin on either side.
    pub fn new(context: &Context, len: usize) -> Result<SvmBuffer, Refusal> {
        Allocation::new(context, FINE_GRAIN, len, MARGIN).map(SvmBuffer)
    }

    /// The contents. Must not be called while a launch runs.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has `len` bytes after the margin, and no launch writes to it meanwhile.
        unsafe { std::slice::from_raw_parts(self.0.address().cast::<u8>(), self.0.len) }
    }

    /// The contents, mutably. Must not be called while a launch runs.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation has `len` bytes after the margin, no launch uses it meanwhile, and `&mut self`
        // excludes other references.
        unsafe { std::slice::from_raw_parts_mut(self.0.address().cast::<u8>(), self.0.len) }
    }

    /// Sets a kernel argument to the byte of this memory at `offset`, which lies in it.
    pub fn set(&self, loaded: &LoadedProgram, position: u32, offset: u64) -> Result<(), Refusal> {
        self.0.set(loaded, position, offset)
    }
}

/// Memory of the device to whose every byte an argument may point (coarse-grained buffers, section 3.3.3.2). Commands
/// transfer its contents.
#[derive(Debug)]
pub struct PointedBuffer(Allocation);

impl PointedBuffer {
    /// Allocates memory with these contents, and with `margin` zero bytes on either side that belong to it.
    pub fn new(
        context: &Context,
        queue: cl_command_queue,
        contents: &[u8],
        margin: u64,
    ) -> Result<PointedBuffer, Refusal> {
        let margin = usize::try_from(margin).ok().and_then(|margin| margin.checked_next_multiple_of(MARGIN));
        let margin = margin.ok_or_else(outside)?;
        let buffer = PointedBuffer(Allocation::new(context, 0, contents.len(), margin.max(MARGIN))?);
        if margin > 0 {
            let zeros = vec![0; buffer.0.margin];
            // SAFETY: so many bytes lie before and after the contents.
            let sides = unsafe { [buffer.0.start, buffer.0.address().byte_add(contents.len())] };
            sides.into_iter().try_for_each(|side| copy(queue, side, zeros.as_ptr().cast(), zeros.len()))?;
        }
        buffer.write(queue, contents)?;
        Ok(buffer)
    }

    /// Replaces the contents; waits for the launches that use them.
    pub fn write(&self, queue: cl_command_queue, contents: &[u8]) -> Result<(), Refusal> {
        match contents.len() == self.0.len {
            true => copy(queue, self.0.address(), contents.as_ptr().cast(), contents.len()),
            false => Err(outside()),
        }
    }

    /// Reads the contents; waits for the launches that write them.
    pub fn read(&self, queue: cl_command_queue, into: &mut [u8]) -> Result<(), Refusal> {
        match into.len() == self.0.len {
            true => copy(queue, into.as_mut_ptr().cast(), self.0.address(), into.len()),
            false => Err(outside()),
        }
    }

    /// See [`SvmBuffer::set`].
    pub fn set(&self, loaded: &LoadedProgram, position: u32, offset: u64) -> Result<(), Refusal> {
        self.0.set(loaded, position, offset)
    }
}

/// Copies between the host and such memory, on a queue in order, and waits for it. Both sides have `len` bytes.
fn copy(queue: cl_command_queue, to: *mut c_void, from: *const c_void, len: usize) -> Result<(), Refusal> {
    // SAFETY: the callers pass addresses of `len` bytes; the call blocks, so nothing uses the host's once it returns.
    unsafe { queue::enqueue_svm_mem_cpy(queue, CL_TRUE, to, from, len, 0, ptr::null()) }
        .map(|raw| drop(Event(raw)))
        .map_err(|code| Refusal::driver("copying a buffer", code))
}
