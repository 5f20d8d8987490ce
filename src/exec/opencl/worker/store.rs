//! Stores the buffers of a sweep: in memory that host and device share, if the device supports it (OpenCL 2.0's
//! fine-grained buffers, section 3.3.3.3), so that resetting and comparing them needs no command; else in memory
//! objects of the driver.

use std::ffi::c_void;
use std::ptr;

use opencl3::context::Context;
use opencl3::device::{self, CL_DEVICE_SVM_CAPABILITIES};
use opencl3::kernel;
use opencl3::memory::{CL_MEM_READ_WRITE, svm_alloc, svm_free};
use opencl3::types::{cl_command_queue, cl_context, cl_device_id};

use super::launch;
use super::memory::Object;
use super::program::LoadedProgram;
use super::refusal::Refusal;

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

    /// Sets a kernel argument to this memory.
    pub fn set(&self, loaded: &LoadedProgram, position: u32) -> Result<(), Refusal> {
        // SAFETY: the address lies in an SVM allocation that lives until the launches are over.
        unsafe { kernel::set_kernel_arg_svm_pointer(loaded.kernel.0, position, self.address()) }
            .map_err(|code| Refusal::driver(&format!("setting argument {position}"), code))
    }
}

impl Drop for SvmBuffer {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it in this context, nothing else frees it, and the launches that use it have ended.
        let _ = unsafe { svm_free(self.context, self.start) };
    }
}

/// A buffer or image of a sweep.
#[derive(Debug)]
pub enum Store {
    Svm(SvmBuffer),
    /// With a host buffer to read its contents into.
    Object(Object, Vec<u8>),
}

impl Store {
    /// A buffer that holds `pristine` at each multiple of `stride` (in bytes, at least its length), `copies` times.
    pub fn buffer(
        context: &Context,
        fine_grained: bool,
        pristine: &[u8],
        copies: usize,
        stride: usize,
    ) -> Result<Store, Refusal> {
        let len = stride.saturating_mul(copies - 1).saturating_add(pristine.len());
        if fine_grained {
            let mut shared = SvmBuffer::new(context, len)?;
            repeat(shared.bytes_mut(), pristine, stride);
            return Ok(Store::Svm(shared));
        }
        let mut all = vec![0; len];
        repeat(&mut all, pristine, stride);
        Ok(Store::Object(Object::buffer(context, &all, true)?, all))
    }

    /// Sets a kernel argument to this buffer or image.
    pub fn set(&self, loaded: &LoadedProgram, position: u32) -> Result<(), Refusal> {
        match self {
            Store::Svm(shared) => shared.set(loaded, position),
            Store::Object(object, _) => launch::set_memory(loaded, position, &object.work),
        }
    }

    /// Puts the pristine contents back: only of the first `copies` copies where that is cheaper, else of all.
    pub fn reset(
        &mut self,
        queue: cl_command_queue,
        pristine: &[u8],
        copies: usize,
        stride: usize,
    ) -> Result<(), Refusal> {
        match self {
            Store::Svm(shared) => {
                let len = stride.saturating_mul(copies - 1).saturating_add(pristine.len());
                let bytes = shared.bytes_mut();
                let len = len.min(bytes.len());
                repeat(&mut bytes[..len], pristine, stride);
                Ok(())
            }
            Store::Object(object, staging) => object.reset(queue, staging.len()),
        }
    }

    /// The contents, after a launch has ended.
    pub fn contents(&mut self, queue: cl_command_queue) -> Result<&[u8], Refusal> {
        match self {
            Store::Svm(shared) => Ok(shared.bytes()),
            Store::Object(object, staging) => {
                object.read(queue, staging)?;
                Ok(staging)
            }
        }
    }
}

fn repeat(into: &mut [u8], pristine: &[u8], stride: usize) {
    for chunk in into.chunks_mut(stride.max(pristine.len()).max(1)) {
        let len = chunk.len().min(pristine.len());
        chunk[..len].copy_from_slice(&pristine[..len]);
    }
}

/// The probe buffer.
#[derive(Debug)]
pub enum Probe {
    Svm(SvmBuffer),
    /// With the bytes to write to it and, later, those read from it.
    Object(super::handles::Memory, Vec<u8>),
}

impl Probe {
    /// Allocates a probe buffer of `len` bytes.
    pub fn new(context: &Context, fine_grained: bool, len: usize) -> Result<Probe, Refusal> {
        if fine_grained {
            return Ok(Probe::Svm(SvmBuffer::new(context, len)?));
        }
        Ok(Probe::Object(super::memory::empty_buffer(context, len)?, vec![0; len]))
    }

    /// Sets a kernel argument to the probe buffer.
    pub fn set(&self, loaded: &LoadedProgram, position: u32) -> Result<(), Refusal> {
        match self {
            Probe::Svm(shared) => shared.set(loaded, position),
            Probe::Object(memory, _) => launch::set_memory(loaded, position, memory),
        }
    }

    /// Where to write the initial contents; [`Probe::send`] transfers them.
    pub fn staging(&mut self) -> &mut [u8] {
        match self {
            Probe::Svm(shared) => shared.bytes_mut(),
            Probe::Object(_, staging) => staging,
        }
    }

    /// Transfers the contents of [`Probe::staging`] to the device.
    pub fn send(&self, queue: cl_command_queue) -> Result<(), Refusal> {
        let Probe::Object(memory, staging) = self else { return Ok(()) };
        if staging.is_empty() {
            return Ok(());
        }
        let from = staging.as_ptr().cast::<c_void>();
        // SAFETY: the buffer has as many bytes as `staging`, which is not touched until the queue is finished.
        unsafe {
            let cast = from.cast_mut();
            opencl3::command_queue::enqueue_write_buffer(queue, memory.0, 0, 0, staging.len(), cast, 0, ptr::null())
        }
        .map(|raw| drop(super::handles::Event(raw)))
        .map_err(|code| Refusal::driver("writing the probe buffer", code))
    }

    /// The contents in this range of bytes, after a launch has ended.
    pub fn contents(&mut self, queue: cl_command_queue, range: std::ops::Range<usize>) -> Result<&[u8], Refusal> {
        match self {
            Probe::Svm(shared) => Ok(&shared.bytes()[range]),
            Probe::Object(memory, staging) => {
                let (start, part) = (range.start, &mut staging[range]);
                if !part.is_empty() {
                    let (to, len) = (part.as_mut_ptr().cast::<c_void>(), part.len());
                    // SAFETY: the range lies inside the buffer, and the call returns only when `part` is filled.
                    unsafe {
                        opencl3::command_queue::enqueue_read_buffer(queue, memory.0, 1, start, len, to, 0, ptr::null())
                    }
                    .map(|raw| drop(super::handles::Event(raw)))
                    .map_err(|code| Refusal::driver("reading the probe buffer", code))?;
                }
                Ok(part)
            }
        }
    }
}
