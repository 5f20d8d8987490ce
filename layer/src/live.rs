//! Where live coverage will come in: a woven twin of each kernel in the same context, which is launched in the place of the
//! program's kernel. The wrappers call these functions at the points where twins are made, follow their originals, take
//! their place, and have their probe buffers read. Woven code will be asked of kassay through the socket that
//! `KASSAY_SOCKET` names.

use std::sync::OnceLock;

use opencl_sys::{cl_context, cl_int, cl_kernel};

use crate::driver::Driver;

/// Runs twins of kernels. Methods are called without a lock held; they may call the driver.
pub trait Twins: Send + Sync {
    /// An argument of a kernel was set, with what its own `clSetKernelArg` got.
    fn argument_set(&self, driver: &'static Driver, kernel: cl_kernel, index: u32);

    /// Enqueues a launch: `enqueue` takes the program's kernel or its twin, and must be called once.
    fn launch(
        &self,
        driver: &'static Driver,
        kernel: cl_kernel,
        enqueue: &mut dyn FnMut(cl_kernel) -> cl_int,
    ) -> cl_int;

    /// The last reference to a kernel is about to go.
    fn kernel_released(&self, driver: &'static Driver, kernel: cl_kernel);

    /// A reference to a context is about to go.
    fn context_released(&self, driver: &'static Driver, context: cl_context);

    /// The process ends through `exit`.
    fn at_exit(&self);
}

static TWINS: OnceLock<Box<dyn Twins>> = OnceLock::new();

/// The twins, if kassay asked for them. Nothing sets them yet.
pub fn twins() -> Option<&'static dyn Twins> {
    TWINS.get().map(Box::as_ref)
}

/// Enqueues a launch of the program's kernel or of its twin.
pub fn launch(driver: &'static Driver, kernel: cl_kernel, mut enqueue: impl FnMut(cl_kernel) -> cl_int) -> cl_int {
    match twins() {
        Some(twins) => twins.launch(driver, kernel, &mut enqueue),
        None => enqueue(kernel),
    }
}

/// Tells the twins of the process's end.
pub fn at_exit() {
    if let Some(twins) = twins() {
        twins.at_exit();
    }
}
