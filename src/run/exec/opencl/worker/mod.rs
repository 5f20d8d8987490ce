//! The worker process: holds the device, loads programs and runs launches for its parent, one message at a time.
//!
//! It is the part that may die: from truncated code, wild accesses or endless loops. It must never know what the
//! launches are for. Its standard output is the kernels' `printf`; it talks to its parent over another descriptor.

mod devices;
mod drivers;
mod handles;
mod joint;
mod launch;
mod memory;
mod open_device;
mod program;
mod refusal;
mod store;
mod svm;
mod sweep;
mod transfers;
mod warm;

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;

use kassay_base::error::{Error, Result};
use kassay_base::files;
use opencl3::command_queue as queue;
use rustix::process::{Resource, Rlimit, setrlimit};

use self::open_device::OpenDevice;
use self::refusal::Refusal;
use super::errors;
use crate::exec::discover::Vendors;
use crate::exec::memory::{SharedMemory, Span};
use crate::exec::protocol::{Connection, Reply, Request};

/// The most that a kernel can print, in bytes.
pub const MAX_OUTPUT: u64 = 64 << 20;

/// Serves the parent at the other end of standard input, which is a socket, until the parent hangs up. The first
/// message has the shared memory. `joint_ptx`: `runtime-cl/joint_ptx.cl` as PTX, which the driver of NVIDIA builds in
/// much less time than its source.
///
/// # Errors
/// `Internal` if these are not what a parent passes.
pub fn serve(joint_ptx: &'static str) -> Result<()> {
    let by_hand = || Error::internal("`kassay worker` is started by kassay itself, not by hand");
    let stream = take_standard_input().map_err(|_| by_hand())?;
    let memory = files::receive(stream.as_fd(), &mut [0]).ok().and_then(|(_, mut descriptors)| descriptors.pop());
    let memory = File::from(memory.ok_or_else(by_hand)?);
    limit_resources();
    let vendors = Vendors::discover();
    let (folder, mut guard) = vendors.loader_folder()?;
    if let Some(folder) = &folder {
        // SAFETY: no other thread has been started yet, so nothing else reads the environment.
        unsafe { std::env::set_var("OCL_ICD_VENDORS", folder) };
    }
    exit_with_parent(&stream);
    drivers::load(&vendors);
    let mut connection = Connection::new(stream);
    let mut shared = SharedMemory::new(memory);
    let mut open = None;
    loop {
        let request = match connection.receive(None) {
            Ok(request) => request,
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => exit_now(),
            Err(e) => return Err(Error::internal(format!("the worker did not understand its parent: {e}"))),
        };
        let warm = if open.is_none() { warm::Warm::after(&request) } else { None };
        let reply = handle_request(request, &mut open, &mut shared, joint_ptx);
        // The loader has read the folder by now.
        drop(guard.take());
        // The kernels' `printf` is in the C library's buffers; the parent reads it after this reply.
        // SAFETY: a null pointer makes `fflush` flush all streams.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        if let Err(e) = connection.send(&reply) {
            return Err(Error::internal(format!("the worker lost its parent: {e}")));
        }
        if let (Some(open), Some(warm)) = (&open, warm) {
            warm.up(open);
        }
    }
}

/// Answers a request as long as no device is open; those that would open one are not answered.
pub fn answer_without_device(request: Request, shared: &mut SharedMemory) -> Option<Reply> {
    let opens = matches!(request, Request::Open { .. } | Request::List);
    (!opens).then(|| handle_request(request, &mut None, shared, ""))
}

