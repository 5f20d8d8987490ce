//! Memory objects, shared virtual memory and samplers.

use std::ffi::c_void;

use opencl_sys::{
    CL_IMAGE_ARRAY_SIZE, CL_IMAGE_DEPTH, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT, CL_IMAGE_HEIGHT,
    CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_NUM_SAMPLES, CL_IMAGE_WIDTH, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_COPY_HOST_PTR,
    CL_MEM_FLAGS, CL_MEM_OFFSET, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_SIZE, CL_MEM_TYPE, CL_MEM_USE_HOST_PTR,
    CL_MEM_WRITE_ONLY, cl_addressing_mode, cl_bool, cl_buffer_create_type, cl_command_queue, cl_context, cl_event,
    cl_filter_mode, cl_image_desc, cl_image_format, cl_int, cl_mem, cl_mem_flags, cl_mem_properties,
    cl_pipe_properties, cl_sampler, cl_sampler_properties, cl_svm_mem_flags, cl_uint,
};

use super::FreeCallback;
use crate::boundary::shielded;
use crate::driver::{Driver, call};
use crate::shadow::memory::{Image, Kind, Memory, SvmAllocation};
use crate::shadow::{self, key, retained};

const NULL: *mut c_void = std::ptr::null_mut();

/// Asks the driver something about a memory object; zeros if it does not tell.
unsafe fn ask<T: Copy>(driver: &Driver, memory: cl_mem, what: u32, zero: T) -> T {
    let mut value = zero;
    let status =
        call!(driver, clGetMemObjectInfo(memory, what, size_of::<T>(), (&raw mut value).cast(), std::ptr::null_mut()));
    if status == 0 { value } else { zero }
}

unsafe fn ask_image<T: Copy>(driver: &Driver, image: cl_mem, what: u32, zero: T) -> T {
    let mut value = zero;
    let status =
        call!(driver, clGetImageInfo(image, what, size_of::<T>(), (&raw mut value).cast(), std::ptr::null_mut()));
    if status == 0 { value } else { zero }
}

/// The flags that say how kernels access an object.
const ACCESS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;

/// Remembers an object that the driver has just made, with what the driver tells of it.
unsafe fn add(driver: &Driver, handle: cl_mem, kind: impl FnOnce() -> Kind) -> cl_mem {
    if handle.is_null() {
        return handle;
    }
    shielded(|| {
        let flags: cl_mem_flags = ask(driver, handle, CL_MEM_FLAGS, 0);
        let size = ask(driver, handle, CL_MEM_SIZE, 0);
        let kind = kind();
        let parent: cl_mem = ask(driver, handle, CL_MEM_ASSOCIATED_MEMOBJECT, NULL);
        let origin = if parent.is_null() { 0 } else { ask(driver, handle, CL_MEM_OFFSET, 0) };
        let mut state = shadow::state();
        let serial = state.serial();
        let has_host = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0;
        let whole = state.memory.get(&key(parent)).filter(|_| !parent.is_null());
        // Not every driver tells what a sub-buffer inherits.
        let inherited = whole.filter(|_| flags & ACCESS == 0).map_or(0, |whole| whole.flags & ACCESS);
        let flags = flags | inherited;
        let mut memory = Memory {
            references: 1,
            serial,
            kind,
            flags,
            size,
            root: serial,
            origin: 0,
            written: has_host || (whole.is_none() && !parent.is_null()) || whole.is_some_and(|whole| whole.written),
        };
        match (&mut memory.kind, whole) {
            (Kind::Buffer, Some(whole)) => (memory.root, memory.origin) = (whole.root, whole.origin + origin),
            (Kind::Image(image), Some(whole)) => image.buffer = Some(whole.root),
            _ => {}
        }
        state.memory.insert(key(handle), memory);
    });
    handle
}

unsafe fn add_image(driver: &Driver, handle: cl_mem) -> cl_mem {
    add(driver, handle, || {
        let format: cl_image_format = ask_image(
            driver,
            handle,
            CL_IMAGE_FORMAT,
            cl_image_format { image_channel_order: 0, image_channel_data_type: 0 },
        );
        Kind::Image(Image {
            object: ask(driver, handle, CL_MEM_TYPE, 0),
            channel_order: format.image_channel_order,
            channel_type: format.image_channel_data_type,
            element: ask_image(driver, handle, CL_IMAGE_ELEMENT_SIZE, 0),
            width: ask_image(driver, handle, CL_IMAGE_WIDTH, 0),
            height: ask_image(driver, handle, CL_IMAGE_HEIGHT, 0),
            depth: ask_image(driver, handle, CL_IMAGE_DEPTH, 0),
            layers: ask_image(driver, handle, CL_IMAGE_ARRAY_SIZE, 0),
            mip_levels: ask_image(driver, handle, CL_IMAGE_NUM_MIP_LEVELS, 0),
            samples: ask_image(driver, handle, CL_IMAGE_NUM_SAMPLES, 0),
            buffer: None,
        })
    })
}

pub unsafe fn create_buffer(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    add(driver, call!(driver, clCreateBuffer(context, flags, size, host, error) else NULL), || Kind::Buffer)
}

pub unsafe fn create_buffer_with_properties(
    driver: &'static Driver,
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    let made = call!(driver, clCreateBufferWithProperties(context, properties, flags, size, host, error) else NULL);
    add(driver, made, || Kind::Buffer)
}

