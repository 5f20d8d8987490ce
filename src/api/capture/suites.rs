//! Writes the suites of captured kernels.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::input::SyntaxTree;
use super::super::opened::Opened;
use super::super::options::{OpenOptions, StartWorkers};
use super::replay::{self, Test};
use crate::error::{Error, Result};
use crate::exec::DeviceRequest;
use crate::host::{self, Code, Contents, Converted, LaunchedKernel, Reason, Spool};
use crate::kernel::interface::Interface;
use crate::kernel::options::SpecValue;
use crate::result::Device;
use crate::result::capture::Replay;
use crate::suite::write::{self, NewSuite, NewTest};

const NO_CODE: Reason = Reason { name: "no-code", meaning: "its program's code is in no form that kassay reads" };
const NOT_COMPILED: Reason = Reason { name: "not-compiled", meaning: "kassay cannot compile its program" };

/// The error for a file or folder of the capture that cannot be made.
pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot write {}: {error}", path.display()))
        .help("free some space, or name a folder in which files can be made")
}

/// What became of a kernel.
#[derive(Debug, Default)]
pub struct Made {
    pub kept: u64,
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
    contents: Contents<'a>,
    open: &'a OpenOptions,
    replay: bool,
    names: BTreeSet<String>,
    /// The file of each program's code, relative to the folder.
    files: BTreeMap<String, String>,
    device: Option<Device>,
}

/// A kernel's suite in the making.
struct Draft<'k> {
    folder: PathBuf,
    kernel: PathBuf,
    entry: &'k str,
    options: Vec<String>,
    spec: Vec<SpecValue>,
    interface: Interface,
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
        let (names, files) = (BTreeSet::new(), BTreeMap::new());
        Ok(Writer { folder, staging, spool, contents: Contents::new(spool), open, replay, names, files, device: None })
    }

    /// The device that ran the suites.
    pub fn device(&self) -> Option<Device> {
        self.device.clone()
    }

    /// The file of each program's code, relative to the folder.
    pub fn files(self) -> BTreeMap<String, String> {
        self.files
    }

    /// Writes the suite of a kernel. Launches that cannot become tests are added to those left out.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written.
    pub fn kernel(&mut self, kernel: &mut LaunchedKernel) -> Result<Made> {
        let name = self.name(kernel);
        let launches = std::mem::take(&mut kernel.kept);
        if launches.is_empty() {
            return Ok(Made::default());
        }
        let program = self.spool.programs.get(&kernel.program);
        let forms = program.map(|program| host::code_of(self.spool, program)).unwrap_or_default();
        let (mut why, entry) = (None, kernel.name.clone());
        for form in &forms {
            let folder = self.staging.join(&name);
            let draft = match self.draft(&folder, &entry, form) {
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
                match host::convert(&launch, &draft.interface, &mut self.contents) {
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
                let file = Path::new(suite).with_file_name(&draft.kernel);
                self.files.entry(kernel.program.clone()).or_insert(file.display().to_string());
            }
            return Ok(made);
        }
        let reason = if forms.is_empty() { NO_CODE } else { NOT_COMPILED };
        kernel.leave_out(reason, launches.len() as u64);
        Ok(Made { error: why, ..Made::default() })
    }

    /// Returns a name for a kernel's folder: its own, for the second program with a hash behind it.
    fn name(&mut self, kernel: &LaunchedKernel) -> String {
        let safe = match safe(&kernel.name) {
            empty if empty.is_empty() => "kernel".to_owned(),
            safe => safe,
        };
        let program = self::safe(&kernel.program);
        let hash = |digits: usize| format!("{safe}-{}", program.get(..digits).unwrap_or(&program));
        let names = [safe.clone(), hash(8), hash(16)];
        let free = names.into_iter().find(|name| !self.names.contains(name));
        // Two kernels of one program have different names, which may look the same here.
        let name = free.unwrap_or_else(|| format!("{}-{}", hash(32), self.names.len()));
        self.names.insert(name.clone());
        name
    }

    /// Writes a kernel's code and compiles it, to know its interface.
    fn draft<'k>(&self, folder: &Path, entry: &'k str, code: &Code) -> Result<Draft<'k>> {
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
            written.map_err(|error| cannot_write(&path, &error)).map(|()| path)
        };
        let base = safe(entry);
        let open = self.open.clone().entry(Some(entry.to_owned())).syntax_tree(false);
        match code {
            Code::Source { text, files, includes, options, directory, .. } => {
                let kernel = format!("{base}.cl");
                for (name, bytes) in files {
                    write(name, bytes)?;
                }
                let path = write(&kernel, text)?;
                let translated = host::translate(options, directory);
                // Sources in memory include what is in the working directory, too.
                let mut include_dirs = translated.include_dirs;
                if directory.is_absolute() {
                    include_dirs.push(directory.clone());
                }
                let search = host::place_headers(folder, &include_dirs, includes);
                let search = search.map_err(|error| cannot_write(folder, &error))?;
                let mut dirs: Vec<PathBuf> = search.iter().map(|dir| folder.join(dir)).collect();
                if !files.is_empty() {
                    dirs.insert(0, folder.to_owned());
                }
                let opened = open.include_dirs(dirs).clang_args(translated.arguments.clone()).open_kernel(&path)?;
                let found = opened.with(SyntaxTree::NotNeeded, |parsed| Ok(parsed.loaded.file_lookups.clone()))?;
                let found: Vec<PathBuf> =
                    found.into_iter().filter(|(_, exists)| *exists).map(|(path, _)| path).collect();
                let copied = host::copy_headers(folder, &include_dirs, &found);
                let dirs = copied.map_err(|error| cannot_write(folder, &error))?.unwrap_or(search);
                let mut options = translated.arguments;
                options.extend((!files.is_empty()).then(|| "-I.".to_owned()));
                options.extend(dirs.iter().map(|dir| format!("-I{}", dir.display())));
                Ok(Draft {
                    folder: folder.to_owned(),
                    kernel: kernel.into(),
                    entry,
                    options,
                    spec: Vec::new(),
                    interface: opened.interface().clone(),
                })
            }
            Code::Module { bytes, extension, constants } => {
                let kernel = format!("{base}.{extension}");
                let path = write(&kernel, bytes)?;
                let mut opened = open.open_kernel(&path)?;
                let spec = spec_values(&opened, constants)?;
                if !spec.is_empty() {
                    let values = spec.iter().map(|value| format!("{}={}", value.constant, value.value)).collect();
                    opened = open.spec(values).open_kernel(&path)?;
                }
                Ok(Draft {
                    folder: folder.to_owned(),
                    kernel: kernel.into(),
                    entry,
                    options: Vec::new(),
                    spec,
                    interface: opened.interface().clone(),
                })
            }
        }
    }

    /// Writes the suite, runs it, writes what it then expects, and puts it in place. Contents are in memory only while they
    /// are written.
    fn finish(
        &mut self,
        draft: &Draft<'_>,
        name: &str,
        mut tests: Vec<Test>,
        converted: Vec<Converted>,
    ) -> Result<Made> {
        let suite = draft.write(&tests, &converted)?;
        drop(converted);
        let replayed = self.replay.then(|| self.replay(&suite, draft, &mut tests)).transpose()?;
        if tests.iter().any(|test| !test.changes.is_empty()) {
            let again = |test: &Test| {
                let mut converted = host::convert(&test.launch, &draft.interface, &mut self.contents)?;
                test.change(&mut converted.expectations);
                Ok(converted)
            };
            let converted: std::result::Result<Vec<Converted>, Reason> = tests.iter().map(again).collect();
            let converted = converted.map_err(|reason| {
                Error::environment(format!("a captured launch of {name} cannot be read again: {}", reason.meaning))
                    .help("let nobody else change the folder of a capture that is under way")
            })?;
            draft.clear().map_err(|error| cannot_write(&draft.folder, &error))?;
            draft.write(&tests, &converted)?;
        }
        let target = self.folder.join(name);
        fs::rename(&draft.folder, &target).map_err(|error| cannot_write(&target, &error))?;
        Ok(Made { kept: tests.len() as u64, suite: Some(format!("{name}/suite.toml")), error: None, replay: replayed })
    }

    /// Runs the suite on the device of the program.
    fn replay(&mut self, suite: &Path, draft: &Draft<'_>, tests: &mut [Test]) -> Result<Replay> {
        let device = self.spool.programs.values().find(|program| !program.device.name.is_empty());
        let device = device.map_or(DeviceRequest::Auto, |program| DeviceRequest::Name(program.device.name.clone()));
        let open = self.open.clone().entry(None).syntax_tree(false).device(device).start(StartWorkers::PerTest);
        let run = open.open(suite).and_then(|opened| replay::replay(&opened, &draft.interface, tests));
        match run {
            Ok((replay, device)) => {
                self.device.get_or_insert(device);
                Ok(replay)
            }
            Err(error) => Ok(Replay { error: Some(error.to_string()), ..Replay::default() }),
        }
    }
}

