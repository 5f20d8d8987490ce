//! Keeps one worker process alive, and tracks the programs that it has loaded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};

use super::arena_cache::ArenaCache;
use super::background_builds::{self, BackgroundBuilds};
use super::errors;
use super::pending_sweep::PendingSweep;
use super::process::{NoReply, Process, StandIn};
use super::signature;
use super::spare_worker::{Spare, SpareWorker};
use crate::exec::discover::Vendors;
use crate::exec::memory::SpanAllocator;
use crate::exec::protocol::{Reply, Request, protocol_error};
use crate::exec::{DeviceCode, DeviceInfo, DeviceSelector, ProgramId, Target};

/// How workers are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerOptions {
    /// The kassay program; `None`: the running one.
    pub exe: Option<PathBuf>,
    /// The only folder of drivers to see; `None`: those that [`crate::exec::discover::Vendors`] finds.
    pub vendors: Option<PathBuf>,
    /// How long a worker may take to open its device.
    pub start_timeout: Duration,
    /// How long a device may take to build a program.
    pub load_timeout: Duration,
    /// When a second worker is kept ready.
    pub spare_worker: SpareWorker,
    /// How many processes prebuild programs; `None`: as it suits the device.
    pub builders: Option<usize>,
    /// Whether joint launches will be asked for: workers then prepare them on devices where that takes long.
    pub joint: bool,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        WorkerOptions {
            exe: None,
            vendors: None,
            start_timeout: Duration::from_secs(60),
            load_timeout: Duration::from_secs(300),
            spare_worker: SpareWorker::default(),
            builders: None,
            joint: false,
        }
    }
}

impl WorkerOptions {
    /// The first request to a worker.
    fn opening(&self, selector: &DeviceSelector, target: Target) -> Request {
        Request::Open { selector: selector.clone(), target, joint: self.joint }
    }

    /// Starts a worker, or what stands in for one.
    fn start(&self, stand_in: Option<&StandIn>, first: &Request) -> Result<Process> {
        if let Some(stand_in) = stand_in {
            return Process::stand_in(stand_in, first);
        }
        // The link, not its target: it leads to the running program even if its file has been replaced meanwhile.
        let exe = self.exe.clone().unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
        Process::start(&exe, self.vendors.as_deref(), first)
    }
}

/// The message where nothing was found.
pub const NO_DEVICE: &str = "there is no OpenCL device";

/// A worker that is starting, which takes about 100 ms, while the caller does other things.
#[derive(Debug)]
pub struct StartingWorker {
    selector: DeviceSelector,
    target: Target,
    options: WorkerOptions,
    stand_in: Option<StandIn>,
    process: Process,
    since: Instant,
}

/// Runs launches on one OpenCL device, in a worker process that is replaced when a kernel kills it.
#[derive(Debug)]
pub struct OpenClExecutor {
    selector: DeviceSelector,
    target: Target,
    options: WorkerOptions,
    stand_in: Option<StandIn>,
    device: DeviceInfo,
    worker: Worker,
    spare: Spare,
    /// By number; a new worker has to load them again.
    programs: HashMap<u32, Program>,
    next: u32,
    /// The joint sweep in flight.
    pub(super) pending_sweep: Option<PendingSweep>,
    /// What joint sweeps keep in the arena.
    pub(super) arena_cache: ArenaCache,
    builds: BackgroundBuilds,
}

/// A program, kept so that the next worker can load it.
#[derive(Debug)]
struct Program {
    code: DeviceCode,
    /// By position, which arguments the kernel cannot write: those that its code or [`signature::read_only`] says.
    read_only: Vec<bool>,
}

/// The state of the executor's worker.
#[derive(Debug)]
enum Worker {
    /// No process runs.
    None,
    /// Started, the device not yet open.
    Starting(Process, Instant),
    /// It stood by, and has or has not opened the device.
    TakingOver(Process),
    /// With the numbers of the programs that it has loaded.
    Ready(Process, Vec<u32>),
    /// As `Ready`, while it builds one more program until this deadline.
    Loading(Process, Vec<u32>, u32, Instant),
}

impl OpenClExecutor {
    /// Starts a worker for the requested device among those that take code of the form `target`, without waiting for
    /// it.
    ///
    /// # Errors
    /// `Environment` if the system cannot create a process.
    pub fn spawn(selector: DeviceSelector, target: Target, options: WorkerOptions) -> Result<StartingWorker> {
        OpenClExecutor::spawn_or(None, selector, target, options)
    }

