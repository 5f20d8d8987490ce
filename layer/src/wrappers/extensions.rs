//! Extension functions, which programs ask for by name.

use std::ffi::c_void;

use opencl_sys::{
    CL_INVALID_OPERATION, cl_command_queue, cl_context, cl_device_id, cl_int, cl_kernel, cl_program,
    cl_queue_properties, cl_uint,
};

use super::transfers::{Target, marking};
use super::{kernels, memory, programs, queues};
use crate::driver::extensions::{Function, Memcpy, original, remember};
use crate::shadow::kernel::Argument;

type Properties = *const u64;

/// An extension function, the name that programs ask for it by, and its wrapper.
struct Extension {
    function: Function,
    name: &'static str,
    wrapper: fn() -> *mut c_void,
}

const fn extension(function: Function, name: &'static str, wrapper: fn() -> *mut c_void) -> Extension {
    Extension { function, name, wrapper }
}

static EXTENSIONS: [Extension; 9] = [
    extension(Function::ProgramWithIl, "clCreateProgramWithILKHR", || create_with_il as *mut c_void),
    extension(Function::QueueWithProperties, "clCreateCommandQueueWithPropertiesKHR", || create_queue as *mut c_void),
    extension(Function::HostAlloc, "clHostMemAllocINTEL", || host_alloc as *mut c_void),
    extension(Function::DeviceAlloc, "clDeviceMemAllocINTEL", || device_alloc as *mut c_void),
    extension(Function::SharedAlloc, "clSharedMemAllocINTEL", || shared_alloc as *mut c_void),
    extension(Function::Free, "clMemFreeINTEL", || free as *mut c_void),
    extension(Function::BlockingFree, "clMemBlockingFreeINTEL", || blocking_free as *mut c_void),
    extension(Function::SetArgPointer, "clSetKernelArgMemPointerINTEL", || set_arg_pointer as *mut c_void),
    extension(Function::Memcpy, "clEnqueueMemcpyINTEL", || copy as *mut c_void),
];

/// Returns the wrapper of an extension function by its name, and remembers the original that `owner`, an object of the
/// driver, gave for it. `None` if it is not wrapped.
///
/// # Safety
/// `owner` must be null or an object of the driver.
pub unsafe fn by_name(owner: *const c_void, name: &[u8], original: *mut c_void) -> Option<*mut c_void> {
    let extension = EXTENSIONS.iter().find(|extension| extension.name.as_bytes() == name)?;
    remember(owner, extension.function, original);
    Some((extension.wrapper)())
}

/// Calls the original of an extension function; without one, the program could not have got the wrapper.
macro_rules! original {
    ($object:expr, $number:ident, fn($($type:ty),*) -> $result:ty, ($($argument:expr),*), $otherwise:expr) => {
        match original($object, Function::$number) {
            Some(address) => {
                // SAFETY: the driver gave this address for the function of this name, which has this type.
                let function: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(address);
                function($($argument),*)
            }
            None => $otherwise,
        }
    };
}

unsafe extern "C" fn create_with_il(
    context: cl_context,
    il: *const c_void,
    length: usize,
    error: *mut cl_int,
) -> cl_program {
    let program = original!(
        context,
        ProgramWithIl,
        fn(cl_context, *const c_void, usize, *mut cl_int) -> cl_program,
        (context, il, length, error),
        std::ptr::null_mut()
    );
    programs::added_with_il(program, il, length)
}

unsafe extern "C" fn create_queue(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
    error: *mut cl_int,
) -> cl_command_queue {
    let queue = original!(
        context,
        QueueWithProperties,
        fn(cl_context, cl_device_id, *const cl_queue_properties, *mut cl_int) -> cl_command_queue,
        (context, device, properties, error),
        std::ptr::null_mut()
    );
    queues::added_with_properties(queue, context, device, properties)
}

unsafe extern "C" fn host_alloc(
    context: cl_context,
    properties: Properties,
    size: usize,
    alignment: cl_uint,
    error: *mut cl_int,
) -> *mut c_void {
    let pointer = original!(
        context,
        HostAlloc,
        fn(cl_context, Properties, usize, cl_uint, *mut cl_int) -> *mut c_void,
        (context, properties, size, alignment, error),
        std::ptr::null_mut()
    );
    memory::add_svm(context, pointer, size, 0, true)
}

/// Defines the wrapper of an allocation for one device.
macro_rules! allocates_for_device {
    ($wrapper:ident, $entry:ident) => {
        unsafe extern "C" fn $wrapper(
            context: cl_context,
            device: cl_device_id,
            properties: Properties,
            size: usize,
            alignment: cl_uint,
            error: *mut cl_int,
        ) -> *mut c_void {
            let pointer = original!(
                context,
                $entry,
                fn(cl_context, cl_device_id, Properties, usize, cl_uint, *mut cl_int) -> *mut c_void,
                (context, device, properties, size, alignment, error),
                std::ptr::null_mut()
            );
            memory::add_svm(context, pointer, size, 0, true)
        }
    };
}

allocates_for_device!(device_alloc, DeviceAlloc);
allocates_for_device!(shared_alloc, SharedAlloc);

unsafe extern "C" fn free(context: cl_context, pointer: *mut c_void) -> cl_int {
    memory::forget_svm(pointer);
    original!(context, Free, fn(cl_context, *mut c_void) -> cl_int, (context, pointer), CL_INVALID_OPERATION)
}

unsafe extern "C" fn blocking_free(context: cl_context, pointer: *mut c_void) -> cl_int {
    memory::forget_svm(pointer);
    original!(context, BlockingFree, fn(cl_context, *mut c_void) -> cl_int, (context, pointer), CL_INVALID_OPERATION)
}

unsafe extern "C" fn set_arg_pointer(kernel: cl_kernel, index: cl_uint, value: *const c_void) -> cl_int {
    let status = original!(
        kernel,
        SetArgPointer,
        fn(cl_kernel, cl_uint, *const c_void) -> cl_int,
        (kernel, index, value),
        CL_INVALID_OPERATION
    );
    if status == 0 {
        kernels::set(kernel, index, |_| Argument::Pointer(value as usize));
    }
    status
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn copy(
    queue: cl_command_queue,
    blocking: cl_uint,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    waits: cl_uint,
    wait_list: *const *mut c_void,
    event: *mut *mut c_void,
) -> cl_int {
    let Some(address) = original(queue, Function::Memcpy) else { return CL_INVALID_OPERATION };
    // SAFETY: the driver gave this address for the function of this name, which has this type.
    let function: Memcpy = std::mem::transmute(address);
    marking(Target::Svm(to), || function(queue, blocking, to, from, size, waits, wait_list, event))
}
