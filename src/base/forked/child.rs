//! What a child does from its fork to its end.

use crate::json;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;
use rustix::process::Resource;

use super::order::{ANSWER, Contents, Descriptors, Kind, Order, Program, REFUSAL};
use super::server::{self, Signals};

/// Exit code of a child that panicked; the message is on its standard error.
const PANICKED: i32 = 101;

/// What the child was handed.
static HANDED: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// In a child: takes what it was handed.
pub fn handed() -> Option<OwnedFd> {
    HANDED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Does what was ordered, in a process that `server` has just forked.
pub fn run(server: libc::pid_t, order: Order, descriptors: Descriptors, mask: &libc::sigset_t, signals: &Signals) -> ! {
    let Descriptors { control, answer, contents, directory, error, handed } = descriptors;
    // What the server waits for must not stay open.
    drop(control);
    // SAFETY: takes numbers, and a mask that the system has filled in. The server has one thread, so it ends before its
    // children only if it is killed.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_NAME, c"kassay-child".as_ptr());
        if libc::getppid() != server || libc::fchdir(directory.as_raw_fd()) != 0 {
            libc::_exit(PANICKED);
        }
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
    }
    let mut answer = File::from(answer);
    // A panic must not unwind into the server's frames.
    let done = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the file no longer changes.
        let contents = unsafe { Mmap::map(&File::from(contents)) }.map_err(|error| error.to_string())?;
        let contents = Contents::read(&contents).ok_or("the contents of an order cannot be read")?;
        contents.take_over();
        if order.kind == Kind::Program {
            server::restore(signals);
            return Ok((REFUSAL, become_program(contents.input, error, handed).to_vec()));
        }
        // LLVM's crash reports go to the file, no core is dumped.
        let _ = rustix::stdio::dup2_stderr(&error);
        server::set_limit(Resource::Core, 0);
        drop(error);
        *HANDED.lock().unwrap_or_else(PoisonError::into_inner) = handed;
        if order.kind == Kind::Parent {
            server::begin();
        }
        (order.call)(order.work, contents.input, contents.bytes).map(|bytes| (ANSWER, bytes))
    }));
    let (tag, bytes) = match done {
        Ok(done) => done.unwrap_or_else(|message| (REFUSAL, message.into_bytes())),
        Err(_) => leave(PANICKED),
    };
    let sent = answer.write_all(&[tag]).and_then(|()| answer.write_all(&bytes));
    leave(i32::from(sent.is_err()))
}

/// Ends the child, without running what the copied process would have run at its end.
fn leave(code: i32) -> ! {
    server::end();
    // SAFETY: takes a number.
    unsafe { libc::_exit(code) }
}

/// Becomes another program. Returns the number of the error if that fails.
fn become_program(input: &[u8], error: OwnedFd, output: Option<OwnedFd>) -> [u8; 4] {
    let unknown = |_| libc::EINVAL.to_ne_bytes();
    let Program { program, arguments, environment, directory } = match json::read(input).map_err(unknown) {
        Ok(program) => program,
        Err(number) => return number,
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(output.map_or_else(Stdio::null, Stdio::from)).stderr(error);
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    // The group is what is killed.
    let failed = command.process_group(0).exec();
    failed.raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes()
}
