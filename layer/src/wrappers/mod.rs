//! The wrapped calls, one list ([`table`]) for both ways in. Each wrapper calls the original exactly once, whatever
//! else it does.
//!
//! The functions of the other modules take the driver first and then what the call takes. They are unsafe as the call
//! itself is: their arguments are whatever the program passes.

pub mod devices;
pub mod events;
pub mod extensions;
pub mod kernels;
pub mod launches;
pub mod memory;
pub mod programs;
pub mod queues;
pub mod table;
pub mod transfers;

use std::ffi::{c_char, c_void};

use opencl_sys::{cl_command_queue, cl_program, cl_uint};

/// What a context tells the program of errors.
pub type ContextCallback = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>;
/// What tells the program that a build has ended.
pub type BuildCallback = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;
/// Frees memory for `clEnqueueSVMFree`.
pub type FreeCallback = Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;
/// A native kernel.
pub type NativeKernel = Option<unsafe extern "C" fn(*mut c_void)>;
