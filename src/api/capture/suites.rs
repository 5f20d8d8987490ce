//! Writes the suites of captured kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::host_kernel::{FolderNames, HostKernel, NO_CODE, NOT_COMPILED, cannot_write};
use super::super::options::{OpenOptions, StartWorkers};
use super::replay::{self, Test};
use crate::error::{Error, Result};
use crate::exec::DeviceRequest;
use crate::host::{self, Contents, Converted, LaunchedKernel, Reason, Spool};
use crate::result::Device;
use crate::result::capture::Replay;
use crate::suite::write::NewTest;

/// What became of a kernel.
#[derive(Debug, Default)]
pub struct Made {
    pub kept: u64,
    /// Of these, launches that were kept because they cover what no earlier one had covered.
    pub kept_for_coverage: u64,
    /// Relative to the folder.
    pub suite: Option<String>,
    pub error: Option<String>,
    pub replay: Option<Replay>,
}

/// Writes suites into the folder of a capture.
pub struct Writer<'a> {
    folder: &'a Path,
    /// Where suites are made before they are put in place; on the same file system.
    staging: PathBuf,
    spool: &'a Spool,
    contents: Contents,
    open: &'a OpenOptions,
    replay: bool,
    names: FolderNames,
    /// The name of the latest suite.
    latest: String,
    /// The file of each program's code, relative to the folder.
    files: BTreeMap<String, String>,
    device: Option<Device>,
}

impl<'a> Writer<'a> {
    /// Begins in a folder that is there.
    pub fn new(
        folder: &'a Path,
        staging: PathBuf,
        spool: &'a Spool,
        open: &'a OpenOptions,
        replay: bool,
    ) -> Result<Writer<'a>> {
        fs::create_dir_all(&staging).map_err(|error| cannot_write(&staging, &error))?;
        let (names, latest, files) = (FolderNames::default(), String::new(), BTreeMap::new());
        let contents = Contents::new(spool);
        Ok(Writer { folder, staging, spool, contents, open, replay, names, latest, files, device: None })
    }

    /// The device that ran the suites.
    pub fn device(&self) -> Option<Device> {
        self.device.clone()
    }

    /// The file of each program's code, relative to the folder.
    pub fn files(self) -> BTreeMap<String, String> {
        self.files
    }

    /// Removes what is left of a suite that could not be written.
    pub fn clear(&mut self) {
        self.names.give_back(&std::mem::take(&mut self.latest));
        let _ = fs::remove_dir_all(&self.staging);
        let _ = fs::create_dir_all(&self.staging);
    }

    /// Writes the suite of a kernel. Launches that cannot become tests are added to those left out.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written.
    pub fn kernel(&mut self, kernel: &mut LaunchedKernel) -> Result<Made> {
        let name = self.names.name(&kernel.name, &kernel.program);
        self.latest.clone_from(&name);
        let launches = std::mem::take(&mut kernel.kept);
        if launches.is_empty() {
            return Ok(Made::default());
        }
        let program = self.spool.programs.get(&kernel.program);
        let forms = program.map(|program| host::code_of(self.spool, program)).unwrap_or_default();
        let (mut why, entry) = (None, kernel.name.clone());
        let open = self.open.clone().syntax_tree(false);
        for form in &forms {
            let folder = self.staging.join(&name);
            let draft = match HostKernel::open(&open, &folder, &entry, form, &BTreeSet::new()) {
                Ok(draft) => draft,
                Err(error) if error.exit_code() == 3 => return Err(error),
                Err(error) => {
                    why.get_or_insert(error.to_string());
                    let _ = fs::remove_dir_all(&folder);
                    continue;
                }
            };
            let (mut tests, mut converted) = (Vec::new(), Vec::new());
            for (process, launch) in launches {
                let number = launch.launch;
                let name = match self.spool.processes.len() {
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
            let made = if tests.is_empty() { Made::default() } else { self.finish(&draft, &name, tests, converted)? };
            let _ = fs::remove_dir_all(&folder);
            if let Some(suite) = &made.suite {
                let file = Path::new(suite).with_file_name(&draft.file);
                self.files.entry(kernel.program.clone()).or_insert(file.display().to_string());
            }
            return Ok(made);
        }
        let reason = if forms.is_empty() { NO_CODE } else { NOT_COMPILED };
        kernel.leave_out(reason, launches.len() as u64);
        Ok(Made { error: why, ..Made::default() })
    }

    /// Writes the suite, runs it, writes what it then expects, and puts it in place. Contents are in memory only while they
    /// are written.
    fn finish(
        &mut self,
        draft: &HostKernel,
        name: &str,
        mut tests: Vec<Test>,
        converted: Vec<Converted>,
    ) -> Result<Made> {
        let suite = write(draft, &tests, &converted)?;
        drop(converted);
        let replayed = self.replay.then(|| self.replay(&suite, draft, &mut tests)).transpose()?;
        if tests.iter().any(|test| !test.changes.is_empty()) {
            let again = |test: &Test| {
                let mut converted = host::convert(&test.launch, draft.opened.interface(), &mut self.contents)?;
                test.change(&mut converted.expectations);
                Ok(converted)
            };
            let converted: std::result::Result<Vec<Converted>, Reason> = tests.iter().map(again).collect();
            let converted = converted.map_err(|reason| {
                Error::environment(format!("a captured launch of {name} cannot be read again: {}", reason.meaning))
                    .help("let nobody else change the folder of a capture that is under way")
            })?;
            draft.clear().map_err(|error| cannot_write(&draft.folder, &error))?;
            write(draft, &tests, &converted)?;
        }
        let target = self.folder.join(name);
        fs::rename(&draft.folder, &target).map_err(|error| cannot_write(&target, &error))?;
        let for_coverage = tests.iter().filter(|test| test.launch.is_for_coverage()).count();
        Ok(Made {
            kept: tests.len() as u64,
            kept_for_coverage: for_coverage as u64,
            suite: Some(format!("{name}/suite.toml")),
            error: None,
            replay: replayed,
        })
    }

    /// Runs the suite on the device of the program.
    fn replay(&mut self, suite: &Path, draft: &HostKernel, tests: &mut [Test]) -> Result<Replay> {
        let device = self.spool.programs.values().find(|program| !program.device.name.is_empty());
        let device = device.map_or(DeviceRequest::Auto, |program| DeviceRequest::Name(program.device.name.clone()));
        let open = self.open.clone().entry(None).syntax_tree(false).device(device).start(StartWorkers::PerTest);
        let run = open.open(suite).and_then(|opened| replay::replay(&opened, draft.opened.interface(), tests));
        match run {
            Ok((replay, device)) => {
                self.device.get_or_insert(device);
                Ok(replay)
            }
            Err(error) => Ok(Replay { error: Some(error.to_string()), ..Replay::default() }),
        }
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
