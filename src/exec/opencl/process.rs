//! A worker process, from its parent's side: started, talked to, killed.

use std::io::{Error as IoError, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::exec::memory::{Capture, Shared, memory_file};
use crate::exec::protocol::{Line, Reply, Request};

/// How much of a dead worker's standard error is reported, in bytes.
const STDERR_TAIL: u64 = 4096;

/// How a conversation ended without an answer.
#[derive(Debug)]
pub enum Silence {
    /// No answer in time; the worker was killed.
    Timeout,
    /// The worker died.
    Dead(Death),
}

/// How a worker died.
#[derive(Debug)]
pub struct Death {
    pub signal: Option<i32>,
    pub exit_code: Option<i32>,
    /// The end of what it wrote there.
    pub stderr: String,
}

impl Death {
    /// In words: `exit code 15`, `signal 11 (SIGSEGV)`.
    pub fn how(&self) -> String {
        match (self.signal, self.exit_code) {
            (Some(signal), _) => match signal_name(signal) {
                Some(name) => format!("signal {signal} ({name})"),
                None => format!("signal {signal}"),
            },
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "no answer".to_owned(),
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGABRT => "SIGABRT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        _ => return None,
    })
}

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    line: Line,
    pub shared: Shared,
    stdout: Capture,
    stderr: Capture,
}

impl Process {
    /// Starts `exe worker`, without waiting for anything, and sends it a first request. It sees the drivers of the
    /// folder `vendors`, if one is given.
    ///
    /// # Errors
    /// `Environment` if the system gives no process, socket or memory.
    pub fn start(exe: &Path, vendors: Option<&Path>, first: &Request) -> Result<Process> {
        let refused = |e: IoError| {
            Error::environment(format!("cannot start a worker process ({} worker): {e}", exe.display()))
                .help("check the limits on processes, memory and open files (`ulimit -a`)")
        };
        let (ours, theirs) = UnixStream::pair().map_err(refused)?;
        let shared = Shared::new(memory_file(c"kassay-launch").map_err(refused)?);
        let stdout = Capture::new(c"kassay-stdout").map_err(refused)?;
        let stderr = Capture::new(c"kassay-stderr").map_err(refused)?;
        let inherited = [theirs.as_raw_fd(), shared.file().as_raw_fd()];
        let mut command = Command::new(exe);
        command
            .arg0("kassay")
            .args(["worker", "--socket", &inherited[0].to_string(), "--memory", &inherited[1].to_string()])
            .stdin(Stdio::null())
            .stdout(stdout.for_child().map_err(refused)?)
            .stderr(stderr.for_child().map_err(refused)?)
            // An interrupt from the terminal is for the parent to handle; its end is the worker's, too.
            .process_group(0);
        if let Some(folder) = vendors {
            command.env("OCL_ICD_VENDORS", folder);
        }
        // SAFETY: between fork and exec, `inherit` only makes system calls that are allowed there.
        unsafe { command.pre_exec(move || inherited.into_iter().try_for_each(inherit)) };
        let child = command.spawn().map_err(refused)?;
        drop(theirs);
        let mut process = Process { child, line: Line::new(ours), shared, stdout, stderr };
        // A worker that is dead already shows when its answer is waited for.
        let _ = process.line.send(first);
        Ok(process)
    }

    /// Asks and waits for the answer, at most until `deadline`.
    pub fn ask(&mut self, request: &Request, deadline: Instant) -> std::result::Result<Reply, Silence> {
        self.tell(request)?;
        self.answer(deadline)
    }

    /// Asks without waiting; [`Process::answer`] has to follow before anything else is asked.
    pub fn tell(&mut self, request: &Request) -> std::result::Result<(), Silence> {
        self.line.send(request).map_err(|_| Silence::Dead(self.bury()))
    }

    /// Waits for an answer. After an `Err` the worker is dead.
    pub fn answer(&mut self, deadline: Instant) -> std::result::Result<Reply, Silence> {
        self.line.receive(Some(deadline)).map_err(|e| {
            if e.kind() == ErrorKind::TimedOut {
                self.kill();
                Silence::Timeout
            } else {
                Silence::Dead(self.bury())
            }
        })
    }

    /// Asks and waits for the answer for as long as `stuck`, called every `interval`, says no.
    pub fn watch(
        &mut self,
        request: &Request,
        interval: Duration,
        mut stuck: impl FnMut(&mut Shared) -> bool,
    ) -> std::result::Result<Reply, Silence> {
        self.tell(request)?;
        while !self.line.ready(interval) {
            if stuck(&mut self.shared) {
                self.kill();
                return Err(Silence::Timeout);
            }
        }
        // Only its last bytes can be missing now.
        self.answer(Instant::now() + Duration::from_secs(60))
    }

    /// What kernels printed since the last call.
    pub fn printed(&self) -> String {
        self.stdout.take()
    }

    /// Waits for the end of a worker that hung up, or makes it end.
    fn bury(&mut self) -> Death {
        let deadline = Instant::now() + Duration::from_secs(2);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => {
                    self.kill();
                    break None;
                }
                Err(_) => break None,
            }
        };
        Death {
            signal: status.and_then(|s| s.signal()),
            exit_code: status.and_then(|s| s.code()),
            stderr: telling(&self.stderr.tail(STDERR_TAIL)),
        }
    }

    fn kill(&mut self) {
        // Both fail only for a process that is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a dying process wrote, without the drivers' request to report it: the kernel under test is at fault.
fn telling(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.starts_with("PLEASE submit a bug report")).collect();
    lines.join("\n").trim().to_owned()
}

/// Lets a descriptor pass into the program that is about to be executed.
fn inherit(fd: RawFd) -> std::io::Result<()> {
    // SAFETY: plain system calls on a descriptor that the parent keeps open until the child is started.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFD);
        if flags < 0 || libc::fcntl(fd, libc::F_SETFD, flags & !libc::FD_CLOEXEC) < 0 {
            return Err(IoError::last_os_error());
        }
    }
    Ok(())
}
