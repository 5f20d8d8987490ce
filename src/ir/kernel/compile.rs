//! Turns a kernel file into LLVM bitcode in the form that kassay analyses, together with clang's syntax tree.
//!
//! Not for parsing the result (`module`, `ast`).

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_base::files::{self, Sandbox};
use kassay_model::demangle::is_mangled;
use kassay_model::kernel_files::{self, KernelFile};
use kassay_model::options::{ACCEPTED_BY_DRIVERS, Features, KernelOptions, Language};

use super::ast::Ast;
use super::ast_records;
use super::clang::{self, Outcome, Run};
use super::compile_cache::CacheEntry;
use super::cpp_names;
use super::cuda::{self, missing};
use super::line_directives::{self, Overlay};
use super::module;
use super::refusal;
use super::shared_functions;
use super::spirv::read::{self as spirv, Spirv};
use super::sub_groups;
use crate::llvm::{Context, View};

/// The format of a kernel file, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenCL C, C++ for OpenCL or CUDA, as source.
    OpenClC,
    /// LLVM IR as text.
    LlvmIr,
    /// LLVM IR as bitcode.
    Bitcode,
    /// A SPIR-V module.
    SpirV,
    /// SPIR-V as text, as spirv-as reads it.
    SpirVText,
}

/// A kernel file after reading and, for OpenCL C, compiling it.
#[derive(Debug)]
pub struct Loaded {
    /// LLVM bitcode, or for [`Format::LlvmIr`] the file's text. Not parsed yet: see `module::parse`.
    pub bitcode: Vec<u8>,
    /// Format of the file; [`Format::SpirV`] for SPIR-V as text, too, since it has been assembled.
    pub format: Format,
    /// The path as the caller gave it.
    pub source: PathBuf,
    /// clang's warnings, verbatim; what spirv-val says, if the options ask for it.
    pub warnings: String,
    /// The words and the specialisation constants of SPIR-V; its bitcode is above.
    pub spirv: Option<Spirv>,
    /// clang's syntax tree, if it was requested and is available.
    pub ast: Option<Ast>,
    /// The files that clang looked for, by absolute path, each with whether it existed.
    pub file_lookups: Vec<(PathBuf, bool)>,
    /// [`KernelOptions::sub_group_size`].
    pub sub_group_size: Option<u32>,
    /// The templates of CUDA that are kernels because host functions launch them whose bodies were skipped.
    pub launched: Vec<String>,
}

impl Loaded {
    /// Parses the module, or the `bitcode` of a variant of it, with the sizes of sub-groups that the options ask for.
    ///
    /// # Errors
    /// As [`module::parse`].
    pub fn parse<'c>(&self, context: &'c Context, bitcode: &[u8]) -> Result<Module<'c>> {
        let module = module::parse(context, bitcode, &self.source)?;
        if let Some(spirv) = &self.spirv {
            shared_functions::split(View::of(&module), &spirv.words);
        }
        if let Some(size) = self.sub_group_size {
            sub_groups::require(View::of(&module), size);
        }
        Ok(module)
    }

    /// Those of the warnings, with their source lines, that clang 22 reports as errors by default (see `options`).
    pub fn accepted_errors(&self) -> String {
        let mut accepted = String::new();
        let mut is_accepted = false;
        for line in self.warnings.lines() {
            if line.contains(": warning: ") {
                is_accepted = ACCEPTED_BY_DRIVERS.iter().any(|group| line.ends_with(&format!("[-W{group}]")));
            } else if line.ends_with(" generated.") {
                is_accepted = false;
            } else if line.starts_with(cuda::NOTE) {
                is_accepted = true;
            }
            if is_accepted {
                accepted += line;
                accepted.push('\n');
            }
        }
        accepted
    }
}

impl Format {
    /// The format that the file's extension names.
    pub fn of(path: &Path) -> Option<Format> {
        Some(match KernelFile::of(path)? {
            KernelFile::OpenClC | KernelFile::CppForOpenCl | KernelFile::Cuda => Format::OpenClC,
            KernelFile::LlvmIr => Format::LlvmIr,
            KernelFile::Bitcode => Format::Bitcode,
            KernelFile::SpirV => Format::SpirV,
            KernelFile::SpirVText => Format::SpirVText,
        })
    }
}

