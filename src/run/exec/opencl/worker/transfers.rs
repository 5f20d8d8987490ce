//! Blocking transfers between host memory and buffers.

use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue as queue;
use opencl3::types::{cl_command_queue, cl_int};

use super::handles::{Event, Memory};

/// Writes to a buffer, from the byte `at` on.
///
/// # Errors
/// OpenCL's code, `CL_INVALID_VALUE` if the buffer has not that many bytes there.
pub fn write(queue: cl_command_queue, to: &Memory, at: usize, bytes: &[u8]) -> Result<(), cl_int> {
    if bytes.is_empty() {
        return Ok(());
    }
    let from = bytes.as_ptr().cast::<c_void>().cast_mut();
    // SAFETY: `from` has that many bytes; the call blocks, so the driver no longer reads them once it returns.
    unsafe { queue::enqueue_write_buffer(queue, to.0, 1, at, bytes.len(), from, 0, ptr::null()) }
        .map(|raw| drop(Event(raw)))
}

/// Reads from a buffer, from the byte `at` on.
///
/// # Errors
/// OpenCL's code, `CL_INVALID_VALUE` if the buffer has not that many bytes there.
pub fn read(queue: cl_command_queue, from: &Memory, at: usize, into: &mut [u8]) -> Result<(), cl_int> {
    if into.is_empty() {
        return Ok(());
    }
    let (to, len) = (into.as_mut_ptr().cast::<c_void>(), into.len());
    // SAFETY: `to` has room for that many bytes, and the call returns only when they are there.
    unsafe { queue::enqueue_read_buffer(queue, from.0, 1, at, len, to, 0, ptr::null()) }.map(|raw| drop(Event(raw)))
}
