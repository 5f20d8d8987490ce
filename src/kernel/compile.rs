//! From a kernel file to LLVM bitcode in kassay's canonical form, and clang's syntax tree beside it.
//!
//! Not for parsing what comes out (`module`, `ast`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use super::ast::Ast;
use super::ast_json;
use super::line_directives;
use super::options::KernelOptions;
use super::spirv_words;
use super::tools::{CLANG, LLVM_SPIRV};
use crate::error::{Error, Place, Report, Result};

/// What the kernel file was, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    OpenClC,
    /// LLVM IR as text.
    LlvmIr,
    Bitcode,
    SpirV,
}

/// A kernel file, read.
#[derive(Debug)]
pub struct Loaded {
    /// LLVM bitcode; for [`Format::LlvmIr`] the file's text. Not parsed yet: see `module::parse`.
    pub bitcode: Vec<u8>,
    pub format: Format,
    /// As the caller gave it.
    pub source: PathBuf,
    /// clang's warnings, as it wrote them.
    pub warnings: String,
    /// clang's syntax tree, where it was asked for and could be had.
    pub ast: Option<Ast>,
}

impl Format {
    /// By the file's extension.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "cl" | "ocl" | "clcpp" => Some(Format::OpenClC),
            "ll" => Some(Format::LlvmIr),
            "bc" => Some(Format::Bitcode),
            "spv" => Some(Format::SpirV),
            _ => None,
        }
    }
}

/// Reads or compiles `source`. With `with_ast`, a second clang run beside the first one brings the syntax tree of
/// OpenCL C; should that run fail, there is no tree, and no error.
///
/// # Errors
/// Caller: no such file, an unknown extension, a kernel that does not compile, an ill-formed SPIR-V module.
/// Environment: clang or llvm-spirv is missing. Internal: one of them crashed.
pub fn load(source: &Path, options: &KernelOptions, with_ast: bool) -> Result<Loaded> {
    let format = Format::of(source).ok_or_else(|| {
        Error::caller(format!("{} is no kernel file", source.display()))
            .mend("kernels are .cl, .ll, .bc or .spv files, told apart by the extension")
    })?;
    let bytes = read(source)?;
    let loaded = |bitcode, warnings, ast| Loaded { bitcode, format, source: source.to_owned(), warnings, ast };
    match format {
        Format::OpenClC => {
            let (bitcode, warnings, ast) = compile(source, options, with_ast)?;
            Ok(loaded(bitcode, warnings, ast))
        }
        Format::LlvmIr | Format::Bitcode => Ok(loaded(bytes, String::new(), None)),
        Format::SpirV => Ok(loaded(read_spirv(source, &bytes)?, String::new(), None)),
    }
}

fn read(source: &Path) -> Result<Vec<u8>> {
    let cannot = |why: &str| Error::caller(format!("{} cannot be read: {why}", source.display()));
    let metadata = fs::metadata(source).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => cannot("there is no such file").mend("check the path"),
        _ => cannot(&error.to_string()),
    })?;
    if metadata.is_dir() {
        return Err(cannot("it is a folder").mend("name the kernel file in it"));
    }
    let bytes = fs::read(source).map_err(|error| cannot(&error.to_string()))?;
    if bytes.trim_ascii().is_empty() {
        return Err(cannot("it is empty").mend("give a file with a kernel in it"));
    }
    Ok(bytes)
}

/// One compilation: clang's arguments but for the kind of output.
struct Job<'a> {
    source: &'a Path,
    options: &'a KernelOptions,
    overlay: Option<PathBuf>,
    bitcode: PathBuf,
}

/// Deep expressions make deep trees; only as much of it as is used takes memory.
const AST_STACK_BYTES: usize = 512 << 20;

