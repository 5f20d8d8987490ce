//! Command queues.

use opencl_sys::{
    CL_QUEUE_PROPERTIES, cl_command_queue, cl_command_queue_properties, cl_context, cl_device_id, cl_int,
    cl_queue_properties,
};

use crate::boundary::shielded;
use crate::driver::{Driver, call};
use crate::live;
use crate::shadow::{self, Queue, key, retained};

pub unsafe fn create(
    driver: &'static Driver,
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    let queue = call!(driver, clCreateCommandQueue(context, device, properties, error) else std::ptr::null_mut());
    add(queue, context, device, properties)
}

pub unsafe fn create_with_properties(
    driver: &'static Driver,
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    let queue =
        call!(driver, clCreateCommandQueueWithProperties(context, device, properties, error) else std::ptr::null_mut());
    added_with_properties(queue, context, device, properties)
}

/// Remembers a queue made from a list of properties, which the driver has read to its end.
///
/// # Safety
/// If the queue is not null, `properties` must be null or a list that ends with zero.
pub unsafe fn added_with_properties(
    queue: cl_command_queue,
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
) -> cl_command_queue {
    let mut found = 0;
    if !queue.is_null() && !properties.is_null() {
        let mut at = properties;
        while *at != 0 {
            if *at == cl_queue_properties::from(CL_QUEUE_PROPERTIES) {
                found = *at.add(1);
            }
            at = at.add(2);
        }
    }
    add(queue, context, device, found)
}

fn add(handle: cl_command_queue, context: cl_context, device: cl_device_id, properties: u64) -> cl_command_queue {
    if !handle.is_null() {
        shielded(|| {
            let queue = Queue { references: 1, device: key(device), context: key(context), properties, pins: 0 };
            shadow::state().queues.insert(key(handle), queue);
        });
    }
    handle
}

pub unsafe fn retain(driver: &'static Driver, queue: cl_command_queue) -> cl_int {
    let known = shielded(|| retained(shadow::state().queues.get_mut(&key(queue)).map(|queue| &mut queue.references)));
    let status = call!(driver, clRetainCommandQueue(queue));
    if status != 0 && known == Some(true) {
        shielded(|| forget(queue));
    }
    status
}

pub unsafe fn release(driver: &'static Driver, queue: cl_command_queue) -> cl_int {
    shielded(|| forget(queue));
    call!(driver, clReleaseCommandQueue(queue))
}

fn forget(queue: cl_command_queue) {
    if let Some(context) = shadow::release_queue(key(queue)) {
        live::context_is_done(context);
    }
}
