//! Running a piece of work in a forked child, so that a crash or a hang of LLVM's backend takes nothing down.
//!
//! Forking keeps LLVM's state (context, targets) at hand, so the work itself is as fast as in process.

use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// How the work ended if it gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The child died of a signal, or exited with a code; with what it wrote to standard error.
    Crashed {
        how: String,
        stderr: String,
    },
    TimedOut(Duration),
    /// No child could be made.
    System(String),
}

const ANSWER: u8 = b'+';
const REFUSAL: u8 = b'-';

/// Runs `work` in a child and returns its bytes, or its message.
///
/// # Errors
/// The outer error if the child gave neither.
pub fn run(
    limit: Duration,
    work: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Result<Vec<u8>, String>, Failure> {
    let (answer_read, answer_write) = pipe()?;
    let stderr = tempfile::tempfile().map_err(|e| Failure::System(e.to_string()))?;
    // SAFETY: the child runs LLVM code on data it owns after the fork and leaves with `_exit`; it touches no lock that
    // another thread of kassay holds (no other thread uses LLVM), and glibc makes the allocator usable after a fork.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(Failure::System(std::io::Error::last_os_error().to_string()));
    }
    if child == 0 {
        // The child must not outlive whom it answers: with the reading end in its own hands it would wait for ever.
        drop(answer_read);
        // SAFETY: takes a number; the thread that forked waits for the child, so it ends before only if killed.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: in the child; the descriptors are open. LLVM's crash reports go to the file, no core is dumped.
        unsafe {
            libc::dup2(stderr.as_raw_fd(), libc::STDERR_FILENO);
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
        }
        let (tag, bytes) = match work() {
            Ok(bytes) => (ANSWER, bytes),
            Err(message) => (REFUSAL, message.into_bytes()),
        };
        let mut pipe = std::fs::File::from(answer_write);
        let sent = pipe.write_all(&[tag]).and_then(|()| pipe.write_all(&bytes));
        // SAFETY: leaves the child without running the parent's destructors.
        unsafe { libc::_exit(i32::from(sent.is_err())) };
    }
    drop(answer_write);
    let outcome = read_all(answer_read, limit);
    if outcome.is_err() {
        // SAFETY: our own child, not waited for yet.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    let mut status = 0;
    // SAFETY: our own child; it ends by itself or was killed.
    unsafe { libc::waitpid(child, &mut status, 0) };
    let bytes = outcome?;
    match bytes.split_first() {
        Some((&ANSWER, rest)) if status == 0 => Ok(Ok(rest.to_vec())),
        Some((&REFUSAL, rest)) if status == 0 => Ok(Err(String::from_utf8_lossy(rest).into_owned())),
        _ => Err(Failure::Crashed { how: describe(status), stderr: tail(stderr) }),
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

fn read_all(from: OwnedFd, limit: Duration) -> Result<Vec<u8>, Failure> {
    let end = Instant::now() + limit;
    let mut file = std::fs::File::from(from);
    let mut bytes = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        let ready = unsafe { libc::poll(&mut poll, 1, left.as_millis().min(i32::MAX as u128) as i32) };
        if ready == 0 {
            return Err(Failure::TimedOut(limit));
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

/// The last lines that the child wrote, without LLVM's stack dump.
fn tail(mut file: std::fs::File) -> String {
    use std::io::Seek;
    let mut text = Vec::new();
    if file.rewind().is_err() || file.read_to_end(&mut text).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    let telling: Vec<&str> =
        text.lines().filter(|l| !l.trim_start().starts_with(['#', '0']) && !l.contains("PLEASE submit")).collect();
    telling.iter().take(12).copied().collect::<Vec<_>>().join("\n")
}
