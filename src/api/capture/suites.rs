//! Writes the suites of captured kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_results::result::Device;
use kassay_results::result::capture::{LeftOut, Replay};
use kassay_run::exec::{DeviceRequest, Executor, StartedExecutors, StartingExecutors};
use kassay_run::host::{self, Contents, Converted, LaunchedKernel, Reason, Spool};
use kassay_suite::write::NewTest;
use serde::{Deserialize, Serialize};

use super::super::executors;
use super::super::host_kernel::{Folder, HostKernel, NO_CODE, NOT_COMPILED, cannot_write};
use super::super::options::OpenOptions;
use super::replay::{self, Test};

/// Launches that are not kept, as results have them.
pub fn left_out(reasons: BTreeMap<Reason, u64>) -> Vec<LeftOut> {
    let row =
        |(reason, count): (Reason, u64)| LeftOut { reason: reason.name.into(), meaning: reason.meaning.into(), count };
    reasons.into_iter().map(row).collect()
}

/// What became of a kernel.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Made {
    pub kept: u64,
    /// Of these, launches that were kept because they cover what no earlier one had covered.
    pub kept_for_coverage: u64,
    /// All launches that are not kept.
    pub left_out: Vec<LeftOut>,
    /// Relative to the folder.
    pub suite: Option<String>,
    /// The file of the kernel's code, relative to the folder.
    pub file: Option<String>,
    pub error: Option<String>,
    pub replay: Option<Replay>,
    /// Why not all of it could be written.
    pub lost: Option<Error>,
}

impl Made {
    /// What becomes of a kernel with which nothing can be done.
    pub fn failed(mut kernel: LaunchedKernel, reason: Reason, error: Option<String>) -> Made {
        let launches = std::mem::take(&mut kernel.kept).len() as u64;
        kernel.leave_out(reason, launches);
        Made { left_out: left_out(kernel.left_out), error, ..Made::default() }
    }
}

/// Writes suites into the folder of a capture.
pub struct Writer<'a> {
    folder: &'a Path,
    /// Where suites are made before they are put in place; on the same file system.
    staging: &'a Path,
    spool: &'a Spool,
    /// How many processes of the program made OpenCL calls.
    processes: usize,
    contents: Contents,
    open: OpenOptions,
    /// What runs the suites; `None`: they are not run.
    executors: Option<Executors>,
}

/// Executors of the program's device. To start one may take longer than to run a suite, so one runs many.
#[derive(Default)]
struct Executors {
    starting: Option<StartingExecutors>,
    ready: Vec<Box<dyn Executor>>,
    device: Option<Device>,
}

impl Executors {
    /// Takes those that are ready, or waits for new ones.
    fn take(&mut self, open: &OpenOptions) -> Result<Vec<Box<dyn Executor>>> {
        if !self.ready.is_empty() {
            return Ok(std::mem::take(&mut self.ready));
        }
        let starting = self.starting.take().map_or_else(|| start(open), Ok)?;
        let StartedExecutors { executors, note } = starting.ready()?;
        if let Some(why) = note {
            open.observer.note(&why);
        }
        Ok(executors)
    }

    fn put_back(&mut self, ready: Vec<Box<dyn Executor>>) {
        if let Some(first) = ready.first() {
            self.device.get_or_insert_with(|| executors::device(first.device()));
        }
        self.ready = ready;
    }
}

fn start(open: &OpenOptions) -> Result<StartingExecutors> {
    StartingExecutors::start(&open.device, &open.workers(), 1)
}

impl<'a> Writer<'a> {
    /// Begins in a folder that is there. `spool` comes with the number of processes. `replay`: whether the suites are
    /// run.
    pub fn new(
        folder: &'a Path,
        staging: &'a Path,
        (spool, processes): (&'a Spool, usize),
        open: &OpenOptions,
        replay: bool,
    ) -> Writer<'a> {
        let device = spool.programs.values().find(|program| !program.device.name.is_empty());
        let device = device.map_or(DeviceRequest::Auto, |program| DeviceRequest::Name(program.device.name.clone()));
        let open = open.clone().syntax_tree(false).device(device);
        // If none can be started now, the first suite's run tells why.
        let starting = || Executors { starting: start(&open).ok(), ..Executors::default() };
        let executors = replay.then(starting);
        Writer { folder, staging, spool, processes, contents: Contents::new(spool), open, executors }
    }

    /// The device that ran the suites.
    pub fn device(&self) -> Option<Device> {
        self.executors.as_ref()?.device.clone()
    }

