//! Runs a piece of work in a forked child, so that a crash or a hang of LLVM's backend does not affect this process.
//!
//! The child inherits LLVM's state (context, targets), so that the work is as fast as in process.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::fork_lock;
use crate::error::{Error, Result as Outcome};
use crate::files::private::temporary_file;

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
        how: String,
        stderr: String,
    },
    TimedOut(Duration),
    /// The caller's deadline passed.
    Late,
    /// No child could be created.
    System(String),
}

const ANSWER: u8 = b'+';
const REFUSAL: u8 = b'-';

/// Exit code of a child that panicked; the message is on its standard error.
const PANICKED: i32 = 101;

/// Runs `work` in a child and returns its bytes or its error. `what` names the product in messages.
///
/// # Errors
/// Those of `work`, with their kind; `Internal` if the child crashes or hangs; `Environment` if none can be created;
/// [`Error::late`] at the deadline.
pub fn attempt(limit: Limit, what: &'static str, work: impl FnOnce() -> Outcome<Vec<u8>>) -> Outcome<Vec<u8>> {
    begin_attempt(limit, what, work)?.end()
}

/// Starts `work` in a child and returns at once; otherwise like [`attempt`].
///
/// # Errors
/// `Environment` if no child can be created.
pub fn begin_attempt(limit: Limit, what: &'static str, work: impl FnOnce() -> Outcome<Vec<u8>>) -> Outcome<Attempt> {
    let serialised = |error: Error| serde_json::to_string(&error).unwrap_or_else(|_| error.to_string());
    match spawn(limit, || work().map_err(serialised)) {
        Ok(child) => Ok(Attempt { child, what }),
        Err(failure) => Err(error_of(failure, what)),
    }
}

/// The pending result of a child.
#[derive(Debug)]
pub struct Attempt {
    child: RunningChild,
    what: &'static str,
}

