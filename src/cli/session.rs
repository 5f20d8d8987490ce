//! What `run` and `cover` share: a suite opened with its kernel and its executors, tests spread over them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inkwell::context::Context;

use super::options::{ExecutionFlags, KernelFlags};
use crate::coverage::build::{self, Assay, File, Level};
use crate::error::Result;
use crate::exec::{DeviceInfo, Executor, OpenClExecutor, ProgramId, Starting, WorkerOptions};
use crate::kernel::compile::{self, Loaded};
use crate::result;
use crate::suite::resolve::{Suite, Test};

/// A suite and its kernel, ready to run.
pub struct Session<'c> {
    pub assay: Assay<'c>,
    pub loaded: Loaded,
    pub tests: Vec<Test>,
    /// Each with the kernel as it is, which may still be building: `finish_load` has to follow.
    pub executors: Vec<(OpenClExecutor, ProgramId)>,
    pub seed: u64,
    pub kernel: PathBuf,
}

/// A suite and its kernel, compiled, with workers that are starting.
pub struct Prepared<'c> {
    pub assay: Assay<'c>,
    pub loaded: Loaded,
    /// Work-group sizes are still open where the suite leaves them so.
    pub tests: Vec<Test>,
    pub starting: Vec<Starting>,
    pub seed: u64,
    pub kernel: PathBuf,
}

impl<'c> Prepared<'c> {
    /// Opens everything; workers start while clang compiles. `most`: no more workers than tests are of use (`None`: than
    /// asked for).
    ///
    /// # Errors
    /// As of the suite, the kernel and the device.
    pub fn open(
        context: &'c Context,
        path: &Path,
        kernel: &KernelFlags,
        execution: &ExecutionFlags,
        level: Level,
        with_ast: Option<bool>,
    ) -> Result<Prepared<'c>> {
        let suite = Suite::load(path)?;
        // Without statements to count, work is spread by tests; mutants can keep any number of workers busy.
        let lanes = match with_ast {
            Some(_) => (execution.jobs as usize).min(suite.tests.len()).max(1),
            None => execution.jobs as usize,
        };
        let starting: Vec<Starting> = (0..lanes)
            .map(|_| OpenClExecutor::spawn(execution.device.clone(), WorkerOptions::default()))
            .collect::<Result<_>>()?;
        let options = kernel.kernel_options(suite.options.clone());
        let loaded = compile::load(&suite.kernel, &options, with_ast.unwrap_or(true))?;
        let file = File::parse(context, &loaded)?;
        let entry = match (&kernel.entry, &suite.entry) {
            (None, Some(name)) => file.choose(Some(name)).map_err(|e| suite.at_entry(e))?,
            (name, _) => file.choose(name.as_deref())?,
        };
        let sources = build::sources_of(&suite.kernel);
        let assay = file.assay_at(level, &entry, &loaded, &sources)?;
        let seed = execution.seed.or(suite.seed).unwrap_or(0);
        let tests = suite.resolve(&assay.interface, seed)?;
        Ok(Prepared { assay, loaded, tests, starting, seed, kernel: suite.kernel })
    }
}

/// Decides the work-group sizes that suite and kernel leave open.
pub fn decide_local(tests: &mut [Test], assay: &Assay<'_>, executors: &[OpenClExecutor]) {
    let most = executors.first().map_or(1, |e| e.device().max_work_group_size);
    for test in tests {
        let range = &mut test.launch.range;
        range.local = Some(range.local_or_default(assay.interface.required_local, most));
    }
}

impl<'c> Session<'c> {
    /// Opens everything. `with_ast`: statements are wanted.
    ///
    /// # Errors
    /// As of the suite, the kernel and the device.
    pub fn open(
        context: &'c Context,
        path: &Path,
        kernel: &KernelFlags,
        execution: &ExecutionFlags,
        with_ast: bool,
    ) -> Result<Session<'c>> {
        let Prepared { assay, loaded, mut tests, starting, seed, kernel } =
            Prepared::open(context, path, kernel, execution, Level::Raw, Some(with_ast))?;
        // This forks, so it is done while there is one thread.
        let plain = assay.plain()?;
        let mut executors: Vec<OpenClExecutor> = starting.into_iter().map(Starting::ready).collect::<Result<_>>()?;
        let programs: Vec<ProgramId> = executors.iter_mut().map(|e| e.begin_load(&plain)).collect::<Result<_>>()?;
        decide_local(&mut tests, &assay, &executors);
        let executors = executors.into_iter().zip(programs).collect();
        Ok(Session { assay, loaded, tests, executors, seed, kernel })
    }
}

/// The device as results name it.
pub fn device(info: &DeviceInfo) -> result::Device {
    result::Device {
        name: info.name.clone(),
        driver: info.driver.clone(),
        kind: info.kind.clone(),
        il_versions: info.il_versions.clone(),
    }
}

/// Does `work` for every item, each executor one item at a time, with progress on a terminal. Results are in the
/// items' order.
///
/// # Errors
/// The first error, in the items' order.
pub fn spread<T: Sync, R: Send, L: Send>(
    lanes: &mut [L],
    items: &[T],
    label: &'static str,
    quiet: bool,
    work: impl Fn(&mut L, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let progress = progress(items.len() as u64, label, quiet);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for lane in lanes.iter_mut() {
            let (next, done, work, progress) = (&next, &done, &work, &progress);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let result = work(lane, item);
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

/// A bar on a terminal's standard error, drawn only if it takes longer than a second.
fn progress(len: u64, label: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(len);
    let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(label);
    bar.set_draw_target(ProgressDrawTarget::hidden());
    if !quiet {
        let weak = bar.downgrade();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            // indicatif draws nothing where standard error is no terminal.
            if let Some(bar) = weak.upgrade().filter(|b| !b.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(200));
            }
        });
    }
    bar
}

/// Seconds from the command line as a duration.
pub fn limit(execution: &ExecutionFlags) -> Duration {
    Duration::from_secs_f64(execution.timeout)
}
