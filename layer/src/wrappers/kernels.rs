//! Kernels and their arguments.

use std::ffi::{CStr, c_char, c_void};

use opencl_sys::{
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_FUNCTION_NAME, cl_int, cl_kernel, cl_kernel_exec_info, cl_program, cl_uint,
};

use crate::boundary::shielded;
use crate::driver::{Driver, call, text};
use crate::live;
use crate::shadow::kernel::{Argument, Bytes};
use crate::shadow::{self, key, retained};
use crate::spool::counts::Header;
use crate::spool::process;

pub unsafe fn create(
    driver: &'static Driver,
    program: cl_program,
    name: *const c_char,
    error: *mut cl_int,
) -> cl_kernel {
    let kernel = call!(driver, clCreateKernel(program, name, error) else std::ptr::null_mut());
    if !kernel.is_null() {
        // SAFETY: the driver found a kernel of this name.
        shielded(|| add(program, kernel, &CStr::from_ptr(name).to_string_lossy()));
    }
    kernel
}

pub unsafe fn create_all(
    driver: &'static Driver,
    program: cl_program,
    room: cl_uint,
    kernels: *mut cl_kernel,
    count: *mut cl_uint,
) -> cl_int {
    // The program need not ask how many there are, and there may be room for more than that.
    let mut made = 0;
    let status = call!(driver, clCreateKernelsInProgram(program, room, kernels, &mut made));
    if status == 0 && !count.is_null() {
        *count = made;
    }
    if status == 0 && !kernels.is_null() {
        shielded(|| {
            for index in 0..made.min(room) as usize {
                let kernel = *kernels.add(index);
                let ask = |size, value, size_ret| {
                    call!(driver, clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, value, size_ret))
                };
                if let Some(name) = text(ask) {
                    add(program, kernel, &name);
                }
            }
        });
    }
    status
}

fn add(program: cl_program, kernel: cl_kernel, name: &str) {
    let mut state = shadow::state();
    if let Some(build) = state.programs.get(&key(program)).and_then(|program| program.build.clone()) {
        state.add_kernel(key(kernel), name, build);
        live::kernel_is_new(key(kernel));
    }
    drop(state);
    process::count(Header::Kernels);
}

pub unsafe fn clone(driver: &'static Driver, kernel: cl_kernel, error: *mut cl_int) -> cl_kernel {
    let copy = call!(driver, clCloneKernel(kernel, error) else std::ptr::null_mut());
    if !copy.is_null() {
        shielded(|| {
            let mut state = shadow::state();
            if let Some(mut known) = state.kernels.get(&key(kernel)).cloned() {
                known.references = 1;
                state.kernels.insert(key(copy), known);
                live::kernel_is_new(key(copy));
            }
            drop(state);
            process::count(Header::Kernels);
        });
    }
    copy
}

pub unsafe fn retain(driver: &'static Driver, kernel: cl_kernel) -> cl_int {
    let known =
        shielded(|| retained(shadow::state().kernels.get_mut(&key(kernel)).map(|kernel| &mut kernel.references)));
    let status = call!(driver, clRetainKernel(kernel));
    if status != 0 && known == Some(true) {
        shielded(|| forget(kernel));
    }
    status
}

pub unsafe fn release(driver: &'static Driver, kernel: cl_kernel) -> cl_int {
    shielded(|| forget(kernel));
    call!(driver, clReleaseKernel(kernel))
}

/// Forgets a reference before the driver does: it may give the handle to another thread at once.
fn forget(kernel: cl_kernel) {
    let mut state = shadow::state();
    let Some(known) = state.kernels.get_mut(&key(kernel)) else { return };
    known.references -= 1;
    if known.references == 0 {
        state.kernels.remove(&key(kernel));
        drop(state);
        live::kernel_is_gone(key(kernel));
    }
}

pub unsafe fn set_arg(
    driver: &'static Driver,
    kernel: cl_kernel,
    index: cl_uint,
    size: usize,
    value: *const c_void,
) -> cl_int {
    let status = call!(driver, clSetKernelArg(kernel, index, size, value));
    if status == 0 {
        // SAFETY: the driver has read as many bytes.
        set(kernel, index, |state| match value.is_null() {
            true => Argument::Sized(size),
            false => {
                let bytes = Bytes::new(std::slice::from_raw_parts(value.cast(), size));
                let memory = bytes.as_handle().and_then(|handle| Some(state.memory.get(&handle)?.serial));
                Argument::Value { bytes, memory }
            }
        });
    }
    status
}

pub unsafe fn set_arg_svm_pointer(
    driver: &'static Driver,
    kernel: cl_kernel,
    index: cl_uint,
    value: *const c_void,
) -> cl_int {
    let status = call!(driver, clSetKernelArgSVMPointer(kernel, index, value));
    if status == 0 {
        set(kernel, index, |_| Argument::Pointer(value as usize));
    }
    status
}

/// Remembers an argument that the driver has taken.
pub fn set(kernel: cl_kernel, index: cl_uint, value: impl FnOnce(&shadow::State) -> Argument) {
    shielded(|| shadow::state().set_argument(key(kernel), index as usize, value));
}

pub unsafe fn set_exec_info(
    driver: &'static Driver,
    kernel: cl_kernel,
    what: cl_kernel_exec_info,
    size: usize,
    value: *const c_void,
) -> cl_int {
    let status = call!(driver, clSetKernelExecInfo(kernel, what, size, value));
    if status == 0 {
        shielded(|| {
            let bytes = match value.is_null() {
                true => &[],
                // SAFETY: the driver has read as many bytes.
                false => std::slice::from_raw_parts(value.cast::<u8>(), size),
            };
            shadow::state().set_exec_info(key(kernel), what, bytes.into());
        });
    }
    if status == 0 && what == CL_KERNEL_EXEC_INFO_SVM_PTRS && !value.is_null() {
        shielded(|| {
            let pointers =
                (0..size / size_of::<usize>()).map(|index| value.cast::<usize>().add(index).read_unaligned());
            let pointers: Vec<usize> = pointers.filter(|pointer| *pointer != 0).collect();
            if let Some(kernel) = shadow::state().kernels.get_mut(&key(kernel)) {
                kernel.indirect = pointers;
            }
        });
    }
    status
}
