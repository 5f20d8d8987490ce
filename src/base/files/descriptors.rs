//! Files in memory, and descriptors that go from one process to another.
//!
//! Nothing of these reaches the disk, and nothing is left behind when a process dies.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Creates an anonymous file in memory.
///
/// # Errors
/// As the system reports.
pub fn memory_file(name: &CStr) -> Result<File> {
    // SAFETY: `name` is a NUL-terminated string that outlives the call, which accesses no other memory.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: `memfd_create` has just returned this descriptor, so nothing else owns it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// The most descriptors that one message can have.
pub const MOST: usize = 8;

/// Room for the control message with [`MOST`] descriptors, aligned as its header has to be.
type Control = [u64; 8];

/// Sends bytes, which may not be none, and descriptors as one message over a Unix socket.
///
/// # Errors
/// As the system reports; `InvalidInput` for more than `MOST` descriptors.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    let size = std::mem::size_of_val(descriptors);
    if descriptors.len() > MOST {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut control: Control = [0; 8];
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: an empty message is plain data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    if !descriptors.is_empty() {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: the header and its data lie in `control`, which has room for so many descriptors; a borrowed
        // descriptor is its number in memory.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(size as u32) as usize;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size as u32) as usize;
            std::ptr::copy_nonoverlapping(descriptors.as_ptr().cast::<u8>(), libc::CMSG_DATA(header), size);
        }
    }
    loop {
        // SAFETY: the message points to what lives until the call returns; nothing there is written.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
        if sent >= 0 {
            return if sent as usize == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) };
        }
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Receives what [`send`] sent, as many bytes as there is room for. Returns how many, 0 if the other side has hung up,
/// and the descriptors, which programs that this process starts do not inherit.
///
/// # Errors
/// As the system reports.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(usize, Vec<OwnedFd>)> {
    let mut control: Control = [0; 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: an empty message is plain data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), std::mem::size_of_val(&control));
    let received = loop {
        // SAFETY: the message points to memory of the lengths that it says, which live until the call returns.
        let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        if received >= 0 {
            break received as usize;
        }
        let error = Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    };
    let mut descriptors = Vec::new();
    // SAFETY: the system has written the control messages that the header leads through; descriptors in them are this
    // process's own from now on.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            if ((*header).cmsg_level, (*header).cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let size = (*header).cmsg_len - libc::CMSG_LEN(0) as usize;
                let data = libc::CMSG_DATA(header).cast::<RawFd>();
                for at in 0..size / size_of::<RawFd>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(at).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    }
    Ok((received, descriptors))
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
