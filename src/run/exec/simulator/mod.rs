//! The simulator: runs kernels on this host, one work-item at a time in a defined order, and checks every access.
//!
//! Kernels are compiled for it by `lower::native` and call back into `hooks` wherever something must be checked or
//! work-items must wait for each other. An execution thread runs groups one at a time or interleaved, each work-item on
//! a fiber that is suspended where the work-item waits. Nothing that a kernel does kills kassay: every access is
//! checked before it is made, loops burn fuel, and a work-item that must end is never resumed.

mod access_cache;
mod access_hooks;
pub mod bank_conflicts;
pub mod compare;
pub mod diagnostics;
mod events;
mod exec_thread;
mod executor;
mod fault_log;
mod fiber;
pub mod flow;
mod flow_hooks;
mod grid_sync;
mod group_sampling;
mod group_sync;
mod hooks;
pub mod image;
mod image_hooks;
mod item_ref;
mod launch;
mod lockstep;
mod lookup;
mod memory;
mod object;
pub mod observation;
pub mod observer;
mod printf;
mod private_memory;
mod program;
mod run_state;
mod schedule;
pub mod schedule_families;
pub mod shadow;
mod start;
mod warp_state;
mod warp_sync;
mod work_group;

pub use executor::{CAPABILITIES, Simulator, device};
pub use start::start;
