//! Starts, talks to and kills a worker process (parent's side).

use std::fs::File;
use std::io::{Error as IoError, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_base::forked::WITHOUT_SERVER;

use super::arena_cache::Kept;
use super::worker_program;
use crate::exec::memory::{Capture, SharedMemory, memory_file};
use crate::exec::protocol::{Connection, Reply, Request};

/// How many bytes of a dead worker's standard error are reported.
const STDERR_TAIL: u64 = 4096;

/// Why no answer came.
#[derive(Debug)]
pub enum NoReply {
    /// No answer in time; the worker was killed.
    Timeout,
    /// The worker died.
    Dead(WorkerExit),
}

/// How a worker died.
#[derive(Debug)]
pub struct WorkerExit {
    pub signal: Option<i32>,
    pub exit_code: Option<i32>,
    /// The end of the worker's standard error.
    pub stderr: String,
}

impl WorkerExit {
    /// The cause as text: `exit code 15`, `signal 11 (SIGSEGV)`.
    pub fn cause(&self) -> String {
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

/// Variables of NVIDIA's driver: the folder of its cache, and how much that holds.
const DRIVER_CACHE: &str = "CUDA_CACHE_PATH";
const DRIVER_CACHE_SIZE: &str = "CUDA_CACHE_MAXSIZE";
/// 256 MiB.
const DRIVER_CACHE_BYTES: &str = "268435456";

/// How long kassay waits for a killed worker to be gone before a thread does so in its place: NVIDIA's driver takes
/// 60 to 100 ms to release a device.
const PATIENCE: Duration = Duration::from_millis(5);

/// What plays a worker in a thread of this process. It gets the worker's ends of the socket and of the shared memory,
/// and returns at the latest when the socket ends.
#[derive(Clone)]
pub struct StandIn(pub Arc<dyn Fn(UnixStream, File) + Send + Sync>);

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StandIn")
    }
}

/// Who is at the other end of the connection.
#[derive(Debug)]
enum Peer {
    /// `None` only while it is dropped.
    Process(Option<Child>),
    /// A [`StandIn`]; `None` once it has ended.
    Thread(Option<JoinHandle<()>>),
}

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    peer: Peer,
    connection: Connection,
    pub shared: SharedMemory,
    /// What its arena keeps.
    pub kept: Kept,
    stdout: Capture,
    stderr: Capture,
}

