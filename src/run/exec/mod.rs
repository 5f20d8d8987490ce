//! Executors: they load a program, run launches of it and return what was observed.
//!
//! Must never know: mutants, coverage.

mod capabilities;
mod device;
pub mod difference;
pub mod discover;
pub mod formats;
pub mod fuzzing;
pub mod joint;
pub mod kinds;
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

use kassay_base::error::{Error, Result};
pub use kassay_model::code::{Code, DeviceCode, NativeCode, Target};
use kassay_suite::launch::{Launch, NdRange};

pub use capabilities::{Capabilities, Checks, Joins, Schedules};
pub use device::{DeviceInfo, DeviceSelector, Numbering, SIMULATOR};
pub use joint::{JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};
pub use opencl::{OpenClExecutor, SpareWorker, WorkerOptions, cannot_batch, probe_devices};
pub use request::DeviceRequest;
pub use simulator::Simulator;
pub use start::{StartedExecutors, StartingExecutors};

/// The sub-groups of a work-group on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FormedSubGroups {
    /// Work-items of the largest.
    pub size: u32,
    /// How many there are, if the device says.
    pub count: Option<u32>,
}

/// Identifies a loaded program within the executor that loaded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProgramId(pub u32);

/// How to run a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Wall-clock limit of the whole call: all repeats and copies together. Replacing a worker that an earlier launch
    /// killed does not count.
    pub timeout: Duration,
    /// How many times to run it (at least 1), each time on pristine inputs and a zeroed probe buffer. Outputs and probe
    /// data are those of the last run.
    pub repeats: u32,
    /// Words of the probe buffer, the kernel's extra last argument (`global uint *`); `None` if the kernel has none.
    pub probe_words: Option<u64>,
    /// Whether to return the contents of buffers and images afterwards.
    pub outputs: bool,
}

/// Memory of a program after its probe buffer that stays on the device from launch to launch: zero at first, later
/// what launches left there. It may become zero between any two launches, because a worker that died is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Kept {
    /// Its length in words of 32 bits. If it exceeds that of earlier launches, all of it is zero again.
    pub words: u64,
    /// Whether all of it is to be zero again.
    pub renew: bool,
}

/// What a completed launch left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The contents of every writable buffer and image afterwards, by argument position.
    pub outputs: Vec<(u32, Vec<u8>)>,
    /// The probe buffer; empty if there was none.
    pub probe: Vec<u32>,
    /// Time on the device, one entry per repeat (from the queue's profiling events).
    pub kernel_times: Vec<Duration>,
    /// What the kernel printed, all repeats together.
    pub printf: String,
    /// The first fault, in one sentence, if the launch allows faults.
    pub allowed: Option<String>,
}

/// How a launch that did not complete ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The time limit was exceeded; the worker was killed.
    Timeout {
        /// The time limit.
        limit: Duration,
    },
    /// The worker died: by `signal` if there is one (11: wild access), else with `exit_code`. `stderr` is the end of
    /// its standard error.
    Crash {
        /// The signal that ended it, if one did.
        signal: Option<i32>,
        /// Its exit code, if it exited.
        exit_code: Option<i32>,
        /// The end of its standard error.
        stderr: String,
    },
    /// The device stopped the launch and ended the worker's use of it: OpenCL error name. Devices report a wild access,
    /// a misaligned one and a trap so, and do not tell which it was.
    Stopped {
        /// OpenCL's name of it.
        error: String,
    },
    /// The driver refused the launch: OpenCL error name (such as `CL_INVALID_WORK_GROUP_SIZE`) and what it means here.
    Rejected {
        /// OpenCL's name of it.
        error: String,
        /// What it means here.
        explanation: String,
    },
    /// The simulator stopped something that no kernel may do and that the launch does not allow (an access out of
    /// bounds, divergent barriers, a division by zero, a loop that does not end). The rest ran on as far as it could.
    Checked {
        /// One sentence: the fault, the variable, index and size, the source location, the work-item.
        what: String,
        /// What the launch left behind, as far as it got.
        observation: Box<Observation>,
    },
}

/// The predicate of a sentence about a kernel in which a check failed; the description of the fault follows it.
pub const VIOLATION: &str = "did what no kernel may";