    /// Starts an executor whose workers are threads that `stand_in` runs in.
    ///
    /// # Errors
    /// As for [`OpenClExecutor::start`].
    pub fn with_stand_in(stand_in: StandIn, options: WorkerOptions) -> Result<OpenClExecutor> {
        OpenClExecutor::spawn_or(Some(stand_in), DeviceSelector::Any, Target::SpirV, options)?.ready()
    }

    fn spawn_or(
        stand_in: Option<StandIn>,
        selector: DeviceSelector,
        target: Target,
        options: WorkerOptions,
    ) -> Result<StartingWorker> {
        let process = options.start(stand_in.as_ref(), &options.opening(&selector, target))?;
        Ok(StartingWorker { selector, target, options, stand_in, process, since: Instant::now() })
    }

    /// [`OpenClExecutor::spawn`], for a device that takes SPIR-V, followed by [`StartingWorker::ready`].
    ///
    /// # Errors
    /// As for these two.
    pub fn start(selector: DeviceSelector, options: WorkerOptions) -> Result<OpenClExecutor> {
        OpenClExecutor::spawn(selector, Target::SpirV, options)?.ready()
    }

    /// Returns the worker that a request was sent to.
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn busy(&mut self) -> Result<&mut Process> {
        match &mut self.worker {
            Worker::Ready(process, _) => Ok(process),
            _ => Err(Error::internal("no worker was asked for anything")),
        }
    }

    /// The same, with what joint sweeps keep in the arena.
    ///
    /// # Errors
    /// As for [`OpenClExecutor::busy`].
    pub fn busy_with_cache(&mut self) -> Result<(&mut Process, &ArenaCache)> {
        match &mut self.worker {
            Worker::Ready(process, _) => Ok((process, &self.arena_cache)),
            _ => Err(Error::internal("no worker was asked for anything")),
        }
    }

    /// A worker with an open device and, if `program` is given, that program loaded.
    pub fn ready(&mut self, program: Option<u32>) -> Result<&mut Process> {
        if matches!(self.pending_sweep, Some(PendingSweep::Running(_))) {
            return Err(Error::internal("the worker is still at a joint sweep"));
        }
        let worker = std::mem::replace(&mut self.worker, Worker::None);
        let (mut process, mut loaded) = match worker {
            Worker::Ready(process, loaded) => (process, loaded),
            Worker::Loading(mut process, mut loaded, id, deadline) => {
                let entry = self.programs.get(&id).map_or("", |p| &p.code.entry);
                match wait_built(&mut process, entry, deadline) {
                    Ok(()) => loaded.push(id),
                    // Reported to the caller that asks for that program.
                    Err(LoadFailure::Refused(e)) if program == Some(id) => {
                        self.worker = Worker::Ready(process, loaded);
                        return Err(e);
                    }
                    Err(LoadFailure::Refused(_)) => {}
                    Err(LoadFailure::Died(e)) => {
                        self.restart();
                        return if program == Some(id) { Err(e) } else { self.ready(program) };
                    }
                }
                (process, loaded)
            }
            Worker::Starting(mut process, since) => {
                wait_opened(&mut process, (&self.selector, self.target), since + self.options.start_timeout)?;
                (process, Vec::new())
            }
            // A driver may have refused it the device that the worker before it had open.
            Worker::TakingOver(mut process) => match self.wait_opened(&mut process) {
                Ok(()) => (process, Vec::new()),
                Err(_) => (self.start_worker()?, Vec::new()),
            },
            Worker::None => (self.start_worker()?, Vec::new()),
        };
        if let Some(program) = program
            && !loaded.contains(&program)
        {
            let code = &self.programs.get(&program).ok_or_else(|| unknown_program(program))?.code;
            let deadline = Instant::now() + self.options.load_timeout;
            let sent = send(&mut process, program, code);
            match sent.and_then(|()| wait_built(&mut process, &code.entry, deadline)) {
                Ok(()) => loaded.push(program),
                Err(LoadFailure::Refused(e)) => {
                    self.worker = Worker::Ready(process, loaded);
                    return Err(e);
                }
                Err(LoadFailure::Died(e)) => {
                    self.restart();
                    return Err(e);
                }
            }
        }
        self.worker = Worker::Ready(process, loaded);
        match &mut self.worker {
            Worker::Ready(process, _) => Ok(process),
            Worker::None | Worker::Starting(..) | Worker::TakingOver(_) | Worker::Loading(..) => {
                Err(Error::internal("the worker was lost"))
            }
        }
    }

