//! Checks the simulator: its engine on small objects made by hand, and real kernels against an OpenCL device.

mod differential;
mod faults;
mod objects;
#[path = "../output_support/mod.rs"]
mod output_support;
mod schedules;
mod support;