/// Writes what happened to the kernel, as the predicate of a sentence.
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
            Fault::Stopped { error } => write!(
                f,
                "was stopped by the device ({error}), which does not say why; as for a wild access, a misaligned one or a \
                 trap"
            ),
            Fault::Rejected { error, explanation } => write!(f, "was refused: {error}: {explanation}"),
            Fault::Checked { what, .. } => write!(f, "{VIOLATION}: {what}"),
        }
    }
}

/// Many runs of one program on the inputs of one launch that differ in a few words of the probe buffer, each compared
/// with the expected outputs where the buffers lie. Only the differences and the requested probe words are returned.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    /// The launch whose inputs all runs share.
    pub launch: &'a Launch,
    /// The first words of the probe buffer, for every run; the rest of its `probe_words` is zero.
    pub probe: &'a [u32],
    /// Length of the probe buffer, in words.
    pub probe_words: u64,
    /// The runs.
    pub variations: &'a [Variation],
    /// What the outputs must agree with; if empty, nothing is compared.
    pub references: &'a [Reference],
    /// How often each variation is run, each time on pristine inputs. A run that faults, or that agrees where an
    /// earlier one differed (or the other way round), ends its variation early.
    pub repeats: u32,
    /// Wall-clock limit of one launch.
    pub timeout: Duration,
    /// The words of the probe buffer to return (with batches: relative to each slot's first word).
    pub words: std::ops::Range<u32>,
    /// A word of the probe buffer that is 0 before a run and, once it is not, decides about the run whatever else it
    /// does: the run may end there, without outputs to compare and without further repeats. `None`: there is none, or
    /// there are batches.
    pub decisive: Option<u32>,
    /// Several runs in one launch; `None`: one launch each.
    pub batch: Option<Batch>,
}

/// One run, given by the words of the probe buffer that differ: pairs of index and value (with batches, the index is
/// relative to the slot's first word).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variation {
    /// Index and value of each word.
    pub words: Vec<(u32, u32)>,
}

/// How a launch holds several runs, each in a slot of its own: see "The probe buffer" in docs/internals.md. The program
/// must be instrumented for it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Batch {
    /// The maximum number of runs per launch; slots without a run keep the words that the probe buffer begins with.
    pub slots: u32,
    /// Index of the first slot's first word. `slot_words`: how many words a slot has.
    pub first_word: u32,
    /// Words of a slot.
    pub slot_words: u32,
    /// The dimension whose number of work-groups is multiplied by the number of slots.
    pub dimension: usize,
    /// Distance in bytes between the slots' copies of a buffer, by argument position; 0: all slots share one.
    pub strides: Vec<u64>,
}

/// Expected contents of an output.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Position of the argument.
    pub position: u32,
    /// The name of the argument in descriptions of differences.
    pub label: String,
    /// The expected contents.
    pub bytes: Arc<Vec<u8>>,
    /// Type of an element; `None`: bytes are compared.
    pub ty: Option<kassay_model::interface::Type>,
    /// Tolerance of the comparison.
    pub tolerance: kassay_suite::compare::Tolerance,
}

/// How one variation ended: its runs in order, or the fault that ended it.
#[derive(Debug, Clone, PartialEq)]
pub enum VariationOutcome {
    /// It ran as often as was asked, or until it was decided.
    Ran(Vec<Run>),
    /// The worker died or hung while this variation ran; the variation was run again alone to be sure.
    Fault(Fault),
}

/// One completed run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The first difference from the references, as text; `None` if all agree.
    pub difference: Option<String>,
    /// The requested probe words.
    pub words: Vec<u32>,
}

/// The result of a sweep: one entry per variation, and how long the launches took.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepOutcome {
    /// How each variation ended, in order.
    pub runs: Vec<VariationOutcome>,
    /// Number of launches made.
    pub launches: u64,
    /// Median time of a launch on the device.
    pub kernel_time: Duration,
}

/// The inner result of [`Executor::run`]: what the kernel did.
pub type RunResult = std::result::Result<Observation, Fault>;

/// Something that runs launches, one call at a time. It survives whatever a kernel does.
pub trait Executor: Send {
    /// The device that launches run on.
    fn device(&self) -> &DeviceInfo;

    /// What it can do besides running launches.
    fn capabilities(&self) -> Capabilities;

    /// The form of code that it takes.
    fn target(&self) -> Target {
        self.capabilities().target
    }

