//! Starts the executors for a suite's tests, with the original kernel being loaded.

use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::code::LoweringOptions;
use kassay_model::interface::Interface;
use kassay_model::sub_groups::SubGroups;
use kassay_results::result;
use kassay_run::exec::simulator::Simulator;
use kassay_run::exec::simulator::observation::{FaultKind, SimulationOptions};
use kassay_run::exec::{
    Capabilities, Code, DeviceInfo, Executor, ProgramId, Schedules, StartedExecutors, StartingExecutors,
};
use kassay_suite::faults;
use kassay_suite::launch::NdRange;
use kassay_suite::resolve::Test;
use kassay_suite::schedule::Schedule;

use super::input::Parsed;
use super::opened::Opened;

/// Executors with the original kernel, and the tests as they run there.
pub(super) struct Loading {
    /// The tests, with work-group sizes that fit the device.
    pub tests: Vec<Test>,
    /// Each with the original kernel, which may still be building: `finish_load` must follow.
    pub executors: Vec<(Box<dyn Executor>, ProgramId)>,
    /// Says which tests are left out, and why.
    pub note: Option<String>,
    /// The tests that only the simulator can judge, if there are such.
    pub trapping: Option<Trapping>,
}

impl Loading {
    /// Leaves out the tests that only the simulator can judge.
    ///
    /// # Errors
    /// As [`Runnable::without_trapping`].
    pub fn without_trapping(self) -> Result<Loading> {
        let Loading { tests, executors, note, trapping } = self;
        let Runnable { tests, note, trapping } = Runnable { tests, note, trapping }.without_trapping()?;
        Ok(Loading { tests, executors, note, trapping })
    }

    /// Starts executors, one per test at most, and begins to load the original kernel.
    ///
    /// # Errors
    /// As [`start_executors`]; `Internal` if the kernel cannot be lowered.
    pub fn begin(opened: &Opened, parsed: &Parsed<'_>) -> Result<Loading> {
        let under_test = &parsed.under_test;
        let starting = opened.start(opened.workers())?;
        // While workers start.
        let expected = starting.target();
        let mut plain = under_test.plain(expected)?;
        let executors = start_executors(opened, starting, &parsed.tests)?;
        let target = executors[0].target();
        if target != expected {
            plain = under_test.plain(target)?;
        }
        Loading::of(opened, parsed, executors, &plain)
    }

    /// Begins to load the original kernel on executors that are ready, of which there is at least one.
    ///
    /// # Errors
    /// `Caller` if the device does not support a test's schedule, or the allowed faults of every test; `Internal` if
    /// the kernel cannot be lowered.
    pub fn begin_on(opened: &Opened, executors: Vec<Box<dyn Executor>>, parsed: &Parsed<'_>) -> Result<Loading> {
        let under_test = &parsed.under_test;
        let first = executors.first().ok_or_else(|| Error::internal("no executor is ready"))?;
        check_schedules(first.as_ref(), &parsed.tests)?;
        let plain = under_test.plain(first.target())?;
        Loading::of(opened, parsed, executors, &plain)
    }

    fn of(
        opened: &Opened,
        parsed: &Parsed<'_>,
        mut executors: Vec<Box<dyn Executor>>,
        plain: &Code,
    ) -> Result<Loading> {
        let programs: Vec<ProgramId> = executors.iter_mut().map(|e| e.begin_load(plain)).collect::<Result<_>>()?;
        let under_test = &parsed.under_test;
        let interface = &under_test.interface;
        let Runnable { tests, note, trapping } =
            runnable(&parsed.tests, under_test, executors[0].device(), executors[0].capabilities())?;
        let tests = with_local_sizes(&tests, interface, executors[0].device());
        note_sub_groups(opened, interface, &tests, (executors[0].as_mut(), programs[0]))?;
        let executors = executors.into_iter().zip(programs).collect();
        Ok(Loading { tests, executors, note, trapping })
    }

    /// Returns what the executors can do.
    pub fn capabilities(&self) -> Capabilities {
        self.executors[0].0.capabilities()
    }
}

