//! OpenCL objects that are released when dropped; errors of the release are ignored.

use opencl3::types::{cl_event, cl_kernel, cl_mem, cl_program};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ty, $release:path) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(pub $raw);

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: an OpenCL call returned this object with one reference, and only this wrapper releases it. An
                // error has no consequence: the process is short-lived.
                let _ = unsafe { $release(self.0) };
            }
        }
    };
}

handle!(
    /// A buffer or image.
    Memory,
    cl_mem,
    opencl3::memory::release_mem_object
);
handle!(Program, cl_program, opencl3::program::release_program);
handle!(Kernel, cl_kernel, opencl3::kernel::release_kernel);
handle!(Event, cl_event, opencl3::event::release_event);
