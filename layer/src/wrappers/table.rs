//! The list of the wrapped calls, and how programs come to them: by a dispatch table or by name.

use std::ffi::{CStr, c_char, c_uchar, c_void};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{
    CL_CONTEXT_PLATFORM, cl_addressing_mode, cl_bool, cl_buffer_create_type, cl_command_queue,
    cl_command_queue_properties, cl_context, cl_context_properties, cl_device_id, cl_device_info, cl_device_type,
    cl_event, cl_filter_mode, cl_image_desc, cl_image_format, cl_int, cl_kernel, cl_kernel_exec_info, cl_map_flags,
    cl_mem, cl_mem_flags, cl_mem_properties, cl_pipe_properties, cl_platform_id, cl_program, cl_program_info,
    cl_queue_properties, cl_sampler, cl_sampler_properties, cl_svm_mem_flags, cl_uint,
};

use super::transfers::{Target, marking};
use super::{BuildCallback, ContextCallback, FreeCallback, NativeKernel};
use super::{devices, events, extensions, kernels, launches, memory, programs, queues};
use crate::boundary::shielded;
use crate::driver::{self, Driver, Layered, Outcome};
use crate::platforms;

/// How a call reaches the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Through the driver's own table, which the proxy has overwritten.
    Driver,
    /// Through the loader's list of layers.
    Layer,
}

type Sizes = *const usize;
type Events = *const cl_event;

/// Defines, for each entry of the dispatch table that is wrapped, a function for either way in. Both end in the
/// function given (`watched`), or mark the memory that the call writes (`writing`), unless a layer's finds that the
/// driver's table has wrappers, too.
macro_rules! wrappers {
    (
        watched { $($entry:ident $([$owner:expr])? ($($name:ident: $type:ty),* $(,)?) -> $result:ty = $body:path;)* }
        writing { $($writer:ident($($argument:ident: $kind:ty),* $(,)?) -> $outcome:ty, $target:expr;)* }
    ) => {
        $(wrapper!($entry [$($owner)?] ($($name: $type),*) -> $result, driver, $body(driver $(, $name)*));)*
        $(wrapper!($writer [] ($($argument: $kind),*) -> $outcome, driver, marking($target, || {
            driver::call!(driver, $writer($($argument),*) else Outcome::LOST)
        }));)*

        /// Writes the wrappers for one way in into a table and leaves its other entries alone.
        pub fn fill(table: &mut cl_icd_dispatch, way: Way) {
            match way {
                Way::Driver => {
                    $(table.$entry = Some($entry::through_driver);)*
                    $(table.$writer = Some($writer::through_driver);)*
                }
                Way::Layer => {
                    $(table.$entry = Some($entry::through_layer);)*
                    $(table.$writer = Some($writer::through_layer);)*
                    // The program's own platforms first.
                    table.clGetPlatformIDs = Some(platforms::get_ids);
                    table.clGetPlatformInfo = Some(platforms::get_info);
                    table.clGetDeviceIDs = Some(device_ids_from_layer);
                    table.clCreateContextFromType = Some(context_from_layer);
                    // Has no handle; a driver's own is reached through the library's export instead.
                    table.clGetExtensionFunctionAddress = Some(address_from_layer);
                }
            }
        }

        /// Returns the wrapper of a core function by its name.
        fn by_name(name: &[u8], way: Way) -> Option<*mut c_void> {
            $(if name == stringify!($entry).as_bytes() {
                return Some(match way {
                    Way::Driver => $entry::through_driver as *mut c_void,
                    Way::Layer => $entry::through_layer as *mut c_void,
                });
            })*
            $(if name == stringify!($writer).as_bytes() {
                return Some(match way {
                    Way::Driver => $writer::through_driver as *mut c_void,
                    Way::Layer => $writer::through_layer as *mut c_void,
                });
            })*
            None
        }
    };
}

/// Defines the two functions of one wrapper. The loader dispatches by the first argument, if no other owner is given.
macro_rules! wrapper {
    ($entry:ident [] ($handle:ident: $handle_type:ty $(, $name:ident: $type:ty)*) -> $result:ty, $driver:ident, $body:expr) => {
        wrapper!($entry [$handle] ($handle: $handle_type $(, $name: $type)*) -> $result, $driver, $body);
    };
    ($entry:ident [$owner:expr] ($($name:ident: $type:ty),*) -> $result:ty, $driver:ident, $body:expr) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub mod $entry {
            use super::*;

            pub unsafe extern "C" fn through_driver($($name: $type),*) -> $result {
                match driver::of($owner) {
                    Some($driver) => $body,
                    None => Outcome::LOST,
                }
            }

            pub unsafe extern "C" fn through_layer($($name: $type),*) -> $result {
                match driver::layered($owner) {
                    Some(Layered::Watched($driver)) => $body,
                    Some(Layered::Passed(below)) => driver::call!(below, $entry($($name),*) else Outcome::LOST),
                    None => Outcome::LOST,
                }
            }
        }
    };
}