    /// Loads and builds `code`.
    ///
    /// # Errors
    /// `Internal` with the build log if the device refuses the module (which was valid when it left `lower`) or crashes
    /// on it; `Environment` if no worker can be started.
    fn load(&mut self, code: &Code) -> Result<ProgramId> {
        let program = self.begin_load(code)?;
        self.finish_load(program)?;
        Ok(program)
    }

    /// Begins to load and build `code` without waiting for it. [`Executor::finish_load`] must be called before the
    /// program is run.
    ///
    /// # Errors
    /// As for [`Executor::load`], as far as they show already.
    fn begin_load(&mut self, code: &Code) -> Result<ProgramId>;

    /// Has `code`, which will be loaded later, built meanwhile by another process, where that makes loading it faster.
    fn prebuild(&mut self, code: &Code) {
        let _ = code;
    }

    /// Waits until a program is built. After an error, its id is invalid.
    ///
    /// # Errors
    /// As for [`Executor::load`].
    fn finish_load(&mut self, program: ProgramId) -> Result<()>;

    /// The sub-groups that a program that is built has in a launch of this range; `None` if they are what the
    /// program requires, or it is not known.
    ///
    /// # Errors
    /// `Environment` if no worker can be started.
    fn sub_groups(&mut self, program: ProgramId, range: &NdRange) -> Result<Option<FormedSubGroups>> {
        let _ = (program, range);
        Ok(None)
    }

    /// Forgets a program, so that many can be loaded one after the other. Its id is invalid afterwards.
    fn unload(&mut self, program: ProgramId) {
        let _ = program;
    }

    /// Runs `launch`. The outer error is for the environment (no worker can be started, out of memory or disk);
    /// the inner result is what the kernel did. After a fault, loaded programs stay usable (they are loaded again
    /// as needed).
    fn run(&mut self, program: ProgramId, launch: &Launch, options: &RunOptions) -> Result<RunResult> {
        self.run_with_probe(program, launch, options, &[])
    }

    /// Like [`Executor::run`], with a probe buffer that begins with the words `head`, at most as many as it has.
    ///
    /// # Errors
    /// As for [`Executor::run`].
    fn run_with_probe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
    ) -> Result<RunResult>;

    /// Like [`Executor::run_with_probe`], once, with more memory after the probe buffer, which is not returned.
    ///
    /// # Errors
    /// As for [`Executor::run`]; `Internal` if the executor keeps no memory.
    fn run_with_kept(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
        kept: Kept,
    ) -> Result<RunResult> {
        let _ = (program, launch, options, head, kept);
        Err(Error::internal(format!("{} keeps no memory between launches", self.device().name)))
    }

    /// Runs all variations of `sweep`. A variation that kills the worker is found and marked; the others still run.
    ///
    /// # Errors
    /// `Environment` only, as for [`Executor::run`].
    fn sweep(&mut self, program: ProgramId, sweep: &Sweep<'_>) -> Result<SweepOutcome>;

    /// Makes all runs of a joint sweep. A run that kills the worker, or hangs, takes all others with it: they have to
    /// be made otherwise.
    ///
    /// # Errors
    /// As [`Executor::begin_jointly`] and [`Executor::finish_jointly`].
    fn sweep_jointly(&mut self, program: ProgramId, sweep: &JointSweep<'_>) -> Result<JointOutcome> {
        self.begin_jointly(program, sweep)?;
        self.finish_jointly()
    }

    /// Begins a joint sweep and returns at once. Nothing else may be asked of the executor before
    /// [`Executor::finish_jointly`].
    ///
    /// # Errors
    /// `Environment` as for [`Executor::run`]; `Internal` if its [`Capabilities`] do not say that it makes joint
    /// launches.
    fn begin_jointly(&mut self, program: ProgramId, sweep: &JointSweep<'_>) -> Result<()> {
        let (_, _) = (program, sweep);
        Err(Error::internal("this executor makes no joint launches"))
    }

    /// Waits for the joint sweep in flight.
    ///
    /// # Errors
    /// `Environment` as for [`Executor::run`]; `Internal` if there is none.
    fn finish_jointly(&mut self) -> Result<JointOutcome> {
        Err(Error::internal("no joint sweep is in flight"))
    }
}

/// An executor that is starting in the background.
pub trait StartingExecutor: fmt::Debug + Send {
    /// Waits until it is ready.
    ///
    /// # Errors
    /// `Environment` if no device matches, its driver fails, or it takes no code that kassay can make.
    fn ready(self: Box<Self>) -> Result<Box<dyn Executor>>;
}
