//! Opens a suite with its kernel and executors and runs tests in parallel; shared by the commands that run kernels.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inkwell::context::Context;

use super::options::{ExecutionFlags, KernelFlags, note};
use crate::coverage::build::{self, KernelFile, KernelUnderTest, Level};
use crate::error::{Error, Result};
use crate::exec::{
    Capabilities, DeviceInfo, Executor, ProgramId, Schedules, StartedExecutors, StartingExecutors, WorkerOptions,
};
use crate::kernel::compile::{self, Loaded};
use crate::kernel::interface::Interface;
use crate::result;
use crate::suite::faults;
use crate::suite::resolve::{Suite, Test};
use crate::suite::schedule::Schedule;

/// A suite and its kernel, with running executors.
pub struct Session<'c> {
    pub under_test: KernelUnderTest<'c>,
    pub loaded: Loaded,
    pub tests: Vec<Test>,
    /// Each with the original kernel, which may still be building: `finish_load` must follow.
    pub executors: Vec<(Box<dyn Executor>, ProgramId)>,
    /// Seed from `--seed`, otherwise the suite's, otherwise 0.
    pub seed: u64,
    /// Path of the kernel's file.
    pub kernel: PathBuf,
}

/// A suite and its kernel, compiled, with executors that are starting.
pub struct Prepared<'c> {
    pub under_test: KernelUnderTest<'c>,
    pub loaded: Loaded,
    /// Work-group sizes that the suite leaves open are still unset.
    pub tests: Vec<Test>,
    pub starting: StartingExecutors,
    /// Seed from `--seed`, otherwise the suite's, otherwise 0.
    pub seed: u64,
    /// Path of the kernel's file.
    pub kernel: PathBuf,
}

impl<'c> Prepared<'c> {
    /// Opens everything; workers start while clang compiles. `with_ast`: whether the syntax tree is needed; with `None`
    /// it is, and as many workers as requested are started, otherwise at most one per test.
    ///
    /// # Errors
    /// Those of the suite, the kernel and the device.
    pub fn open(
        context: &'c Context,
        path: &Path,
        kernel: &KernelFlags,
        execution: &ExecutionFlags,
        level: Level,
        with_ast: Option<bool>,
    ) -> Result<Prepared<'c>> {
        let suite = Suite::load(path)?;
        // Tests keep at most one worker each busy; mutants (`None`) keep any number busy.
        let workers = match with_ast {
            Some(_) => (execution.jobs as usize).min(suite.tests.len()).max(1),
            None => execution.jobs as usize,
        };
        let starting = StartingExecutors::start(&execution.device, &WorkerOptions::default(), workers)?;
        let options = kernel.kernel_options(suite.options.clone());
        let loaded = compile::load(&suite.kernel, &options, with_ast.unwrap_or(true))?;
        let file = KernelFile::parse(context, &loaded)?;
        let entry = match (&kernel.entry, &suite.entry) {
            (None, Some(name)) => file.choose(Some(name)).map_err(|e| suite.at_entry(e))?,
            (name, _) => file.choose(name.as_deref())?,
        };
        let sources = build::sources_of(&suite.kernel);
        let mut under_test = file.under_test_at(level, &entry, &loaded, &sources)?;
        let seed = execution.seed.or(suite.seed).unwrap_or(0);
        let tests = suite.resolve(&under_test.interface, seed)?;
        // Preemptions need code that reports every access.
        under_test.lowering.races = tests.iter().any(|t| !t.launch.schedule.preemptions.is_empty());
        Ok(Prepared { under_test, loaded, tests, starting, seed, kernel: suite.kernel })
    }
}

/// Chooses the work-group sizes that the suite and the kernel leave open.
pub fn choose_local(tests: &mut [Test], under_test: &KernelUnderTest<'_>, executors: &[Box<dyn Executor>]) {
    let most = executors.first().map_or(1, |e| e.device().max_work_group_size);
    for test in tests {
        let range = &mut test.launch.range;
        range.decide_local(under_test.interface.required_local, most);
    }
}

impl<'c> Session<'c> {
    /// Opens everything. `with_ast`: whether statements are needed.
    ///
    /// # Errors
    /// Those of the suite, the kernel and the device.
    pub fn open(
        context: &'c Context,
        path: &Path,
        kernel: &KernelFlags,
        execution: &ExecutionFlags,
        with_ast: bool,
        supported: DeviceSchedules,
    ) -> Result<Session<'c>> {
        let Prepared { under_test, loaded, mut tests, starting, seed, kernel } =
            Prepared::open(context, path, kernel, execution, Level::Raw, Some(with_ast))?;
        // Lowering forks, so it is done while the process has a single thread; workers start meanwhile.
        let expected = starting.target();
        let mut plain = under_test.plain(expected)?;
        let mut executors = start_executors(starting, &tests, &under_test.interface, supported)?;
        let target = executors[0].target();
        if target != expected {
            plain = under_test.plain(target)?;
        }
        let programs: Vec<ProgramId> = executors.iter_mut().map(|e| e.begin_load(&plain)).collect::<Result<_>>()?;
        choose_local(&mut tests, &under_test, &executors);
        let executors = executors.into_iter().zip(programs).collect();
        Ok(Session { under_test, loaded, tests, executors, seed, kernel })
    }
}