wrappers! {
    watched {
        clGetDeviceIDs(platform: cl_platform_id, kind: cl_device_type, room: cl_uint, devices: *mut cl_device_id, count: *mut cl_uint) -> cl_int = devices::get_ids;
        clGetDeviceInfo(device: cl_device_id, what: cl_device_info, size: usize, value: *mut c_void, size_ret: *mut usize) -> cl_int = devices::get_info;
        clCreateContext[devices::first(count, devices)](properties: *const cl_context_properties, count: cl_uint, devices: *const cl_device_id, notify: ContextCallback, data: *mut c_void, error: *mut cl_int) -> cl_context = devices::create_context;
        clCreateContextFromType[devices::platform(properties)](properties: *const cl_context_properties, kind: cl_device_type, notify: ContextCallback, data: *mut c_void, error: *mut cl_int) -> cl_context = devices::create_context_from_type;
        clRetainContext(context: cl_context) -> cl_int = devices::retain_context;
        clReleaseContext(context: cl_context) -> cl_int = devices::release_context;
        clGetExtensionFunctionAddressForPlatform(platform: cl_platform_id, name: *const c_char) -> *mut c_void = address_for_platform;

        clCreateCommandQueue(context: cl_context, device: cl_device_id, properties: cl_command_queue_properties, error: *mut cl_int) -> cl_command_queue = queues::create;
        clCreateCommandQueueWithProperties(context: cl_context, device: cl_device_id, properties: *const cl_queue_properties, error: *mut cl_int) -> cl_command_queue = queues::create_with_properties;
        clRetainCommandQueue(queue: cl_command_queue) -> cl_int = queues::retain;
        clReleaseCommandQueue(queue: cl_command_queue) -> cl_int = queues::release;

        clCreateProgramWithSource(context: cl_context, count: cl_uint, strings: *mut *const c_char, lengths: Sizes, error: *mut cl_int) -> cl_program = programs::create_with_source;
        clCreateProgramWithBinary(context: cl_context, count: cl_uint, devices: *const cl_device_id, lengths: Sizes, binaries: *mut *const c_uchar, status: *mut cl_int, error: *mut cl_int) -> cl_program = programs::create_with_binary;
        clCreateProgramWithBuiltInKernels(context: cl_context, count: cl_uint, devices: *const cl_device_id, names: *const c_char, error: *mut cl_int) -> cl_program = programs::create_with_built_in_kernels;
        clCreateProgramWithIL(context: cl_context, il: *const c_void, length: usize, error: *mut cl_int) -> cl_program = programs::create_with_il;
        clSetProgramSpecializationConstant(program: cl_program, id: cl_uint, size: usize, value: *const c_void) -> cl_int = programs::set_specialization_constant;
        clBuildProgram(program: cl_program, count: cl_uint, devices: *const cl_device_id, options: *const c_char, notify: BuildCallback, data: *mut c_void) -> cl_int = programs::build;
        clCompileProgram(program: cl_program, count: cl_uint, devices: *const cl_device_id, options: *const c_char, headers: cl_uint, header_programs: *const cl_program, header_names: *mut *const c_char, notify: BuildCallback, data: *mut c_void) -> cl_int = programs::compile;
        clLinkProgram(context: cl_context, count: cl_uint, devices: *const cl_device_id, options: *const c_char, inputs: cl_uint, input_programs: *const cl_program, notify: BuildCallback, data: *mut c_void, error: *mut cl_int) -> cl_program = programs::link;
        clGetProgramInfo(program: cl_program, what: cl_program_info, size: usize, value: *mut c_void, size_ret: *mut usize) -> cl_int = programs::get_info;
        clRetainProgram(program: cl_program) -> cl_int = programs::retain;
        clReleaseProgram(program: cl_program) -> cl_int = programs::release;

        clCreateKernel(program: cl_program, name: *const c_char, error: *mut cl_int) -> cl_kernel = kernels::create;
        clCreateKernelsInProgram(program: cl_program, room: cl_uint, kernels: *mut cl_kernel, count: *mut cl_uint) -> cl_int = kernels::create_all;
        clCloneKernel(kernel: cl_kernel, error: *mut cl_int) -> cl_kernel = kernels::clone;
        clRetainKernel(kernel: cl_kernel) -> cl_int = kernels::retain;
        clReleaseKernel(kernel: cl_kernel) -> cl_int = kernels::release;
        clSetKernelArg(kernel: cl_kernel, index: cl_uint, size: usize, value: *const c_void) -> cl_int = kernels::set_arg;
        clSetKernelArgSVMPointer(kernel: cl_kernel, index: cl_uint, value: *const c_void) -> cl_int = kernels::set_arg_svm_pointer;
        clSetKernelExecInfo(kernel: cl_kernel, what: cl_kernel_exec_info, size: usize, value: *const c_void) -> cl_int = kernels::set_exec_info;

        clEnqueueNDRangeKernel(queue: cl_command_queue, kernel: cl_kernel, dimensions: cl_uint, offset: Sizes, global: Sizes, local: Sizes, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int = launches::enqueue;
        clEnqueueTask(queue: cl_command_queue, kernel: cl_kernel, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int = launches::enqueue_task;
        clEnqueueNativeKernel(queue: cl_command_queue, function: NativeKernel, arguments: *mut c_void, size: usize, count: cl_uint, memory: *const cl_mem, places: *mut *const c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int = launches::enqueue_native;

        clCreateBuffer(context: cl_context, flags: cl_mem_flags, size: usize, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_buffer;
        clCreateBufferWithProperties(context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags, size: usize, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_buffer_with_properties;
        clCreateSubBuffer(buffer: cl_mem, flags: cl_mem_flags, kind: cl_buffer_create_type, region: *const c_void, error: *mut cl_int) -> cl_mem = memory::create_sub_buffer;
        clCreateImage(context: cl_context, flags: cl_mem_flags, format: *const cl_image_format, description: *const cl_image_desc, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_image;
        clCreateImageWithProperties(context: cl_context, properties: *const cl_mem_properties, flags: cl_mem_flags, format: *const cl_image_format, description: *const cl_image_desc, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_image_with_properties;
        clCreateImage2D(context: cl_context, flags: cl_mem_flags, format: *const cl_image_format, width: usize, height: usize, pitch: usize, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_image_2d;
        clCreateImage3D(context: cl_context, flags: cl_mem_flags, format: *const cl_image_format, width: usize, height: usize, depth: usize, row_pitch: usize, slice_pitch: usize, host: *mut c_void, error: *mut cl_int) -> cl_mem = memory::create_image_3d;
        clCreatePipe(context: cl_context, flags: cl_mem_flags, packet: cl_uint, most: cl_uint, properties: *const cl_pipe_properties, error: *mut cl_int) -> cl_mem = memory::create_pipe;
        clRetainMemObject(memory: cl_mem) -> cl_int = memory::retain;
        clReleaseMemObject(memory: cl_mem) -> cl_int = memory::release;
        clSVMAlloc(context: cl_context, flags: cl_svm_mem_flags, size: usize, alignment: cl_uint) -> *mut c_void = memory::svm_alloc;
        clSVMFree(context: cl_context, pointer: *mut c_void) -> () = memory::svm_free;
        clEnqueueSVMFree(queue: cl_command_queue, count: cl_uint, pointers: *mut *mut c_void, free: FreeCallback, data: *mut c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int = memory::enqueue_svm_free;
        clCreateSampler(context: cl_context, normalized: cl_bool, addressing: cl_addressing_mode, filter: cl_filter_mode, error: *mut cl_int) -> cl_sampler = memory::create_sampler;
        clCreateSamplerWithProperties(context: cl_context, properties: *const cl_sampler_properties, error: *mut cl_int) -> cl_sampler = memory::create_sampler_with_properties;
        clRetainSampler(sampler: cl_sampler) -> cl_int = memory::retain_sampler;
        clReleaseSampler(sampler: cl_sampler) -> cl_int = memory::release_sampler;

        clCreateUserEvent(context: cl_context, error: *mut cl_int) -> cl_event = events::create_user_event;
        clSetUserEventStatus(event: cl_event, status: cl_int) -> cl_int = events::set_user_event_status;
        clReleaseEvent(event: cl_event) -> cl_int = events::release;
    }
    writing {
        clEnqueueWriteBuffer(queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, offset: usize, size: usize, from: *const c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(buffer);
        clEnqueueWriteBufferRect(queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, origin: Sizes, host_origin: Sizes, region: Sizes, row: usize, slice: usize, host_row: usize, host_slice: usize, from: *const c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(buffer);
        clEnqueueCopyBuffer(queue: cl_command_queue, from: cl_mem, to: cl_mem, from_offset: usize, to_offset: usize, size: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(to);
        clEnqueueCopyBufferRect(queue: cl_command_queue, from: cl_mem, to: cl_mem, from_origin: Sizes, to_origin: Sizes, region: Sizes, from_row: usize, from_slice: usize, to_row: usize, to_slice: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(to);
        clEnqueueFillBuffer(queue: cl_command_queue, buffer: cl_mem, pattern: *const c_void, pattern_size: usize, offset: usize, size: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(buffer);
        clEnqueueWriteImage(queue: cl_command_queue, image: cl_mem, blocking: cl_bool, origin: Sizes, region: Sizes, row: usize, slice: usize, from: *const c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(image);
        clEnqueueCopyImage(queue: cl_command_queue, from: cl_mem, to: cl_mem, from_origin: Sizes, to_origin: Sizes, region: Sizes, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(to);
        clEnqueueCopyImageToBuffer(queue: cl_command_queue, from: cl_mem, to: cl_mem, origin: Sizes, region: Sizes, offset: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(to);
        clEnqueueCopyBufferToImage(queue: cl_command_queue, from: cl_mem, to: cl_mem, offset: usize, origin: Sizes, region: Sizes, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(to);
        clEnqueueFillImage(queue: cl_command_queue, image: cl_mem, color: *const c_void, origin: Sizes, region: Sizes, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(image);
        clEnqueueMapBuffer(queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, flags: cl_map_flags, offset: usize, size: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event, error: *mut cl_int) -> *mut c_void, Target::mapped(buffer, flags);
        clEnqueueMapImage(queue: cl_command_queue, image: cl_mem, blocking: cl_bool, flags: cl_map_flags, origin: Sizes, region: Sizes, row: *mut usize, slice: *mut usize, waits: cl_uint, wait_list: Events, event: *mut cl_event, error: *mut cl_int) -> *mut c_void, Target::mapped(image, flags);
        clEnqueueUnmapMemObject(queue: cl_command_queue, memory: cl_mem, mapped: *mut c_void, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Memory(memory);
        clEnqueueSVMMemcpy(queue: cl_command_queue, blocking: cl_bool, to: *mut c_void, from: *const c_void, size: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Svm(to);
        clEnqueueSVMMemFill(queue: cl_command_queue, to: *mut c_void, pattern: *const c_void, pattern_size: usize, size: usize, waits: cl_uint, wait_list: Events, event: *mut cl_event) -> cl_int, Target::Svm(to);
    }
}

/// Puts a wrapper in the place of a function that `owner`, an object of the driver, gave for a name, if there is one:
/// core functions and some extensions are wrapped, all others come as the driver has them.
///
/// # Safety
/// `owner` must be null or an object of the driver, `name` a string.
pub unsafe fn wrapped(owner: *const c_void, name: *const c_char, original: *mut c_void, way: Way) -> *mut c_void {
    if original.is_null() || name.is_null() {
        return original;
    }
    let name = CStr::from_ptr(name).to_bytes();
    let wrapper = shielded(|| extensions::by_name(owner, name, original).or_else(|| by_name(name, way)));
    wrapper.flatten().unwrap_or(original)
}

unsafe fn address_for_platform(driver: &'static Driver, platform: cl_platform_id, name: *const c_char) -> *mut c_void {
    let found =
        driver::call!(driver, clGetExtensionFunctionAddressForPlatform(platform, name) else std::ptr::null_mut());
    let way = if driver::patched(platform).is_some() { Way::Driver } else { Way::Layer };
    wrapped(platform, name, found, way)
}

/// `clGetExtensionFunctionAddress` of the ICD layer.
unsafe extern "C" fn address_from_layer(name: *const c_char) -> *mut c_void {
    match driver::layer() {
        Some(below) => {
            let found = driver::call!(below, clGetExtensionFunctionAddress(name) else std::ptr::null_mut());
            wrapped(std::ptr::null(), name, found, Way::Layer)
        }
        None => std::ptr::null_mut(),
    }
}

/// `clGetDeviceIDs` of the ICD layer, for which a null platform stands for the program's own first one.
unsafe extern "C" fn device_ids_from_layer(
    platform: cl_platform_id,
    kind: cl_device_type,
    room: cl_uint,
    ids: *mut cl_device_id,
    count: *mut cl_uint,
) -> cl_int {
    let platform = if platform.is_null() { platforms::default().unwrap_or(platform) } else { platform };
    clGetDeviceIDs::through_layer(platform, kind, room, ids, count)
}

/// `clCreateContextFromType` of the ICD layer, as above.
unsafe extern "C" fn context_from_layer(
    properties: *const cl_context_properties,
    kind: cl_device_type,
    notify: ContextCallback,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_context {
    let create = clCreateContextFromType::through_layer;
    let platform = if devices::platform(properties).is_null() { platforms::default() } else { None };
    let Some(platform) = platform else { return create(properties, kind, notify, data, error) };
    let mut all = vec![CL_CONTEXT_PLATFORM as cl_context_properties, platform as cl_context_properties];
    let mut at = properties;
    while !at.is_null() && *at != 0 {
        all.extend([*at, *at.add(1)]);
        at = at.add(2);
    }
    all.push(0);
    create(all.as_ptr(), kind, notify, data, error)
}
