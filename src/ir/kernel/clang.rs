//! Runs clang's driver and front end inside a child (`forked`): no other program is started, and a crash stays in the
//! child.
//!
//! The library around clang (`clang/*.cpp`) is embedded in kassay and loaded only by the child, so that commands
//! that compile nothing do not pay for libclang-cpp. Not for clang's arguments (`options`), nor for the meaning
//! of its output.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::external_tools::CLANG;
use kassay_base::files::memory_file;
use kassay_base::forked::{self, Failure, Job, Limit, Running};

use super::bytes::Reader;
use super::cuda::headers;

/// The shared library built from `clang/*.cpp`, see `build.rs`.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libkassay_clang.so"));

/// Time limit for clang on one kernel.
const LIMIT: Duration = Duration::from_secs(600);

/// How a run ended; the values are those of `enum Outcome` in `compile.cpp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Compiled,
    /// The diagnostics give the reason.
    Refused,
    /// The arguments ask for something other than one compilation to bitcode.
    NoCompilation,
    /// It compiles, but has no kernel; only of CUDA, where kernels may be templates.
    NoKernel,
}

/// The result of one run.
#[derive(Debug)]
pub(super) struct Run {
    pub outcome: Outcome,
    /// The text that clang wrote to standard error.
    pub diagnostics: String,
    pub bitcode: Vec<u8>,
    /// The syntax tree, encoded for `ast_records`; empty if it was not requested or is too deep.
    pub records: Vec<u8>,
    /// The files that clang looked for, by absolute path, each with whether it existed.
    pub file_lookups: Vec<(PathBuf, bool)>,
    /// The files outside of the folders to which clang was confined that it looked for.
    pub escapes: Vec<PathBuf>,
}

/// Runs clang with `arguments` (without the program's name) until `deadline`. It sees files in `folders` and its own
/// headers only, unless there are no folders.
///
/// # Errors
/// `Environment` if clang's program or library is missing or no child can be created; `Internal` if clang crashes or
/// hangs; [`Error::late`] at the deadline.
pub(super) fn run(
    arguments: &[OsString],
    folders: &[PathBuf],
    with_records: bool,
    deadline: Option<Instant>,
) -> Result<Run> {
    let (all, folders) = (with_program(arguments)?, texts(folders)?);
    let input = (vec![all], folders, with_records);
    let answer = forked::run(Limit::of(LIMIT).until(deadline), Job::new(compile_all, &input, &[]));
    answered(answer)?.pop().ok_or_else(answered_otherwise)
}

/// What a child is to compile: the arguments of each run, the folders to which clang is confined, and whether the
/// syntax tree is wanted.
type Input = (Vec<Vec<CString>>, Vec<CString>, bool);

/// In the child.
fn compile_all((arguments, folders, with_records): Input, _: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let entry = load_library()?;
    Ok(arguments.iter().flat_map(|own| encode(compile(entry, own, &folders, with_records))).collect())
}

/// Runs clang with each of these arguments, without syntax trees, on `jobs` processors. Each child compiles many: to
/// load clang takes longer than to compile a kernel. `None`: clang crashed.
///
/// # Errors
/// As [`run`], but for a crash.
pub(super) fn run_all(
    arguments: &[Vec<OsString>],
    folders: &[PathBuf],
    jobs: usize,
    deadline: Option<Instant>,
) -> Result<Vec<Option<Run>>> {
    let folders = &texts(folders)?;
    let all = arguments.iter().map(|own| with_program(own)).collect::<Result<Vec<_>>>()?;
    let mut runs = Vec::with_capacity(all.len());
    let share = all.len().div_ceil(jobs.max(1)).clamp(1, RUNS_PER_CHILD);
    for shares in all.chunks(share * jobs.max(1)) {
        let children = shares.chunks(share).map(|some| (some, begin_all(some, folders, deadline))).collect::<Vec<_>>();
        for (some, child) in children {
            match child.and_then(Running::end) {
                Err(Failure::Crashed { .. }) if some.len() > 1 => {
                    // One of them crashes; the others are compiled without it.
                    for alone in some {
                        match begin_all(std::slice::from_ref(alone), folders, deadline).and_then(Running::end) {
                            Err(Failure::Crashed { .. }) => runs.push(None),
                            answer => runs.extend(answered(answer)?.into_iter().map(Some)),
                        }
                    }
                }
                Err(Failure::Crashed { .. }) => runs.push(None),
                answer => runs.extend(answered(answer)?.into_iter().map(Some)),
            }
        }
    }
    if runs.len() == all.len() { Ok(runs) } else { Err(answered_otherwise()) }
}