    /// Starts a worker and waits until it has opened the device.
    fn start_worker(&self) -> Result<Process> {
        let mut process = self.options.start(self.stand_in.as_ref(), &self.opening())?;
        self.wait_opened(&mut process)?;
        Ok(process)
    }

    /// The first request to each of its workers.
    fn opening(&self) -> Request {
        self.options.opening(&self.selector, self.target)
    }

    fn wait_opened(&self, process: &mut Process) -> Result<()> {
        let deadline = Instant::now() + self.options.start_timeout;
        wait_opened(process, (&self.selector, self.target), deadline).map(|_| ())
    }

    /// The device that it has open.
    pub fn info(&self) -> &DeviceInfo {
        &self.device
    }

    /// Has another process build a program; see [`Executor::prebuild`](crate::exec::Executor::prebuild).
    pub fn build_elsewhere(&mut self, code: &DeviceCode) {
        let most = self.options.builders.unwrap_or_else(|| background_builds::builders(self.target));
        let options = WorkerOptions { joint: false, ..self.options.clone() };
        let (selector, target) = (self.selector.clone(), self.target);
        let mark = background_builds::mark(code, &self.device);
        // Then loading it takes less time than opening the device once more.
        if mark.as_deref().is_some_and(Path::exists) {
            return;
        }
        self.builds.begin(code, most, move |code| {
            let opened = || -> Result<Process> {
                let mut process = options.start(None, &options.opening(&selector, target))?;
                wait_opened(&mut process, (&selector, target), Instant::now() + options.start_timeout)?;
                Ok(process)
            };
            let Ok(mut process) = opened() else { return };
            // Who loads the program finds out what is wrong with it.
            let built = send(&mut process, 0, code)
                .and_then(|()| wait_built(&mut process, &code.entry, Instant::now() + options.load_timeout));
            if let (Ok(()), Some(mark)) = (built, &mark) {
                background_builds::set(mark);
            }
        });
    }

    /// Begins to build a program; see [`Executor::begin_load`](crate::exec::Executor::begin_load).
    pub fn begin_build(&mut self, code: &DeviceCode) -> Result<ProgramId> {
        self.builds.wait(code);
        self.ready(None)?;
        if let Some(what) = signature::lacking(&code.bytes, self.info()) {
            let (device, entry) = (&self.info().name, &code.entry);
            let error = Error::environment(format!("the device {device} lists no {what}, which kernel `{entry}` uses"));
            return Err(
                error.help("choose another with --device: `kassay devices` tells what each has, and `sim` has it all")
            );
        }
        let code = signature::suited(code, self.info());
        let id = self.next;
        self.next += 1;
        if let Worker::Ready(mut process, loaded) = std::mem::replace(&mut self.worker, Worker::None) {
            let deadline = Instant::now() + self.options.load_timeout;
            match send(&mut process, id, &code) {
                Ok(()) => self.worker = Worker::Loading(process, loaded, id, deadline),
                Err(LoadFailure::Refused(e)) => {
                    self.worker = Worker::Ready(process, loaded);
                    return Err(e);
                }
                Err(LoadFailure::Died(e)) => {
                    self.restart();
                    return Err(e);
                }
            }
        }
        let mut read_only = signature::read_only(&code.bytes, &code.entry);
        read_only.resize(read_only.len().max(code.read_only.len()), false);
        read_only.iter_mut().zip(&code.read_only).for_each(|(one, said)| *one |= said);
        self.programs.insert(id, Program { code, read_only });
        Ok(ProgramId(id))
    }

    /// Waits until a program is built; see [`Executor::finish_load`](crate::exec::Executor::finish_load).
    pub fn finish_build(&mut self, program: ProgramId) -> Result<()> {
        let done = self.ready(Some(program.0)).map(|_| ());
        if done.is_err() {
            self.programs.remove(&program.0);
        }
        done
    }

    /// Forgets a program, and has the worker forget it.
    pub fn forget(&mut self, program: ProgramId) {
        if matches!(self.worker, Worker::Loading(..)) {
            // The failure of a build that nothing waits for has no consequence.
            let _ = self.ready(None);
        }
        self.programs.remove(&program.0);
        if let Worker::Ready(process, loaded) = &mut self.worker
            && let Some(at) = loaded.iter().position(|id| *id == program.0)
        {
            loaded.remove(at);
            let deadline = Instant::now() + self.options.load_timeout;
            if process.call(&Request::Unload { program: program.0 }, deadline).is_err() {
                self.restart();
            }
        }
    }

    /// By position, which arguments the program's kernel cannot write.
    pub fn read_only(&self, program: ProgramId) -> Result<&[bool]> {
        Ok(&self.programs.get(&program.0).ok_or_else(|| unknown_program(program.0))?.read_only)
    }

