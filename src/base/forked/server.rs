//! The server: a process without threads that forks the children of another one, which may have threads.
//!
//! A child of a process with threads is a copy in which only one of them goes on; what the others held at that moment,
//! a lock of the standard library's, of LLVM's or of the allocator's, is held for ever there. So nothing but the server
//! forks, and it is itself forked before there are threads: before `main` in every program that kassay's library is
//! part of, and as the first thing in a child that will have children. It ends when the process that it serves ends,
//! however that ends, and so do its children.

use std::ffi::c_int;
use std::io::{Error, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::{fcntl_dupfd_cloexec, retry_on_intr};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, kill_process_group, setrlimit, waitpid,
};

use super::order::{Descriptors, Kind, LENGTH, Order};
use crate::files;

/// A variable of the environment for programs of kassay's own that never have children.
pub const WITHOUT_SERVER: &str = "KASSAY_WITHOUT_SERVER";

/// This process's end of the socket to its server; -1: there is no server.
static ORDERS: AtomicI32 = AtomicI32::new(-1);

/// The server's process.
static SERVER: AtomicI32 = AtomicI32::new(0);

/// The process that has the server.
static SERVED: AtomicI32 = AtomicI32::new(0);

/// Why there is no server: a number of the system's, or one of the following.
static WHY: AtomicI32 = AtomicI32::new(NOT_STARTED);

const NOT_STARTED: i32 = 0;
const THREADS: i32 = -1;

/// Signals that end a program, but not the server: its process decides.
const ENDING: [c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Descriptors of a program begin below this.
const FIRST: RawFd = 10;

/// What a child does, from its fork to its end.
pub type Child = fn(libc::pid_t, Order, Descriptors, &libc::sigset_t, &Signals) -> !;

/// What the children of servers do.
static CHILD: OnceLock<Child> = OnceLock::new();

/// Begins before `main`, unless this program has no children.
pub fn before_main(child: Child) {
    let _ = CHILD.set(child);
    if std::env::var_os(WITHOUT_SERVER).is_none() {
        begin();
    }
}

/// Forks the server of this process, which must not have other threads yet.
pub fn begin() {
    // Libraries may have started some.
    if std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() > 1) {
        WHY.store(THREADS, Ordering::Relaxed);
        return;
    }
    let forked = fork_server();
    WHY.store(forked.err().and_then(|error| error.raw_os_error()).unwrap_or(NOT_STARTED), Ordering::Relaxed);
}

fn fork_server() -> std::io::Result<()> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    // In a program that was started without them, these could be the standard streams.
    let (ours, theirs) = (fcntl_dupfd_cloexec(&ours, FIRST)?, fcntl_dupfd_cloexec(&theirs, FIRST)?);
    let parent = getpid().as_raw_pid();
    // SAFETY: takes nothing. There are no other threads, so that the child has whatever it needs.
    let child = unsafe { libc::fork() };
    match child {
        ..0 => return Err(Error::last_os_error()),
        0 => {
            drop(ours);
            Server::new(theirs, parent).serve()
        }
        child => {
            SERVER.store(child, Ordering::Relaxed);
            SERVED.store(parent, Ordering::Relaxed);
            ORDERS.store(std::os::fd::IntoRawFd::into_raw_fd(ours), Ordering::Release);
        }
    }
    // SAFETY: `at_exit` is a function without arguments that does not unwind.
    unsafe { libc::atexit(at_exit) };
    Ok(())
}

/// Whether this process has a server; one that it was forked from by somebody else may have another one.
fn is_served() -> bool {
    SERVED.load(Ordering::Relaxed) == getpid().as_raw_pid()
}

extern "C" fn at_exit() {
    end();
}

/// Ends the server of this process, and whatever it has started.
pub fn end() {
    if !is_served() {
        return;
    }
    let orders = ORDERS.swap(-1, Ordering::Acquire);
    if orders < 0 {
        return;
    }
    // SAFETY: it stays open: another thread may be about to use it.
    let _ = shutdown(unsafe { BorrowedFd::borrow_raw(orders) }, Shutdown::Both);
    if let Some(server) = Pid::from_raw(SERVER.load(Ordering::Relaxed)) {
        let _ = retry_on_intr(|| waitpid(Some(server), WaitOptions::empty()));
    }
}

