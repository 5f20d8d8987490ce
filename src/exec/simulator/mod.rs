//! The simulator: runs kernels on this host, one work-item at a time in an exact order, and checks every access.
//!
//! Kernels are compiled for it by `lower::host` and call back into [`hooks`] wherever something must be checked or items must wait
//! for each other. A lane runs groups on one thread: items on fibers, which stop where they wait. Nothing a kernel does
//! takes kassay down: every access is checked before it is made, loops burn fuel, and an item that must end is never resumed.

pub mod compare;
mod events;
mod executor;
pub mod schedule_families;
mod fault_log;
mod fiber;
mod hooks;
pub mod image;
mod exec_thread;
mod launch;
mod memory;
mod diagnostics;
mod object;
pub mod observation;
mod image_hooks;
mod printf;
mod program;
mod group_sampling;
mod schedule;
pub mod shadow;
mod work_group;
mod group_sync;
mod access_cache;

pub use executor::{KIND, Simulator, device};
