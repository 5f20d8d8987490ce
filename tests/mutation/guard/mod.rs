//! Checks guarded kernels on the OpenCL device.

mod faults;
mod support;
mod testdata;