/// Gives the server an order.
///
/// # Errors
/// Why it does not take it.
pub fn order(order: Order, descriptors: &Descriptors) -> Result<(), String> {
    if !is_served() {
        // A process that a program has forked by itself, or one that was to have no children.
        begin();
    }
    let orders = ORDERS.load(Ordering::Acquire);
    if !is_served() || orders < 0 {
        return Err(match WHY.load(Ordering::Relaxed) {
            NOT_STARTED => "the server that starts others has ended".to_owned(),
            THREADS => "the program had threads before kassay could start a server without any".to_owned(),
            number => {
                format!("the server that starts others could not be started: {}", Error::from_raw_os_error(number))
            }
        });
    }
    // SAFETY: it is never closed.
    let socket = unsafe { BorrowedFd::borrow_raw(orders) };
    files::send(socket, &order.encode(), &descriptors.all())
        .map_err(|error| format!("the server that starts others has ended: {error}"))
}

/// What signals did when the server began.
pub type Signals = [libc::sigaction; ENDING.len()];

/// A child that was started.
struct Started {
    process: Pid,
    kind: Kind,
    /// To the process that ordered it.
    control: UnixStream,
    is_killed: bool,
}

/// The state of a server.
pub struct Server {
    orders: OwnedFd,
    /// Readable when the process that is served has ended; `None` where Linux cannot tell.
    served: Option<OwnedFd>,
    children: Vec<Started>,
    /// The signals that were blocked.
    mask: libc::sigset_t,
    signals: Signals,
}

extern "C" fn wake_up(_: c_int) {}

impl Server {
    /// In the server's process, which has just been forked by `parent`.
    fn new(orders: OwnedFd, parent: libc::pid_t) -> Server {
        // SAFETY: the structures are plain data, filled in by the calls; the handler does nothing. `pidfd_open` (Linux
        // 5.3) takes numbers, and its descriptor is used only here.
        unsafe {
            libc::prctl(libc::PR_SET_NAME, c"kassay-server".as_ptr());
            let own = close_others(orders);
            let (mut mask, mut signals): (libc::sigset_t, Signals) = (std::mem::zeroed(), std::mem::zeroed());
            for (signal, before) in ENDING.into_iter().zip(&mut signals) {
                libc::sigaction(signal, std::ptr::null(), before);
                libc::signal(signal, libc::SIG_IGN);
            }
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            // A child's end interrupts only the wait in `ppoll`, so that none is missed.
            let mut children: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut children);
            libc::sigaddset(&raw mut children, libc::SIGCHLD);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const children, &raw mut mask);
            libc::sigdelset(&raw mut mask, libc::SIGCHLD);
            let handler: extern "C" fn(c_int) = wake_up;
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            libc::sigaction(libc::SIGCHLD, &raw const action, std::ptr::null_mut());
            let served = libc::syscall(libc::SYS_pidfd_open, parent, 0);
            let served = (served >= 0).then(|| OwnedFd::from_raw_fd(served as RawFd));
            if libc::getppid() != parent {
                libc::_exit(0);
            }
            Server { orders: own, served, children: Vec::new(), mask, signals }
        }
    }

    /// Serves until the other process has ended.
    fn serve(mut self) -> ! {
        let number = |descriptor: &Option<OwnedFd>| descriptor.as_ref().map_or(-1, |fd| fd.as_raw_fd());
        loop {
            let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut polled = vec![entry(self.orders.as_raw_fd()), entry(number(&self.served))];
            // Negative descriptors are passed over.
            polled.extend(self.children.iter().map(|c| entry(if c.is_killed { -1 } else { c.control.as_raw_fd() })));
            // SAFETY: as many entries as are counted; the mask is one that the system has filled in.
            let ready = unsafe {
                libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, std::ptr::null(), &raw const self.mask)
            };
            if ready > 0 {
                // The process that ordered a child never sends anything, but hangs up.
                let orphans = self.children.iter_mut().zip(&polled[2..]).filter(|(_, polled)| polled.revents != 0);
                orphans.for_each(|(child, _)| child.kill());
                if polled[1].revents != 0 || polled[0].revents != 0 && self.take_order().is_none() {
                    break;
                }
            }
            self.reap(libc::WNOHANG);
        }
        self.children.iter_mut().for_each(Started::kill);
        while !self.children.is_empty() && self.reap(0) {}
        // SAFETY: nothing of the copied process is to be run at this end.
        unsafe { libc::_exit(0) }
    }

    /// Takes an order and starts a child. `None`: the other side has hung up.
    fn take_order(&mut self) -> Option<()> {
        let mut bytes = [0; LENGTH];
        let (length, descriptors) =
            files::receive(self.orders.as_fd(), &mut bytes).ok().filter(|(length, _)| *length > 0)?;
        // SAFETY: only the process that this one was forked from has the other end.
        let order = unsafe { Order::decode(&bytes[..length]) };
        // If descriptors are missing, because too many are open, the other side sees that it is hung up on.
        let (Some(order), Some(descriptors)) = (order, Descriptors::of(descriptors)) else { return Some(()) };
        let server = getpid().as_raw_pid();
        // SAFETY: takes nothing. This process has one thread.
        let process = unsafe { libc::fork() };
        if process == 0 {
            let Server { mask, signals, .. } = self;
            let (mask, signals) = (*mask, *signals);
            // What it does not know of it cannot keep open.
            self.children.clear();
            let Some(run) = CHILD.get() else { unreachable!("the server has begun with it") };
            run(server, order, descriptors, &mask, &signals)
        }
        let answer = if process < 0 {
            Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN).wrapping_neg()
        } else {
            process
        };
        let mut control = UnixStream::from(descriptors.control);
        // If the other end is closed, the next round sees it.
        let _ = control.write_all(&answer.to_ne_bytes());
        if let Some(process) = Pid::from_raw(process.max(0)) {
            self.children.push(Started { process, kind: order.kind, control, is_killed: false });
        }
        Some(())
    }

    /// Buries the children that have ended, and reports how. Returns whether that can be known.
    fn reap(&mut self, flags: c_int) -> bool {
        loop {
            // SAFETY: the structure is plain data that the call fills in.
            let ended = unsafe {
                let mut about: libc::siginfo_t = std::mem::zeroed();
                let failed = libc::waitid(libc::P_ALL, 0, &raw mut about, flags | libc::WEXITED | libc::WNOWAIT) != 0;
                if failed && Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                    return false;
                }
                if failed { 0 } else { about.si_pid() }
            };
            let Some(ended) = Pid::from_raw(ended) else { return true };
            let known = self.children.iter().position(|child| child.process == ended);
            let known = known.map(|at| self.children.swap_remove(at));
            if known.as_ref().is_some_and(|child| child.kind == Kind::Program) {
                // As long as it is not buried, the number of its group is its own.
                let _ = kill_process_group(ended, Signal::KILL);
            }
            let status = waitpid(Some(ended), WaitOptions::empty());
            let status = status.ok().flatten().map_or(0, |(_, status)| status.as_raw());
            if let Some(mut child) = known {
                let _ = child.control.write_all(&status.to_ne_bytes());
            }
            if flags & libc::WNOHANG == 0 {
                return true;
            }
        }
    }
}

