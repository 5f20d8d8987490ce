//! Writes a file piece by piece on a thread of its own: who makes its contents does not wait for the system, and the
//! system does not wait for the end before it begins to store them.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// Pieces that may wait for being written.
const WAITING: usize = 8;

/// Takes what is written in small parts, and passes it on in pieces.
pub struct Pieces {
    piece: Vec<u8>,
    full: SyncSender<Vec<u8>>,
    /// Pieces that have been written: their memory is used again, because the system takes long to give more.
    written: Receiver<Vec<u8>>,
}

impl Pieces {
    /// Passes on what there is.
    #[cold]
    fn pass_on(&mut self) -> io::Result<()> {
        let mut next = self.written.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        next.clear();
        let piece = std::mem::replace(&mut self.piece, next);
        // The writer ends early if it fails; its error is the one to report.
        self.full.send(piece).map_err(|_| ErrorKind::BrokenPipe.into())
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    // Called for every bracket and comma.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.piece.len() + bytes.len() > PIECE {
            self.pass_on()?;
        }
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()
    }
}

/// Writes to `file` what `content` makes.
///
/// # Errors
/// Errors of writing, else those of `content`.
pub fn write(file: &mut File, content: impl FnOnce(&mut Pieces) -> io::Result<()>) -> io::Result<()> {
    let (full, pieces) = sync_channel::<Vec<u8>>(WAITING);
    let (done, written) = channel();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            pieces.into_iter().try_for_each(|piece| {
                write_piece(file, &piece)?;
                // The last ones are not taken.
                let _ = done.send(piece);
                Ok(())
            })
        });
        let mut sink = Pieces { piece: Vec::with_capacity(PIECE), full, written };
        let made = content(&mut sink).and_then(|()| sink.flush());
        drop(sink);
        let lost = |_| Err(io::Error::other("the thread that writes ended early"));
        writer.join().unwrap_or_else(lost).and(made)
    })
}

fn write_piece(file: &mut File, piece: &[u8]) -> io::Result<()> {
    file.write_all(piece)?;
    // SAFETY: the call takes a descriptor, which `file` keeps open, and numbers. Where it is refused (by a pipe, say),
    // the system stores the bytes when it likes.
    let _ = unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_all_pieces_in_order() {
        let mut file = tempfile::tempfile().unwrap();
        let expected: Vec<u8> = (0..3 * PIECE + 17).map(|i| (i / 1000) as u8).collect();
        write(&mut file, |sink| expected.chunks(999).try_for_each(|part| sink.write_all(part))).unwrap();
        let mut found = Vec::new();
        std::io::Seek::rewind(&mut file).unwrap();
        std::io::Read::read_to_end(&mut file, &mut found).unwrap();
        assert!(found == expected);
    }

    #[test]
    fn what_fails_is_told_and_ends_the_making_of_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("read-only");
        std::fs::write(&path, "").unwrap();
        let mut file = File::open(path).unwrap();
        let mut parts = 0;
        let error = write(&mut file, |sink| {
            loop {
                sink.write_all(&[0; PIECE])?;
                parts += 1;
            }
        });
        assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::EBADF));
        assert!(parts <= WAITING + 3, "{parts}");
    }
}
