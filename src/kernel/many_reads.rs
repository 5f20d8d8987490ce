//! Only for fuzzing: one child that reads many modules, one after the other, because forking a fuzzer for each takes many times as
//! long as reading it.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::forked::{self, Failure, Limit, Running};

/// A child is replaced after so many modules, because LLVM keeps some of what it has read.
const MOST: u32 = 20_000;

/// The longest time that the child may take for a module. LLVM does not end on some, and that it is then ended is no news.
const LONGEST_READ: Duration = Duration::from_secs(3);

/// The longest life of a child; it is far above what [`MOST`] modules take.
const LIFE: Duration = Duration::from_secs(24 * 3600);

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
pub fn run(bytes: &[u8], limit: Duration, read: fn(&[u8])) -> Result<(), Failure> {
    let mut reader = match READER.take().filter(|reader| reader.left > 0) {
        Some(reader) => reader,
        None => Reader::start(read)?,
    };
    let mut answer = [0];
    let limit = limit.clamp(Duration::from_millis(1), LONGEST_READ);
    let asked = reader.socket.set_read_timeout(Some(limit)).and_then(|()| reader.ask(bytes, &mut answer));
    match asked {
        Ok(()) => {
            reader.left -= 1;
            READER.set(Some(reader));
            Ok(())
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
    fn start(read: fn(&[u8])) -> Result<Reader, Failure> {
        let (socket, theirs) = UnixStream::pair().map_err(|e| Failure::System(e.to_string()))?;
        // The closure, and with it the child's end, is dropped here.
        let child = forked::begin(Limit::of(LIFE), move || serve(theirs, read))?;
        Ok(Reader { child, socket, left: MOST })
    }

    fn ask(&mut self, bytes: &[u8], answer: &mut [u8]) -> std::io::Result<()> {
        self.socket.write_all(&(bytes.len() as u64).to_le_bytes())?;
        self.socket.write_all(bytes)?;
        self.socket.read_exact(answer)
    }
}

/// In the child.
fn serve(mut socket: UnixStream, read: fn(&[u8])) -> Result<Vec<u8>, String> {
    let text = |e: std::io::Error| e.to_string();
    forked::limit_memory(1 << 20);
    loop {
        let mut length = [0; 8];
        socket.read_exact(&mut length).map_err(text)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        socket.read_exact(&mut bytes).map_err(text)?;
        read(&bytes);
        socket.write_all(&[1]).map_err(text)?;
    }
}