    /// Writes the suite of a kernel into the folder `name`.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written.
    pub fn kernel(&mut self, mut kernel: LaunchedKernel, name: &str) -> Result<Made> {
        let program = self.spool.programs.get(&kernel.program);
        let forms = program.map(|program| host::code_of(self.spool, program)).unwrap_or_default();
        let (mut why, entry) = (None, kernel.name.clone());
        for form in &forms {
            let folder = self.staging.join(name);
            let draft = match HostKernel::open(&self.open, &Folder::Own(&folder), &entry, form, &BTreeSet::new()) {
                Ok(draft) => draft,
                Err(error) if error.exit_code() == 3 => return Err(error),
                Err(error) => {
                    why.get_or_insert(error.to_string());
                    let _ = fs::remove_dir_all(&folder);
                    continue;
                }
            };
            let (mut tests, mut converted) = (Vec::new(), Vec::new());
            for (process, launch) in std::mem::take(&mut kernel.kept) {
                let number = launch.launch;
                let name = match self.processes {
                    1 => format!("launch {number}"),
                    _ => format!("process {}, launch {number}", process + 1),
                };
                match host::convert(&launch, draft.opened.interface(), &mut self.contents) {
                    Ok(contents) => {
                        tests.push(Test { name, description: None, launch, changes: BTreeMap::new() });
                        converted.push(contents);
                    }
                    Err(reason) => kernel.leave_out(reason, 1),
                }
            }
            let made = if tests.is_empty() { Made::default() } else { self.finish(&draft, name, tests, converted)? };
            let _ = fs::remove_dir_all(&folder);
            let file = made.suite.as_ref().map(|suite| Path::new(suite).with_file_name(&draft.file));
            let file = file.map(|file| file.display().to_string());
            return Ok(Made { left_out: left_out(kernel.left_out), file, ..made });
        }
        let reason = if forms.is_empty() { NO_CODE } else { NOT_COMPILED };
        Ok(Made::failed(kernel, reason, why))
    }

    /// Writes the suite, runs it, writes what it then expects, and puts it in place. Contents are in memory only while
    /// they are written.
    fn finish(
        &mut self,
        draft: &HostKernel,
        name: &str,
        mut tests: Vec<Test>,
        converted: Vec<Converted>,
    ) -> Result<Made> {
        let suite = write(draft, &tests, &converted)?;
        drop(converted);
        let replayed = self.replay(&suite, draft, &mut tests);
        if tests.iter().any(|test| !test.changes.is_empty()) {
            let again = |test: &Test| {
                let mut converted = host::convert(&test.launch, draft.opened.interface(), &mut self.contents)?;
                test.change(&mut converted.expectations);
                Ok(converted)
            };
            let converted: std::result::Result<Vec<Converted>, Reason> = tests.iter().map(again).collect();
            let converted = converted.map_err(|reason| {
                Error::environment(format!("a captured launch of {name} cannot be read again: {}", reason.meaning))
                    .help("make sure that nothing else changes the folder of a capture that is under way")
            })?;
            draft.clear().map_err(|error| cannot_write(&draft.folder, &error))?;
            write(draft, &tests, &converted)?;
        }
        let target = self.folder.join(name);
        fs::rename(&draft.folder, &target).map_err(|error| cannot_write(&target, &error))?;
        let for_coverage = tests.iter().filter(|test| test.launch.is_for_coverage()).count() as u64;
        let suite = Some(format!("{name}/suite.toml"));
        let kept = tests.len() as u64;
        Ok(Made { kept, kept_for_coverage: for_coverage, suite, replay: replayed, ..Made::default() })
    }

    /// Runs the suite on the device of the program, if suites are run.
    fn replay(&mut self, suite: &Path, draft: &HostKernel, tests: &mut [Test]) -> Option<Replay> {
        let (open, executors) = (&self.open, self.executors.as_mut()?);
        let run = open.open(suite).and_then(|opened| {
            let (replay, ready) = replay::replay(executors.take(open)?, &opened, draft.opened.interface(), tests)?;
            executors.put_back(ready);
            Ok(replay)
        });
        Some(run.unwrap_or_else(|error| Replay { error: Some(error.to_string()), ..Replay::default() }))
    }
}

fn write(kernel: &HostKernel, tests: &[Test], converted: &[Converted]) -> Result<PathBuf> {
    let rows = tests.iter().zip(converted).map(|(test, converted)| NewTest {
        name: test.name.clone(),
        description: test.description.clone(),
        launch: &converted.launch,
        faulted: &[],
        expectations: &converted.expectations,
    });
    kernel.write_suite(rows.collect())
}
