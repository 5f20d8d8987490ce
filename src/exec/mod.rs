//! Executors: load code, run a launch, return an observation.
//!
//! Must never know: mutants, coverage.

pub mod discover;
mod memory;
pub mod opencl;
mod protocol;
mod request;

use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::suite::launch::Launch;

pub use opencl::{OpenClExecutor, Starting, WorkerOptions, probe_devices};
pub use request::DeviceRequest;

/// Code that an OpenCL device takes through its IL loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// A SPIR-V module.
    pub spirv: Arc<Vec<u8>>,
    /// The kernel's name in it.
    pub entry: String,
    /// Options of `clBuildProgram`.
    pub build_options: String,
}

/// A loaded program of one executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProgramId(pub u32);

/// How to run a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Wall-clock limit of the whole call, all repeats and copies together. Replacing a worker that an earlier launch took
    /// down does not count.
    pub timeout: Duration,
    /// How many times to run it (at least 1), each time on pristine inputs and a zeroed probe buffer. Outputs and probe
    /// data are those of the last time.
    pub repeats: u32,
    /// Words of the probe buffer, the kernel's extra last argument (`global uint *`); `None`: the kernel has none.
    pub probe_words: Option<u64>,
    /// Whether to return what the buffers and images hold afterwards.
    pub outputs: bool,
}

/// What a completed launch did.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// By argument position: what every writable buffer and image held afterwards.
    pub outputs: Vec<(u32, Vec<u8>)>,
    /// The probe buffer; empty if there was none.
    pub probe: Vec<u32>,
    /// Time on the device, one entry per repeat (from the queue's profiling events).
    pub kernel_times: Vec<Duration>,
    /// What the kernel printed, all repeats together.
    pub printf: String,
}

/// How a launch ended that did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Over the time limit; the worker was killed.
    Timeout { limit: Duration },
    /// The worker died: `signal` if by one (11: wild access), else `exit_code`; `stderr`: the end of what it wrote there.
    Crash { signal: Option<i32>, exit_code: Option<i32>, stderr: String },
    /// The driver refused the launch: OpenCL error name (such as `CL_INVALID_WORK_GROUP_SIZE`) and what it means here.
    Rejected { error: String, explanation: String },
}

pub type RunResult = std::result::Result<Observation, Fault>;

/// What a device says of itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DeviceInfo {
    pub name: String,
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// Such as `SPIR-V_1.2`; empty: takes no IL.
    pub il_versions: Vec<String>,
    pub platform: String,
    /// As in `opencl:P.D`.
    pub index: Option<(u32, u32)>,
    pub max_work_group_size: u64,
    pub max_work_item_sizes: [u64; 3],
    pub local_memory: u64,
    pub global_memory: u64,
    pub max_allocation: u64,
    pub fp16: bool,
    pub fp64: bool,
    pub images: bool,
}

/// Something that runs launches. Each executor is one lane: one call at a time. It survives whatever a kernel does.
pub trait Executor: Send {
    fn device(&self) -> &DeviceInfo;

    /// Loads and builds `code`.
    ///
    /// # Errors
    /// `Internal` with the build log if the device refuses the module (it was valid when it left `lower`) or dies on it;
    /// `Environment` if no worker can be started.
    fn load(&mut self, code: &Code) -> Result<ProgramId> {
        let program = self.begin_load(code)?;
        self.finish_load(program)?;
        Ok(program)
    }

    /// Begins to load and build `code`, without waiting for it. [`Executor::finish_load`] has to follow before the
    /// program is run.
    ///
    /// # Errors
    /// As of [`Executor::load`], as far as they show already.
    fn begin_load(&mut self, code: &Code) -> Result<ProgramId>;

    /// Waits until a program is built. After an error its id is invalid.
    ///
    /// # Errors
    /// As of [`Executor::load`].
    fn finish_load(&mut self, program: ProgramId) -> Result<()>;

    /// Forgets a program, so that many can be loaded one after the other. Its id is invalid afterwards.
    fn unload(&mut self, program: ProgramId) {
        let _ = program;
    }

    /// Runs `launch`. The outer error is for the environment (no worker can be started, out of memory or disk); what
    /// the kernel did is the inner result. After a fault, loaded programs stay usable (they are loaded again as needed).
    fn run(&mut self, program: ProgramId, launch: &Launch, options: &RunOptions) -> Result<RunResult>;
}
