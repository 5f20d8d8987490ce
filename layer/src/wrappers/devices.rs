//! Devices and contexts. With `as_gpu`, a request for a GPU that finds none gets the CPU, which then calls itself a
//! GPU.

use std::ffi::c_void;

use opencl_sys::{
    CL_CONTEXT_PLATFORM, CL_DEVICE_NOT_FOUND, CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, cl_context,
    cl_context_properties, cl_device_id, cl_device_info, cl_device_type, cl_int, cl_platform_id, cl_uint,
};

use super::ContextCallback;
use crate::boundary::shielded;
use crate::driver::{Driver, call};
use crate::generation;
use crate::live;
use crate::platforms;
use crate::shadow::{self, Context, key, retained};
use crate::spool::config;
use crate::spool::counts::Header;
use crate::spool::process;

/// The type to ask for instead, if a GPU is asked for and the CPU has to stand in.
fn stand_in(kind: cl_device_type) -> Option<cl_device_type> {
    let (gpu, cpu) = (CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU);
    (kind & gpu != 0 && kind & cpu == 0 && shielded(|| config().as_gpu) == Some(true)).then_some(kind | cpu)
}

pub unsafe fn get_ids(
    driver: &'static Driver,
    platform: cl_platform_id,
    kind: cl_device_type,
    room: cl_uint,
    devices: *mut cl_device_id,
    count: *mut cl_uint,
) -> cl_int {
    let status = call!(driver, clGetDeviceIDs(platform, kind, room, devices, count));
    match stand_in(kind) {
        Some(kind) if status == CL_DEVICE_NOT_FOUND => {
            call!(driver, clGetDeviceIDs(platform, kind, room, devices, count))
        }
        _ => status,
    }
}

pub unsafe fn get_info(
    driver: &'static Driver,
    device: cl_device_id,
    what: cl_device_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    let status = call!(driver, clGetDeviceInfo(device, what, size, value, size_ret));
    let is_type = what == CL_DEVICE_TYPE && status == 0 && !value.is_null() && size >= size_of::<cl_device_type>();
    if is_type && shielded(|| config().as_gpu) == Some(true) {
        let kind = value.cast::<cl_device_type>();
        let (gpu, cpu) = (CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU);
        let reported = kind.read_unaligned();
        if reported & cpu != 0 {
            kind.write_unaligned(reported & !cpu | gpu);
        }
    }
    status
}

pub unsafe fn create_context(
    driver: &'static Driver,
    properties: *const cl_context_properties,
    count: cl_uint,
    devices: *const cl_device_id,
    notify: ContextCallback,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_context {
    counted(call!(driver, clCreateContext(properties, count, devices, notify, data, error) else std::ptr::null_mut()))
}

pub unsafe fn create_context_from_type(
    driver: &'static Driver,
    properties: *const cl_context_properties,
    kind: cl_device_type,
    notify: ContextCallback,
    data: *mut c_void,
    error: *mut cl_int,
) -> cl_context {
    let ask = |kind: cl_device_type| call!(driver, clCreateContextFromType(properties, kind, notify, data, error) else std::ptr::null_mut());
    let context = ask(kind);
    match stand_in(kind) {
        Some(kind) if context.is_null() => counted(ask(kind)),
        _ => counted(context),
    }
}

/// The first of some devices, by which loaders dispatch; null for none.
pub unsafe fn first(count: cl_uint, devices: *const cl_device_id) -> cl_device_id {
    if count == 0 || devices.is_null() { std::ptr::null_mut() } else { *devices }
}

/// The platform in a context's properties, by which loaders dispatch; null for none.
pub unsafe fn platform(properties: *const cl_context_properties) -> cl_platform_id {
    let mut at = properties;
    while !at.is_null() && *at != 0 {
        if *at == CL_CONTEXT_PLATFORM as cl_context_properties {
            return *at.add(1) as cl_platform_id;
        }
        at = at.add(2);
    }
    std::ptr::null_mut()
}

fn counted(context: cl_context) -> cl_context {
    if !context.is_null() {
        shielded(platforms::note_order);
        shielded(|| {
            let known = Context { references: 1, generation: generation::current() };
            shadow::state().contexts.insert(key(context), known);
            process::count(Header::Contexts);
        });
    }
    context
}

pub unsafe fn retain_context(driver: &'static Driver, context: cl_context) -> cl_int {
    let known =
        shielded(|| retained(shadow::state().contexts.get_mut(&key(context)).map(|context| &mut context.references)));
    let status = call!(driver, clRetainContext(context));
    if status != 0 && known == Some(true) {
        shielded(|| forget(context));
    }
    status
}

pub unsafe fn release_context(driver: &'static Driver, context: cl_context) -> cl_int {
    shielded(|| forget(context));
    call!(driver, clReleaseContext(context))
}

/// Forgets a reference before the driver does: what the layer has in the context would keep it alive.
fn forget(context: cl_context) {
    let is_done = shadow::state().release_context(key(context));
    if is_done {
        live::context_is_done(key(context));
    }
}
