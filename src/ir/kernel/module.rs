//! Parses a kernel's LLVM module and rejects those that kassay cannot handle. Not for compiling (`compile`).

#[cfg(not(fuzzing))]
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use inkwell::context::AsContextRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::forked::Failure;

use super::cpp_names;
use kassay_base::error::{Error, Place, Report, Result};
use kassay_base::files::{self, Sandbox};
#[cfg(not(fuzzing))]
use kassay_base::forked::{self, Job, Limit};

use crate::llvm::{Context, Function, SPIR_KERNEL, View};

/// How clang's names of functions begin that compute the initial value of a variable when the program is loaded.
const INITIALISER: &str = "__cxx_global_var_init";

/// Parses and verifies LLVM IR, as text or bitcode. `source` names the module and appears in messages. Functions and
/// variables of C++ for OpenCL get readable names.
///
/// # Errors
/// Caller: it does not parse or verify, is for another target or for 32-bit SPIR, has no kernel, or has variables that
/// code initialises.
pub fn parse<'c>(context: &'c Context, bytes: &[u8], source: &Path) -> Result<Module<'c>> {
    let module = parse_named_by_compiler(context, bytes, source)?;
    cpp_names::apply(&module);
    Ok(module)
}

/// Does the same, but leaves names as they are.
fn parse_named_by_compiler<'c>(context: &'c Context, bytes: &[u8], source: &Path) -> Result<Module<'c>> {
    let is_bitcode = is_bitcode(bytes);
    let name = source.to_string_lossy().replace('\0', "?");
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, &name);
    let module = context
        .create_module_from_ir(buffer)
        .map_err(|message| unparsable(source, bytes, is_bitcode, &message.to_string()))?;
    // No kernel needs assembly of the module, and an assembler reads any file that it names (`.incbin`).
    module.set_inline_assembly("");
    check_target(&module, source)?;
    module.verify().map_err(|message| {
        Error::caller(format!("{} is no valid LLVM module", source.display()))
            .details(message.to_string())
            .help("check it with `opt-22 -passes=verify`, and the pass or tool that made it")
    })?;
    refuse_initialisers(&module, source)?;
    if kernels(&module).is_empty() {
        return Err(Error::caller(format!("{} has no kernel", source.display()))
            .help("a kernel is a function with a body that is declared __kernel (spir_kernel in LLVM IR)"));
    }
    Ok(module)
}

/// Whether this is LLVM's bitcode, with or without a wrapper, and no text.
fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(b"\xde\xc0\x17\x0b")
}

/// The longest time that LLVM may take to read a module.
const LONGEST_PARSE: Duration = Duration::from_secs(60);

/// Has LLVM read a module from outside in a child, because there is bitcode and text on which it crashes. Returns what
/// may be parsed here, or how LLVM failed.
///
/// LLVM's reader of bitcode takes nodes of debug information for what their places want (a name for a string, say) and
/// reads beyond them if they are something else, perhaps only when the module is copied or printed. Its parser of text
/// checks them. So bitcode is printed, parsed, and written again by the child: what comes back is written by LLVM from
/// a module that its parser made. What the child refuses is never read here: what lies beyond may be something else
/// another time.
///
/// # Errors
/// As for [`parse`]; `Environment` if there can be no child; [`Error::late`] at the deadline.
pub fn read_apart(
    source: &Path,
    bytes: Vec<u8>,
    deadline: Option<Instant>,
) -> Result<std::result::Result<Vec<u8>, String>> {
    #[cfg(fuzzing)]
    let outcome =
        super::many_reads::run(&bytes, LONGEST_PARSE.min(left(deadline)), |bytes| read(Path::new("kernel"), bytes));
    #[cfg(not(fuzzing))]
    let outcome = {
        let source = source.as_os_str().to_owned();
        forked::run(Limit::of(LONGEST_PARSE).until(deadline), Job::new(read_in_child, &source, &bytes))
    };
    match outcome {
        Ok(Ok(answer)) => Ok(Ok(Answer::of(answer)?.unwrap_or(bytes))),
        Ok(Err(why)) => Ok(Err(why)),
        Err(Failure::Crashed { how, stderr }) => Ok(Err(format!("{how}: {stderr}"))),
        Err(Failure::TimedOut(limit)) => Ok(Err(format!("was not done after {} s", limit.as_secs()))),
        Err(Failure::Late) => Err(Error::late("the translation of the kernel")),
        Err(Failure::System(why)) => Err(Error::environment(format!("no process for LLVM: {why}"))),
    }
}