/// The schedules of tests that a command supports on devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceSchedules {
    /// The natural order only.
    Natural,
    /// Orders of work-groups (`map`).
    GroupOrders,
}

/// Waits for the executors and returns them, at least one.
///
/// # Errors
/// Those of the device; `Caller` if it does not support a test's schedule or its allowed faults.
pub fn start_executors(
    starting: StartingExecutors,
    tests: &[Test],
    interface: &Interface,
    supported: DeviceSchedules,
) -> Result<Vec<Box<dyn Executor>>> {
    let StartedExecutors { executors, note: why } = starting.ready()?;
    if let Some(why) = why {
        note(&why);
    }
    let (is_supported, out): (fn(&Schedule) -> bool, _) = match supported {
        DeviceSchedules::Natural => (Schedule::is_natural, "its `schedule`"),
        DeviceSchedules::GroupOrders => (Schedule::is_map, "`item_order` and `preemptions`"),
    };
    let scheduled = tests.iter().find(|t| !is_supported(&t.launch.schedule));
    let first = executors.first().ok_or_else(|| Error::internal("no executor was started"))?;
    let capabilities = first.capabilities();
    if let Some(test) = scheduled.filter(|_| capabilities.schedules != Schedules::All) {
        return Err(Error::caller(format!(
            "the test `{}` has a schedule, which {} cannot keep",
            test.name,
            first.device().name
        ))
        .help(format!("run it on the simulator with --device sim, or leave {out} out")));
    }
    if !capabilities.checks.faults {
        check_fault_support(tests, interface, first.device())?;
    }
    Ok(executors)
}

/// Checks that a device can run the tests that allow faults.
///
/// # Errors
/// `Caller` if it cannot.
pub fn check_fault_support(tests: &[Test], interface: &Interface, device: &DeviceInfo) -> Result<()> {
    let refused = tests.iter().find_map(|t| Some((t, faults::refusal(t, interface)?)));
    match refused {
        None => Ok(()),
        Some((test, why)) => Err(Error::caller(format!(
            "the test `{}` allows faults, which {} cannot run: {why}",
            test.name, device.name
        ))
        .help("run it on the simulator with --device sim, or give the buffers that are missed a `margin` that is large enough")),
    }
}

/// Returns what the executors can do.
pub fn capabilities(executors: &[(Box<dyn Executor>, ProgramId)]) -> Capabilities {
    executors.first().map(|(executor, _)| executor.capabilities()).unwrap_or_default()
}

/// Converts the description of a device to that of results.
pub fn device(info: &DeviceInfo) -> result::Device {
    result::Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.il_versions.clone(),
    }
}

/// Calls `work` for every item in parallel, each runner on one item at a time, with a progress bar on a terminal.
/// Results are in the order of the items.
///
/// # Errors
/// The first error in the order of the items.
pub fn run_parallel<T: Sync, R: Send, L: Send>(
    runners: &mut [L],
    items: &[T],
    label: &'static str,
    quiet: bool,
    work: impl Fn(&mut L, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let progress = progress(items.len() as u64, label, quiet);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for runner in runners.iter_mut() {
            let (next, done, work, progress) = (&next, &done, &work, &progress);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let result = work(runner, item);
                    progress.inc(1);
                    if let Ok(mut all) = done.lock() {
                        all[i] = Some(result);
                    }
                }
            });
        }
    });
    progress.finish_and_clear();
    let all = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.into_iter().flatten().collect()
}

/// Returns a progress bar for standard error, drawn only on a terminal and after a second.
fn progress(len: u64, label: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(len);
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(label);
    draw_later(&bar, quiet);
    bar
}

/// Returns a counter without a known end, with a message; drawn like a progress bar.
pub fn counter(label: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template("{prefix} {pos}, {msg} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_prefix(label);
    draw_later(&bar, quiet);
    bar
}

/// Draws a bar after a second.
fn draw_later(bar: &ProgressBar, quiet: bool) {
    bar.set_draw_target(ProgressDrawTarget::hidden());
    if !quiet {
        let weak = bar.downgrade();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            // indicatif draws nothing if standard error is not a terminal.
            if let Some(bar) = weak.upgrade().filter(|b| !b.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(200));
            }
        });
    }
}

/// Returns `--timeout` as a duration.
pub fn timeout(execution: &ExecutionFlags) -> Duration {
    Duration::from_secs_f64(execution.timeout)
}