/// Returns whether a file's extension is that of a kernel, in any form.
pub fn is_kernel(path: &Path) -> bool {
    KernelFile::of(path).is_some()
}

/// Returns whether a file's extension is that of OpenCL C.
pub fn is_source(path: &Path) -> bool {
    KernelFile::of(path).is_some_and(KernelFile::is_source)
}

/// Reads or compiles `source`. With `with_ast`, the same run of clang yields the syntax tree of OpenCL C; if the tree
/// is too deep, there is none, and no error.
///
/// # Errors
/// Caller: no such file, an unknown extension, a kernel that does not compile, a malformed SPIR-V module, a
/// specialisation constant that the kernel does not have. Environment: clang, llvm-spirv or spirv-as is missing.
/// Internal: one of them crashed.
pub fn load(source: &Path, options: &KernelOptions, with_ast: bool) -> Result<Loaded> {
    let loaded = load_as_it_is(source, options, with_ast)?;
    Ok(Loaded { sub_group_size: options.sub_group_size, ..loaded })
}

fn load_as_it_is(source: &Path, options: &KernelOptions, with_ast: bool) -> Result<Loaded> {
    let format = Format::of(source).ok_or_else(|| {
        Error::caller(format!("{} is no kernel file", source.display()))
            .help(format!("kernels are {} files, told apart by the extension", kernel_files::all_listed()))
    })?;
    let bytes = read(source, options.sandbox.as_ref())?;
    check_spec(format, options)?;
    let bitcode = match format {
        Format::OpenClC => return compile(source, &bytes, options, with_ast),
        Format::LlvmIr | Format::Bitcode => readable(source, bytes, options)?,
        Format::SpirV => return Ok(translated(source, spirv::read(source, &bytes, options)?)),
        Format::SpirVText => return Ok(translated(source, spirv::read_text(source, &bytes, options)?)),
    };
    let source = source.to_owned();
    let warnings = String::new();
    Ok(Loaded {
        bitcode,
        format,
        source,
        warnings,
        spirv: None,
        ast: None,
        file_lookups: Vec::new(),
        sub_group_size: None,
        launched: Vec::new(),
    })
}

/// Returns the module in bytes that LLVM can read or refuse here.
fn readable(source: &Path, bytes: Vec<u8>, options: &KernelOptions) -> Result<Vec<u8>> {
    match module::read_apart(source, bytes, options.deadline)? {
        Ok(bytes) => Ok(bytes),
        Err(how) => Err(Error::caller(format!("{} is no module that LLVM 22 can read", source.display()))
            .details(format!("LLVM {how}"))
            .help("it may be damaged: make it anew from the source, or give the source")),
    }
}

/// Checks that only SPIR-V is given values of specialisation constants.
fn check_spec(format: Format, options: &KernelOptions) -> Result<()> {
    match (format, options.spec.first()) {
        (Format::SpirV | Format::SpirVText, _) | (_, None) => Ok(()),
        (Format::OpenClC | Format::LlvmIr | Format::Bitcode, Some(value)) => {
            let what = format!("`{}` cannot be set: only SPIR-V has specialisation constants", value.constant);
            let error = Error::caller(what).help("leave it out; macros (-D) set values of OpenCL C");
            Err(value.places.iter().fold(error, |error, (key, _)| error.at(key.clone())))
        }
    }
}

fn translated(source: &Path, mut spirv: Spirv) -> Loaded {
    Loaded {
        bitcode: std::mem::take(&mut spirv.bitcode),
        format: Format::SpirV,
        source: source.to_owned(),
        warnings: std::mem::take(&mut spirv.validation),
        spirv: Some(spirv),
        ast: None,
        file_lookups: Vec::new(),
        sub_group_size: None,
        launched: Vec::new(),
    }
}