pub unsafe fn create_sub_buffer(
    driver: &'static Driver,
    buffer: cl_mem,
    flags: cl_mem_flags,
    kind: cl_buffer_create_type,
    region: *const c_void,
    error: *mut cl_int,
) -> cl_mem {
    add(driver, call!(driver, clCreateSubBuffer(buffer, flags, kind, region, error) else NULL), || Kind::Buffer)
}

pub unsafe fn create_image(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    description: *const cl_image_desc,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    add_image(driver, call!(driver, clCreateImage(context, flags, format, description, host, error) else NULL))
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn create_image_with_properties(
    driver: &'static Driver,
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    description: *const cl_image_desc,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    let made = call!(driver, clCreateImageWithProperties(context, properties, flags, format, description, host, error) else NULL);
    add_image(driver, made)
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn create_image_2d(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    pitch: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    add_image(
        driver,
        call!(driver, clCreateImage2D(context, flags, format, width, height, pitch, host, error) else NULL),
    )
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn create_image_3d(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host: *mut c_void,
    error: *mut cl_int,
) -> cl_mem {
    let made = call!(driver, clCreateImage3D(context, flags, format, width, height, depth, row_pitch, slice_pitch, host, error) else NULL);
    add_image(driver, made)
}

pub unsafe fn create_pipe(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_mem_flags,
    packet: cl_uint,
    most: cl_uint,
    properties: *const cl_pipe_properties,
    error: *mut cl_int,
) -> cl_mem {
    add(driver, call!(driver, clCreatePipe(context, flags, packet, most, properties, error) else NULL), || Kind::Pipe)
}

pub unsafe fn retain(driver: &'static Driver, memory: cl_mem) -> cl_int {
    let known =
        shielded(|| retained(shadow::state().memory.get_mut(&key(memory)).map(|memory| &mut memory.references)));
    let status = call!(driver, clRetainMemObject(memory));
    if status != 0 && known == Some(true) {
        shielded(|| shadow::state().release_memory(key(memory)));
    }
    status
}

pub unsafe fn release(driver: &'static Driver, memory: cl_mem) -> cl_int {
    shielded(|| shadow::state().release_memory(key(memory)));
    call!(driver, clReleaseMemObject(memory))
}

pub unsafe fn svm_alloc(
    driver: &'static Driver,
    context: cl_context,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> *mut c_void {
    let pointer = call!(driver, clSVMAlloc(context, flags, size, alignment) else NULL);
    add_svm(context, pointer, size, flags, false)
}

/// Remembers an allocation of shared virtual memory.
pub fn add_svm(context: cl_context, pointer: *mut c_void, size: usize, flags: u64, unified: bool) -> *mut c_void {
    if !pointer.is_null() {
        shielded(|| {
            let mut state = shadow::state();
            let serial = state.serial();
            state.svm.insert(pointer as usize, SvmAllocation { serial, size, flags, context: key(context), unified });
        });
    }
    pointer
}

/// Forgets an allocation before it is freed.
pub fn forget_svm(pointer: *mut c_void) {
    shielded(|| shadow::state().svm.remove(&(pointer as usize)));
}

pub unsafe fn svm_free(driver: &'static Driver, context: cl_context, pointer: *mut c_void) {
    forget_svm(pointer);
    call!(driver, clSVMFree(context, pointer) else ())
}

#[allow(clippy::too_many_arguments)]
pub unsafe fn enqueue_svm_free(
    driver: &'static Driver,
    queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    free: FreeCallback,
    data: *mut c_void,
    waits: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    // Launches that come later must not use the memory, so it can be forgotten now.
    if !queue.is_null() && !pointers.is_null() {
        (0..count as usize).for_each(|index| forget_svm(*pointers.add(index)));
    }
    call!(driver, clEnqueueSVMFree(queue, count, pointers, free, data, waits, wait_list, event))
}

pub unsafe fn create_sampler(
    driver: &'static Driver,
    context: cl_context,
    normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    error: *mut cl_int,
) -> cl_sampler {
    add_sampler(call!(driver, clCreateSampler(context, normalized, addressing, filter, error) else NULL))
}

pub unsafe fn create_sampler_with_properties(
    driver: &'static Driver,
    context: cl_context,
    properties: *const cl_sampler_properties,
    error: *mut cl_int,
) -> cl_sampler {
    add_sampler(call!(driver, clCreateSamplerWithProperties(context, properties, error) else NULL))
}

fn add_sampler(sampler: cl_sampler) -> cl_sampler {
    if !sampler.is_null() {
        shielded(|| shadow::state().samplers.insert(key(sampler), 1));
    }
    sampler
}

pub unsafe fn retain_sampler(driver: &'static Driver, sampler: cl_sampler) -> cl_int {
    let known = shielded(|| retained(shadow::state().samplers.get_mut(&key(sampler))));
    let status = call!(driver, clRetainSampler(sampler));
    if status != 0 && known == Some(true) {
        shielded(|| forget_sampler(sampler));
    }
    status
}

pub unsafe fn release_sampler(driver: &'static Driver, sampler: cl_sampler) -> cl_int {
    shielded(|| forget_sampler(sampler));
    call!(driver, clReleaseSampler(sampler))
}

fn forget_sampler(sampler: cl_sampler) {
    let mut state = shadow::state();
    if let Some(references) = state.samplers.get_mut(&key(sampler)) {
        *references -= 1;
        if *references == 0 {
            state.samplers.remove(&key(sampler));
        }
    }
}