/// What the child answers: the first byte says what follows.
struct Answer;

impl Answer {
    /// Nothing: the module is text, which may be read as it is.
    const AS_IT_IS: u8 = 0;
    /// Bitcode.
    const ANEW: u8 = 1;
    /// An error, as JSON.
    const REFUSED: u8 = 2;

    /// Returns what is to be read instead of the module, if anything.
    fn of(mut answer: Vec<u8>) -> Result<Option<Vec<u8>>> {
        match answer.first() {
            Some(&Answer::AS_IT_IS) => Ok(None),
            Some(&Answer::ANEW) => Ok(Some(answer.split_off(1))),
            Some(&Answer::REFUSED) => Err(serde_json::from_slice(&answer[1..])
                .unwrap_or_else(|e| Error::internal(format!("what a child says of a module cannot be read: {e}")))),
            _ => Err(Error::internal("a child says nothing of a module that it has read")),
        }
    }

    fn refused(error: &Error) -> std::result::Result<Vec<u8>, String> {
        let mut answer = vec![Answer::REFUSED];
        serde_json::to_writer(&mut answer, error).map_err(|e| e.to_string())?;
        Ok(answer)
    }
}

#[cfg(not(fuzzing))]
fn read_in_child(source: OsString, bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
    forked::limit_memory(bytes.len());
    forked::limit_time();
    read(Path::new(&source), bytes)
}

/// In the child: reads a module, and writes it anew if it is bitcode. Returns an [`Answer`].
fn read(source: &Path, bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let context = Context::create();
    let module = match parse_named_by_compiler(&context, bytes, source) {
        Ok(module) => module,
        Err(error) => return Answer::refused(&error),
    };
    if !is_bitcode(bytes) {
        try_out(&module);
        return Ok(vec![Answer::AS_IT_IS]);
    }
    let context = Context::create();
    let text = MemoryBuffer::create_from_memory_range_copy(module.print_to_string().to_bytes(), "kernel");
    let module = context.create_module_from_ir(text);
    let module = module.map_err(|message| format!("does not read what it has printed of it: {message}"))?;
    let bitcode = module.write_bitcode_to_memory();
    let answer = [&[Answer::ANEW], bitcode.as_slice()].concat();
    try_out(&module);
    Ok(answer)
}

/// In the child: does what else is done with every module, because there is debug information that LLVM parses, and
/// does not survive the copy of.
fn try_out(module: &Module<'_>) {
    cpp_names::apply(module);
    drop(module.clone());
}

#[cfg(fuzzing)]
fn left(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

/// Parses bitcode that kassay itself has written, in this process or in another one.
///
/// # Errors
/// `Internal` if LLVM cannot read it.
pub fn parse_own<'c>(context: impl AsContextRef<'c>, bitcode: &[u8]) -> Result<Module<'c>> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "kernel");
    Module::parse_bitcode_from_buffer(&buffer, context)
        .map_err(|e| Error::internal("LLVM cannot read what it wrote").details(e.to_string()))
}

/// Refuses variables that code initialises when the program is loaded (C++ for OpenCL): no launch would run it.
fn refuse_initialisers(module: &Module<'_>, source: &Path) -> Result<()> {
    let functions = View::of(module).functions().into_iter();
    let Some(initialiser) = functions.filter(|f| f.has_body()).find(|f| f.name().starts_with(INITIALISER)) else {
        return Ok(());
    };
    let what = format!("{} has a program-scope variable whose initial value code computes", source.display());
    let mut report = Report::new(what);
    report.place = initialiser.instructions().into_iter().find_map(|inst| inst.location()).map(|at| {
        // Debug information may name any file.
        let beside = Sandbox::around(source).ok();
        let line = beside.and_then(|beside| files::read_text(at.file.as_ref(), Some(&beside)).ok());
        let text = line.and_then(|text| text.lines().nth(at.line.saturating_sub(1) as usize).map(str::to_owned));
        Place { file: at.file.into(), line: at.line, column: at.column, text }
    });
    report.help = Some(
        "make the initial value a constant (a constexpr constructor or function), or set it in the kernel".to_owned(),
    );
    Err(Error::Caller(Box::new(report)))
}

