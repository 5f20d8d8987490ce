//! Does a piece of work in a child process, so that a crash or a hang of LLVM's backend does not affect this one.
//!
//! Children come from a server without threads (`server`), never from this process, which may have some. What a child
//! is to do is a function, and what it does it with travels as bytes: modules as bitcode. It finds the same
//! environment, working directory and cache as its parent.

mod child;
mod order;
mod program;
mod server;
mod started;

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::child::handed;
use self::order::{ANSWER, Call, Kind, REFUSAL};
pub use self::program::{RunningProgram, start as start_program};
pub use self::server::WITHOUT_SERVER;
use self::started::{Started, is_ready};
use crate::error::{Error, Result as Outcome};
use crate::files::private::temporary_file;
use crate::json::{self, Layout};

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    server::before_main(child::run);
}

/// The time limits of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    longest: Duration,
    deadline: Option<Instant>,
}

impl Limit {
    /// A fixed time limit; work that takes longer counts as hung.
    pub fn of(longest: Duration) -> Limit {
        Limit { longest, deadline: None }
    }

    /// Adds the caller's deadline, which may be earlier.
    #[must_use]
    pub fn until(self, deadline: Option<Instant>) -> Limit {
        Limit { deadline, ..self }
    }

    /// When the time is over if the work begins now, and the failure to report then.
    fn end(self) -> (Instant, Failure) {
        let end = Instant::now() + self.longest;
        match self.deadline.filter(|deadline| *deadline < end) {
            Some(deadline) => (deadline, Failure::Late),
            None => (end, Failure::TimedOut(self.longest)),
        }
    }
}

/// Why the work gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The child died of a signal or exited with an error code; `stderr` holds the last lines it wrote.
    Crashed {
        /// How it ended, as the predicate of a sentence.
        how: String,
        /// The last lines that it wrote to its standard error.
        stderr: String,
    },
    /// The child was not done after this time and was killed.
    TimedOut(Duration),
    /// The caller's deadline passed.
    Late,
    /// No child could be created.
    System(String),
}

/// A piece of work: a function that a child calls, and what it is given.
#[derive(Debug)]
pub struct Job<'a, I, R> {
    work: fn(I, &[u8]) -> R,
    input: &'a I,
    bytes: &'a [u8],
    kind: Kind,
    handed: Option<OwnedFd>,
}

impl<'a, I: Serialize + DeserializeOwned, R: Reply> Job<'a, I, R> {
    /// Has a child call `work` with this input, which travels as JSON, and these bytes.
    pub fn new(work: fn(I, &[u8]) -> R, input: &'a I, bytes: &'a [u8]) -> Job<'a, I, R> {
        Job { work, input, bytes, kind: Kind::Leaf, handed: None }
    }

    /// The work needs children, too.
    #[must_use]
    pub fn with_children(self) -> Job<'a, I, R> {
        Job { kind: Kind::Parent, ..self }
    }

    /// The child finds this descriptor as [`handed`].
    #[must_use]
    pub fn handing(self, descriptor: OwnedFd) -> Job<'a, I, R> {
        Job { handed: Some(descriptor), ..self }
    }

    fn start(self, limit: Limit) -> Result<Running, Failure> {
        let input = json::bytes(self.input)
            .map_err(|error| Failure::System(format!("its input cannot be encoded: {error}")))?;
        let stderr = temporary_file().map_err(|error| Failure::System(error.to_string()))?;
        let theirs = stderr.try_clone().map_err(|error| Failure::System(error.to_string()))?;
        let call: Call = call::<I, R>;
        let work = (call, self.work as usize);
        let child =
            Started::order(self.kind, work, &input, self.bytes, theirs, self.handed).map_err(Failure::System)?;
        Ok(Running { child, stderr, end: limit.end() })
    }
}

/// In a child: what was sent as JSON.
fn decoded<I: DeserializeOwned>(input: &[u8]) -> Result<I, String> {
    json::read(input).map_err(|error| format!("the input of a child cannot be read: {error}"))
}

