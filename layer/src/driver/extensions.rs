//! The drivers' own extension functions, as far as programs have asked for them and they are wrapped.

use std::ffi::c_void;
use std::sync::Mutex;

use opencl_sys::{CL_TRUE, cl_command_queue, cl_int, cl_uint};

use super::{Driver, call};
use crate::lock::lock;

/// An extension function that is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    ProgramWithIl,
    QueueWithProperties,
    HostAlloc,
    DeviceAlloc,
    SharedAlloc,
    Free,
    BlockingFree,
    SetArgPointer,
    Memcpy,
}

/// The originals that programs have asked for: the address of the driver's table, the function, its address.
static ORIGINALS: Mutex<Vec<(usize, Function, usize)>> = Mutex::new(Vec::new());

/// Remembers the original of a function that `owner`, an object of the driver, gave.
///
/// # Safety
/// `owner` must be null or an object of the driver.
pub unsafe fn remember(owner: *const c_void, function: Function, original: *mut c_void) {
    let entry = (table(owner), function, original as usize);
    let mut originals = lock(&ORIGINALS);
    if !originals.contains(&entry) {
        originals.push(entry);
    }
}

/// The address of an object's dispatch table; 0 for no object.
unsafe fn table(object: *const c_void) -> usize {
    if object.is_null() { 0 } else { *object.cast::<usize>() }
}

/// Returns the original for an object, or the only one there is.
///
/// # Safety
/// `object` must be null or an object of a driver.
pub unsafe fn original(object: *const c_void, function: Function) -> Option<usize> {
    let table = table(object);
    let originals = lock(&ORIGINALS);
    let of = |(owner, found, address): &(usize, Function, usize)| (*found == function).then_some((*owner, *address));
    let exact = originals.iter().filter_map(of).find(|(owner, _)| *owner == table);
    exact.or_else(|| originals.iter().filter_map(of).next()).map(|(_, address)| address)
}

/// `clEnqueueMemcpyINTEL`.
pub type Memcpy = unsafe extern "C" fn(
    cl_command_queue,
    cl_uint,
    *mut c_void,
    *const c_void,
    usize,
    cl_uint,
    *const *mut c_void,
    *mut *mut c_void,
) -> cl_int;

/// Copies unified shared memory, and waits for that.
///
/// # Safety
/// The queue must be one of the driver's; there must be `size` bytes to read, and room for them.
pub unsafe fn copy_unified(
    driver: &Driver,
    queue: cl_command_queue,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
) -> cl_int {
    match original(queue, Function::Memcpy) {
        Some(address) => {
            // SAFETY: the driver gave this address for the function of this name, which has this type.
            let function: Memcpy = std::mem::transmute(address);
            function(queue, CL_TRUE, to, from, size, 0, std::ptr::null(), std::ptr::null_mut())
        }
        // The program copies by other means; where the memory is the host's too, this does.
        None => {
            call!(driver, clEnqueueSVMMemcpy(queue, CL_TRUE, to, from, size, 0, std::ptr::null(), std::ptr::null_mut()))
        }
    }
}
