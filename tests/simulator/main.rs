//! Checks the simulator: its engine on small objects made by hand, the hooks woven into kernels, the race detector
//! against brute force, and real kernels and images against an OpenCL device.

mod access_weave;
#[path = "../common/mod.rs"]
mod common;
mod differential;
mod faults;
mod images;
mod memory_intrinsics;
mod objects;
mod pointers;
mod private_memory;
mod race_detector;
mod schedules;
mod support;
