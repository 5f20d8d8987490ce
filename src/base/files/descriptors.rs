//! Files in memory, and descriptors that go from one process to another.
//!
//! Nothing of these reaches the disk, and nothing is left behind when a process dies.

use std::ffi::CStr;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::retry_on_intr;
use rustix::net::{self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

/// Creates an anonymous file in memory.
///
/// # Errors
/// As the system reports.
pub fn memory_file(name: &CStr) -> Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// The most descriptors that one message can have.
pub const MOST: usize = 8;

/// Room for the control message with [`MOST`] descriptors.
const ROOM: usize = rustix::cmsg_space!(ScmRights(MOST));

/// Sends bytes, which may not be none, and descriptors as one message over a Unix socket.
///
/// # Errors
/// As the system reports; `InvalidInput` for more than `MOST` descriptors.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    if descriptors.len() > MOST {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let part = [IoSlice::new(bytes)];
    let sent = retry_on_intr(|| net::sendmsg(socket, &part, &mut control, SendFlags::NOSIGNAL))?;
    if sent == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}

/// Receives what [`send`] sent, as many bytes as there is room for. Returns how many, 0 if the other side has hung up,
/// and the descriptors, which programs that this process starts do not inherit.
///
/// # Errors
/// As the system reports.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(usize, Vec<OwnedFd>)> {
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut part = [IoSliceMut::new(bytes)];
    let received = retry_on_intr(|| net::recvmsg(socket, &mut part, &mut control, RecvFlags::CMSG_CLOEXEC))?;
    let rights = |message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    };
    Ok((received.bytes, control.drain().filter_map(rights).flatten().collect()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn descriptors_arrive_with_their_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut files: Vec<File> = (0..MOST).map(|_| memory_file(c"test").unwrap()).collect();
        for (at, file) in files.iter_mut().enumerate() {
            file.write_all(&[at as u8]).unwrap();
        }
        let all: Vec<BorrowedFd<'_>> = files.iter().map(File::as_fd).collect();
        send(ours.as_fd(), b"abc", &all).unwrap();
        send(ours.as_fd(), b"d", &[]).unwrap();
        assert!(send(ours.as_fd(), b"e", &[&all[..], &all[..1]].concat()).is_err());
        drop(ours);
        let mut bytes = [0; 8];
        let (count, descriptors) = receive(theirs.as_fd(), &mut bytes).unwrap();
        assert_eq!((&bytes[..count], descriptors.len()), (&b"abc"[..], MOST));
        for (at, descriptor) in descriptors.into_iter().enumerate() {
            let (mut file, mut text) = (File::from(descriptor), Vec::new());
            file.rewind().unwrap();
            file.read_to_end(&mut text).unwrap();
            assert_eq!(text, [at as u8]);
        }
        assert!(matches!(receive(theirs.as_fd(), &mut bytes), Ok((1, none)) if none.is_empty()));
        assert!(matches!(receive(theirs.as_fd(), &mut bytes), Ok((0, none)) if none.is_empty()));
    }
}