/// Most runs in one child: what clang allocates, it frees only by ending.
const RUNS_PER_CHILD: usize = 100;

fn begin_all(
    arguments: &[Vec<CString>],
    folders: &[CString],
    deadline: Option<Instant>,
) -> std::result::Result<Running, Failure> {
    let input = (arguments.to_vec(), folders.to_vec(), false);
    forked::begin(Limit::of(LIMIT).until(deadline), Job::new(compile_all, &input, &[]))
}

/// Returns the arguments after the name of clang's program.
fn with_program(arguments: &[OsString]) -> Result<Vec<CString>> {
    let program = CLANG.find()?;
    std::iter::once(program.as_os_str())
        .chain(arguments.iter().map(OsString::as_os_str))
        .map(|argument| CString::new(argument.as_bytes()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Error::caller("an argument for clang has a NUL in it").help("leave it out"))
}

fn texts(folders: &[PathBuf]) -> Result<Vec<CString>> {
    let text = |folder: &PathBuf| CString::new(folder.as_os_str().as_bytes());
    folders
        .iter()
        .map(text)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Error::internal("a path has a NUL in it"))
}

fn answered(answer: std::result::Result<std::result::Result<Vec<u8>, String>, Failure>) -> Result<Vec<Run>> {
    match answer {
        Ok(Ok(answer)) => decode(&answer).ok_or_else(answered_otherwise),
        Ok(Err(why)) => Err(Error::environment(format!("clang's library cannot be loaded: {why}"))
            .help("install the Debian package libclang-cpp22 (apt-get install libclang-cpp22)")),
        Err(Failure::Crashed { how, stderr }) => Err(CLANG.crash(&format!("clang {how}\n{stderr}"))),
        Err(Failure::TimedOut(limit)) => {
            Err(Error::internal(format!("clang was not done after {} s", limit.as_secs())).help("try a smaller kernel"))
        }
        Err(Failure::Late) => Err(Error::late("clang's run")),
        Err(Failure::System(why)) => Err(Error::environment(format!("no process for clang: {why}"))),
    }
}

fn answered_otherwise() -> Error {
    Error::internal("clang's child answered something else")
}

type Sink = unsafe extern "C" fn(*mut c_void, c_uint, *const c_char, usize);

/// A number of strings; `KassayStrings` in `clang.h`.
#[repr(C)]
struct Strings {
    count: c_uint,
    texts: *const *const c_char,
}

type Entry = unsafe extern "C" fn(Strings, Strings, Strings, c_int, Sink, *mut c_void) -> c_int;

/// Bitcode, records and file lookups, by the numbers of `KassaySink` in `clang.h`.
#[derive(Default)]
struct Pieces([Vec<u8>; 3]);

/// The callback (`KassaySink`) through which the library hands out its results.
unsafe extern "C" fn receive_piece(to: *mut c_void, piece: c_uint, bytes: *const c_char, count: usize) {
    // SAFETY: `to` is the `Pieces` that `in_child` gave, which is used only here meanwhile.
    let pieces = unsafe { &mut *to.cast::<Pieces>() };
    if count > 0
        && let Some(piece) = pieces.0.get_mut(piece as usize)
    {
        // SAFETY: as many bytes as the library says.
        piece.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) });
    }
}

/// The outcome of a run in the child, and its pieces: what it wrote to standard error, and those of [`Pieces`].
type RawRun = (u8, Vec<u8>, Pieces);

