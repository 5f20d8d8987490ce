//! Only for fuzzing: one child that reads many modules, one after the other, because starting one for each takes many
//! times as long as reading it.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use kassay_base::forked::{self, Failure, Job, Limit, Running};

/// A child is replaced after so many modules, because LLVM keeps some of what it has read.
const MOST: u32 = 20_000;

/// The longest time that the child may take for a module. LLVM does not end on some, and that it is then ended is no
/// news.
const LONGEST_READ: Duration = Duration::from_secs(3);

/// The longest life of a child; it is far above what [`MOST`] modules take.
const LIFE: Duration = Duration::from_secs(24 * 3600);

/// What a child does with a module.
type Work = fn(&[u8]) -> Result<Vec<u8>, String>;

struct Reader {
    child: Running,
    socket: UnixStream,
    left: u32,
}

thread_local! {
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// Has a child `read` these bytes, as [`forked::run`] would; a child that survives reads the next ones, too.
///
/// # Errors
/// As for [`forked::run`].
pub fn run(bytes: &[u8], limit: Duration, read: Work) -> Result<Result<Vec<u8>, String>, Failure> {
    let mut reader = match READER.take().filter(|reader| reader.left > 0) {
        Some(reader) => reader,
        None => Reader::start(read)?,
    };
    let limit = limit.clamp(Duration::from_millis(1), LONGEST_READ);
    let asked = reader.socket.set_read_timeout(Some(limit)).and_then(|()| reader.ask(bytes));
    match asked {
        Ok(answer) => {
            reader.left -= 1;
            READER.set(Some(reader));
            Ok(answer)
        }
        // Dropping it kills the child.
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err(Failure::TimedOut(limit)),
        // The child has hung up: it says how it ended.
        Err(e) => match reader.child.end() {
            Err(failure) => Err(failure),
            Ok(_) => Err(Failure::System(e.to_string())),
        },
    }
}

impl Reader {
    fn start(read: Work) -> Result<Reader, Failure> {
        let (socket, theirs) = UnixStream::pair().map_err(|e| Failure::System(e.to_string()))?;
        let reader = read as usize;
        let child = forked::begin(Limit::of(LIFE), Job::new(serve, &reader, &[]).handing(theirs.into()))?;
        Ok(Reader { child, socket, left: MOST })
    }

    fn ask(&mut self, bytes: &[u8]) -> std::io::Result<Result<Vec<u8>, String>> {
        send(&mut self.socket, bytes)?;
        let mut is_error = [0];
        self.socket.read_exact(&mut is_error)?;
        let answer = receive(&mut self.socket)?;
        Ok(if is_error == [0] { Ok(answer) } else { Err(String::from_utf8_lossy(&answer).into_owned()) })
    }
}

/// In the child.
fn serve(reader: usize, _: &[u8]) -> Result<Vec<u8>, String> {
    let text = |e: std::io::Error| e.to_string();
    // SAFETY: `start` gave it away as a function of this type; functions have the same addresses in children.
    let read = unsafe { std::mem::transmute::<usize, Work>(reader) };
    let mut socket = UnixStream::from(forked::handed().ok_or("nothing to read from")?);
    forked::limit_memory(1 << 20);
    loop {
        let answer = read(&receive(&mut socket).map_err(text)?);
        socket.write_all(&[u8::from(answer.is_err())]).map_err(text)?;
        send(&mut socket, &answer.unwrap_or_else(String::into_bytes)).map_err(text)?;
    }
}

fn send(socket: &mut UnixStream, bytes: &[u8]) -> std::io::Result<()> {
    socket.write_all(&(bytes.len() as u64).to_le_bytes())?;
    socket.write_all(bytes)
}

fn receive(socket: &mut UnixStream) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 8];
    socket.read_exact(&mut length)?;
    let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
    socket.read_exact(&mut bytes)?;
    Ok(bytes)
}