fn read(source: &Path, sandbox: Option<&Sandbox>) -> Result<Vec<u8>> {
    let cannot = |why: &str| Error::caller(format!("{} cannot be read: {why}", source.display()));
    if source.is_dir() {
        return Err(cannot("it is a folder").help("name the kernel file in it"));
    }
    let bytes = files::read(source, sandbox).map_err(|error| match (error.kind(), files::escape_help(&error)) {
        (_, Some(help)) => cannot(&error.to_string()).help(help),
        (io::ErrorKind::NotFound, _) => cannot("there is no such file").help("check the path"),
        (io::ErrorKind::InvalidInput, _) => cannot(&error.to_string()).help("copy what it holds into a file"),
        _ => cannot(&error.to_string()),
    })?;
    if bytes.trim_ascii().is_empty() {
        return Err(cannot("it is empty").help("give a file with a kernel in it"));
    }
    Ok(bytes)
}

fn compile(source: &Path, content: &[u8], options: &KernelOptions, with_ast: bool) -> Result<Loaded> {
    let written = compile_as_written(source, content, options, with_ast)?;
    let skips_host = written.as_ref().is_none_or(|written| written.warnings.contains(cuda::NOTE));
    let can_be_told = options.language(source) == Language::Cuda && options.instances().next().is_none();
    if can_be_told && skips_host {
        // Host functions that are skipped instantiate nothing.
        let Some(mut names) = launched_templates(source, options)? else {
            let note = cuda::note_of_search(source);
            return match written {
                Some(loaded) => Ok(Loaded { warnings: loaded.warnings + &note, ..loaded }),
                None => Err(cuda::no_kernel(source).details(note)),
            };
        };
        while !names.is_empty() {
            match compile_as_written(source, content, &options.with_instances(&names), with_ast) {
                Ok(Some(mut loaded)) => {
                    loaded.warnings.push_str(&cuda::note_of_instances(source, &names));
                    loaded.launched = names;
                    return Ok(loaded);
                }
                Ok(None) => break,
                Err(late) if late.is_late() => return Err(late),
                Err(error) => {
                    let wrong = cuda::wrong_instances(&error);
                    if wrong.is_empty() {
                        break;
                    }
                    let mut number = 0..;
                    names.retain(|_| number.next().is_none_or(|n| !wrong.contains(&n)));
                }
            }
        }
    }
    written.ok_or_else(|| cuda::no_kernel(source))
}

/// A source that lacks more names than this needs its libraries.
const MOST_UNKNOWN: usize = 200;

/// How long instances are sought at most.
const LONGEST_SEARCH: Duration = Duration::from_secs(20);

/// Returns the instances of templates that launches of the source make kernels, whether it compiles or not; `None` if
/// the search does not end.
fn launched_templates(source: &Path, options: &KernelOptions) -> Result<Option<Vec<String>>> {
    let prepared = Prepared::new(source, options)?;
    let end = Instant::now() + LONGEST_SEARCH;
    let end = options.deadline.map_or(end, |deadline| deadline.min(end));
    let arguments = prepared.arguments(&Manner::of(Features::Instances), prepared.file().as_deref());
    match clang::run(&arguments, &options.confined_to(&prepared.copies()), false, Some(end)) {
        Ok(run) => Ok(Some(cuda::instances(&run.records))),
        Err(late) if late.is_late() && options.deadline == Some(end) => Err(late),
        Err(late) if late.is_late() => Ok(None),
        // What does not compile may crash clang.
        Err(_) => Ok(Some(Vec::new())),
    }
}

/// How a source is compiled, as far as its own text decides.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    features: Features,
    /// Names that are taken as those of unknown types.
    unknown: missing::Names,
}

impl Manner {
    fn of(features: Features) -> Manner {
        Manner { features, unknown: missing::Names::new() }
    }
}

/// A source with the copies that clang reads in the place of files.
pub(super) struct Prepared<'o> {
    source: &'o Path,
    options: &'o KernelOptions,
    language: Language,
    pub overlay: Option<Overlay>,
}