/// In a child: does the work of a job.
fn call<I: DeserializeOwned, R: Reply>(work: usize, input: &[u8], bytes: &[u8]) -> Result<Vec<u8>, String> {
    // SAFETY: `Job::start` gave it away as a function of this type.
    let work = unsafe { std::mem::transmute::<usize, fn(I, &[u8]) -> R>(work) };
    work(decoded(input)?, bytes).encoded()
}

/// What some work returns.
pub trait Reply {
    /// The bytes, or the error as text.
    ///
    /// # Errors
    /// The error as text.
    fn encoded(self) -> Result<Vec<u8>, String>;
}

impl Reply for Result<Vec<u8>, String> {
    fn encoded(self) -> Result<Vec<u8>, String> {
        self
    }
}

/// The text of the error is JSON, which [`error_in`] reads.
impl Reply for Outcome<Vec<u8>> {
    fn encoded(self) -> Result<Vec<u8>, String> {
        self.map_err(|error| json::text(&error, Layout::Compact).unwrap_or_else(|_| error.to_string()))
    }
}

/// Returns the error of work that returns errors of their own kinds.
pub fn error_in(text: String) -> Error {
    json::read(text.as_bytes()).unwrap_or_else(|_| Error::internal(text))
}

/// Has a child do a job and returns its bytes or its error. `what` names the product in messages.
///
/// # Errors
/// Errors of the work, with their kind; `Internal` if the child crashes or hangs; `Environment` if none can be created;
/// [`Error::late`] at the deadline.
pub fn attempt<I: Serialize + DeserializeOwned>(
    limit: Limit,
    what: &'static str,
    job: Job<'_, I, Outcome<Vec<u8>>>,
) -> Outcome<Vec<u8>> {
    begin_attempt(limit, what, job)?.end()
}

/// Has a child begin a job and returns at once; otherwise like [`attempt`].
///
/// # Errors
/// `Environment` if no child can be created.
pub fn begin_attempt<I: Serialize + DeserializeOwned>(
    limit: Limit,
    what: &'static str,
    job: Job<'_, I, Outcome<Vec<u8>>>,
) -> Outcome<Attempt> {
    match job.start(limit) {
        Ok(child) => Ok(Attempt { child, what }),
        Err(failure) => Err(error_of(failure, what)),
    }
}

/// The pending result of a child.
#[derive(Debug)]
pub struct Attempt {
    child: Running,
    what: &'static str,
}

impl Attempt {
    /// Waits for the result.
    ///
    /// # Errors
    /// As [`attempt`].
    pub fn end(self) -> Outcome<Vec<u8>> {
        match self.child.end() {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(message)) => Err(error_in(message)),
            Err(failure) => Err(error_of(failure, self.what)),
        }
    }
}

fn error_of(failure: Failure, what: &str) -> Error {
    match failure {
        Failure::Crashed { how, stderr } => {
            let error = Error::internal(format!("LLVM could not make {what}: it {how}"));
            if stderr.is_empty() { error } else { error.details(stderr) }
        }
        Failure::TimedOut(limit) => {
            Error::internal(format!("LLVM could not make {what}: not done after {} s", limit.as_secs()))
        }
        Failure::Late => Error::late(what),
        Failure::System(why) => Error::environment(format!("no process for LLVM: {why}")),
    }
}

/// Has a child do a job and returns its bytes or its error message.
///
/// # Errors
/// The outer error if the child gave neither.
pub fn run<I: Serialize + DeserializeOwned>(
    limit: Limit,
    job: Job<'_, I, Result<Vec<u8>, String>>,
) -> Result<Result<Vec<u8>, String>, Failure> {
    begin(limit, job)?.end()
}

