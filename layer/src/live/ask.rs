//! Asks kassay for woven code: one connection, one line there, one line back, and never longer than the time limit.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::reply::Why;
use crate::spool::blobs::Id;

/// Bytes of a reply at most.
const MOST: usize = 64 << 20;

/// The schema of requests.
const SCHEMA: &str = "kassay.ask/1";

/// A request for the replacements of a program's kernels.
#[derive(Serialize)]
pub struct Weave<'a> {
    schema: &'static str,
    ask: &'static str,
    program: &'a str,
    process: &'a str,
    mutant: Option<&'a str>,
}

impl<'a> Weave<'a> {
    pub fn new(program: &'a str, process: &'a str, mutant: Option<&'a str>) -> Weave<'a> {
        Weave { schema: SCHEMA, ask: "weave", program, process, mutant }
    }
}

/// Asks whether what a replacement has left is what the program's own kernel has left, but for the rounding of floats.
#[derive(Serialize)]
pub struct Compare<'a> {
    schema: &'static str,
    ask: &'static str,
    spool: &'a Path,
    program: &'a str,
    kernel: &'a str,
    memory: &'a [Left],
}

impl<'a> Compare<'a> {
    pub fn new(spool: &'a Path, program: &'a str, kernel: &'a str, memory: &'a [Left]) -> Compare<'a> {
        Compare { schema: SCHEMA, ask: "compare", spool, program, kernel, memory }
    }
}

/// What two kernels have left in a piece of memory: the names of contents in `blobs/`.
#[derive(Serialize)]
pub struct Left {
    pub own: Id,
    pub woven: Id,
    /// The arguments of the replacement that reach it.
    pub arguments: Vec<Reaches>,
    pub image: Option<Format>,
}

/// An argument and where in a piece of memory it begins, in bytes; `size` is missing if it is not known.
#[derive(Serialize)]
pub struct Reaches {
    pub argument: usize,
    pub offset: usize,
    pub size: Option<usize>,
}

/// The format of an image, in constants of OpenCL.
#[derive(Serialize)]
pub struct Format {
    pub channel_order: u32,
    pub channel_type: u32,
}

/// Sends a request and returns the line that comes back, without its end.
pub fn ask(socket: &Path, request: &impl Serialize, limit: Duration) -> Result<Vec<u8>, Why> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            Why::new("timeout", format!("kassay did not answer within {} ms", limit.as_millis()))
        }
        _ => Why::new("no-answer", format!("kassay did not answer: {error}")),
    };
    let mut line = serde_json::to_vec(request).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    let deadline = Instant::now() + limit;
    let stream = connect(socket, deadline).map_err(failed)?;
    send(&stream, &line, deadline).map_err(failed)?;
    receive(&stream, deadline).map_err(failed)
}

