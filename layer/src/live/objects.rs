//! OpenCL objects of the layer's own, which go when they are dropped, and commands that are waited for within a limit.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use opencl_sys::{
    CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int,
    cl_kernel, cl_mem, cl_program,
};

use super::reply::Why;
use crate::driver::{Driver, call};

/// What an object is.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Program,
    Kernel,
    Memory,
    Queue,
}

/// An object with one reference, ours. It must not be dropped under a lock, nor in a process forked from its own.
pub struct Owned {
    driver: &'static Driver,
    handle: usize,
    kind: Kind,
}

impl Owned {
    /// Takes the reference to an object that a call has made. An error names the call.
    pub fn new(
        driver: &'static Driver,
        kind: Kind,
        handle: *mut c_void,
        error: cl_int,
        call: &str,
    ) -> Result<Owned, Why> {
        if handle.is_null() {
            return Err(Why::new("not-built", format!("{call}: error {error}")));
        }
        Ok(Owned { driver, handle: handle as usize, kind })
    }

    pub fn handle(&self) -> *mut c_void {
        self.handle as *mut c_void
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is ours; commands that use the object keep it themselves.
        unsafe {
            match self.kind {
                Kind::Program => call!(self.driver, clReleaseProgram(self.handle as cl_program)),
                Kind::Kernel => call!(self.driver, clReleaseKernel(self.handle as cl_kernel)),
                Kind::Memory => call!(self.driver, clReleaseMemObject(self.handle as cl_mem)),
                Kind::Queue => call!(self.driver, clReleaseCommandQueue(self.handle as cl_command_queue)),
            };
        }
    }
}

/// Makes a queue.
///
/// # Safety
/// The device must be one of the context's, and both the driver's.
pub unsafe fn queue(driver: &'static Driver, context: usize, device: usize) -> Result<Owned, Why> {
    let (context, device) = (context as cl_context, device as cl_device_id);
    let mut error = 0;
    let queue = match driver.table.clCreateCommandQueueWithProperties {
        Some(create) => create(context, device, std::ptr::null(), &mut error),
        None => call!(driver, clCreateCommandQueue(context, device, 0, &mut error) else std::ptr::null_mut()),
    };
    Owned::new(driver, Kind::Queue, queue, error, "clCreateCommandQueue")
}

/// Waits for a command of ours, and releases its event. Returns whether the command succeeded within the limit: a
/// device that is kept busy for ever must not keep the program waiting, too.
///
/// # Safety
/// The event must be that of a command on the queue, and ours.
pub unsafe fn complete(driver: &Driver, queue: &Owned, event: cl_event, limit: Duration) -> bool {
    let began = Instant::now();
    call!(driver, clFlush(queue.handle()));
    let mut pause = Duration::from_micros(20);
    let done = loop {
        let mut status: cl_int = 0;
        let to = (&raw mut status).cast();
        let what = CL_EVENT_COMMAND_EXECUTION_STATUS;
        if call!(driver, clGetEventInfo(event, what, size_of::<cl_int>(), to, std::ptr::null_mut())) != 0 {
            break false;
        }
        if status <= CL_COMPLETE || began.elapsed() >= limit {
            break status == CL_COMPLETE;
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(2));
    };
    call!(driver, clReleaseEvent(event));
    done
}