/// Does what [`note_sub_groups`] does for a kernel that is not loaded, on an executor that is ready.
///
/// # Errors
/// Errors of loading the kernel.
pub(super) fn note_sub_groups_of(
    opened: &Opened,
    under_test: &KernelUnderTest,
    tests: &[Test],
    executor: &mut dyn Executor,
) -> Result<()> {
    if under_test.interface.sub_groups == SubGroups::Unused {
        return Ok(());
    }
    let program = executor.load(&under_test.plain(executor.target())?)?;
    note_sub_groups(opened, &under_test.interface, tests, (executor, program))?;
    executor.unload(program);
    Ok(())
}

/// Tells the user if a device runs the kernel in other sub-groups than the kernel requires, or the simulator has.
fn note_sub_groups(
    opened: &Opened,
    interface: &Interface,
    tests: &[Test],
    (executor, program): (&mut dyn Executor, ProgramId),
) -> Result<()> {
    let Some(expected) = interface.sub_groups.simulated() else { return Ok(()) };
    let mut seen: Vec<&NdRange> = Vec::new();
    for test in tests {
        let range = &test.launch.range;
        if seen.iter().any(|known| known.local == range.local) {
            continue;
        }
        seen.push(range);
        let Some(formed) = executor.sub_groups(program, range)? else { continue };
        let (kernel, device, test) = (&interface.name, &executor.device().name, &test.name);
        let here = format!("on {device} (test `{test}`)");
        let size = formed.size;
        let items: u64 = range.local.unwrap_or([1; 3]).iter().product();
        let note = match formed.count {
            _ if size != expected => {
                let instead = match interface.sub_groups.required() {
                    Some(_) => format!("not of {expected} as required: what depends on them may differ"),
                    None => format!("not of {expected} as on the simulator, unless --sub-group-size {size} says so"),
                };
                format!("`{kernel}` has sub-groups of {size} work-items {here}, {instead}")
            }
            Some(count) if u64::from(count) != items.div_ceil(size.into()) => format!(
                "`{kernel}` has {count} sub-groups in each work-group {here}, not {} as on the simulator, which forms them by \
                 local linear id",
                items.div_ceil(size.into())
            ),
            _ => continue,
        };
        opened.observer().note(&note);
        break;
    }
    Ok(())
}

/// Returns the tests with the work-group sizes chosen that the suite and the kernel leave open.
pub(super) fn with_local_sizes(tests: &[Test], interface: &Interface, device: &DeviceInfo) -> Vec<Test> {
    let mut tests = tests.to_vec();
    for test in &mut tests {
        test.launch.range.decide_local(interface.required_local, device.max_work_group_size);
    }
    tests
}

/// Waits for executors and returns them, at least one.
///
/// # Errors
/// Errors of the device; `Caller` if it does not support a test's schedule.
pub(super) fn start_executors(
    opened: &Opened,
    starting: StartingExecutors,
    tests: &[Test],
) -> Result<Vec<Box<dyn Executor>>> {
    check_started(opened, starting.ready()?, tests)
}

/// Waits for executors as [`start_executors`] does, while this thread does something else.
///
/// # Errors
/// As [`start_executors`], else those of `meanwhile`.
pub(super) fn start_executors_during<T>(
    opened: &Opened,
    starting: StartingExecutors,
    tests: &[Test],
    meanwhile: impl FnOnce() -> Result<T>,
) -> Result<(Vec<Box<dyn Executor>>, T)> {
    let (started, done) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| starting.ready());
        let done = meanwhile();
        let lost = || Err(Error::internal("the thread that waited for the device ended early"));
        (waiting.join().unwrap_or_else(|_| lost()), done)
    });
    Ok((check_started(opened, started?, tests)?, done?))
}

/// Checks what was started, and notes what the user should know.
fn check_started(
    opened: &Opened,
    StartedExecutors { executors, note }: StartedExecutors,
    tests: &[Test],
) -> Result<Vec<Box<dyn Executor>>> {
    if let Some(why) = note {
        opened.observer().note(&why);
    }
    let first = executors.first().ok_or_else(|| Error::internal("no executor was started"))?;
    check_schedules(first.as_ref(), tests)?;
    Ok(executors)
}

/// Checks that a device can keep the tests' schedules.
///
/// # Errors
/// `Caller` if it cannot.
fn check_schedules(first: &dyn Executor, tests: &[Test]) -> Result<()> {
    let capabilities = first.capabilities();
    let needs_more = |test: &&Test| !Schedule::is_map(&test.launch.schedule);
    if let Some(test) = tests.iter().find(needs_more).filter(|_| capabilities.schedules != Schedules::All) {
        return Err(Error::caller(format!(
            "the test `{}` has a schedule, which {} cannot keep",
            test.name,
            first.device().name
        ))
        .help("run it on the simulator with --device sim, or leave `item_order` and `preemptions` out"));
    }
    Ok(())
}

