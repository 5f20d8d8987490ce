//! Functions that programs ask for by name: core functions come wrapped, as do the extensions below; all others come as
//! the driver has them.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use opencl_sys::{
    CL_INVALID_OPERATION, CL_TRUE, cl_command_queue, cl_context, cl_device_id, cl_int, cl_kernel, cl_platform_id,
    cl_program, cl_queue_properties, cl_uint,
};

use super::{Way, by_name, kernels, memory, programs, queues};
use crate::boundary::{self, shielded};
use crate::driver::{self, Driver, call};
use crate::shadow::kernel::Argument;

type Properties = *const u64;

/// An extension function that is wrapped.
struct Extension {
    name: &'static str,
    wrapper: fn() -> *mut c_void,
}

const fn extension(name: &'static str, wrapper: fn() -> *mut c_void) -> Extension {
    Extension { name, wrapper }
}

/// The wrapped extension functions. The order is that of `Number`.
static EXTENSIONS: [Extension; 9] = [
    extension("clCreateProgramWithILKHR", || create_with_il as *mut c_void),
    extension("clCreateCommandQueueWithPropertiesKHR", || create_queue as *mut c_void),
    extension("clHostMemAllocINTEL", || host_alloc as *mut c_void),
    extension("clDeviceMemAllocINTEL", || device_alloc as *mut c_void),
    extension("clSharedMemAllocINTEL", || shared_alloc as *mut c_void),
    extension("clMemFreeINTEL", || free as *mut c_void),
    extension("clMemBlockingFreeINTEL", || blocking_free as *mut c_void),
    extension("clSetKernelArgMemPointerINTEL", || set_arg_pointer as *mut c_void),
    extension("clEnqueueMemcpyINTEL", || copy as *mut c_void),
];

#[derive(Clone, Copy)]
enum Number {
    ProgramWithIl,
    QueueWithProperties,
    HostAlloc,
    DeviceAlloc,
    SharedAlloc,
    Free,
    BlockingFree,
    SetArgPointer,
    Copy,
}

/// The originals that programs have asked for: the address of the driver's table, the function's number, its address.
static ORIGINALS: Mutex<Vec<(usize, usize, usize)>> = Mutex::new(Vec::new());

/// Puts a wrapper in the place of a function that `owner`, an object of the driver, gave for a name.
///
/// # Safety
/// `owner` must be null or an object of the driver, `name` a string.
pub unsafe fn wrapped(owner: *const c_void, name: *const c_char, original: *mut c_void, way: Way) -> *mut c_void {
    if original.is_null() || name.is_null() {
        return original;
    }
    let name = CStr::from_ptr(name).to_bytes();
    shielded(|| match EXTENSIONS.iter().position(|extension| extension.name.as_bytes() == name) {
        Some(number) => {
            let entry = (table(owner), number, original as usize);
            let mut originals = boundary::lock(&ORIGINALS);
            if !originals.contains(&entry) {
                originals.push(entry);
            }
            (EXTENSIONS[number].wrapper)()
        }
        None => by_name(name, way).unwrap_or(original),
    })
    .unwrap_or(original)
}

/// The address of an object's dispatch table; 0 for no object.
unsafe fn table(object: *const c_void) -> usize {
    if object.is_null() { 0 } else { *object.cast::<usize>() }
}

/// Returns the original for an object, or the only one there is.
unsafe fn original(object: *const c_void, number: Number) -> Option<usize> {
    let table = table(object);
    let originals = boundary::lock(&ORIGINALS);
    let of =
        |(owner, found, address): &(usize, usize, usize)| (*found == number as usize).then_some((*owner, *address));
    let exact = originals.iter().filter_map(of).find(|(owner, _)| *owner == table);
    exact.or_else(|| originals.iter().filter_map(of).next()).map(|(_, address)| address)
}

/// Calls the original of an extension function; without one, the program could not have got the wrapper.
macro_rules! original {
    ($object:expr, $number:ident, fn($($type:ty),*) -> $result:ty, ($($argument:expr),*), $otherwise:expr) => {
        match original($object, Number::$number) {
            Some(address) => {
                // SAFETY: the driver gave this address for the function of this name, which has this type.
                let function: unsafe extern "C" fn($($type),*) -> $result = std::mem::transmute(address);
                function($($argument),*)
            }
            None => $otherwise,
        }
    };
}

pub unsafe fn address_for_platform(
    driver: &'static Driver,
    platform: cl_platform_id,
    name: *const c_char,
) -> *mut c_void {
    let found = call!(driver, clGetExtensionFunctionAddressForPlatform(platform, name) else std::ptr::null_mut());
    let way = if driver::patched(platform).is_some() { Way::Driver } else { Way::Layer };
    wrapped(platform, name, found, way)
}

/// `clGetExtensionFunctionAddress` of the ICD layer.
pub unsafe extern "C" fn address_from_layer(name: *const c_char) -> *mut c_void {
    match driver::layer() {
        Some(below) => {
            let found = call!(below, clGetExtensionFunctionAddress(name) else std::ptr::null_mut());
            wrapped(std::ptr::null(), name, found, Way::Layer)
        }
        None => std::ptr::null_mut(),
    }
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

type Copy = unsafe extern "C" fn(
    cl_command_queue,
    cl_uint,
    *mut c_void,
    *const c_void,
    usize,
    cl_uint,
    *const *mut c_void,
    *mut *mut c_void,
) -> cl_int;

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
    let Some(address) = original(queue, Number::Copy) else { return CL_INVALID_OPERATION };
    // SAFETY: the driver gave this address for the function of this name, which has this type.
    let function: Copy = std::mem::transmute(address);
    super::transfers::marking(super::Target::Svm(to), || {
        function(queue, blocking, to, from, size, waits, wait_list, event)
    })
}

/// Reads unified shared memory.
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
    match original(queue, Number::Copy) {
        Some(address) => {
            // SAFETY: the driver gave this address for the function of this name, which has this type.
            let function: Copy = std::mem::transmute(address);
            function(queue, CL_TRUE, to, from, size, 0, std::ptr::null(), std::ptr::null_mut())
        }
        // The program copies by other means; where the memory is the host's too, this does.
        None => {
            call!(driver, clEnqueueSVMMemcpy(queue, CL_TRUE, to, from, size, 0, std::ptr::null(), std::ptr::null_mut()))
        }
    }
}
