//! Devices, of which a driver is asked once.

use std::sync::Arc;

use opencl_sys::cl_device_id;

use super::{key, state};
use crate::driver::Driver;
use crate::driver::devices::{self, Device};

/// Returns what a driver tells of a device.
///
/// # Safety
/// The device must be one of the driver's.
pub unsafe fn describe(driver: &Driver, device: cl_device_id) -> Arc<Device> {
    if let Some(known) = state().devices.get(&key(device)) {
        return known.clone();
    }
    let about = Arc::new(devices::describe(driver, device));
    state().devices.insert(key(device), about.clone());
    about
}
