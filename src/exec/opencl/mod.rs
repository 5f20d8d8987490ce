//! Runs launches on OpenCL devices. The calling process never loads OpenCL itself: worker processes do.

mod ahead;
mod begun;
mod errors;
mod executor;
mod joint;
mod launch_request;
mod limits;
mod process;
mod resident;
mod signature;
mod standby;
mod sub_groups;
mod supervisor;
mod sweep;
mod worker;

pub use executor::{CAPABILITIES, NVIDIA_CAPABILITIES, absence, devices, start};
pub use process::StandIn;
pub use standby::Standby;
pub use supervisor::{OpenClExecutor, StartingWorker, WorkerOptions, probe_devices};
pub use sweep::cannot_batch;
pub use worker::{JOINT_PTX, answer_without_device, serve};