impl Started {
    fn kill(&mut self) {
        self.is_killed = true;
        // It is not waited for yet, so that its number is its own. A program may not have its group yet.
        if self.kind == Kind::Program {
            let _ = kill_process_group(self.process, Signal::KILL);
        }
        let _ = kill_process(self.process, Signal::KILL);
    }
}

/// Closes everything but one descriptor, which gets another number: who waits for the end of a pipe that the process
/// has open must not wait for this one. The standard streams lead nowhere.
///
/// # Safety
/// Nothing else may use a descriptor.
unsafe fn close_others(keep: OwnedFd) -> OwnedFd {
    const KEPT: RawFd = 3;
    // SAFETY: the numbers are those of open descriptors, and nothing else uses one.
    unsafe {
        let keep = std::os::fd::IntoRawFd::into_raw_fd(keep);
        if keep != KEPT {
            libc::dup3(keep, KEPT, libc::O_CLOEXEC);
        }
        let first = KEPT as libc::c_uint + 1;
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) != 0 {
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(0, 1 << 16) as RawFd;
            for other in KEPT + 1..most {
                libc::close(other);
            }
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for stream in 0..KEPT {
            libc::dup2(nothing, stream);
        }
        if nothing > KEPT {
            libc::close(nothing);
        }
        OwnedFd::from_raw_fd(KEPT)
    }
}

/// In a child: sets a limit, as far as the system allows it.
pub fn set_limit(resource: Resource, most: u64) {
    let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
}

/// In a child: lets signals do again what they did before there was a server.
pub fn restore(signals: &Signals) {
    for (signal, before) in ENDING.into_iter().zip(signals) {
        // SAFETY: what `sigaction` gave is what it takes.
        unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
    }
}
