//! Implements [`Executor`] for OpenCL devices.

use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_suite::launch::{Launch, NdRange};

use super::process::{NoReply, WorkerExit};
use super::supervisor::{NO_DEVICE, OpenClExecutor, StartingWorker, WorkerOptions, probe_devices};
use super::worker::MAX_OUTPUT;
use super::{joint, launch_request, limits, sub_groups, sweep};
use crate::exec::discover::Vendors;
use crate::exec::protocol::{Reply, protocol_error};
use crate::exec::{
    Capabilities, Checks, Code, DeviceInfo, DeviceSelector, Executor, Fault, FormedSubGroups, Joins, JointOutcome,
    JointSweep, Kept, Observation, ProgramId, RunOptions, RunResult, Schedules, StartingExecutor, Sweep, SweepOutcome,
    Target,
};

/// What executors of OpenCL devices can do, except that a device may take another form of code.
pub const CAPABILITIES: Capabilities = Capabilities {
    target: Target::SpirV,
    schedules: Schedules::Own,
    checks: Checks::NONE,
    batches: true,
    joins: Joins::IfAsked,
    skips_returned: false,
    whole_grids: false,
    compiles: true,
};

/// What executors of NVIDIA's devices can do.
pub const NVIDIA_CAPABILITIES: Capabilities =
    Capabilities { target: Target::Ptx, joins: Joins::Always, ..CAPABILITIES };

/// Lists the OpenCL devices whose form of code (`None`: none that kassay can make) is wanted.
///
/// # Errors
/// As [`probe_devices`].
pub fn devices(options: &WorkerOptions, wanted: impl Fn(Option<Target>) -> bool) -> Result<Vec<DeviceInfo>> {
    Ok(probe_devices(options)?.into_iter().filter(|device| wanted(device.target())).collect())
}

/// Returns why there is no OpenCL device, if no driver is installed.
pub fn absence(options: &WorkerOptions) -> Option<String> {
    (options.vendors.is_none() && Vendors::discover().icds.is_empty()).then(|| NO_DEVICE.to_owned())
}

/// Begins to start `count` executors of the selected device, which takes code of the form `target`, each with a worker
/// of its own.
///
/// # Errors
/// `Environment` if the system cannot create a process.
pub fn start(
    target: Target,
    selector: &DeviceSelector,
    options: &WorkerOptions,
    count: usize,
) -> Result<Vec<Box<dyn StartingExecutor>>> {
    let options = WorkerOptions { spare_worker: options.spare_worker.among(count), ..options.clone() };
    let worker = |_| {
        let worker = OpenClExecutor::spawn(selector.clone(), target, options.clone())?;
        Ok(Box::new(worker) as Box<dyn StartingExecutor>)
    };
    (0..count).map(worker).collect()
}

impl StartingExecutor for StartingWorker {
    fn ready(self: Box<Self>) -> Result<Box<dyn Executor>> {
        Ok(Box::new(StartingWorker::ready(*self)?))
    }
}

impl Executor for OpenClExecutor {
    fn device(&self) -> &DeviceInfo {
        self.info()
    }

    fn capabilities(&self) -> Capabilities {
        match self.info().target() {
            Some(Target::Ptx) => NVIDIA_CAPABILITIES,
            _ => CAPABILITIES,
        }
    }

    fn begin_load(&mut self, code: &Code) -> Result<ProgramId> {
        let Some(code) = code.as_device() else {
            return Err(Error::internal("code for the simulator was given to an OpenCL device"));
        };
        self.begin_build(code)
    }

    fn prebuild(&mut self, code: &Code) {
        if let Some(code) = code.as_device() {
            self.build_elsewhere(code);
        }
    }

    fn finish_load(&mut self, program: ProgramId) -> Result<()> {
        self.finish_build(program)
    }

    fn sub_groups(&mut self, program: ProgramId, range: &NdRange) -> Result<Option<FormedSubGroups>> {
        sub_groups::ask(self, program, range)
    }

    fn unload(&mut self, program: ProgramId) {
        self.forget(program);
    }

    fn sweep(&mut self, program: ProgramId, sweep: &Sweep<'_>) -> Result<SweepOutcome> {
        sweep::run(self, program, sweep)
    }

    fn begin_jointly(&mut self, program: ProgramId, sweep: &JointSweep<'_>) -> Result<()> {
        joint::begin(self, program, sweep)
    }