/// Has a child begin a job and returns at once; otherwise like [`run`].
///
/// # Errors
/// [`Failure::System`] if no child can be created.
pub fn begin<I: Serialize + DeserializeOwned, R: Reply>(limit: Limit, job: Job<'_, I, R>) -> Result<Running, Failure> {
    job.start(limit)
}

/// Work that a child is doing. The child is killed if this value is dropped before it has ended.
#[derive(Debug)]
pub struct Running {
    child: Started,
    stderr: File,
    /// When the time is over, and the failure to report then.
    end: (Instant, Failure),
}

impl Running {
    /// Waits for the child's bytes or its error message.
    ///
    /// # Errors
    /// The outer error if the child gave neither.
    pub fn end(mut self) -> Result<Result<Vec<u8>, String>, Failure> {
        // On failure `self` is dropped, which kills the child.
        let bytes = self.answer()?;
        let status = self.child.status(self.end.0).map_err(Failure::System)?;
        match (bytes.split_first(), status.ok_or_else(|| self.end.1.clone())?) {
            (Some((&ANSWER, rest)), 0) => Ok(Ok(rest.to_vec())),
            (Some((&REFUSAL, rest)), 0) => Ok(Err(String::from_utf8_lossy(rest).into_owned())),
            (_, status) => Err(Failure::Crashed { how: describe(status), stderr: first_lines(self.stderr) }),
        }
    }

    /// Reads the answer.
    fn answer(&self) -> Result<Vec<u8>, Failure> {
        let system = |error: std::io::Error| Failure::System(error.to_string());
        let mut file = File::from(self.child.answer().try_clone().map_err(system)?);
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            if !is_ready(&file, self.end.0) {
                return Err(self.end.1.clone());
            }
            match file.read(&mut chunk) {
                Ok(0) => return Ok(bytes),
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(system(e)),
            }
        }
    }
}

/// Waits, at most for so long, until a child answers or ends. Returns the positions of those that do, ascending; a
/// signal to this process ends the wait early.
pub fn answering(children: &[&Running], patience: Duration) -> Vec<usize> {
    let mut polled: Vec<PollFd<'_>> =
        children.iter().map(|child| PollFd::new(child.child.answer(), PollFlags::IN)).collect();
    let patience = Timespec::try_from(patience).ok();
    if rustix::event::poll(&mut polled, patience.as_ref()).is_err() {
        return Vec::new();
    }
    let answers = |(at, one): (usize, &PollFd<'_>)| (!one.revents().is_empty()).then_some(at);
    polled.iter().enumerate().filter_map(answers).collect()
}

/// In a child: lets the signals that end a program end this one, whatever its parent does with them.
pub fn die_of_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: restores the default action of a signal that has one.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The most memory that a child may take besides what it has, in bytes, where what it does follows from a file that may
/// be damaged.
pub(super) const MOST_MEMORY: u64 = 4 << 30;

/// So many bytes more for each byte of the file, where the child reads it as the caller will.
const MEMORY_OF_BYTE: u64 = 64;

/// The longest time on processors of such a child, in seconds. Most files take hundredths of a second.
pub(super) const LONGEST_ON_PROCESSORS: u64 = 20;

/// In a child: keeps it from taking the memory of the whole system for a file of so many bytes.
pub fn limit_memory(file: usize) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    let page = rustix::param::page_size() as u64;
    server::set_limit(Resource::As, pages * page + MOST_MEMORY + MEMORY_OF_BYTE * file as u64);
}

/// In a child: ends it once it has computed for longer than any sensible file takes.
pub fn limit_time() {
    server::set_limit(Resource::Cpu, LONGEST_ON_PROCESSORS);
}

fn describe(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("died of signal {}", libc::WTERMSIG(status))
    } else {
        format!("exited with code {}", libc::WEXITSTATUS(status))
    }
}