impl<'o> Prepared<'o> {
    /// Makes the copies that are needed.
    pub fn new(source: &'o Path, options: &'o KernelOptions) -> Result<Prepared<'o>> {
        let language = options.language(source);
        let appended = cuda::instantiations(options);
        let overlay = line_directives::overlay(source, &options.include_path(), options.sandbox.as_ref(), &appended)?;
        Ok(Prepared { source, options, language, overlay })
    }

    /// The folders of the copies.
    pub fn copies(&self) -> Vec<&Path> {
        self.overlay.iter().map(Overlay::folder).collect()
    }

    /// The file for clang's `-ivfsoverlay`.
    fn file(&self) -> Option<PathBuf> {
        self.overlay.as_ref().map(Overlay::file)
    }

    /// Returns clang's arguments. `overlay`: a file for `-ivfsoverlay`.
    pub fn arguments(&self, manner: &Manner, overlay: Option<&Path>) -> Vec<OsString> {
        arguments_of(self.source, self.options, manner, overlay)
    }

    /// Compiles in the manner that the source needs. If clang refuses all of them, this is the run whose diagnostics
    /// say what the source really lacks.
    pub fn compile(&self, with_records: bool) -> Result<(Run, Manner)> {
        let (language, source, options) = (self.language, self.source, self.options);
        let folders = options.confined_to(&self.copies());
        let file = self.file();
        let run = |manner: &Manner| {
            let arguments = self.arguments(manner, file.as_deref());
            let run = clang::run(&arguments, &folders, with_records, options.deadline)?;
            check_confined(source, &run.escapes)?;
            Ok(run)
        };
        let mut manner = Manner::of(Features::Reduced);
        let mut best = run(&manner)?;
        let fallbacks = match best.outcome {
            Outcome::Refused if cuda::lacks_library(&best.diagnostics) => Vec::new(),
            Outcome::Refused => options.fallback_features(language, &best.diagnostics),
            Outcome::Compiled | Outcome::NoCompilation | Outcome::NoKernel => Vec::new(),
        };
        for features in fallbacks {
            let mut own = Manner::of(features);
            let mut other = run(&own)?;
            let mut plain = None;
            while language == Language::Cuda && other.outcome == Outcome::Refused {
                let more = missing::names(&other.diagnostics, &own.unknown);
                if more.is_empty() || own.unknown.len() > MOST_UNKNOWN {
                    break;
                }
                let before = own.clone();
                own.unknown.extend(more);
                let mut again = run(&own)?;
                if missing::are_on_device(&again.diagnostics) {
                    // What was said before names them as the source does.
                    own = before;
                    break;
                }
                again.diagnostics += &missing::note(source, &own.unknown);
                again.file_lookups.append(&mut other.file_lookups);
                plain.get_or_insert(std::mem::replace(&mut other, again));
            }
            // Complaints about what stands for a name do not say that it is missing.
            let is_beside_the_point =
                other.outcome == Outcome::Refused && missing::is_complained_of(&other.diagnostics);
            if let Some(plain) = plain.filter(|_| is_beside_the_point) {
                own = Manner::of(features);
                other = Run { file_lookups: std::mem::take(&mut other.file_lookups), ..plain };
            }
            // Of refusals, the one with the fewest errors says what the kernel really lacks.
            let is_better = match other.outcome {
                Outcome::Compiled | Outcome::NoKernel => true,
                // The first run stops at the first header that is missing.
                Outcome::Refused if language == Language::Cuda => true,
                Outcome::Refused => errors(&other.diagnostics) < errors(&best.diagnostics),
                Outcome::NoCompilation => false,
            };
            // That an earlier run failed depends on the files that it looked for.
            other.file_lookups.extend(best.file_lookups.iter().cloned());
            if is_better {
                (best, manner) = (other, own);
            } else {
                best.file_lookups = other.file_lookups;
            }
            if best.outcome == Outcome::Compiled {
                break;
            }
        }
        Ok((best, manner))
    }
}

/// Returns clang's arguments. `overlay`: a file for `-ivfsoverlay`.
fn arguments_of(source: &Path, options: &KernelOptions, manner: &Manner, overlay: Option<&Path>) -> Vec<OsString> {
    let language = options.language(source);
    let mut arguments = vec!["-x".into(), language.clang_name().into()];
    arguments.extend(options.clang_arguments(language, manner.features));
    arguments.extend(KernelFile::is_hip(source).then(|| OsString::from("-D__HIPCC__=1")));
    arguments.extend(missing::arguments(&manner.unknown));
    if let Some(overlay) = overlay {
        arguments.extend(["-ivfsoverlay".into(), overlay.into()]);
    }
    // Nothing is written to this file: the output stays in memory.
    arguments.extend(["-emit-llvm", "-c", "-o", "kernel.bc", "--"].map(OsString::from));
    arguments.push(source.into());
    arguments
}