impl Attempt {
    /// Waits for the result.
    ///
    /// # Errors
    /// Those of [`attempt`].
    pub fn end(self) -> Outcome<Vec<u8>> {
        match self.child.join() {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(message)) => Err(serde_json::from_str(&message).unwrap_or_else(|_| Error::internal(message))),
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

/// Runs `work` in a child and returns its bytes or its error message.
///
/// # Errors
/// The outer error if the child gave neither.
pub fn run(limit: Limit, work: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<Result<Vec<u8>, String>, Failure> {
    begin(limit, work)?.end()
}

/// Starts `work` in a child and returns at once; otherwise like [`run`].
///
/// # Errors
/// [`Failure::System`] if no child can be created.
pub fn begin(limit: Limit, work: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<Running, Failure> {
    spawn(limit, work).map(Running)
}

/// Work that a child is doing.
#[derive(Debug)]
pub struct Running(RunningChild);

impl Running {
    /// Waits for the child's bytes or its error message.
    ///
    /// # Errors
    /// The outer error if the child gave neither.
    pub fn end(self) -> Result<Result<Vec<u8>, String>, Failure> {
        self.0.join()
    }
}

/// Waits, at most for so long, until a child answers or ends. Returns the positions of those that do, ascending; a signal to this
/// process ends the wait early.
pub fn answering(children: &[&Running], patience: Duration) -> Vec<usize> {
    // `join`, which takes the pipe, takes the whole value: it is there. Negative descriptors would be passed over.
    let of = |child: &&Running| child.0.answer.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let mut polled: Vec<libc::pollfd> =
        children.iter().map(|child| libc::pollfd { fd: of(child), events: libc::POLLIN, revents: 0 }).collect();
    let (count, patience) = (polled.len() as libc::nfds_t, patience.as_millis().min(i32::MAX as u128) as i32);
    // SAFETY: as many descriptors as are counted, all open.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), count, patience) };
    let answers = |(at, one): (usize, &libc::pollfd)| (one.revents != 0).then_some(at);
    if ready > 0 { polled.iter().enumerate().filter_map(answers).collect() } else { Vec::new() }
}

/// In a child: lets the signals that end a program end this one, whatever its parent does with them.
pub fn die_of_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: restores the default action of a signal that has one.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The most memory that a child may take besides what it has, in bytes, where what it does follows from a file that may be damaged.
pub(super) const MOST_MEMORY: libc::rlim_t = 4 << 30;

/// So many bytes more for each byte of the file, where the child reads it as the caller will.
const MEMORY_OF_BYTE: libc::rlim_t = 64;

/// The longest time on processors of such a child, in seconds. Most files take hundredths of a second.
pub(super) const LONGEST_ON_PROCESSORS: libc::rlim_t = 20;

/// In a child: keeps it from taking the memory of the whole system for a file of so many bytes.
pub fn limit_memory(file: usize) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    // SAFETY: takes and returns numbers.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(0);
    set_limit(libc::RLIMIT_AS, pages * page + MOST_MEMORY + MEMORY_OF_BYTE * file as u64);
}

/// In a child: ends it once it has computed for longer than any sensible file takes.
pub fn limit_time() {
    set_limit(libc::RLIMIT_CPU, LONGEST_ON_PROCESSORS);
}

fn set_limit(resource: libc::__rlimit_resource_t, most: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: `limit` is valid during the call.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

/// A running child. It is killed if this value is dropped before the child has answered.
#[derive(Debug)]
struct RunningChild {
    child: libc::pid_t,
    answer: Option<OwnedFd>,
    stderr: Option<std::fs::File>,
    /// When the time is over, and the failure to report then.
    end: (Instant, Failure),
    is_running: bool,
}

/// Forks a child that does `work`.
fn spawn(limit: Limit, work: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<RunningChild, Failure> {
    let (answer_read, answer_write) = pipe()?;
    let stderr = temporary_file().map_err(|e| Failure::System(e.to_string()))?;
    let child = {
        let _alone = fork_lock::forking();
        // SAFETY: the child runs LLVM code on data it owns after the fork and leaves with `_exit`; it touches no lock
        // that another thread holds (those who use kassay as a library call it from one thread at a time, and kassay
        // itself generates no code while several threads use LLVM), and glibc makes the allocator usable after a fork.
        unsafe { libc::fork() }
    };
    if child < 0 {
        return Err(Failure::System(std::io::Error::last_os_error().to_string()));
    }
    if child == 0 {
        // The child must not outlive the process it answers: with the pipe's reading end open in the child itself, it
        // would block on the write for ever.
        drop(answer_read);
        // SAFETY: takes a number; the thread that forked ends after the child, so it ends before only if killed.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: in the child; the descriptors are open. LLVM's crash reports go to the file, no core is dumped.
        unsafe {
            libc::dup2(stderr.as_raw_fd(), libc::STDERR_FILENO);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
        }
        // A panic must not unwind into the parent's frames.
        let (tag, bytes) = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(bytes)) => (ANSWER, bytes),
            Ok(Err(message)) => (REFUSAL, message.into_bytes()),
            // SAFETY: as below.
            Err(_) => unsafe { libc::_exit(PANICKED) },
        };
        let mut pipe = std::fs::File::from(answer_write);
        let sent = pipe.write_all(&[tag]).and_then(|()| pipe.write_all(&bytes));
        // SAFETY: leaves the child without running the parent's destructors.
        unsafe { libc::_exit(i32::from(sent.is_err())) };
    }
    drop(answer_write);
    Ok(RunningChild { child, answer: Some(answer_read), stderr: Some(stderr), end: limit.end(), is_running: true })
}

impl RunningChild {
    /// Waits for the child's answer.
    fn join(mut self) -> Result<Result<Vec<u8>, String>, Failure> {
        let joined_twice = || Failure::System("the child was waited for twice".to_owned());
        let (answer, stderr) =
            (self.answer.take().ok_or_else(joined_twice)?, self.stderr.take().ok_or_else(joined_twice)?);
        // On failure `self` is dropped, which kills the child.
        let bytes = read_all(answer, &self.end)?;
        let status = self.wait();
        match bytes.split_first() {
            Some((&ANSWER, rest)) if status == 0 => Ok(Ok(rest.to_vec())),
            Some((&REFUSAL, rest)) if status == 0 => Ok(Err(String::from_utf8_lossy(rest).into_owned())),
            _ => Err(Failure::Crashed { how: describe(status), stderr: first_lines(stderr) }),
        }
    }

    fn wait(&mut self) -> i32 {
        let mut status = 0;
        // SAFETY: our own child, not waited for yet; it ends by itself or was killed.
        unsafe { libc::waitpid(self.child, &mut status, 0) };
        self.is_running = false;
        status
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        if self.is_running {
            // SAFETY: our own child, not waited for yet.
            unsafe { libc::kill(self.child, libc::SIGKILL) };
            self.wait();
        }
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors, which are owned from here on.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(Failure::System(std::io::Error::last_os_error().to_string()));
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

fn read_all(from: OwnedFd, (end, timeout_failure): &(Instant, Failure)) -> Result<Vec<u8>, Failure> {
    let mut file = std::fs::File::from(from);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let remaining = end.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        let ready = unsafe { libc::poll(&mut poll, 1, remaining.as_millis().min(i32::MAX as u128) as i32) };
        if ready == 0 {
            return Err(timeout_failure.clone());
        }
        match file.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::System(e.to_string())),
        }
    }
}

fn describe(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("died of signal {}", libc::WTERMSIG(status))
    } else {
        format!("exited with code {}", libc::WEXITSTATUS(status))
    }
}

/// Returns the first lines that the child wrote, without LLVM's stack dump.
fn first_lines(mut file: std::fs::File) -> String {
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

    #[test]
    fn errors_of_the_child_keep_their_kind() {
        let error = Error::caller("too much").help("less").details("of it");
        let failed = attempt(Limit::of(LONG), "anything", || Err(error.clone()));
        assert_eq!(failed, Err(error));
        assert_eq!(attempt(Limit::of(LONG), "anything", || Ok(vec![7])), Ok(vec![7]));
    }

    #[test]
    fn work_ends_at_the_deadline_with_a_late_error() {
        let begun = Instant::now();
        let sleep = || {
            std::thread::sleep(LONG);
            Ok(Vec::new())
        };
        let deadline = Some(begun + Duration::from_millis(100));
        let failed = attempt(Limit::of(LONG).until(deadline), "anything", sleep).unwrap_err();
        assert!(failed.is_late() && begun.elapsed() < LONG / 2, "{failed}");
        let hung = attempt(Limit::of(Duration::from_millis(100)).until(Some(begun + 2 * LONG)), "anything", sleep);
        assert!(matches!(&hung, Err(Error::Internal(_))), "{hung:?}");
    }

    #[test]
    fn a_panic_stays_in_the_child() {
        let died = attempt(Limit::of(LONG), "anything", || panic!("out of reach")).unwrap_err();
        assert!(
            matches!(&died, Error::Internal(report) if report.details.as_deref().is_some_and(|d| d.contains("out of reach"))),
            "{died}"
        );
    }
}
