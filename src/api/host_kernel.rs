//! A kernel of a host program: writes its code into a folder and compiles it as the program had it built.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::Loaded;
use kassay_model::options::SpecValue;
use kassay_run::host::{self, Code, Ended, Reason};
use kassay_suite::write::{self, NewSuite, NewTest};

use super::input::SyntaxTree;
use super::opened::Opened;
use super::options::OpenOptions;

/// Why launches of a kernel are left out.
pub(super) const NO_CODE: Reason =
    Reason { name: "no-code", meaning: "its program's code is in no form that kassay reads" };
/// Why launches of a kernel are left out.
pub(super) const NOT_COMPILED: Reason = Reason { name: "not-compiled", meaning: "kassay cannot compile its program" };

/// The error for a file or folder that cannot be made.
pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(format!("cannot write {}: {error}", path.display()))
        .help("free some space, or name a folder in which files can be made")
}

/// How the program ended, as a sentence goes on.
pub(super) fn end(ended: &Ended) -> String {
    match (ended.exit_code, ended.signal) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("{} ended it", host::signal_name(signal)),
        (None, None) => "it ended".to_owned(),
    }
}

/// The error for a program that made no OpenCL call.
pub(super) fn no_call(ended: &Ended, drivers: &[String]) -> Error {
    let help = if drivers.is_empty() {
        "no OpenCL driver is installed here: `kassay devices` tells where drivers are looked for".to_owned()
    } else {
        "the program has to reach OpenCL through a loader (libOpenCL.so); one that links or opens a driver itself cannot be \
         seen, nor one that runs with other rights (setuid) or another environment (sudo, a container)"
            .to_owned()
    };
    Error::environment(format!("no OpenCL call was seen; {}", end(ended))).help(help)
}

/// The folder of the kernel's file, relative to itself.
const OWN: &str = ".";

/// A kernel of a host program, compiled.
pub(super) struct HostKernel {
    /// A folder of its own, or one of the cache.
    pub folder: PathBuf,
    /// Its file's name in the folder.
    pub file: PathBuf,
    /// Files beside it that the program gave: headers, or texts that it includes.
    files: Vec<String>,
    /// How suites in the folder compile it, as arguments to clang.
    options: Vec<String>,
    spec: Vec<SpecValue>,
    pub opened: Opened,
}

impl HostKernel {
    /// Writes a program's code and compiles the kernel `entry` of it. `shared`: the arguments that share memory in some
    /// launch. Suites can be made of it in a folder of its own.
    ///
    /// # Errors
    /// `Environment` if files cannot be written; those of [`OpenOptions::open_kernel`].
    pub fn open(
        open: &OpenOptions,
        at: &Folder<'_>,
        entry: &str,
        code: &Code,
        shared: &BTreeSet<u32>,
    ) -> Result<HostKernel> {
        let base: String =
            entry.chars().take(100).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let open = open.clone().entry(Some(entry.to_owned()));
        let Placed { path, open, options: mut arguments, include_dirs, search, has_files } =
            place(&open, at, &base, code)?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let file = path.file_name().map(PathBuf::from).unwrap_or_default();
        let mut opened = open.open_kernel_sharing(&path, shared.clone())?;
        match code {
            Code::Source { files, .. } => {
                let files = files.iter().map(|(name, _)| name.clone()).collect();
                if let Folder::Cached { .. } = at {
                    return Ok(HostKernel { folder, file, files, options: arguments, spec: Vec::new(), opened });
                }
                let found = opened.with(SyntaxTree::NotNeeded, |parsed| Ok(parsed.loaded.file_lookups.clone()))?;
                let found: Vec<PathBuf> =
                    found.into_iter().filter(|(_, exists)| *exists).map(|(path, _)| path).collect();
                let copied = host::copy_headers(&folder, &include_dirs, &found);
                let own = search.iter().filter(|dir| **dir == Path::new(OWN)).cloned().collect();
                let copied = copied.map_err(|error| cannot_write(&folder, &error))?;
                let dirs = copied.map_or(search, |used| [used, own].concat());
                arguments.extend(has_files.then(|| "-I.".to_owned()));
                arguments.extend(dirs.iter().map(|dir| format!("-I{}", dir.display())));
                Ok(HostKernel { folder, file, files, options: arguments, spec: Vec::new(), opened })
            }
            Code::Module { constants, .. } => {
                let spec = opened.with(SyntaxTree::NotNeeded, |parsed| Ok(spec_values(&parsed.loaded, constants)))?;
                if !spec.is_empty() {
                    opened = open.spec(texts(&spec)).open_kernel_sharing(&path, shared.clone())?;
                }
                Ok(HostKernel { folder, file, files: Vec::new(), options: Vec::new(), spec, opened })
            }
        }
    }

