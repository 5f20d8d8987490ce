//! Starts the executors for a suite's tests, with the original kernel being loaded.

use super::input::Parsed;
use super::opened::Opened;
use crate::coverage::build::KernelUnderTest;
use crate::error::{Error, Result};
use crate::exec::{
    Capabilities, Code, DeviceInfo, Executor, ProgramId, Schedules, StartedExecutors, StartingExecutors,
};
use crate::kernel::interface::Interface;
use crate::kernel::sub_groups::SubGroups;
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
    /// Says which tests are left out, and why.
    pub note: Option<String>,
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
    /// `Caller` if the device does not support a test's schedule, or the allowed faults of every test; `Internal` if the kernel cannot be
    /// lowered.
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
        let (interface, checks) = (&parsed.under_test.interface, executors[0].capabilities().checks.faults);
        let Runnable { tests, note } = runnable(&parsed.tests, interface, executors[0].device(), checks)?;
        let tests = with_local_sizes(&tests, interface, executors[0].device());
        note_sub_groups(opened, interface, &tests, (executors[0].as_mut(), programs[0]))?;
        let executors = executors.into_iter().zip(programs).collect();
        Ok(Loading { tests, executors, note })
    }

    /// Returns what the executors can do.
    pub fn capabilities(&self) -> Capabilities {
        self.executors[0].0.capabilities()
    }
}

/// Does what [`note_sub_groups`] does for a kernel that is not loaded, on an executor that is ready.
///
/// # Errors
/// Those of loading the kernel.
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
/// Those of the device; `Caller` if it does not support a test's schedule.
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
/// Those of [`start_executors`], else those of `meanwhile`.
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

/// Checks what was started, and tells the user what there is to be told.
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
    let beyond = |test: &&Test| !Schedule::is_map(&test.launch.schedule);
    if let Some(test) = tests.iter().find(beyond).filter(|_| capabilities.schedules != Schedules::All) {
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
    /// At least one, if there is any.
    pub tests: Vec<Test>,
    /// Says which others there are, and why they are left out.
    pub note: Option<String>,
}

/// Leaves out the tests that allow faults of which nobody knows what the device does at them. `checks`: whether it is known of all.
///
/// # Errors
/// `Caller` if that is true of every test.
pub(super) fn runnable(tests: &[Test], interface: &Interface, device: &DeviceInfo, checks: bool) -> Result<Runnable> {
    let refusal = |test: &Test| faults::refusal(&test.launch, &test.faulted, interface).filter(|_| !checks);
    let refused: Vec<(&str, String)> = tests.iter().filter_map(|t| Some((&*t.name, refusal(t)?))).collect();
    let Some((first, why)) = refused.first() else { return Ok(Runnable { tests: tests.to_vec(), note: None }) };
    if refused.len() == tests.len() {
        return Err(Error::caller(format!(
            "the test `{first}` allows faults, which {} cannot run: {why}",
            device.name
        ))
        .help("run it on the simulator with --device sim, or give the buffers that are missed a `margin` that is large enough"));
    }
    let names: Vec<String> = refused.iter().map(|(name, _)| format!("`{name}`")).collect();
    let note = format!(
        "{} of {} tests allow faults that {} cannot run, and were left out: {} ({why}); the simulator runs them (--device sim)",
        refused.len(),
        tests.len(),
        device.name,
        names.join(", ")
    );
    let tests = tests.iter().filter(|test| refusal(test).is_none()).cloned().collect();
    Ok(Runnable { tests, note: Some(note) })
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