/// The tests that a device can run.
pub(super) struct Runnable {
    /// At least one, if there is any and none is in `trapping`.
    pub tests: Vec<Test>,
    /// Says which others there are, and why they are left out.
    pub note: Option<String>,
    /// Those that only the simulator can judge.
    pub trapping: Option<Trapping>,
}

impl Runnable {
    /// Leaves out the tests that only the simulator can judge.
    ///
    /// # Errors
    /// `Caller` if no other is left.
    pub fn without_trapping(self) -> Result<Runnable> {
        let Some(trapping) = &self.trapping else { return Ok(self) };
        if self.tests.is_empty() {
            return Err(trapping.refused());
        }
        let note = self.note.into_iter().chain([trapping.left_out()]).reduce(joined);
        Ok(Runnable { note, trapping: None, ..self })
    }
}

/// Tests in which an assertion fails, or a work-item traps otherwise, which a device does not report.
pub(super) struct Trapping {
    /// At least one.
    pub tests: Vec<Test>,
    /// How many tests there are in all.
    all: usize,
    device: String,
    /// What stops the kernel in the first of them, and where.
    example: String,
}

impl Trapping {
    /// Says that they ran on the simulator.
    pub fn simulated(&self) -> String {
        format!("{}, and ran on the simulator: {}", self.what(), self.names())
    }

    fn left_out(&self) -> String {
        format!("{}, and were left out: {}; the simulator runs them (--device sim)", self.what(), self.names())
    }

    fn what(&self) -> String {
        let (count, all, device) = (self.tests.len(), self.all, &self.device);
        format!("{count} of {all} tests have a failing assertion or another trap, which {device} does not report")
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.tests.iter().map(|test| format!("`{}`", test.name)).collect();
        format!("{} ({})", names.join(", "), self.example)
    }

    fn refused(&self) -> Error {
        let name = self.tests.first().map_or("", |test| &test.name);
        let (device, why) = (&self.device, &self.example);
        let what = format!(
            "the test `{name}` cannot run on {device}: its kernel stops, which OpenCL's devices do not report ({why})"
        );
        Error::caller(what).help("run it on the simulator with --device sim")
    }
}

/// Leaves out the tests that a device cannot run: those that allow faults with an unknown effect there, and those in
/// which work-items synchronise in a way that only CUDA allows: while others have returned, or apart from the others of
/// their warp. Tells those apart in which an assertion fails.
///
/// # Errors
/// `Caller` if that is true of every test; those of the simulator.
pub(super) fn runnable(
    tests: &[Test],
    under_test: &KernelUnderTest<'_>,
    device: &DeviceInfo,
    capabilities: Capabilities,
) -> Result<Runnable> {
    if capabilities.checks.faults {
        return Ok(Runnable { tests: tests.to_vec(), note: None, trapping: None });
    }
    let (left, grids) = without_grids(tests, under_test, device, capabilities)?;
    let (left, faults) = without_faults(&left, under_test, device)?;
    let faults = grids.into_iter().chain(faults).reduce(joined);
    let is_only_cuda = !capabilities.skips_returned && (under_test.may_go_without() || under_test.has_warps());
    if !is_only_cuda && !under_test.may_trap() {
        return Ok(Runnable { tests: left, note: faults, trapping: None });
    }
    let mut observed = match observed(&left, under_test, device)? {
        Ok(observed) => observed.into_iter(),
        Err(note) => {
            let note = faults.into_iter().chain([note]).reduce(joined);
            return Ok(Runnable { tests: left, note, trapping: None });
        }
    };
    let (left, others) = separate(left, |_| observed.next().flatten());
    let (mut trapping, mut example, mut of_cuda) = (Vec::new(), None, Vec::new());
    for (test, why) in others {
        match why {
            Unfit::Traps(what) => {
                trapping.push(test);
                example.get_or_insert(what);
            }
            Unfit::OnlyCuda(what) => of_cuda.push((test, what)),
        }
    }
    if let (true, true, Some((first, why))) = (left.is_empty(), trapping.is_empty(), of_cuda.first()) {
        let what = format!(
            "the test `{}` cannot run on {}: in it, {why}, which CUDA allows, and OpenCL does not",
            first.name, device.name
        );
        return Err(Error::caller(what).help("run it on the simulator with --device sim"));
    }
    let mut notes: Vec<String> = faults.into_iter().collect();
    for what in [RETURNS, APART] {
        let alike = of_cuda.iter().filter(|(_, why)| *why == what);
        let alike: Vec<(Test, String)> = alike.map(|(test, _)| (test.clone(), String::new())).collect();
        if !alike.is_empty() {
            let what = format!("let {what}, which CUDA allows and {} does not", device.name);
            notes.push(left_out(&alike, tests.len(), &what, None));
        }
    }
    let (all, device) = (tests.len(), device.name.clone());
    let trapping = example.map(|example| Trapping { tests: trapping, all, device, example });
    Ok(Runnable { tests: left, note: notes.into_iter().reduce(joined), trapping })
}

