//! The simulator: runs kernels on this host, one work-item at a time in an exact order, and checks every access.
//!
//! Kernels are compiled for it by `lower::host` and call back into [`hooks`] wherever something must be checked or items must wait
//! for each other. A lane runs groups on one thread: items on fibers, which stop where they wait. Nothing a kernel does
//! takes kassay down: every access is checked before it is made, loops burn fuel, and an item that must end is never resumed.

mod access_cache;
pub mod compare;
mod diagnostics;
mod events;
mod exec_thread;
mod executor;
mod fault_log;
mod fiber;
mod group_sampling;
mod group_sync;
mod hooks;
pub mod image;
mod image_hooks;
mod launch;
mod memory;
mod object;
pub mod observation;
mod printf;
mod program;
mod schedule;
pub mod schedule_families;
pub mod shadow;
mod work_group;

pub use executor::{KIND, Simulator, device};
