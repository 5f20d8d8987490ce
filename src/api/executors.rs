//! Starts the executors for a suite's tests, with the original kernel being loaded.

use super::input::Parsed;
use super::opened::Opened;
use crate::error::{Error, Result};
use crate::exec::{
    Capabilities, Code, DeviceInfo, Executor, ProgramId, Schedules, StartedExecutors, StartingExecutors,
};
use crate::kernel::interface::Interface;
use crate::result;
use crate::suite::faults;
use crate::suite::launch::NdRange;
use crate::suite::resolve::Test;
use crate::suite::schedule::Schedule;

/// Executors with the original kernel, and the tests as they run there.
pub(super) struct Loading {
    /// The tests, with work-group sizes that fit the device.
    pub tests: Vec<Test>,
    /// Each with the original kernel, which may still be building: `finish_load` must follow.
    pub executors: Vec<(Box<dyn Executor>, ProgramId)>,
}

impl Loading {
    /// Starts executors, one per test at most, and begins to load the original kernel.
    ///
    /// # Errors
    /// Those of [`start_executors`]; `Internal` if the kernel cannot be lowered.
    pub fn begin(opened: &Opened, parsed: &Parsed<'_>) -> Result<Loading> {
        let under_test = &parsed.under_test;
        let starting = opened.start(opened.workers())?;
        // While workers start.
        let expected = starting.target();
        let mut plain = under_test.plain(expected)?;
        let executors = start_executors(opened, starting, &parsed.tests, &under_test.interface)?;
        let target = executors[0].target();
        if target != expected {
            plain = under_test.plain(target)?;
        }
        Loading::of(opened, parsed, executors, &plain)
    }

    /// Begins to load the original kernel on executors that are ready, of which there is at least one.
    ///
    /// # Errors
    /// `Caller` if the device does not support a test's schedule or its allowed faults; `Internal` if the kernel cannot be
    /// lowered.
    pub fn begin_on(opened: &Opened, executors: Vec<Box<dyn Executor>>, parsed: &Parsed<'_>) -> Result<Loading> {
        let under_test = &parsed.under_test;
        let first = executors.first().ok_or_else(|| Error::internal("no executor is ready"))?;
        check_support(first.as_ref(), &parsed.tests, &under_test.interface)?;
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
        let tests = with_local_sizes(&parsed.tests, &parsed.under_test.interface, executors[0].device());
        note_sub_groups(opened, &parsed.under_test.interface, &tests, (executors[0].as_mut(), programs[0]))?;
        let executors = executors.into_iter().zip(programs).collect();
        Ok(Loading { tests, executors })
    }

    /// Returns what the executors can do.
    pub fn capabilities(&self) -> Capabilities {
        self.executors[0].0.capabilities()
    }
}

/// Tells the user if a device runs the kernel in sub-groups of another size than the kernel requires, or the simulator has.
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
        if let Some(size) = executor.sub_group_size(program, range)?.filter(|size| *size != expected) {
            let (kernel, device, test) = (&interface.name, &executor.device().name, &test.name);
            let instead = match interface.sub_groups.required() {
                Some(_) => format!("not of {expected} as required: what depends on them may differ"),
                None => format!("not of {expected} as on the simulator, unless --sub-group-size {size} says so"),
            };
            opened.observer().note(&format!(
                "`{kernel}` has sub-groups of {size} work-items on {device} (test `{test}`), {instead}"
            ));
            break;
        }
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
/// Those of the device; `Caller` if it does not support a test's schedule or its allowed faults.
pub(super) fn start_executors(
    opened: &Opened,
    starting: StartingExecutors,
    tests: &[Test],
    interface: &Interface,
) -> Result<Vec<Box<dyn Executor>>> {
    check_started(opened, starting.ready()?, tests, interface)
}

/// Waits for executors as [`start_executors`] does, while this thread does something else.
///
/// # Errors
/// Those of [`start_executors`], else those of `meanwhile`.
pub(super) fn start_executors_during<T>(
    opened: &Opened,
    starting: StartingExecutors,
    tests: &[Test],
    interface: &Interface,
    meanwhile: impl FnOnce() -> Result<T>,
) -> Result<(Vec<Box<dyn Executor>>, T)> {
    let (started, done) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| starting.ready());
        let done = meanwhile();
        let lost = || Err(Error::internal("the thread that waited for the device ended early"));
        (waiting.join().unwrap_or_else(|_| lost()), done)
    });
    Ok((check_started(opened, started?, tests, interface)?, done?))
}

/// Checks what was started, and tells the user what there is to be told.
fn check_started(
    opened: &Opened,
    StartedExecutors { executors, note }: StartedExecutors,
    tests: &[Test],
    interface: &Interface,
) -> Result<Vec<Box<dyn Executor>>> {
    if let Some(why) = note {
        opened.observer().note(&why);
    }
    let first = executors.first().ok_or_else(|| Error::internal("no executor was started"))?;
    check_support(first.as_ref(), tests, interface)?;
    Ok(executors)
}

/// Checks that a device can run the tests.
///
/// # Errors
/// `Caller` if it does not support a test's schedule or its allowed faults.
fn check_support(first: &dyn Executor, tests: &[Test], interface: &Interface) -> Result<()> {
    let capabilities = first.capabilities();
    let beyond = |test: &&Test| !Schedule::is_map(&test.launch.schedule);
    if let Some(test) = tests.iter().find(beyond).filter(|_| capabilities.schedules != Schedules::All) {
        return Err(Error::caller(format!(
            "the test `{}` has a schedule, which {} cannot keep",
            test.name,
            first.device().name
        ))
        .help("run it on the simulator with --device sim, or leave `item_order` and `preemptions` out"));
    }
    if capabilities.checks.faults { Ok(()) } else { check_fault_support(tests, interface, first.device()) }
}

/// Checks that a device can run the tests that allow faults.
///
/// # Errors
/// `Caller` if it cannot.
pub(super) fn check_fault_support(tests: &[Test], interface: &Interface, device: &DeviceInfo) -> Result<()> {
    let refused = tests.iter().find_map(|t| Some((t, faults::refusal(&t.launch, &t.faulted, interface)?)));
    match refused {
        None => Ok(()),
        Some((test, why)) => Err(Error::caller(format!(
            "the test `{}` allows faults, which {} cannot run: {why}",
            test.name, device.name
        ))
        .help("run it on the simulator with --device sim, or give the buffers that are missed a `margin` that is large enough")),
    }
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