    fn finish_jointly(&mut self) -> Result<JointOutcome> {
        joint::finish(self)
    }

    fn run_with_probe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
    ) -> Result<RunResult> {
        self.run_launch(program, launch, options, (head, None))
    }

    fn run_with_kept(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
        kept: Kept,
    ) -> Result<RunResult> {
        self.run_launch(program, launch, options, (head, Some(kept)))
    }
}

impl OpenClExecutor {
    /// Runs a launch with what the probe buffer begins with and what follows it.
    fn run_launch(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        probe: (&[u32], Option<Kept>),
    ) -> Result<RunResult> {
        if let Some(fault) = limits::refuse(self.info(), launch, options) {
            return Ok(Err(fault));
        }
        match self.attempt(program, launch, options, probe)? {
            Attempt::Ended(result) => Ok(result),
            // An earlier launch broke the worker, without showing then; this one is not to blame.
            Attempt::Lost(_) => match self.attempt(program, launch, options, probe)? {
                Attempt::Ended(result) => Ok(result),
                Attempt::Lost(error) => {
                    Err(Error::environment(format!("the device {} does not work any more: {error}", self.info().name))
                        .help("`kassay devices` shows whether other devices do; the driver's log may say more"))
                }
            },
        }
    }
}

/// How an attempt to run a launch ended.
enum Attempt {
    Ended(RunResult),
    /// The worker was of no use before, with the device's error. It has been replaced.
    Lost(String),
}

impl OpenClExecutor {
    /// Runs a launch in the worker that there is. Replaces the worker if the launch ends it.
    fn attempt(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        probe: (&[u32], Option<Kept>),
    ) -> Result<Attempt> {
        // A CPU device's buffers lie in host memory.
        let on_host = self.info().kind == "cpu";
        let read_only = self.read_only(program)?.to_vec();
        self.prepare_spare();
        let process = self.ready(Some(program.0))?;
        let deadline = Instant::now() + options.timeout;
        let (request, places) =
            launch_request::build(process, on_host, (program.0, &read_only), launch, options, probe)?;
        // Discards what an earlier launch printed after its end.
        drop(process.take_stdout());
        let result = match process.call(&request, deadline) {
            Ok(Reply::Done { kernel_times }) => {
                let mut observation = Observation {
                    outputs: Vec::with_capacity(places.outputs.len()),
                    probe: Vec::new(),
                    kernel_times: kernel_times.into_iter().map(Duration::from_nanos).collect(),
                    printf: note_truncation(process.take_stdout()),
                    allowed: None,
                };
                let memory = process.shared.bytes();
                for (position, span) in places.outputs {
                    let bytes = span.of(memory).ok_or_else(protocol_error)?;
                    observation.outputs.push((position, bytes.to_vec()));
                }
                if let Some(span) = places.probe {
                    let (words, _) = span.of(memory).ok_or_else(protocol_error)?.as_chunks::<4>();
                    observation.probe = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
                }
                Ok(observation)
            }
            Ok(Reply::Rejected { error, explanation }) => Err(Fault::Rejected { error, explanation }),
            Ok(Reply::Stopped { error }) => {
                self.restart();
                return Ok(Attempt::Ended(Err(Fault::Stopped { error })));
            }
            Ok(Reply::Lost { error }) => {
                self.restart();
                return Ok(Attempt::Lost(error));
            }
            Ok(Reply::Broken { what, .. }) => return Err(Error::internal(what)),
            Ok(_) => return Err(protocol_error()),
            Err(NoReply::Timeout) => {
                self.restart();
                return Ok(Attempt::Ended(Err(Fault::Timeout { limit: options.timeout })));
            }
            Err(NoReply::Dead(WorkerExit { signal, exit_code, stderr })) => {
                self.restart();
                return Ok(Attempt::Ended(Err(Fault::Crash { signal, exit_code, stderr })));
            }
        };
        process.shared.trim();
        Ok(Attempt::Ended(result))
    }
}

/// Appends a note if a kernel printed more than it may.
fn note_truncation(mut printed: String) -> String {
    if printed.len() as u64 >= MAX_OUTPUT {
        printed.push_str(&format!("\n... (cut after {MAX_OUTPUT} bytes)\n"));
    }
    printed
}