fn compile(source: &Path, options: &KernelOptions, with_ast: bool) -> Result<(Vec<u8>, String, Option<Ast>)> {
    let overlay = line_directives::overlay(source, &options.include_path())?;
    let folder = tempfile::tempdir()
        .map_err(|error| Error::environment(format!("no temporary folder for clang's output: {error}")))?;
    let bitcode = folder.path().join("kernel.bc");
    let job = Job { source, options, overlay: overlay.as_ref().map(line_directives::Overlay::file), bitcode };
    let (mut output, mut ast) = job.run(true, with_ast)?;
    if !output.status.success() && options.is_cl3() {
        // The kernel may need what was switched off: generic pointers, program-scope variables.
        let (whole, whole_ast) = job.run(false, with_ast)?;
        if whole.status.success() {
            (output, ast) = (whole, whole_ast);
        }
    }
    let diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(refusal(source, &output, diagnostics));
    }
    let bitcode = fs::read(&job.bitcode).map_err(|error| {
        Error::environment(format!("clang's output {} is not there: {error}", job.bitcode.display()))
    })?;
    Ok((bitcode, diagnostics, ast))
}

impl Job<'_> {
    fn run(&self, reduced: bool, with_ast: bool) -> Result<(Output, Option<Ast>)> {
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(AST_STACK_BYTES);
            let tree = with_ast.then(|| thread.spawn_scoped(scope, || self.ast(reduced)).ok()).flatten();
            let output = CLANG.start(|command| {
                self.arguments(command, reduced);
                command.args(["-emit-llvm", "-c", "-o"]).arg(&self.bitcode).arg("--").arg(self.source).output()
            })?;
            Ok((output, tree.and_then(|tree| tree.join().ok().flatten())))
        })
    }

    fn ast(&self, reduced: bool) -> Option<Ast> {
        let mut child = CLANG
            .start(|command| {
                self.arguments(command, reduced);
                command.args(["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", "--"]).arg(self.source);
                command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
            })
            .ok()?;
        let ast = child.stdout.take().and_then(|stdout| ast_json::read(stdout).ok());
        let status = child.wait().ok()?;
        ast.filter(|_| status.success())
    }

    fn arguments(&self, command: &mut Command, reduced: bool) {
        command.args(["-x", "cl"]).args(self.options.clang_arguments(reduced)).stdin(Stdio::null());
        if let Some(overlay) = &self.overlay {
            command.arg("-ivfsoverlay").arg(overlay);
        }
    }
}

fn refusal(source: &Path, output: &Output, diagnostics: String) -> Error {
    if CLANG.crashed(output.status, &diagnostics) {
        return CLANG.crash(&diagnostics);
    }
    let mut report = Report::new(format!("{} does not compile", source.display()));
    report.place = first_error(&diagnostics);
    report.details = Some(diagnostics);
    report.mend = Some("correct the kernel, or give what it needs with -D, -I, --cl-std or --clang-arg".to_owned());
    Error::Caller(Box::new(report))
}

/// The place of the first `file:line:column: error:` line; clang shows the text itself.
fn first_error(diagnostics: &str) -> Option<Place> {
    let line = diagnostics.lines().find(|line| line.contains(" error: "))?;
    let place = line.split(": ").next()?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Place { file: parts.next()?.into(), line, column, text: None })
}

fn read_spirv(source: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let words = spirv_words::normalise(bytes).map_err(|error| {
        Error::caller(format!("{} is no SPIR-V module that kassay can take: {error}", source.display()))
            .mend("give a SPIR-V module for OpenCL with 64-bit addresses, whole and as its compiler wrote it")
    })?;
    let io_failed = |error: io::Error| Error::environment(format!("no temporary files for llvm-spirv: {error}"));
    let folder = tempfile::tempdir().map_err(io_failed)?;
    let (input, output) = (folder.path().join("kernel.spv"), folder.path().join("kernel.bc"));
    fs::write(&input, words).map_err(io_failed)?;
    let translated = LLVM_SPIRV
        .start(|command| command.arg("-r").arg(&input).arg("-o").arg(&output).stdin(Stdio::null()).output())?;
    let stderr = String::from_utf8_lossy(&translated.stderr);
    if !translated.status.success() {
        if LLVM_SPIRV.crashed(translated.status, &stderr) {
            return Err(LLVM_SPIRV.crash(&stderr));
        }
        return Err(Error::caller(format!("{} cannot be translated to LLVM IR", source.display()))
            .details(stderr)
            .mend("check the module with spirv-val; give the .ll, .bc or .cl it was made from"));
    }
    fs::read(&output).map_err(io_failed)
}