impl Draft<'_> {
    fn write(&self, tests: &[Test], converted: &[Converted]) -> Result<PathBuf> {
        let rows = tests.iter().zip(converted).map(|(test, converted)| NewTest {
            name: test.name.clone(),
            description: test.description.clone(),
            launch: &converted.launch,
            faulted: &[],
            expectations: &converted.expectations,
        });
        let suite = NewSuite {
            kernel: self.kernel.clone(),
            entry: self.entry,
            options: &self.options,
            spec: &self.spec,
            name: None,
            description: None,
            tests: rows.collect(),
        };
        write::write(&self.folder, &suite, &self.interface)
    }

    /// Removes the suite's files, but for the kernel's.
    fn clear(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "npy" || extension == "toml") {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// A name that files and folders can have.
fn safe(name: &str) -> String {
    name.chars().take(100).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// Returns the values of specialisation constants, as suites write them.
fn spec_values(opened: &Opened, constants: &[host::Constant]) -> Result<Vec<SpecValue>> {
    if constants.is_empty() {
        return Ok(Vec::new());
    }
    opened.with(SyntaxTree::NotNeeded, |parsed| {
        let known = parsed.loaded.spirv.iter().flat_map(|spirv| &spirv.constants);
        let value = |constant: &host::Constant| {
            let known = known.clone().find(|known| known.spec_id == constant.id)?;
            let value = known.ty.shown(constant.bits()?);
            Some(SpecValue { constant: constant.id.to_string(), value, places: None })
        };
        Ok(constants.iter().filter_map(value).collect())
    })
}