/// Returns `None` for CUDA without a kernel.
fn compile_as_written(
    source: &Path,
    content: &[u8],
    options: &KernelOptions,
    with_ast: bool,
) -> Result<Option<Loaded>> {
    let language = options.language(source);
    cuda::check_options(source, options)?;
    let mut key = arguments_of(source, options, &Manner::of(Features::Reduced), None);
    // What was compiled without a sandbox may come from anywhere.
    key.extend(options.instances().map(OsString::from));
    key.extend((language == Language::Cuda).then(|| cuda::headers::stamp().into()));
    key.extend(options.confined_to(&[]).into_iter().map(|folder| format!("within {}", folder.display()).into()));
    let entry = CacheEntry::new(source, content, &key);
    if let Some(run) = entry.as_ref().and_then(CacheEntry::find) {
        return Ok(Some(loaded(source, run, with_ast)));
    }
    let prepared = Prepared::new(source, options)?;
    // A cache entry always holds the tree, in case a later run needs it.
    let (run, _) = prepared.compile(with_ast || entry.is_some())?;
    match run.outcome {
        Outcome::Compiled => {
            if let Some(entry) = entry {
                let originals = prepared.overlay.as_ref().map_or(&[][..], |overlay| overlay.originals.as_slice());
                entry.store(&run, &prepared.copies(), originals);
            }
            Ok(Some(loaded(source, run, with_ast)))
        }
        Outcome::Refused if language == Language::Cuda => Err(cuda::refusal(source, run.diagnostics)),
        Outcome::Refused => Err(refusal::of(source, run.diagnostics, "--cl-std")),
        Outcome::NoKernel => Ok(None),
        Outcome::NoCompilation => {
            let error = Error::caller(format!("the options for clang do not compile {} to LLVM IR", source.display()));
            let error = if run.diagnostics.is_empty() { error } else { error.details(run.diagnostics) };
            Err(error.help("leave out options that choose another output, such as -E, -S or -save-temps"))
        }
    }
}

/// How many errors clang has found.
fn errors(diagnostics: &str) -> usize {
    diagnostics.matches(" error: ").count()
}

/// Checks that clang looked for no file outside of the folders that it was confined to.
fn check_confined(source: &Path, escapes: &[PathBuf]) -> Result<()> {
    match escapes.first() {
        None => Ok(()),
        Some(file) => Err(Error::caller(format!(
            "{} includes {}, which lies outside of the suite's folder, which --sandbox does not allow",
            source.display(),
            file.display()
        ))
        .help("name its folder with -I, or leave out --sandbox if you trust the kernel")),
    }
}

fn loaded(source: &Path, run: Run, with_ast: bool) -> Loaded {
    let mut ast = if with_ast { ast_records::read(&run.records) } else { None };
    if let Some(ast) = ast.as_mut().filter(|ast| ast.functions.iter().any(|function| is_mangled(&function.name))) {
        name_functions(ast, &run.bitcode);
    }
    Loaded {
        ast,
        bitcode: run.bitcode,
        format: Format::OpenClC,
        source: source.to_owned(),
        warnings: run.diagnostics,
        spirv: None,
        file_lookups: run.file_lookups,
        sub_group_size: None,
        launched: Vec::new(),
    }
}

/// Gives the functions of the tree the names that they get in the module.
fn name_functions(ast: &mut Ast, bitcode: &[u8]) {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "kernel");
    // Bitcode that does not parse is refused where it is needed (`module`).
    let Ok(module) = Module::parse_bitcode_from_buffer(&buffer, &context) else { return };
    let names = cpp_names::of(&module);
    for function in &mut ast.functions {
        if let Some(name) = names.get(&function.name) {
            function.name.clone_from(name);
        }
    }
}
