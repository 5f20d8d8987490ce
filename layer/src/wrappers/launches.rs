//! Launches.

use std::ffi::c_void;

use opencl_sys::{cl_command_queue, cl_event, cl_int, cl_kernel, cl_mem, cl_uint};

use super::NativeKernel;
use crate::boundary::shielded;
use crate::capture;
use crate::driver::{Driver, call};
use crate::launch::Request;
use crate::shadow::{self, key};

/// Copies as many sizes as there are dimensions.
unsafe fn sizes(from: *const usize, dimensions: u32) -> Option<[usize; 3]> {
    let mut copy = [0; 3];
    if from.is_null() {
        return None;
    }
    std::ptr::copy_nonoverlapping(from, copy.as_mut_ptr(), dimensions as usize);
    Some(copy)
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn enqueue(
    driver: &'static Driver,
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let plain = |kernel: cl_kernel| {
        call!(driver, clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list, event))
    };
    // What the driver will refuse is not looked into: neither sizes nor handles need be good.
    if kernel.is_null() || queue.is_null() || !(1..=3).contains(&dimensions) {
        return refused(plain(kernel));
    }
    // No sizes are as good as sizes of 0: since OpenCL 2.1 such a launch does nothing, and earlier versions refuse it.
    let global = sizes(global, dimensions).unwrap_or_default();
    let (offset, local) = (sizes(offset, dimensions), sizes(local, dimensions));
    let request = Request { queue, kernel, task: false, dimensions, offset, global, local, waits, wait_list };
    capture::launch(driver, &request, plain)
}

pub unsafe fn enqueue_task(
    driver: &'static Driver,
    queue: cl_command_queue,
    kernel: cl_kernel,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let plain = |kernel: cl_kernel| call!(driver, clEnqueueTask(queue, kernel, waits, wait_list, event));
    if kernel.is_null() || queue.is_null() {
        return refused(plain(kernel));
    }
    let one = [1, 0, 0];
    let request = Request {
        queue,
        kernel,
        task: true,
        dimensions: 1,
        offset: None,
        global: one,
        local: Some(one),
        waits,
        wait_list,
    };
    capture::launch(driver, &request, plain)
}

/// Counts a launch that cannot be one.
fn refused(status: cl_int) -> cl_int {
    shielded(|| capture::count_unknown(status));
    status
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn enqueue_native(
    driver: &'static Driver,
    queue: cl_command_queue,
    function: NativeKernel,
    arguments: *mut c_void,
    size: usize,
    count: cl_uint,
    memory: *const cl_mem,
    places: *mut *const c_void,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    let status = call!(
        driver,
        clEnqueueNativeKernel(queue, function, arguments, size, count, memory, places, waits, wait_list, event)
    );
    if status == 0 && !memory.is_null() {
        shielded(|| {
            let mut state = shadow::state();
            (0..count as usize).for_each(|index| state.write(key(*memory.add(index))));
        });
    }
    status
}
