//! Executors: load code, run a launch, return an observation.
//!
//! Must never know: mutants, coverage.

pub mod difference;
pub mod discover;
pub(crate) mod formats;
mod memory;
pub mod opencl;
mod protocol;
mod records;
mod request;
pub mod simulator;
mod start;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
pub use crate::lower::code::{Code, HostCode, SpirvCode, Target};
use crate::suite::launch::Launch;

pub use opencl::{OpenClExecutor, WorkerOptions, cannot_batch, probe_devices};
pub use request::DeviceRequest;
pub use simulator::Simulator;
pub use start::{Started, StartingExecutors};

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// By argument position: what every writable buffer and image held afterwards.
    pub outputs: Vec<(u32, Vec<u8>)>,
    /// The probe buffer; empty if there was none.
    pub probe: Vec<u32>,
    /// Time on the device, one entry per repeat (from the queue's profiling events).
    pub kernel_times: Vec<Duration>,
    /// What the kernel printed, all repeats together.
    pub printf: String,
    /// What faulted first, in a sentence, in a launch that allows it.
    pub allowed: Option<String>,
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
    /// The simulator stopped something that no kernel may do, and the launch does not allow it (an access out of bounds, barriers that diverge, a division by zero, a
    /// loop that does not end). The rest went on as far as it could.
    Checked {
        /// One sentence: what, which variable, index and size, where in the source, which work-item.
        what: String,
        /// What the launch left, as far as it came.
        observation: Box<Observation>,
    },
}

/// The predicate of a sentence about a kernel in which a check found something, before what it found.
pub const DID: &str = "did what no kernel may";

/// Formats what happened to the kernel: the predicate of a sentence.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Timeout { limit } => write!(f, "was not done after {} s and was ended", limit.as_secs_f64()),
            Fault::Crash { signal, exit_code, stderr } => {
                match (signal, exit_code) {
                    (Some(11), _) => f.write_str("accessed memory that is not its own (signal 11)")?,
                    (Some(signal), _) => write!(f, "ended the process with signal {signal}")?,
                    (None, Some(code)) => write!(f, "ended the process with exit code {code}")?,
                    (None, None) => f.write_str("ended the process")?,
                }
                let stderr = stderr.trim();
                if stderr.is_empty() { Ok(()) } else { write!(f, ": {stderr}") }
            }
            Fault::Rejected { error, explanation } => write!(f, "was refused: {error}: {explanation}"),
            Fault::Checked { what, .. } => write!(f, "{DID}: {what}"),
        }
    }
}

/// Many runs of one program on one launch's inputs that differ in a few words of the probe buffer, each compared with
/// the expected outputs where the buffers lie. Nothing else travels.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    pub launch: &'a Launch,
    /// What the probe buffer begins with, for every run; the rest of its `probe_words` is zero.
    pub probe: &'a [u32],
    pub probe_words: u64,
    pub variations: &'a [Variation],
    /// What outputs must agree with; nothing: nothing is compared.
    pub references: &'a [Reference],
    /// How often each variation is run, each time on pristine inputs. A run that faults, or agrees where an earlier one
    /// differed (or the other way round), ends its variation early.
    pub repeats: u32,
    /// Wall-clock limit of one launch.
    pub timeout: Duration,
    /// Which words of the probe buffer come back (with batches: relative to each slot's first word).
    pub words: std::ops::Range<u32>,
    /// Several runs in one launch; `None`: one launch each.
    pub batch: Option<Batch>,
}

/// One run: words of the probe buffer that differ, by index (with batches: relative to the slot's first word).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    pub words: Vec<(u32, u32)>,
}

/// How a launch holds several runs: slots, as ARCHITECTURE.md says of the probe buffer. The program must be woven for it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Batch {
    /// At most so many runs per launch; slots without a run keep the words of the probe's beginning.
    pub slots: u32,
    /// Where the first slot's words begin, and how many words a slot has.
    pub first_word: u32,
    pub slot_words: u32,
    /// The dimension whose number of work-groups is multiplied by the number of slots.
    pub dimension: usize,
    /// By argument position: distance in bytes between the slots' copies of a buffer; 0: all share one.
    pub strides: Vec<u64>,
}

/// Expected contents of an output.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Of the argument.
    pub position: u32,
    /// What differences call it.
    pub label: String,
    pub bytes: Arc<Vec<u8>>,
    pub ty: Option<crate::kernel::interface::Type>,
    pub tolerance: crate::suite::compare::Tolerance,
}

/// How one variation ended: its repeats in order, or the fault that ended it.
#[derive(Debug, Clone, PartialEq)]
pub enum Swept {
    Ran(Vec<Run>),
    /// The worker died or hung while this variation ran; it was run again alone to be sure.
    Fault(Fault),
}

/// One completed run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The first difference from the references, in words; `None` if all agree.
    pub difference: Option<String>,
    /// The probe words asked for.
    pub words: Vec<u32>,
}

/// What a sweep gave: one entry per variation, and how long launches and copies took.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepOutcome {
    pub runs: Vec<Swept>,
    /// Launches made.
    pub launches: u64,
    /// Time on the device, per launch, median.
    pub kernel_time: Duration,
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

    /// The form of code that it takes.
    fn target(&self) -> Target {
        Target::SpirV
    }

    /// Whether it takes sweeps with a [`Batch`]: where a launch by itself costs little, there is nothing to gain by them.
    fn batches(&self) -> bool {
        false
    }

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
    fn run(&mut self, program: ProgramId, launch: &Launch, options: &RunOptions) -> Result<RunResult> {
        self.run_with_probe(program, launch, options, &[])
    }

    /// The same, with a probe buffer that begins with these words, at most as many as it has.
    ///
    /// # Errors
    /// As of [`Executor::run`].
    fn run_with_probe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
    ) -> Result<RunResult>;

    /// Runs all variations of `sweep`. A variation that takes the worker down is found, marked, and the rest goes on.
    ///
    /// # Errors
    /// Of the environment only, as of [`Executor::run`].
    fn sweep(&mut self, program: ProgramId, sweep: &Sweep<'_>) -> Result<SweepOutcome>;
}
