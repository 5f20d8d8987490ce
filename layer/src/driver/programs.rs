//! What a driver tells of a program.

use opencl_sys::{CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_DEVICES, cl_device_id, cl_program};

use super::{Driver, call};

/// The devices of a program, in the driver's order.
///
/// # Safety
/// The program must be one of the driver's.
pub unsafe fn devices_of(driver: &Driver, program: cl_program) -> Vec<cl_device_id> {
    list(driver, program, CL_PROGRAM_DEVICES, std::ptr::null_mut())
}

/// A list that `clGetProgramInfo` gives.
///
/// # Safety
/// As for [`devices_of`]; `what` must be a list of values of this type.
pub unsafe fn list<T: Copy>(driver: &Driver, program: cl_program, what: u32, empty: T) -> Vec<T> {
    let mut size = 0;
    if call!(driver, clGetProgramInfo(program, what, 0, std::ptr::null_mut(), &mut size)) != 0 {
        return Vec::new();
    }
    let mut values = vec![empty; size / size_of::<T>()];
    let result = call!(driver, clGetProgramInfo(program, what, size, values.as_mut_ptr().cast(), std::ptr::null_mut()));
    if result == 0 { values } else { Vec::new() }
}

/// The binary of a program that was built for a device.
///
/// # Safety
/// As for [`devices_of`].
pub unsafe fn binary(driver: &Driver, program: cl_program, device: cl_device_id) -> Option<Vec<u8>> {
    let at = devices_of(driver, program).iter().position(|other| *other == device)?;
    let sizes: Vec<usize> = list(driver, program, CL_PROGRAM_BINARY_SIZES, 0);
    let mut binaries: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
    let mut pointers: Vec<*mut u8> = binaries.iter_mut().map(|binary| binary.as_mut_ptr()).collect();
    let bytes = size_of_val(pointers.as_slice());
    let to = pointers.as_mut_ptr().cast();
    let result = call!(driver, clGetProgramInfo(program, CL_PROGRAM_BINARIES, bytes, to, std::ptr::null_mut()));
    if result != 0 || at >= binaries.len() {
        return None;
    }
    Some(binaries.swap_remove(at)).filter(|binary| !binary.is_empty())
}