/// Returns the first lines that the child wrote, without LLVM's stack dump.
fn first_lines(mut file: File) -> String {
    use std::io::Seek;
    let mut text = Vec::new();
    if file.rewind().is_err() || file.read_to_end(&mut text).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    let relevant: Vec<&str> =
        text.lines().filter(|l| !l.trim_start().starts_with(['#', '0']) && !l.contains("PLEASE submit")).collect();
    relevant.iter().take(12).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn fails(error: Error, _: &[u8]) -> Outcome<Vec<u8>> {
        Err(error)
    }

    fn answers(_: (), bytes: &[u8]) -> Outcome<Vec<u8>> {
        Ok(bytes.to_vec())
    }

    #[test]
    fn errors_of_the_child_keep_their_kind() {
        let error = Error::caller("too much").help("less").details("of it");
        assert_eq!(attempt(Limit::of(LONG), "anything", Job::new(fails, &error, &[])), Err(error));
        assert_eq!(attempt(Limit::of(LONG), "anything", Job::new(answers, &(), &[7])), Ok(vec![7]));
    }

    fn sleeps(_: (), _: &[u8]) -> Outcome<Vec<u8>> {
        std::thread::sleep(LONG);
        Ok(Vec::new())
    }

    #[test]
    fn work_ends_at_the_deadline_with_a_late_error() {
        let started = Instant::now();
        let deadline = Some(started + Duration::from_millis(100));
        let sleep = || Job::new(sleeps, &(), &[]);
        let failed = attempt(Limit::of(LONG).until(deadline), "anything", sleep()).unwrap_err();
        assert!(failed.is_late() && started.elapsed() < LONG / 2, "{failed}");
        let hung = attempt(Limit::of(Duration::from_millis(100)).until(Some(started + 2 * LONG)), "anything", sleep());
        assert!(matches!(&hung, Err(Error::Internal(_))), "{hung:?}");
    }

    fn panics(_: (), _: &[u8]) -> Outcome<Vec<u8>> {
        panic!("out of reach")
    }

    #[test]
    fn a_panic_stays_in_the_child() {
        let died = attempt(Limit::of(LONG), "anything", Job::new(panics, &(), &[])).unwrap_err();
        assert!(
            matches!(&died, Error::Internal(report) if report.details.as_deref().is_some_and(|d| d.contains("out of reach"))),
            "{died}"
        );
    }

    fn finds(_: (), _: &[u8]) -> Outcome<Vec<u8>> {
        let folder = std::env::current_dir().unwrap_or_default();
        Ok(format!("{} {:?}", folder.display(), std::env::var_os("KASSAY_FORKED_TEST")).into_bytes())
    }

    fn has_children(_: (), bytes: &[u8]) -> Outcome<Vec<u8>> {
        let of = |job: Job<'_, (), Outcome<Vec<u8>>>| attempt(Limit::of(LONG), "anything", job);
        let grandchild = of(Job::new(answers, &(), bytes))?;
        Ok([grandchild, of(Job::new(finds, &(), &[]))?].concat())
    }

    fn has_children_and_a_thread(_: (), bytes: &[u8]) -> Outcome<Vec<u8>> {
        std::thread::spawn(|| std::thread::sleep(LONG));
        has_children((), bytes)
    }

    /// Tests have processes of their own.
    #[test]
    fn a_child_finds_what_its_parent_finds_and_may_have_children() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::env::set_current_dir(&path).unwrap();
        // SAFETY: the only other thread is that of the test harness, which waits.
        unsafe { std::env::set_var("KASSAY_FORKED_TEST", "a=b") };
        let expected = format!("{} Some(\"a=b\")", path.display());
        let found = attempt(Limit::of(LONG), "anything", Job::new(finds, &(), &[])).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), expected);
        let found = attempt(Limit::of(LONG), "anything", Job::new(has_children, &(), b"c").with_children()).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), format!("c{expected}"));
        let alone = attempt(Limit::of(LONG), "anything", Job::new(has_children_and_a_thread, &(), &[])).unwrap_err();
        assert!(alone.exit_code() == 3 && alone.to_string().contains("had threads"), "{alone}");
    }
}