impl Process {
    /// Starts a worker of the program `exe` and sends it a first request, without waiting for anything. If a folder
    /// `vendors` is given, the worker sees only the drivers in it.
    ///
    /// # Errors
    /// `Environment` if the system cannot provide a process, socket or memory.
    pub fn start(exe: &Path, vendors: Option<&Path>, first: &Request) -> Result<Process> {
        let refused = |e: IoError| {
            let help = match e.kind() {
                ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                    "install kassay in a folder of PATH, or name the program (`OpenOptions::worker`)"
                }
                _ => "check the limits on processes, memory and open files (`ulimit -a`)",
            };
            Error::environment(format!("cannot start a worker process ({} worker): {e}", exe.display())).help(help)
        };
        let (ours, theirs) = UnixStream::pair().map_err(refused)?;
        let shared = SharedMemory::new(memory_file(c"kassay-launch").map_err(refused)?);
        let stdout = Capture::new(c"kassay-stdout").map_err(refused)?;
        let stderr = Capture::new(c"kassay-stderr").map_err(refused)?;
        // It is there before the worker looks for it.
        files::send(ours.as_fd(), &[0], &[shared.file().as_fd()]).map_err(refused)?;
        let mut command = worker_program::command(exe);
        // Nothing of this makes the standard library fork: it has the system start the program at once.
        command
            .env(WITHOUT_SERVER, "1")
            .stdin(OwnedFd::from(theirs))
            .stdout(stdout.for_child().map_err(refused)?)
            .stderr(stderr.for_child().map_err(refused)?)
            // Ctrl-C in the terminal must reach the parent only; when the parent ends, so does the worker.
            .process_group(0);
        if let Some(folder) = vendors {
            command.env("OCL_ICD_VENDORS", folder);
        }
        // NVIDIA's driver takes seconds for a module of many mutants, and 5 ms for one that it has compiled before.
        if std::env::var_os(DRIVER_CACHE).is_none()
            && let Some(folder) = cache::driver_folder()
        {
            command.env(DRIVER_CACHE, folder).env(DRIVER_CACHE_SIZE, DRIVER_CACHE_BYTES);
        }
        let child = command.spawn().map_err(refused)?;
        // It holds the worker's end of the socket.
        drop(command);
        let peer = Peer::Process(Some(child));
        let kept = Kept::default();
        let mut process = Process { peer, connection: Connection::new(ours), shared, kept, stdout, stderr };
        // If the worker is already dead, that shows when its answer is awaited.
        let _ = process.connection.send(first);
        Ok(process)
    }

    /// As [`Process::start`], with a stand-in instead of a process.
    ///
    /// # Errors
    /// As for that.
    pub fn stand_in(stand_in: &StandIn, first: &Request) -> Result<Process> {
        let refused = |e: IoError| Error::environment(format!("cannot start a thread as a worker: {e}"));
        let (ours, theirs) = UnixStream::pair().map_err(refused)?;
        let shared = SharedMemory::new(memory_file(c"kassay-launch").map_err(refused)?);
        let (memory, stand_in) = (shared.file().try_clone().map_err(refused)?, stand_in.clone());
        let thread = std::thread::Builder::new().spawn(move || (stand_in.0)(theirs, memory)).map_err(refused)?;
        let mut process = Process {
            peer: Peer::Thread(Some(thread)),
            connection: Connection::new(ours),
            shared,
            kept: Kept::default(),
            stdout: Capture::new(c"kassay-stdout").map_err(refused)?,
            stderr: Capture::new(c"kassay-stderr").map_err(refused)?,
        };
        let _ = process.connection.send(first);
        Ok(process)
    }

    /// Sends a request and waits for the answer, at most until `deadline`.
    pub fn call(&mut self, request: &Request, deadline: Instant) -> std::result::Result<Reply, NoReply> {
        self.send(request)?;
        self.wait_reply(deadline)
    }

    /// Sends a request without waiting; [`Process::wait_reply`] must be called before the next request.
    pub fn send(&mut self, request: &Request) -> std::result::Result<(), NoReply> {
        self.connection.send(request).map_err(|_| NoReply::Dead(self.reap()))
    }

    /// Waits for an answer. After an `Err`, the worker is dead.
    pub fn wait_reply(&mut self, deadline: Instant) -> std::result::Result<Reply, NoReply> {
        self.connection.receive(Some(deadline)).map_err(|e| match e.kind() {
            ErrorKind::TimedOut => {
                self.kill();
                NoReply::Timeout
            }
            // What answers nonsense has not hung up, and may go on for ever.
            ErrorKind::InvalidData => {
                self.kill();
                NoReply::Dead(self.exit(None))
            }
            _ => NoReply::Dead(self.reap()),
        })
    }

    /// Sends a request and waits for the answer, until `stuck`, called every `interval`, returns true.
    pub fn call_watched(
        &mut self,
        request: &Request,
        interval: Duration,
        stuck: impl FnMut(&mut SharedMemory) -> bool,
    ) -> std::result::Result<Reply, NoReply> {
        self.send(request)?;
        self.watch(interval, stuck)
    }

    /// Waits for the answer to what was sent, until `stuck`, called every `interval`, returns true.
    pub fn watch(
        &mut self,
        interval: Duration,
        mut stuck: impl FnMut(&mut SharedMemory) -> bool,
    ) -> std::result::Result<Reply, NoReply> {
        while !self.connection.ready(interval) {
            if stuck(&mut self.shared) {
                self.kill();
                return Err(NoReply::Timeout);
            }
        }
        // The answer has begun to arrive: only its last bytes can still be missing.
        self.wait_reply(Instant::now() + Duration::from_secs(60))
    }

    /// Returns what kernels printed since the last call.
    pub fn take_stdout(&self) -> String {
        self.stdout.take()
    }

    /// Returns whether the process has not ended.
    pub fn is_alive(&mut self) -> bool {
        match &mut self.peer {
            Peer::Process(child) => child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None))),
            Peer::Thread(thread) => thread.as_ref().is_some_and(|thread| !thread.is_finished()),
        }
    }

    /// Waits for a worker that hung up to exit, or kills it.
    fn reap(&mut self) -> WorkerExit {
        let status = match &mut self.peer {
            Peer::Process(Some(child)) => exit_within(child, Duration::from_secs(2)),
            Peer::Process(None) | Peer::Thread(_) => None,
        };
        if status.is_none() {
            self.kill();
        }
        self.exit(status)
    }

    fn exit(&self, status: Option<ExitStatus>) -> WorkerExit {
        WorkerExit {
            signal: status.and_then(|s| s.signal()),
            exit_code: status.and_then(|s| s.code()),
            stderr: without_bug_report_notice(&self.stderr.tail(STDERR_TAIL)),
        }
    }

    /// Kills the process, without waiting until it is gone.
    fn kill(&mut self) {
        match &mut self.peer {
            // Fails only if the process is already gone.
            Peer::Process(child) => drop(child.as_mut().map(Child::kill)),
            Peer::Thread(thread) => {
                self.connection.close();
                // A stand-in that panicked has ended like any other.
                let _ = thread.take().map(JoinHandle::join);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if let Peer::Process(child) = &mut self.peer
            && let Some(mut child) = child.take()
            && exit_within(&mut child, PATIENCE).is_none()
        {
            // Where there can be no thread, the process stays a zombie until kassay ends.
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
    }
}

/// Waits at most `patience` for a process to exit; `None` if it does not, or if that is not known.
fn exit_within(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(status) => return status,
            Err(_) => return None,
        }
    }
}

/// The standard error of a dying process without the driver's request to report a bug: the kernel under test is
/// at fault.
fn without_bug_report_notice(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.starts_with("PLEASE submit a bug report")).collect();
    lines.join("\n").trim().to_owned()
}