    /// Time limit for device operations that run no kernel (load, build, transfer).
    pub fn operation_timeout(&self) -> Duration {
        self.options.load_timeout
    }

    /// Puts a new worker in place of a dead one: that which stands by, or else one that becomes ready while the caller
    /// does other things.
    pub fn restart(&mut self) {
        self.worker = match self.spare.take() {
            Some(process) => Worker::TakingOver(process),
            None => {
                match self.options.start(self.stand_in.as_ref(), &self.opening()) {
                    Ok(process) => Worker::Starting(process, Instant::now()),
                    // The next call tries again, and reports the error.
                    Err(_) => Worker::None,
                }
            }
        };
    }

    /// Has a second worker open the device in the background, where that is wanted; to be called before a launch.
    pub fn prepare_spare(&mut self) {
        if self.options.spare_worker.is_wanted(self.target) && self.stand_in.is_none() {
            let (options, open) = (&self.options, self.opening());
            self.spare.prepare(|| options.start(None, &open));
        }
    }
}

impl StartingWorker {
    /// Waits until the device is open.
    ///
    /// # Errors
    /// `Environment`: no device is selected (the message lists the devices found), it takes no IL, OpenCL is not
    /// installed, or its driver dies.
    pub fn ready(mut self) -> Result<OpenClExecutor> {
        let device =
            wait_opened(&mut self.process, (&self.selector, self.target), self.since + self.options.start_timeout)?;
        // Every later worker opens the same device, whatever the first one was asked for.
        let selector = match device.index {
            Some((platform, device)) => DeviceSelector::Index { platform, device },
            None => self.selector,
        };
        Ok(OpenClExecutor {
            selector,
            target: self.target,
            options: self.options,
            stand_in: self.stand_in,
            device,
            worker: Worker::Ready(self.process, Vec::new()),
            spare: Spare::default(),
            programs: HashMap::new(),
            next: 0,
            pending_sweep: None,
            arena_cache: ArenaCache::default(),
            builds: BackgroundBuilds::default(),
        })
    }
}

/// Why a program could not be loaded.
enum LoadFailure {
    /// The worker refused it and is alive.
    Refused(Error),
    /// The worker is dead.
    Died(Error),
}

/// Sends a program to the worker to be built.
fn send(process: &mut Process, program: u32, code: &DeviceCode) -> std::result::Result<(), LoadFailure> {
    let span = SpanAllocator::default().allocate(code.bytes.len() as u64);
    process.shared.reserve(span.len, 0).map_err(LoadFailure::Refused)?;
    let to = span.of_mut(process.shared.bytes()).ok_or_else(|| LoadFailure::Refused(protocol_error()))?;
    to.copy_from_slice(&code.bytes);
    let request = Request::Load {
        program,
        memory: process.shared.len(),
        target: code.target,
        code: span,
        entry: code.entry.clone(),
        options: code.build_options.clone(),
        image_buffers: code.image_buffers,
    };
    process.send(&request).map_err(|silence| load_lost(&code.entry, silence))
}

/// Waits for the build that [`send`] began.
fn wait_built(process: &mut Process, entry: &str, deadline: Instant) -> std::result::Result<(), LoadFailure> {
    match process.wait_reply(deadline) {
        Ok(Reply::Loaded) => Ok(()),
        Ok(Reply::BuildFailed { error, log }) => Err(LoadFailure::Refused(match errors::excess(&log) {
            Some(excess) => Error::environment(format!("the kernel `{entry}` is too large for the device: {excess}"))
                .help("choose another device with --device; `kassay devices` lists them"),
            None => Error::internal(format!("the device refuses kernel `{entry}`: {error}")).details(log),
        })),
        Ok(Reply::Lost { error }) => {
            let what =
                format!("the device did not build kernel `{entry}`, because an earlier launch broke it ({error})");
            Err(LoadFailure::Died(Error::environment(what)))
        }
        Ok(_) => Err(LoadFailure::Refused(protocol_error())),
        Err(silence) => Err(load_lost(entry, silence)),
    }
}

fn load_lost(entry: &str, silence: NoReply) -> LoadFailure {
    LoadFailure::Died(match silence {
        NoReply::Timeout => Error::internal(format!("the device's compiler did not finish kernel `{entry}` in time")),
        NoReply::Dead(death) => {
            Error::internal(format!("the device's compiler died of kernel `{entry}` ({})", death.cause()))
                .details(death.stderr)
        }
    })
}

