//! What the server needs to know of a child that it is to start: an [`Order`] with descriptors, and the contents of a
//! file in memory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cache;
use crate::files::memory_file;

/// What kind of child is to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One that does a piece of work.
    Leaf,
    /// One whose work needs children, too: it gets a server of its own.
    Parent,
    /// One that becomes another program, in a process group of its own.
    Program,
}

/// Decodes the input of some work and does it. The first argument is the address of the work's function.
pub type Call = fn(usize, &[u8], &[u8]) -> Result<Vec<u8>, String>;

/// The fixed part of an order.
///
/// A server is a copy of the process that it serves, so that functions have the same addresses in both.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    pub kind: Kind,
    pub call: Call,
    pub work: usize,
}

/// Length of an encoded order.
pub const LENGTH: usize = 17;

impl Order {
    /// Encodes it for [`Order::decode`].
    pub fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0] = self.kind as u8;
        bytes[1..9].copy_from_slice(&(self.call as usize).to_ne_bytes());
        bytes[9..].copy_from_slice(&self.work.to_ne_bytes());
        bytes
    }

    /// Decodes an order; `None` if it is none.
    ///
    /// # Safety
    /// The bytes must be those of an order that was encoded in this process or in the one that it was forked from.
    pub unsafe fn decode(bytes: &[u8]) -> Option<Order> {
        let kind = match bytes.first()? {
            0 => Kind::Leaf,
            1 => Kind::Parent,
            2 => Kind::Program,
            _ => return None,
        };
        let call = usize::from_ne_bytes(bytes.get(1..9)?.try_into().ok()?);
        let work = usize::from_ne_bytes(bytes.get(9..LENGTH)?.try_into().ok()?);
        // SAFETY: it was a `Call` when it was encoded, in the same program at the same addresses.
        let call = unsafe { std::mem::transmute::<usize, Call>(call) };
        Some(Order { kind, call, work })
    }
}

/// The first byte of an answer.
pub const ANSWER: u8 = b'+';
/// The first byte of an error.
pub const REFUSAL: u8 = b'-';

/// A program to be started, as the child gets it.
#[derive(Serialize, Deserialize)]
pub struct Program {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Variables that are set or removed.
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub directory: Option<OsString>,
}

/// The descriptors that go with an order, in this order.
pub struct Descriptors {
    /// To the server, which tells the child's number and how it ended. If the other side hangs up, the child is killed.
    pub control: OwnedFd,
    /// Where the child writes its answer.
    pub answer: OwnedFd,
    /// A file with the [`Contents`].
    pub contents: OwnedFd,
    /// The working directory.
    pub directory: OwnedFd,
    /// The child's standard error; for a program also its standard output.
    pub error: OwnedFd,
    /// What else the child is handed.
    pub handed: Option<OwnedFd>,
}

impl Descriptors {
    /// All of them, to be sent.
    pub fn all(&self) -> Vec<BorrowedFd<'_>> {
        let Descriptors { control, answer, contents, directory, error, handed } = self;
        let fixed = [control, answer, contents, directory, error];
        fixed.into_iter().chain(handed).map(|descriptor| descriptor.as_fd()).collect()
    }

    /// The same, as received; `None` if some are missing.
    pub fn of(received: Vec<OwnedFd>) -> Option<Descriptors> {
        let mut all = received.into_iter();
        Some(Descriptors {
            control: all.next()?,
            answer: all.next()?,
            contents: all.next()?,
            directory: all.next()?,
            error: all.next()?,
            handed: all.next(),
        })
    }
}

/// What a child is given besides: where it finds what its parent would find, and its input.
pub struct Contents<'a> {
    /// The variables of the environment: `NAME=VALUE`, each ended by a NUL.
    environment: &'a [u8],
    /// The capacity and the folder of the cache; empty if there is none.
    cache: &'a [u8],
    pub input: &'a [u8],
    pub bytes: &'a [u8],
}

impl<'a> Contents<'a> {
    /// Writes contents into a file in memory, with the environment and the cache of this process.
    ///
    /// # Errors
    /// As the system reports.
    pub fn write(input: &[u8], bytes: &[u8]) -> std::io::Result<File> {
        let mut environment = Vec::new();
        for (name, value) in std::env::vars_os() {
            for part in [name.as_bytes(), b"=", value.as_bytes(), &[0]] {
                environment.extend_from_slice(part);
            }
        }
        let cache = cache::in_use().map_or_else(Vec::new, |(folder, bound)| {
            [&bound.to_ne_bytes()[..], folder.as_os_str().as_bytes()].concat()
        });
        let mut file = memory_file(c"kassay-order")?;
        let mut head = Vec::new();
        for part in [&environment, &cache, input] {
            head.extend_from_slice(&(part.len() as u64).to_ne_bytes());
        }
        for part in [&head, &environment, &cache, input, bytes] {
            file.write_all(part)?;
        }
        Ok(file)
    }

    /// Reads what [`Contents::write`] wrote; `None` if it is something else.
    pub fn read(all: &'a [u8]) -> Option<Contents<'a>> {
        let (head, mut rest) = all.split_at_checked(24)?;
        let mut lengths = head.chunks_exact(8).map(|length| u64::from_ne_bytes(length.try_into().unwrap_or_default()));
        let mut next = || {
            let (part, after) = rest.split_at_checked(lengths.next()? as usize)?;
            rest = after;
            Some(part)
        };
        let (environment, cache, input) = (next()?, next()?, next()?);
        Some(Contents { environment, cache, input, bytes: rest })
    }

    /// In a child: lets it find what its parent finds.
    pub fn take_over(&self) {
        // SAFETY: a child has no other threads.
        unsafe { libc::clearenv() };
        for variable in self.environment.split(|byte| *byte == 0) {
            // A name may begin with `=`.
            let equals = variable.iter().skip(1).position(|byte| *byte == b'=');
            if let Some((name, value)) = equals.and_then(|at| Some((variable.get(..=at)?, variable.get(at + 2..)?))) {
                // SAFETY: a child has no other threads.
                unsafe { std::env::set_var(OsStr::from_bytes(name), OsStr::from_bytes(value)) };
            }
        }
        if let Some((bound, folder)) = self.cache.split_first_chunk::<8>() {
            cache::open(OsString::from_vec(folder.to_vec()).into(), u64::from_ne_bytes(*bound));
        }
    }
}

/// Opens the working directory.
///
/// # Errors
/// As the system reports.
pub fn working_directory() -> std::io::Result<File> {
    File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(work: usize, input: &[u8], bytes: &[u8]) -> Result<Vec<u8>, String> {
        Ok(vec![work as u8, input[0], bytes[0]])
    }

    #[test]
    fn orders_and_contents_are_read_back() {
        let order = Order { kind: Kind::Parent, call, work: 7 };
        // SAFETY: it was just encoded.
        let read = unsafe { Order::decode(&order.encode()) }.unwrap();
        assert_eq!((read.kind, (read.call)(read.work, &[8], &[9])), (Kind::Parent, Ok(vec![7, 8, 9])));
        let file = Contents::write(b"input", b"bytes").unwrap();
        let all = std::fs::read(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file))).unwrap();
        let contents = Contents::read(&all).unwrap();
        assert_eq!((contents.input, contents.bytes), (&b"input"[..], &b"bytes"[..]));
        assert!(contents.environment.windows(5).any(|part| part == b"PATH="));
        assert!(Contents::read(&all[..30]).is_none() && Contents::read(&[]).is_none());
    }
}