/// The names of the kernels, in the module's order: functions with a body and calling convention `spir_kernel`. Not
/// those that clang makes of blocks that are enqueued, which no host launches.
pub fn kernels(module: &Module) -> Vec<String> {
    let view = View::of(module);
    let is_of_block = |name: &str| {
        let block = name.strip_suffix("_kernel").filter(|block| block.contains("_block_invoke"));
        block.is_some_and(|block| view.function(block).is_some())
    };
    let kernels = view.functions().into_iter().filter(|function| is_kernel(*function)).map(Function::name);
    kernels.filter(|name| !is_of_block(name)).collect()
}

/// Names in a message: files of a library may hold more than a thousand kernels.
const LISTED: usize = 20;

/// Returns the names of kernels for a message: the first ones, and how many others there are.
pub fn listed(names: &[String]) -> String {
    let (first, others) = names.split_at(names.len().min(LISTED));
    match (first, others) {
        ([], _) => "(none)".to_owned(),
        (_, []) => first.join(", "),
        _ => format!("{} and {} more, which `kassay inspect` lists", first.join(", "), others.len()),
    }
}

/// Whether a function is a kernel with a body.
pub(super) fn is_kernel(function: Function<'_>) -> bool {
    function.call_conv() == SPIR_KERNEL && !function.is_declaration()
}

fn unparsable(source: &Path, bytes: &[u8], is_bitcode: bool, message: &str) -> Error {
    let mut report = Report::new(format!(
        "{} does not parse as LLVM {}",
        source.display(),
        if is_bitcode { "bitcode" } else { "IR" }
    ));
    report.help = Some(if is_bitcode {
        "LLVM 22 reads bitcode of its own and most earlier versions; make it anew from the source, or give the source"
            .to_owned()
    } else {
        "correct the text, or make it anew with `clang-22 -S -emit-llvm`".to_owned()
    });
    // LLVM's format: `<name>:<line>:<column>: error: <what>`, then the source line and a caret.
    let head = message.lines().find_map(|line| line.split_once(": error: "));
    let located = head.and_then(|(place, what)| {
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse::<u32>().ok()?;
        let line = parts.next()?.parse::<u32>().ok()?;
        Some((line, column, what))
    });
    if let Some((line, column, what)) = located {
        let text = bytes.split(|&byte| byte == b'\n').nth(line.saturating_sub(1) as usize);
        let text = text.map(|text| String::from_utf8_lossy(text).trim_end().to_owned());
        report.place = Some(Place { file: source.to_owned(), line, column, text });
        report.what = format!("{}: {what}", report.what);
    } else {
        report.details = Some(message.to_owned());
    }
    Error::Caller(Box::new(report))
}

fn check_target(module: &Module, source: &Path) -> Result<()> {
    let triple = module.get_triple().as_str().to_string_lossy().into_owned();
    let architecture = triple.split('-').next().unwrap_or_default();
    let pointer_bytes = View::of(module).layout().pointer_bytes();
    let refuse = |why: String, help: &str| Err(Error::caller(format!("{} {why}", source.display())).help(help));
    if matches!(architecture, "spir" | "spirv32") || pointer_bytes == 4 {
        return refuse(
            format!("is for 32-bit devices (target {triple})"),
            "compile it for spirv64, with `clang-22 -target spirv64-unknown-unknown`",
        );
    }
    if !(architecture.is_empty() || architecture.starts_with("spir64") || architecture.starts_with("spirv")) {
        return refuse(
            format!("is for {triple}, not for SPIR or SPIR-V"),
            "compile it with `clang-22 -target spirv64-unknown-unknown`, or give the OpenCL C source",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_refuses_is_not_returned_to_be_read_here() {
        let refused = |bytes: &[u8]| read_apart(Path::new("dir/k.bc"), bytes.to_vec(), None).map_err(|e| e.to_string());
        let damaged = refused(b"BC\xc0\xde\x35\x14\0\0\x05\0\0\0").unwrap_err();
        assert!(damaged.starts_with("dir/k.bc does not parse as LLVM bitcode"), "{damaged}");
        let text = refused(b"define void @k() {\n  ret i32\n}\n").unwrap_err();
        assert!(text.starts_with("dir/k.bc:3:1: ") && text.contains("expected value token"), "{text}");
        assert!(refused(b"declare void @k()\n").unwrap_err().contains("has no kernel"));
    }

    #[test]
    fn a_message_names_the_first_kernels_of_many() {
        let names: Vec<String> = (0..LISTED + 2).map(|i| format!("k{i}")).collect();
        assert_eq!(listed(&[]), "(none)");
        assert_eq!(listed(&names[..2]), "k0, k1");
        assert!(listed(&names).ends_with("k18, k19 and 2 more, which `kassay inspect` lists"), "{}", listed(&names));
    }
}