/// Waits until the device is open.
fn wait_opened(
    process: &mut Process,
    (selector, target): (&DeviceSelector, Target),
    deadline: Instant,
) -> Result<DeviceInfo> {
    let form = target.name();
    match process.wait_reply(deadline) {
        Ok(Reply::Opened(info)) => Ok(info),
        Ok(Reply::NoDevice(there)) => {
            let wanted = match selector {
                DeviceSelector::Any => None,
                DeviceSelector::Index { .. } => Some(format!("opencl:{selector}")),
                DeviceSelector::Number(_) => Some(format!("nvidia:{selector}")),
                DeviceSelector::Name(name) => Some(name.clone()),
            };
            let what = match &wanted {
                None if there.is_empty() => NO_DEVICE.to_owned(),
                None => format!("no OpenCL device takes {form}"),
                Some(wanted) if there.is_empty() => {
                    format!("there is no device `{wanted}`, nor any other OpenCL device")
                }
                Some(wanted) => format!("there is no device `{wanted}`"),
            };
            let help = if there.is_empty() || wanted.is_none() {
                install_hint(target)
            } else {
                "name one of these or `sim`, or leave --device away".to_owned()
            };
            let error = Error::environment(what).help(help);
            Err(if there.is_empty() { error } else { error.details(listing(&there)) })
        }
        Ok(Reply::NoIl(info)) => {
            let (lacks, help) = match info.target() {
                Some(Target::Ptx) => (format!("no {form}"), "it takes PTX: --device nvidia"),
                Some(_) => (format!("no {form}"), "choose a device that does; `kassay devices` lists them"),
                // PTX is for NVIDIA's devices alone.
                None => (
                    format!("no {}", Target::SpirV.name()),
                    "choose a device that does, or `sim`; `kassay devices` lists them",
                ),
            };
            Err(Error::environment(format!("the device {} takes {lacks}", info.name)).help(help))
        }
        Ok(Reply::Broken { what, help }) => Err(Error::environment(what).help(help)),
        Ok(_) => Err(protocol_error()),
        Err(silence) => Err(start_failure(silence)),
    }
}

fn start_failure(silence: NoReply) -> Error {
    match silence {
        NoReply::Timeout => Error::environment("the OpenCL runtime does not start in time"),
        NoReply::Dead(death) => {
            let error = Error::environment(format!("the OpenCL runtime died while it started ({})", death.cause()));
            if death.stderr.is_empty() { error } else { error.details(death.stderr) }
        }
    }
    .help("`kassay devices` tells which driver fails; OCL_ICD_VENDORS can name a folder without it")
}

/// Lists devices for messages, one per line.
fn listing(devices: &[DeviceInfo]) -> String {
    let line = |d: &DeviceInfo| {
        let index = d.index.map_or(String::new(), |(p, d)| format!("opencl:{p}.{d} "));
        let il = match d.target() {
            Some(Target::Ptx) => "takes PTX: --device nvidia".to_owned(),
            _ if d.il_versions.is_empty() => "takes no SPIR-V".to_owned(),
            _ => d.il_versions.join(" "),
        };
        format!("  {index}{} ({il})", d.name)
    };
    devices.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How to obtain a device that takes code of the form `target`.
fn install_hint(target: Target) -> String {
    let install = match target {
        Target::Ptx => "install NVIDIA's driver, which brings an OpenCL runtime, or leave --device away",
        Target::SpirV | Target::Source | Target::Native => {
            "run scripts/quickstart, which installs an OpenCL runtime without root"
        }
    };
    match Vendors::discover().user {
        Some((name, value)) => format!("unset {name} ({value}), which alone decides about drivers now; or {install}"),
        None => install.to_owned(),
    }
}

fn unknown_program(program: u32) -> Error {
    Error::internal(format!("program {program} was not loaded by this executor"))
}

/// Lists all OpenCL devices, including those without IL. A worker process does so, so that a broken driver kills
/// only that.
///
/// # Errors
/// `Environment`: OpenCL's loader is missing, or a driver dies or hangs.
pub fn probe_devices(options: &WorkerOptions) -> Result<Vec<DeviceInfo>> {
    let mut process = options.start(None, &Request::List)?;
    match process.wait_reply(Instant::now() + options.start_timeout) {
        Ok(Reply::Devices(devices)) => Ok(devices),
        Ok(Reply::Broken { what, help }) => Err(Error::environment(what).help(help)),
        Ok(_) => Err(protocol_error()),
        Err(silence) => Err(start_failure(silence)),
    }
}
