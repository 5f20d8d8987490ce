//! Runs launches on OpenCL devices. The calling process never loads OpenCL itself: worker processes do.
//!
//! `sweep` is for many variations of one launch, `joint` for runs of many launches in few launches of the device:
//! `pending_sweep` is the one in flight, `arena_cache` what the device keeps from one joint sweep to the next; the
//! worker's `joint` resets and compares where memory lies, and its `warm` prepares a
//! device that has just been opened. `spare_worker` keeps a second worker where a lost one is dear, `background_builds`
//! has processes build programs before they are loaded. The worker's `refusal` distinguishes a launch that the driver
//! refuses from one that the device stopped; its `drivers` loads drivers before OpenCL's loader does, each with its own
//! libraries in front.

mod arena_cache;
mod background_builds;
mod errors;
mod executor;
mod joint;
mod launch_request;
mod limits;
mod pending_sweep;
mod process;
mod signature;
mod spare_worker;
mod sub_groups;
mod supervisor;
mod sweep;
mod worker;
mod worker_program;

pub use executor::{CAPABILITIES, NVIDIA_CAPABILITIES, absence, devices, start};
pub use process::StandIn;
pub use spare_worker::SpareWorker;
pub use supervisor::{OpenClExecutor, StartingWorker, WorkerOptions, probe_devices};
pub use sweep::cannot_batch;
pub use worker::{answer_without_device, serve};
pub use worker_program::main as worker_main;
