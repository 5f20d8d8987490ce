//! Runs the program: with kassay's own standard streams, and with the signals that kassay gets.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use kassay_base::error::{Error, Result};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Signals that are handed on to the program.
const HANDED_ON: &[i32] = &[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// The process that signals go to; 0: there is none.
static RECEIVER: AtomicI32 = AtomicI32::new(0);

/// A signal that came before there was a receiver; 0: none.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Runs a program until it ends. `prepare` sets its environment.
///
/// # Errors
/// `Caller` if there is no such program or it cannot be executed; `Environment` if no process can be made.
pub fn run(command: &[OsString], prepare: impl FnOnce(&mut Command)) -> Result<Ended> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(
            Error::caller("there is no command to run").help("give it after `--`: kassay capture -o DIR -- ./program")
        );
    };
    let mut child = Command::new(program);
    child.args(arguments);
    prepare(&mut child);
    let started = Instant::now();
    let handing_on = HandingOn::begin();
    let child = child.spawn().map_err(|error| cannot_run(program, &error))?;
    let status = handing_on.wait(child);
    let status = status.map_err(|error| Error::environment(format!("cannot wait for the program: {error}")))?;
    Ok(Ended { exit_code: status.code(), signal: status.signal(), seconds: started.elapsed().as_secs_f64() })
}

/// The error for a program that cannot be started.
pub(super) fn cannot_run(program: &OsStr, error: &std::io::Error) -> Error {
    let what = format!("cannot run {}: {error}", program.to_string_lossy());
    match error.kind() {
        ErrorKind::NotFound => Error::caller(what).help("name a program in PATH, or the path of one"),
        ErrorKind::PermissionDenied => Error::caller(what).help("make it executable, or name its interpreter first"),
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => {
            Error::caller(what).help("name its interpreter first, such as `python3 program.py`")
        }
        _ => Error::environment(what).help("end other processes, or raise the limits (ulimit)"),
    }
}

/// While it lives, signals are handed on; then they do again what they did.
struct HandingOn {
    before: Vec<(i32, libc::sigaction)>,
}

/// Sends a signal to the program. Those that a terminal sends go to all of its foreground processes, so the program
/// has got them already.
extern "C" fn hand_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives handlers that ask for it a valid structure; `kill` may be called in a handler.
    unsafe {
        if (*info).si_code == libc::SI_KERNEL {
            return;
        }
        match RECEIVER.load(Ordering::SeqCst) {
            0 => EARLY.store(signal, Ordering::SeqCst),
            process => {
                libc::kill(process, signal);
            }
        }
    }
}

impl HandingOn {
    fn begin() -> HandingOn {
        let mut before = Vec::new();
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = hand_on;
        for signal in HANDED_ON {
            // SAFETY: both structures are plain data; the handler is of the kind that the flag announces.
            unsafe {
                let mut known: libc::sigaction = std::mem::zeroed();
                // What is ignored (nohup) stays so, for the program, too.
                if libc::sigaction(*signal, std::ptr::null(), &raw mut known) != 0
                    || known.sa_sigaction == libc::SIG_IGN
                {
                    continue;
                }
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = handler as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigemptyset(&raw mut new.sa_mask);
                if libc::sigaction(*signal, &raw const new, std::ptr::null_mut()) == 0 {
                    before.push((*signal, known));
                }
            }
        }
        HandingOn { before }
    }

    /// Waits until the process has ended. Its number is its own until it is reaped, which is after the last signal.
    fn wait(self, mut child: Child) -> std::io::Result<std::process::ExitStatus> {
        let process = i32::try_from(child.id()).unwrap_or(0);
        RECEIVER.store(process, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        // It is not reaped yet, so that its number is its own.
        let process = Pid::from_child(&child);
        if let Some(early) = Signal::from_named_raw(early) {
            let _ = kill_process(process, early);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = retry_on_intr(|| waitid(WaitId::Pid(process), options));
        RECEIVER.store(0, Ordering::SeqCst);
        child.wait()
    }
}

impl Drop for HandingOn {
    fn drop(&mut self) {
        for (signal, known) in &self.before {
            // SAFETY: what `sigaction` gave is what it takes.
            unsafe { libc::sigaction(*signal, known, std::ptr::null_mut()) };
        }
    }
}

/// Returns the name of a signal, such as `SIGSEGV`; its number where it has none here.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<OsString> {
        ["sh", "-c", script].map(OsString::from).to_vec()
    }

    #[test]
    fn how_a_program_ends_is_told() {
        let code = run(&shell("exit 7"), |_| ()).unwrap();
        assert_eq!((code.exit_code, code.signal), (Some(7), None));
        let killed = run(&shell("kill -TERM $$"), |_| ()).unwrap();
        assert_eq!((killed.exit_code, killed.signal), (None, Some(libc::SIGTERM)));
        let missing = run(&["/nonexistent/program".into()], |_| ()).unwrap_err();
        assert_eq!(missing.exit_code(), 2);
    }
}