fn handle_request(
    request: Request,
    open: &mut Option<OpenDevice>,
    shared: &mut SharedMemory,
    joint_ptx: &'static str,
) -> Reply {
    match request {
        Request::List => match devices::all() {
            Ok(found) => Reply::Devices(found.into_iter().map(devices::describe).collect()),
            Err(reply) => *reply,
        },
        Request::Open { selector, target, .. } => {
            let (found, info) = match devices::choose(&selector, target) {
                Ok(chosen) => chosen,
                Err(reply) => return *reply,
            };
            match OpenDevice::new(found, target, joint_ptx) {
                Ok(device) => {
                    *open = Some(device);
                    Reply::Opened(info)
                }
                Err(code) => Reply::Broken {
                    what: format!("the device {} cannot be opened: {}", info.name, errors::name(code)),
                    help: "choose another with --device; `kassay devices` lists them".into(),
                },
            }
        }
        Request::Load { program, memory, target, code, entry, options, image_buffers } => {
            let (Some(open), Some(code)) = (open, mapped(shared, memory, code)) else { return unprepared() };
            match open.build(target, code, &entry, &options) {
                Ok(mut loaded) => {
                    loaded.image_buffers = image_buffers;
                    open.programs.insert(program, loaded);
                    Reply::Loaded
                }
                Err(refused) => match queue::finish(open.queue) {
                    Ok(()) => Reply::BuildFailed { error: refused.error, log: refused.log },
                    Err(code) => Reply::Lost { error: errors::name(code) },
                },
            }
        }
        Request::Unload { program } => {
            if let Some(open) = open {
                open.programs.remove(&program);
            }
            Reply::Unloaded
        }
        Request::SubGroups { program, range } => {
            let Some(open) = open else { return unprepared() };
            let Some(loaded) = open.programs.get(&program) else { return unprepared() };
            Reply::SubGroups(loaded.sub_groups(open.device, &range))
        }
        Request::Run { program, memory, range, args, margins, views, repeats, probe, head, kept, outputs } => {
            let Some(open) = open else { return unprepared() };
            let Some(loaded) = open.programs.get(&program) else { return unprepared() };
            if shared.map_reserved(memory).is_err() {
                return unprepared();
            }
            let (args, margins, views, outputs) = (&args[..], &margins[..], &views[..], &outputs[..]);
            let range = &range;
            let params = launch::LaunchParams { range, args, margins, views, repeats, probe, head, kept, outputs };
            launch::run(&open.context, open.queue, loaded, &params, shared.bytes())
                .unwrap_or_else(|refusal| not_run(refusal, open))
        }
        Request::Sweep { program, memory, sweep } => {
            let Some(open) = open else { return unprepared() };
            let Some(loaded) = open.programs.get(&program) else { return unprepared() };
            if shared.map_reserved(memory).is_err() {
                return unprepared();
            }
            sweep::run(open, loaded, &sweep, shared.bytes()).unwrap_or_else(|refusal| not_run(refusal, open))
        }
        Request::Joint { program, memory, joint } => {
            let Some(open) = open else { return unprepared() };
            let Some(loaded) = open.programs.get(&program) else { return unprepared() };
            if shared.map_reserved(memory).is_err() {
                return unprepared();
            }
            joint::run(open, loaded, &joint, shared.bytes()).unwrap_or_else(|refusal| not_run(refusal, open))
        }
    }
}

/// The reply if a launch was not run, or not to its end.
fn not_run(refusal: Refusal, open: &OpenDevice) -> Reply {
    refusal.after(queue::finish(open.queue), false).reply()
}

/// The reply if the parent refers to something that it has not prepared.
fn unprepared() -> Reply {
    Reply::Broken { what: "the worker was asked for something it does not have".into(), help: String::new() }
}

fn mapped(shared: &mut SharedMemory, memory: u64, span: Span) -> Option<&[u8]> {
    shared.map_reserved(memory).ok()?;
    span.of(shared.bytes())
}

/// Takes the socket that standard input is; from then on, there is no input.
fn take_standard_input() -> std::io::Result<UnixStream> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    Ok(socket.into())
}

/// Limits what a kernel can do to the machine: no core dumps, no endless printing.
fn limit_resources() {
    let set = |what, most| {
        // A refusal leaves the limits as they were.
        let _ = setrlimit(what, Rlimit { current: Some(most), maximum: Some(most) });
    };
    // 1, not 0: that also keeps the kernel from starting a core dump handler.
    set(Resource::Core, 1);
    set(Resource::Fsize, MAX_OUTPUT);
    // Writes past the limit then fail instead of killing the process.
    // SAFETY: `SIG_IGN` installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Ends this process when the parent is gone, even in the middle of an endless kernel. (`PR_SET_PDEATHSIG` would do so
/// when the *thread* that started the worker ends.)
fn exit_with_parent(stream: &UnixStream) {
    let fd = stream.as_raw_fd();
    std::thread::spawn(move || {
        let mut poll = libc::pollfd { fd, events: 0, revents: 0 };
        loop {
            // SAFETY: `poll` gets one valid entry; its descriptor is never closed while the process lives.
            let n = unsafe { libc::poll(&raw mut poll, 1, -1) };
            if n > 0 && poll.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0 {
                exit_now();
            }
        }
    });
}

/// Ends the process at once, without running the drivers' exit handlers.
fn exit_now() -> ! {
    // SAFETY: nothing needs unwinding or flushing, because the parent is gone.
    unsafe { libc::_exit(0) }
}
