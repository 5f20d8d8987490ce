//! A child as its parent sees it: started by the server on order, alive until it has ended or its handle is dropped.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::order::{Call, Contents, Descriptors, Kind, Order, working_directory};
use super::server;

/// A child. It is killed if this value is dropped before it has ended.
#[derive(Debug)]
pub struct Started {
    answer: OwnedFd,
    control: UnixStream,
    /// What the server has sent.
    received: Vec<u8>,
}

/// Longer than a child that is killed takes to end.
const FAR: Duration = Duration::from_secs(3600);

/// Why there is no child, where the system says so.
fn lacking(error: Error) -> String {
    error.to_string()
}

impl Started {
    /// Has the server start a child. `call` comes with the address that it is given.
    ///
    /// # Errors
    /// Why that cannot be.
    pub fn order(
        kind: Kind,
        (call, work): (Call, usize),
        input: &[u8],
        bytes: &[u8],
        error: File,
        handed: Option<OwnedFd>,
    ) -> Result<Started, String> {
        let (answer, theirs) = std::io::pipe().map_err(lacking)?;
        let (control, server_end) = UnixStream::pair().map_err(lacking)?;
        let contents = Contents::write(input, bytes).map_err(lacking)?;
        let directory = working_directory().map_err(lacking)?;
        let descriptors = Descriptors {
            control: server_end.into(),
            answer: theirs.into(),
            contents: contents.into(),
            directory: directory.into(),
            error: error.into(),
            handed,
        };
        server::order(Order { kind, call, work }, &descriptors)?;
        Ok(Started { answer: answer.into(), control, received: Vec::new() })
    }

    /// Where its answer comes from.
    pub fn answer(&self) -> &OwnedFd {
        &self.answer
    }

    /// Waits at most until `end` for the child's end, and returns its status, as `waitpid` gives it. `None`: it goes
    /// on.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn status(&mut self, end: Instant) -> Result<Option<i32>, String> {
        loop {
            // The number of the process comes first, or that of an error, which is negative.
            let word =
                |at: usize| self.received.get(at..at + 4).and_then(|word| word.try_into().ok()).map(i32::from_ne_bytes);
            match (word(0), word(4)) {
                (Some(number @ ..0), _) => return Err(lacking(Error::from_raw_os_error(number.wrapping_neg()))),
                (_, Some(status)) => return Ok(Some(status)),
                _ if !self.is_told(end)? => return Ok(None),
                _ => {}
            }
        }
    }

    /// Waits until the server tells more; `false`: it has not by then.
    fn is_told(&mut self, end: Instant) -> Result<bool, String> {
        if !is_ready(&self.control, end) {
            return Ok(false);
        }
        let mut bytes = [0; 8];
        match self.control.read(&mut bytes) {
            Ok(0) => Err("the server that starts others has ended".to_owned()),
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(lacking(error)),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // If it has ended, there is nothing to kill. Otherwise the server kills it, and then reports that it is dead.
        let _ = self.control.shutdown(Shutdown::Write);
        let far = Instant::now() + FAR;
        while matches!(self.status(far), Ok(None)) {}
    }
}

/// Waits until something can be read or the other side has hung up; `false`: not by then.
pub fn is_ready(from: &impl AsFd, end: Instant) -> bool {
    loop {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
        match poll(&mut [PollFd::new(from, PollFlags::IN)], left.as_ref()) {
            Ok(0) if Instant::now() >= end => return false,
            // A signal to this process.
            Ok(0) | Err(_) => {}
            Ok(_) => return true,
        }
    }
}