/// Runs clang in the child.
fn compile(entry: Entry, arguments: &[CString], folders: &[CString], with_records: bool) -> RawRun {
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
    let is_cuda = arguments.iter().any(|argument| argument.as_c_str() == c"cuda");
    let files = if is_cuda { headers::files() } else { Vec::new() };
    let (arguments, folders, headers) = (pointers(arguments), pointers(folders), pointers(&files));
    let strings = |texts: &[*const c_char]| Strings { count: texts.len() as c_uint, texts: texts.as_ptr() };
    let mut pieces = Pieces::default();
    let from = stderr_length();
    // SAFETY: `kassay_clang` of `compile.cpp` has this type; all it is given lives until it returns.
    let outcome = unsafe {
        entry(
            strings(&arguments),
            strings(&folders),
            strings(&headers),
            c_int::from(with_records),
            receive_piece,
            (&raw mut pieces).cast::<c_void>(),
        )
    };
    (u8::try_from(outcome).unwrap_or(u8::MAX), captured_stderr(from), pieces)
}

/// Encodes a run for `decode`.
fn encode((outcome, diagnostics, pieces): RawRun) -> Vec<u8> {
    let mut answer = vec![outcome];
    for piece in std::iter::once(&diagnostics).chain(&pieces.0) {
        answer.extend_from_slice(&(piece.len() as u64).to_le_bytes());
        answer.extend_from_slice(piece);
    }
    answer
}

/// The child's standard error, which is a file (see `forked`).
fn stderr() -> std::mem::ManuallyDrop<File> {
    // SAFETY: the descriptor is open in the child, and is left open.
    std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(libc::STDERR_FILENO) })
}

fn stderr_length() -> u64 {
    stderr().metadata().map_or(0, |metadata| metadata.len())
}

/// The text on the child's standard error from an offset on.
fn captured_stderr(from: u64) -> Vec<u8> {
    let mut text = vec![0; stderr_length().saturating_sub(from) as usize];
    let read = stderr().read_exact_at(&mut text, from);
    if read.is_ok() { text } else { Vec::new() }
}

/// Loads the library from memory and returns its entry point.
fn load_library() -> std::result::Result<Entry, String> {
    let mut file = memory_file(c"kassay_clang").map_err(|error| error.to_string())?;
    file.write_all(LIBRARY).map_err(|error| error.to_string())?;
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    // SAFETY: the path is a string; the library's initialisers are LLVM's and clang's own.
    let entry = unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        let entry =
            if library.is_null() { std::ptr::null_mut() } else { libc::dlsym(library, c"kassay_clang".as_ptr()) };
        if entry.is_null() {
            let why = libc::dlerror();
            return Err(if why.is_null() {
                "no reason given".to_owned()
            } else {
                CStr::from_ptr(why).to_string_lossy().into_owned()
            });
        }
        entry
    };
    // SAFETY: the library defines it with this type.
    Ok(unsafe { std::mem::transmute::<*mut c_void, Entry>(entry) })
}

fn decode(answer: &[u8]) -> Option<Vec<Run>> {
    let (mut runs, mut rest) = (Vec::new(), answer);
    while let Some((&outcome, after)) = rest.split_first() {
        rest = after;
        let mut piece = || {
            let (len, after) = rest.split_first_chunk::<8>()?;
            let (piece, after) = after.split_at_checked(u64::from_le_bytes(*len) as usize)?;
            rest = after;
            Some(piece.to_vec())
        };
        let diagnostics = String::from_utf8_lossy(&piece()?).into_owned();
        let (bitcode, records, file_lookups) = (piece()?, piece()?, piece()?);
        let outcome = match outcome {
            0 => Outcome::Compiled,
            1 => Outcome::Refused,
            3 => Outcome::NoKernel,
            _ => Outcome::NoCompilation,
        };
        let (file_lookups, escapes) = files(&file_lookups)?;
        runs.push(Run { outcome, diagnostics, bitcode, records, file_lookups, escapes });
    }
    Some(runs)
}

/// The files that clang looked for, each with whether it existed; and those that it was kept from.
type Lookups = (Vec<(PathBuf, bool)>, Vec<PathBuf>);

fn files(bytes: &[u8]) -> Option<Lookups> {
    let mut reader = Reader::new(bytes);
    let (mut files, mut escapes) = (Vec::new(), Vec::new());
    while !reader.is_done() {
        let sign = reader.byte()?;
        let path = PathBuf::from(OsString::from_vec(reader.block()?.to_vec()));
        match sign {
            b'!' => escapes.push(path),
            _ => files.push((path, sign == b'+')),
        }
    }
    Some((files, escapes))
}
