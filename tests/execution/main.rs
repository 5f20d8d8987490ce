//! Checks how kernels are lowered and run: code for OpenCL devices and for this host, launches, faults and batches.

mod batches;
mod builtins;
mod children;
#[path = "../common/mod.rs"]
mod common;
mod executor;
mod image_buffers;
mod joint;
mod lowering;
mod native_code;
mod odd_integers;
mod ptx;
mod worker_program;