/// Limits the next calls on the socket to what is left of the time.
fn set_limit(stream: &OwnedFd, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    // Zero would be no limit.
    let time = libc::timeval {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_usec: libc::suseconds_t::from(left.subsec_micros().max(1) as i32),
    };
    for option in [libc::SO_SNDTIMEO, libc::SO_RCVTIMEO] {
        let size = size_of::<libc::timeval>() as libc::socklen_t;
        // SAFETY: the value has the type and the size that the option takes.
        let result =
            unsafe { libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const time).cast(), size) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Calls `call` until it is not interrupted by a signal: the program's handlers may come at any time.
fn retried(stream: &OwnedFd, deadline: Instant, mut call: impl FnMut() -> isize) -> io::Result<usize> {
    loop {
        set_limit(stream, deadline)?;
        if let Ok(result) = usize::try_from(call()) {
            return Ok(result);
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Connects by hand: the limit must hold for the connection, too.
fn connect(path: &Path, deadline: Instant) -> io::Result<OwnedFd> {
    // SAFETY: a zeroed address is one; the descriptor is new and used only here.
    let (stream, mut address) = unsafe {
        let descriptor = libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(descriptor), std::mem::zeroed::<libc::sockaddr_un>())
    };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // One byte is left for the end.
    if bytes.is_empty() || bytes.contains(&0) || bytes.len() >= address.sun_path.len() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "KASSAY_SOCKET is no path of a socket"));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    let size = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    let connected = retried(&stream, deadline, || {
        // SAFETY: the address has this size.
        unsafe { libc::connect(stream.as_raw_fd(), (&raw const address).cast(), size) as isize }
    });
    connected.map(|_| stream)
}

fn send(stream: &OwnedFd, mut line: &[u8], deadline: Instant) -> io::Result<()> {
    while !line.is_empty() {
        // No SIGPIPE: the program does not know of this socket.
        let sent = retried(stream, deadline, || {
            // SAFETY: the slice has this length.
            unsafe { libc::send(stream.as_raw_fd(), line.as_ptr().cast(), line.len(), libc::MSG_NOSIGNAL) }
        })?;
        line = line.get(sent..).unwrap_or_default();
    }
    Ok(())
}

fn receive(stream: &OwnedFd, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut chunk = vec![0_u8; 64 << 10];
    loop {
        let got = retried(stream, deadline, || {
            // SAFETY: the chunk has this length.
            unsafe { libc::recv(stream.as_raw_fd(), chunk.as_mut_ptr().cast(), chunk.len(), 0) }
        })?;
        let got = &chunk[..got];
        let end = got.iter().position(|byte| *byte == b'\n');
        let part = &got[..end.unwrap_or(got.len())];
        if line.len() + part.len() > MOST {
            return Err(io::Error::new(ErrorKind::InvalidData, "the answer is too long"));
        }
        line.try_reserve(part.len()).map_err(|_| ErrorKind::OutOfMemory)?;
        line.extend_from_slice(part);
        match end {
            Some(_) => return Ok(line),
            None if got.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::net::UnixListener;

    const LONG: Duration = Duration::from_secs(60);

    fn asked(
        limit: Duration,
        answer: impl FnOnce(std::os::unix::net::UnixStream) + Send + 'static,
    ) -> Result<Vec<u8>, Why> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = std::thread::spawn(move || answer(listener.accept().unwrap().0));
        let result = ask(&path, &Weave::new("00", "1-2-3", Some("7")), limit);
        server.join().unwrap();
        result
    }

    #[test]
    fn a_line_is_sent_and_a_line_comes_back() {
        let answer = asked(LONG, |stream| {
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let wanted = r#"{"schema":"kassay.ask/1","ask":"weave","program":"00","process":"1-2-3","mutant":"7"}"#;
            assert_eq!(line.trim_end(), wanted);
            (&stream).write_all(&[b'x'; 200_000]).unwrap();
            (&stream).write_all(b"end\nmore").unwrap();
        });
        let answer = answer.unwrap();
        assert_eq!((answer.len(), &answer[200_000..]), (200_003, b"end".as_slice()));
    }

    #[test]
    fn whatever_is_no_answer_is_an_error() {
        let none = |stream: std::os::unix::net::UnixStream| drop(stream);
        assert_eq!(asked(LONG, none).unwrap_err().reason, "no-answer");
        let half = |mut stream: std::os::unix::net::UnixStream| stream.write_all(b"{").unwrap();
        assert_eq!(asked(LONG, half).unwrap_err().reason, "no-answer");
        let (wait, until) = std::sync::mpsc::channel::<()>();
        let silent = move |_stream: std::os::unix::net::UnixStream| until.recv().unwrap_or_default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = std::thread::spawn(move || silent(listener.accept().unwrap().0));
        let request = Weave::new("00", "1-2-3", None);
        assert_eq!(ask(&path, &request, Duration::from_millis(50)).unwrap_err().reason, "timeout");
        drop(wait);
        server.join().unwrap();
        for path in ["/nonexistent/socket", "", &"x".repeat(200)] {
            assert_eq!(ask(Path::new(path), &request, LONG).unwrap_err().reason, "no-answer");
        }
    }
}