    /// Writes a suite beside the kernel's file and returns its path.
    ///
    /// # Errors
    /// `Environment` if files cannot be written.
    pub fn write_suite(&self, tests: Vec<NewTest<'_>>) -> Result<PathBuf> {
        let suite = NewSuite {
            kernel: self.file.clone(),
            entry: self.opened.entry(),
            options: &self.options,
            spec: &self.spec,
            // Its own, if the kernel requires one.
            sub_group_size: None,
            name: None,
            description: None,
            tests,
        };
        write::write(&self.folder, &suite, self.opened.interface())
    }

    /// The files of the program's own code: the kernel's, and those beside it.
    pub fn code_files(&self) -> Vec<PathBuf> {
        let mut all = vec![self.folder.join(&self.file)];
        all.extend(self.files.iter().map(|name| self.folder.join(name)));
        all
    }

    /// Removes the suite's files, but for the kernel's.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn clear(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "npy" || extension == "toml") {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// Names of folders, each given once.
#[derive(Debug, Default)]
pub(super) struct FolderNames(BTreeSet<String>);

impl FolderNames {
    /// Returns a name for a kernel's folder: its own, for the second program followed by a hash.
    pub fn name(&mut self, kernel: &str, program: &str) -> String {
        let safe: String =
            kernel.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let safe = if safe.is_empty() { "kernel".to_owned() } else { safe };
        let hash = |digits: usize| format!("{safe}-{}", program.get(..digits).unwrap_or(program));
        let names = [safe.clone(), hash(8), hash(16)];
        let free = names.into_iter().find(|name| !self.0.contains(name));
        // Two kernels of one program have different names, which may look the same here.
        let name = free.unwrap_or_else(|| format!("{}-{}", hash(32), self.0.len()));
        self.0.insert(name.clone());
        name
    }
}

/// Where a program's code is written.
pub(super) enum Folder<'a> {
    /// To a folder in which a suite may be made of it.
    Own(&'a Path),
    /// To where it is in every run.
    Cached { otherwise: &'a Path },
}

/// A program's code in a folder.
pub(super) struct Placed {
    pub path: PathBuf,
    /// How it is compiled there, but for specialisation constants.
    pub open: OpenOptions,
    /// Arguments to clang without folders.
    options: Vec<String>,
    /// The program's own folders of headers.
    include_dirs: Vec<PathBuf>,
    /// Those of them that have headers of the build, which lie in the folder then, and the others as they are.
    search: Vec<PathBuf>,
    /// Whether it includes files that the program gave as texts.
    has_files: bool,
}

/// Writes a program's code to `folder/base.EXTENSION`, and beside it the texts that it includes. Without a folder, it
/// goes to one of the cache, or to `otherwise` if there is no cache: there it is the same compilation in every run, and
/// its users must not change anything.
///
/// # Errors
/// `Environment` if files cannot be written.
pub(super) fn place(open: &OpenOptions, at: &Folder<'_>, base: &str, code: &Code) -> Result<Placed> {
    let mut contents: Vec<(PathBuf, Cow<'_, [u8]>)> = Vec::new();
    let (mut options, mut include_dirs, mut search, mut has_files) = (Vec::new(), Vec::new(), Vec::new(), false);
    let file = match code {
        Code::Source { text, files, includes, options: given, directory, .. } => {
            contents.extend(files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.into())));
            has_files = !files.is_empty();
            let file = format!("{base}.cl");
            contents.push((file.clone().into(), text.into()));
            let translated = host::translate(given, directory);
            options = translated.arguments;
            // Sources in memory include what is in the working directory, too.
            include_dirs = translated.include_dirs;
            if directory.is_absolute() {
                include_dirs.push(directory.clone());
            }
            let placed = host::place_headers(&include_dirs, includes);
            contents.extend(placed.files.into_iter().map(|(name, bytes)| (name, bytes.into())));
            search = placed.search;
            if rename(&mut contents, &mut options, &placed.places) {
                // After the others: only what was renamed is found there.
                search.push(OWN.into());
            }
            // A folder that is gone holds nothing, and its name may be another one in the next run.
            search.retain(|dir| dir.is_relative() || dir.is_dir());
            file
        }
        Code::Module { bytes, extension, .. } => {
            let file = format!("{base}.{extension}");
            contents.push((file.clone().into(), bytes.into()));
            file
        }
    };
    let (cached, folder) = match *at {
        Folder::Own(folder) => (None, folder),
        Folder::Cached { otherwise } => {
            let contents: Vec<(PathBuf, &[u8])> =
                contents.iter().map(|(name, bytes)| (name.clone(), &bytes[..])).collect();
            (cache::folder(&contents), otherwise)
        }
    };
    let folder = match cached {
        Some(folder) => folder,
        None => {
            for (name, bytes) in &contents {
                let path = folder.join(name);
                cache::place(&path, bytes).map_err(|error| cannot_write(&path, &error))?;
            }
            folder.to_owned()
        }
    };
    let mut open = open.clone();
    if let Code::Source { .. } = code {
        let own = has_files.then(|| folder.clone());
        open = open.include_dirs(own.into_iter().chain(search.iter().map(|dir| folder.join(dir))).collect());
        open = open.clang_args(options.clone());
    }
    Ok(Placed { path: folder.join(file), open, options, include_dirs, search, has_files })
}

/// Gives headers that texts and options name by absolute paths the names by which the kernel's folder has them; returns
/// whether there are any.
fn rename(contents: &mut [(PathBuf, Cow<'_, [u8]>)], options: &mut [String], places: &host::Places) -> bool {
    let macros = contents.iter().any(|(_, text)| host::includes_macro(text));
    let mut is_any = false;
    for (_, text) in contents {
        let renamed = match host::rename_in_text(text, macros, places) {
            Cow::Borrowed(_) => continue,
            Cow::Owned(renamed) => renamed,
        };
        (*text, is_any) = (renamed.into(), true);
    }
    for option in options.iter_mut().filter(|_| macros) {
        if let Some(renamed) = host::rename_in_option(option, places) {
            (*option, is_any) = (renamed, true);
        }
    }
    is_any
}

/// Returns the values of specialisation constants, as suites write them.
pub(super) fn spec_values(loaded: &Loaded, constants: &[host::Constant]) -> Vec<SpecValue> {
    let known = || loaded.spirv.iter().flat_map(|spirv| &spirv.constants);
    let value = |constant: &host::Constant| {
        let known = known().find(|known| known.spec_id == constant.id)?;
        let value = known.ty.shown(constant.bits()?);
        Some(SpecValue { constant: constant.id.to_string(), value, places: None })
    };
    constants.iter().filter_map(value).collect()
}

/// Returns values of specialisation constants as options have them.
pub(super) fn texts(spec: &[SpecValue]) -> Vec<String> {
    spec.iter().map(|value| format!("{}={}", value.constant, value.value)).collect()
}
