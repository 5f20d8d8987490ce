//! Where a sweep's buffers lie: in memory that host and device share, where the device can (OpenCL 2.0's fine-grained
//! buffers, section 3.3.3.3), so that resetting and comparing them needs no command; else in objects of the driver.

use std::ffi::c_void;
use std::ptr;

use opencl3::context::Context;
use opencl3::device::{self, CL_DEVICE_SVM_CAPABILITIES};
use opencl3::kernel;
use opencl3::memory::{CL_MEM_READ_WRITE, svm_alloc, svm_free};
use opencl3::types::{cl_command_queue, cl_context, cl_device_id};

use super::launch::{self, Refusal};
use super::memory::Object;
use super::program::Loaded;

/// `CL_DEVICE_SVM_FINE_GRAIN_BUFFER` and `CL_MEM_SVM_FINE_GRAIN_BUFFER`.
const CAN_FINE_GRAIN: u64 = 1 << 1;
const FINE_GRAIN: u64 = 1 << 10;

/// So many bytes before and behind each buffer belong to nobody: a small step over its edge does no harm.
const MARGIN: usize = 4096;

/// Whether host and device can share memory without commands.
pub fn fine_grained(device: cl_device_id) -> bool {
    let capabilities = device::get_device_data(device, CL_DEVICE_SVM_CAPABILITIES).unwrap_or_default();
    capabilities.first().is_some_and(|c| u64::from(*c) & CAN_FINE_GRAIN != 0)
}

/// Memory that host and device share.
#[derive(Debug)]
pub struct Shared {
    context: cl_context,
    start: *mut c_void,
    len: usize,
}

impl Shared {
    pub fn new(context: &Context, len: usize) -> Result<Shared, Refusal> {
        let size = len.saturating_add(2 * MARGIN);
        // SAFETY: plain allocation; the flags are those of OpenCL 2.0, which the device offers.
        let start = unsafe { svm_alloc(context.get(), CL_MEM_READ_WRITE | FINE_GRAIN, size, 128) }
            .map_err(|code| Refusal::driver(&format!("making a buffer of {len} bytes"), code))?;
        Ok(Shared { context: context.get(), start, len })
    }

    fn address(&self) -> *mut c_void {
        // SAFETY: inside the allocation.
        unsafe { self.start.byte_add(MARGIN) }
    }

    /// While no launch runs.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has this many bytes behind the margin.
        unsafe { std::slice::from_raw_parts(self.address().cast::<u8>(), self.len) }
    }

    /// While no launch runs.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.address().cast::<u8>(), self.len) }
    }

    pub fn set(&self, loaded: &Loaded, position: u32) -> Result<(), Refusal> {
        // SAFETY: the address lies in memory that lives until the launches are over.
        unsafe { kernel::set_kernel_arg_svm_pointer(loaded.kernel.0, position, self.address()) }
            .map_err(|code| Refusal::driver(&format!("setting argument {position}"), code))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: allocated above; launches on it have ended.
        let _ = unsafe { svm_free(self.context, self.start) };
    }
}

/// A buffer or image.
#[derive(Debug)]
pub enum Store {
    Shared(Shared),
    /// With room to read its contents into.
    Object(Object, Vec<u8>),
}

impl Store {
    /// A buffer that holds `pristine` at each multiple of `stride` (in bytes, at least its length).
    pub fn buffer(
        context: &Context,
        fine_grained: bool,
        pristine: &[u8],
        copies: usize,
        stride: usize,
    ) -> Result<Store, Refusal> {
        let len = stride.saturating_mul(copies - 1).saturating_add(pristine.len());
        if fine_grained {
            let mut shared = Shared::new(context, len)?;
            repeat(shared.bytes_mut(), pristine, stride);
            return Ok(Store::Shared(shared));
        }
        let mut all = vec![0; len];
        repeat(&mut all, pristine, stride);
        Ok(Store::Object(Object::buffer(context, &all, true)?, all))
    }

    pub fn set(&self, loaded: &Loaded, position: u32) -> Result<(), Refusal> {
        match self {
            Store::Shared(shared) => shared.set(loaded, position),
            Store::Object(object, _) => launch::set_memory(loaded, position, &object.work),
        }
    }

    /// Puts the pristine contents back, of as many copies as `copies` says where that is cheaper.
    pub fn reset(
        &mut self,
        queue: cl_command_queue,
        pristine: &[u8],
        copies: usize,
        stride: usize,
    ) -> Result<(), Refusal> {
        match self {
            Store::Shared(shared) => {
                let len = stride.saturating_mul(copies - 1).saturating_add(pristine.len());
                let bytes = shared.bytes_mut();
                let len = len.min(bytes.len());
                repeat(&mut bytes[..len], pristine, stride);
                Ok(())
            }
            Store::Object(object, room) => object.reset(queue, room.len()),
        }
    }

    /// The contents, after a launch has ended.
    pub fn contents(&mut self, queue: cl_command_queue) -> Result<&[u8], Refusal> {
        match self {
            Store::Shared(shared) => Ok(shared.bytes()),
            Store::Object(object, room) => {
                object.read(queue, room)?;
                Ok(room)
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
    Shared(Shared),
    /// With what is written to it, then what was read from it.
    Object(super::handles::Memory, Vec<u8>),
}

impl Probe {
    pub fn new(context: &Context, fine_grained: bool, len: usize) -> Result<Probe, Refusal> {
        if fine_grained {
            return Ok(Probe::Shared(Shared::new(context, len)?));
        }
        Ok(Probe::Object(super::memory::empty_buffer(context, len)?, vec![0; len]))
    }

    pub fn set(&self, loaded: &Loaded, position: u32) -> Result<(), Refusal> {
        match self {
            Probe::Shared(shared) => shared.set(loaded, position),
            Probe::Object(memory, _) => launch::set_memory(loaded, position, memory),
        }
    }

    /// Where to write what the buffer shall begin with; [`Probe::send`] follows.
    pub fn room(&mut self) -> &mut [u8] {
        match self {
            Probe::Shared(shared) => shared.bytes_mut(),
            Probe::Object(_, room) => room,
        }
    }

    /// Hands the room's contents to the device.
    pub fn send(&self, queue: cl_command_queue) -> Result<(), Refusal> {
        let Probe::Object(memory, room) = self else { return Ok(()) };
        if room.is_empty() {
            return Ok(());
        }
        let from = room.as_ptr().cast::<c_void>();
        // SAFETY: the buffer has as many bytes as the room, which is left alone until the queue is finished.
        unsafe {
            let cast = from.cast_mut();
            opencl3::command_queue::enqueue_write_buffer(queue, memory.0, 0, 0, room.len(), cast, 0, ptr::null())
        }
        .map(|raw| drop(super::handles::Event(raw)))
        .map_err(|code| Refusal::driver("writing the probe buffer", code))
    }

    /// The contents in these bytes, after a launch has ended.
    pub fn contents(&mut self, queue: cl_command_queue, range: std::ops::Range<usize>) -> Result<&[u8], Refusal> {
        match self {
            Probe::Shared(shared) => Ok(&shared.bytes()[range]),
            Probe::Object(memory, room) => {
                let (start, part) = (range.start, &mut room[range]);
                if !part.is_empty() {
                    let (to, len) = (part.as_mut_ptr().cast::<c_void>(), part.len());
                    // SAFETY: the part lies inside the buffer's length; the call returns only when it is filled.
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
