//! What a driver tells of a device.

use std::ffi::c_void;

use opencl_sys::{
    CL_DEVICE_IL_VERSION, CL_DEVICE_NAME, CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_DEVICE_VENDOR,
    CL_DEVICE_VERSION, CL_DRIVER_VERSION, cl_device_id, cl_device_type,
};
use serde::Serialize;

use super::{Driver, call, text};

/// A device, as results tell it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    pub name: String,
    pub vendor: String,
    /// `CL_DEVICE_VERSION`.
    pub version: String,
    /// `CL_DRIVER_VERSION`.
    pub driver: String,
    /// What it is, whatever it calls itself to the program: `cpu`, `gpu`, `accelerator`, or `unknown`.
    pub kind: &'static str,
    /// `CL_DEVICE_IL_VERSION`; empty where there is none.
    pub il_version: String,
}

/// Asks a driver about a device.
///
/// # Safety
/// The device must be one of the driver's.
pub unsafe fn describe(driver: &Driver, device: cl_device_id) -> Device {
    let ask = |what: u32| {
        text(|size, value, size_ret| call!(driver, clGetDeviceInfo(device, what, size, value, size_ret)))
            .unwrap_or_default()
    };
    Device {
        name: ask(CL_DEVICE_NAME),
        vendor: ask(CL_DEVICE_VENDOR),
        version: ask(CL_DEVICE_VERSION),
        driver: ask(CL_DRIVER_VERSION),
        kind: kind(driver, device),
        il_version: ask(CL_DEVICE_IL_VERSION),
    }
}

/// Asks a driver of what kind a device is.
unsafe fn kind(driver: &Driver, device: cl_device_id) -> &'static str {
    let mut bits: cl_device_type = 0;
    let size = size_of::<cl_device_type>();
    let value = (&raw mut bits).cast::<c_void>();
    match call!(driver, clGetDeviceInfo(device, CL_DEVICE_TYPE, size, value, std::ptr::null_mut())) {
        0 if bits & CL_DEVICE_TYPE_GPU != 0 => "gpu",
        0 if bits & CL_DEVICE_TYPE_CPU != 0 => "cpu",
        0 => "accelerator",
        _ => "unknown",
    }
}