/// Two notes as one.
pub(super) fn joined(first: String, second: String) -> String {
    format!("{first}; {second}")
}

/// What work-items do in a test that CUDA allows and OpenCL does not.
const RETURNS: &str = "work-items return while others of their group synchronise";
const APART: &str = "lanes of a warp call its functions apart from each other";

/// What a test does that a device does not report, or not allow.
enum Unfit {
    /// [`RETURNS`] or [`APART`].
    OnlyCuda(&'static str),
    /// An assertion fails, or a work-item traps otherwise: which one, and where.
    Traps(String),
}

/// Leaves out the tests with several work-groups that wait for each other, which need not all be active at the same
/// time on a device, and says so.
fn without_grids(
    tests: &[Test],
    under_test: &KernelUnderTest<'_>,
    device: &DeviceInfo,
    capabilities: Capabilities,
) -> Result<(Vec<Test>, Option<String>)> {
    let place = under_test.grid_barrier().filter(|_| !capabilities.whole_grids);
    let Some(place) = place else { return Ok((tests.to_vec(), None)) };
    let (left, others) = separate(tests.to_vec(), |test| (test.launch.range.groups() > 1).then(String::new));
    let Some((first, _)) = others.first() else { return Ok((left, None)) };
    if left.is_empty() {
        return Err(Error::caller(format!(
            "{place}: all work-groups of the test `{}` wait for each other, for which {} has nothing",
            first.name, device.name
        ))
        .help("run it on the simulator with --device sim, or launch one work-group"));
    }
    let what = format!("let work-groups wait for each other at {place}, for which {} has nothing", device.name);
    let note = left_out(&others, tests.len(), &what, None);
    Ok((left, Some(note)))
}

/// Leaves out the tests that allow faults with an unknown effect, and says so.
fn without_faults(
    tests: &[Test],
    under_test: &KernelUnderTest<'_>,
    device: &DeviceInfo,
) -> Result<(Vec<Test>, Option<String>)> {
    let faulting = |test: &Test| faults::refusal(&test.launch, &test.faulted, &under_test.interface);
    let (left, others) = separate(tests.to_vec(), faulting);
    let Some((first, why)) = others.first() else { return Ok((left, None)) };
    if left.is_empty() {
        return Err(Error::caller(format!(
            "the test `{}` allows faults, which {} cannot run: {why}",
            first.name, device.name
        ))
        .help("run it on the simulator with --device sim, or give the buffers that are missed a `margin` that is large enough"));
    }
    let note = left_out(&others, tests.len(), &format!("allow faults that {} cannot run", device.name), Some(why));
    Ok((left, Some(note)))
}

/// Returns by test why a device cannot run it, as the simulator observes; or a note that this cannot be known.
///
/// # Errors
/// Errors of the simulator.
fn observed(
    tests: &[Test],
    under_test: &KernelUnderTest<'_>,
    device: &DeviceInfo,
) -> Result<std::result::Result<Vec<Option<Unfit>>, String>> {
    match observer(under_test) {
        Ok(observe) => Ok(Ok(tests.iter().map(observe).collect::<Result<_>>()?)),
        // What masks do must be known; that nobody returns is mostly so.
        Err(error) if under_test.takes_lanes() => Err(error),
        Err(error) => Ok(Err(format!(
            "it is not known whether work-items return while others of their group synchronise, which {} does not \
             allow, or trap, which it does not report, because the simulator cannot run the kernel: {}",
            device.name,
            error.report().what
        ))),
    }
}

/// Returns why a device must not run launches of the kernel whose work-items have not been observed before.
pub(super) fn unfit_for(under_test: &KernelUnderTest<'_>, executor: &dyn Executor) -> Option<String> {
    let (kernel, device, capabilities) = (&under_test.entry, &executor.device().name, executor.capabilities());
    let may = match (under_test.takes_lanes(), under_test.may_go_without()) {
        _ if capabilities.skips_returned => None,
        (true, _) => Some(format!("lanes of a warp in `{kernel}` may call its functions apart from each other")),
        (false, true) => Some(format!("work-items of `{kernel}` may return while others of their group synchronise")),
        (false, false) => None,
    };
    let traps = || format!("`{kernel}` has assertions or other traps, which {device} does not report");
    let only_cuda = may.map(|may| format!("{may}, which {device} does not allow"));
    let grid = under_test.grid_barrier().filter(|_| !capabilities.whole_grids);
    let grid = grid.map(|place| format!("all work-groups of `{kernel}` wait for each other at {place}"));
    grid.or(only_cuda).or_else(|| (!capabilities.checks.faults && under_test.may_trap()).then(traps))
}

/// Returns why a device must not run mutants of the kernel: a mutant may change which lanes of a warp a function names,
/// or be another number of groups that wait for each other.
pub(super) fn unfit_for_mutants(under_test: &KernelUnderTest<'_>, executor: &dyn Executor) -> Option<String> {
    (under_test.takes_lanes() || under_test.grid_barrier().is_some()).then(|| unfit_for(under_test, executor)).flatten()
}

/// Replaces executors by simulators if `why` says that they must not run the kernel's mutants.
///
/// # Errors
/// Those of the simulator.
pub(super) fn or_simulators(started: Vec<Box<dyn Executor>>, why: Option<&str>) -> Result<Vec<Box<dyn Executor>>> {
    if why.is_none() {
        return Ok(started);
    }
    let simulator = |_| Ok(Box::new(Simulator::new(1)?) as Box<dyn Executor>);
    started.iter().map(simulator).collect()
}

/// Separates the tests for which there is a reason, with it.
fn separate<W>(tests: Vec<Test>, mut why: impl FnMut(&Test) -> Option<W>) -> (Vec<Test>, Vec<(Test, W)>) {
    let (mut left, mut others) = (Vec::new(), Vec::new());
    for test in tests {
        match why(&test) {
            Some(why) => others.push((test, why)),
            None => left.push(test),
        }
    }
    (left, others)
}

/// Says which tests are left out.
fn left_out(tests: &[(Test, String)], all: usize, what: &str, why: Option<&str>) -> String {
    let names: Vec<String> = tests.iter().map(|(test, _)| format!("`{}`", test.name)).collect();
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!(
        "{} of {all} tests {what}, and were left out: {}{why}; the simulator runs them (--device sim)",
        tests.len(),
        names.join(", ")
    )
}

/// Returns what tells of a test why a device cannot run it: the simulator, which gives each test 30 s.
///
/// # Errors
/// Errors of lowering and of the simulator.
fn observer(under_test: &KernelUnderTest<'_>) -> Result<impl FnMut(&Test) -> Result<Option<Unfit>> + use<>> {
    const LIMIT: Duration = Duration::from_secs(30);
    let mut simulator = Simulator::new(1)?;
    let code = under_test.for_simulator(&LoweringOptions::default())?;
    let program = simulator.load_native(&code)?;
    let takes_lanes = under_test.takes_lanes();
    Ok(move |test: &Test| {
        let seen = simulator.simulate(program, &test.launch, &SimulationOptions::default(), LIMIT, &[])?;
        if let Some(trap) = seen.faults.iter().find(|fault| fault.kind == FaultKind::Trap) {
            return Ok(Some(Unfit::Traps(code.table.trap_text(trap.site))));
        }
        let is_apart = seen.was_apart || takes_lanes && !seen.completed;
        Ok(match seen.went_without {
            true => Some(Unfit::OnlyCuda(RETURNS)),
            false => is_apart.then_some(Unfit::OnlyCuda(APART)),
        })
    })
}

/// Converts the description of a device to that of results.
pub(crate) fn device(info: &DeviceInfo) -> result::Device {
    result::Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.languages(),
    }
}
