//! Stores the buffers of a sweep: in memory that host and device share, if the device supports it (OpenCL 2.0's
//! fine-grained buffers, section 3.3.3.3), so that resetting and comparing them needs no command; else in memory
//! objects of the driver.

use std::ffi::c_void;
use std::ptr;

use kassay_suite::launch::View;
use opencl3::context::Context;
use opencl3::types::cl_command_queue;

use super::handles::Memory;
use super::launch;
use super::memory::Object;
use super::program::LoadedProgram;
use super::refusal::Refusal;
use super::svm::{PointedBuffer, SvmBuffer};
use super::transfers;

/// A buffer or image of a sweep.
#[derive(Debug)]
pub enum Store {
    Svm(SvmBuffer),
    /// With a host buffer to read its contents into.
    Object(Object, Vec<u8>),
    /// Likewise.
    Pointed(PointedBuffer, Vec<u8>),
}

impl Store {
    /// A buffer that holds `pristine` once, to whose every byte an argument may point.
    pub fn pointed(context: &Context, queue: cl_command_queue, pristine: &[u8]) -> Result<Store, Refusal> {
        Ok(Store::Pointed(PointedBuffer::new(context, queue, pristine, 0)?, vec![0; pristine.len()]))
    }

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

    /// Sets a kernel argument to this buffer or image, or to the part of it that `view` names. Returns the sub-buffer
    /// that has to be kept until the launches are over, if there is one.
    pub fn set(
        &self,
        context: &Context,
        loaded: &LoadedProgram,
        position: u32,
        view: &View,
    ) -> Result<Option<Memory>, Refusal> {
        match self {
            Store::Svm(shared) => shared.set(loaded, position, view.offset).map(|()| None),
            Store::Pointed(buffer, _) => buffer.set(loaded, position, view.offset).map(|()| None),
            Store::Object(object, contents) => {
                launch::set_part(context, loaded, position, object, view, contents.len() as u64)
            }
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
            Store::Pointed(buffer, _) => buffer.write(queue, pristine),
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
            Store::Pointed(buffer, staging) => {
                buffer.read(queue, staging)?;
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
            Probe::Svm(shared) => shared.set(loaded, position, 0),
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
                transfers::read(queue, memory, start, part)
                    .map_err(|code| Refusal::driver("reading the probe buffer", code))?;
                Ok(part)
            }
        }
    }
}
