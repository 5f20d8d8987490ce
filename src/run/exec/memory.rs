//! Memory shared with a worker process, and in-memory files that capture a worker's output.
//!
//! Both are anonymous files (`memfd_create`): nothing reaches the disk, and nothing is left behind when a process dies.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind};
use std::os::unix::fs::FileExt;

use kassay_base::error::{Error, Result};
pub use kassay_base::files::memory_file;
use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, OFlags, fallocate, fcntl_setfl};
use serde::{Deserialize, Serialize};

/// A part of the shared memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Distance from the start of the memory.
    pub start: u64,
    /// Length.
    pub len: u64,
}

impl Span {
    /// The bytes of this span; `None` if it does not lie inside `memory`.
    pub fn of(self, memory: &[u8]) -> Option<&[u8]> {
        memory.get(usize::try_from(self.start).ok()?..usize::try_from(self.start.checked_add(self.len)?).ok()?)
    }

    /// As [`Span::of`], mutably.
    pub fn of_mut(self, memory: &mut [u8]) -> Option<&mut [u8]> {
        memory.get_mut(usize::try_from(self.start).ok()?..usize::try_from(self.start.checked_add(self.len)?).ok()?)
    }
}

/// Allocates spans of the shared memory, one after the other, each aligned to 128 bytes (the size of the largest
/// OpenCL type).
#[derive(Debug, Default)]
pub struct SpanAllocator {
    len: u64,
}

impl SpanAllocator {
    /// Allocates the next `len` bytes.
    pub fn allocate(&mut self, len: u64) -> Span {
        let start = self.len.next_multiple_of(128);
        self.len = start.saturating_add(len);
        Span { start, len }
    }

    /// Bytes allocated so far, including padding.
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// Memory that a parent and its worker both map.
#[derive(Debug)]
pub struct SharedMemory {
    file: File,
    map: Option<MmapMut>,
}

/// Mappings above this size are given back after each use.
const MAX_KEPT_BYTES: u64 = 256 << 20;

/// Requests up to this many bytes are made without checking first how much memory is available.
const UNCHECKED_BYTES: u64 = 64 << 20;

impl SharedMemory {
    /// Creates the memory from an anonymous file. Nothing is mapped yet.
    pub fn new(file: File) -> SharedMemory {
        SharedMemory { file, map: None }
    }

    /// Returns the file, which the other side maps too.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The mapped bytes; empty before the first [`SharedMemory::reserve`] or [`SharedMemory::map_reserved`].
    pub fn bytes(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or_default()
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.len() as u64)
    }

    /// Makes the memory at least `len` bytes long (parent's side); it never shrinks here. `extra`: what the worker
    /// will take from the same system for its own copies.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn reserve(&mut self, len: u64, extra: u64) -> Result<()> {
        let lacking = |e: IoError| {
            Error::environment(format!("cannot share {len} bytes of memory with the worker: {e}"))
                .help("give the launch smaller buffers, or free some memory")
        };
        let more = len.saturating_sub(self.len()).saturating_add(extra);
        if more > UNCHECKED_BYTES
            && let Some(available) = available_memory()
            && more > available
        {
            let details = format!("needed, with the device's copies: {more} bytes; available: {available} bytes");
            return Err(lacking(IoError::from(ErrorKind::OutOfMemory)).details(details));
        }
        if len <= self.len() {
            return Ok(());
        }
        let len = len.next_multiple_of(1 << 20);
        self.map = None;
        // Allocating now reports an error; otherwise, the first write to a page that cannot be allocated would
        // raise SIGBUS.
        fallocate(&self.file, FallocateFlags::empty(), 0, len).map_err(|error| lacking(error.into()))?;
        self.map(len).map_err(lacking)
    }

    /// Maps what the other side has reserved (worker's side).
    ///
    /// # Errors
    /// As the system reports.
    pub fn map_reserved(&mut self, len: u64) -> std::io::Result<()> {
        if len == self.len() { Ok(()) } else { self.map(len) }
    }

    /// Gives a large mapping back to the system (parent's side).
    pub fn trim(&mut self) {
        if self.len() > MAX_KEPT_BYTES {
            self.map = None;
            // A failure leaves the file as long as it was, which the next `reserve` copes with.
            let _ = self.file.set_len(0);
        }
    }

    fn map(&mut self, len: u64) -> std::io::Result<()> {
        self.map = None;
        if len > 0 {
            let len = usize::try_from(len).map_err(|_| IoError::from(ErrorKind::OutOfMemory))?;
            // SAFETY: the file is anonymous, and only the parent and its one worker have it open. They take turns:
            // one writes only while the other waits for its message, and the file shrinks only while no span of it is
            // in use.
            self.map = Some(unsafe { MmapOptions::new().len(len).map_mut(&self.file)? });
        }
        Ok(())
    }
}

/// The memory that is still available, from `/proc/meminfo`, in bytes.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// An in-memory file that captures a worker's standard output or error.
#[derive(Debug)]
pub struct Capture {
    file: File,
}

impl Capture {
    /// Creates the file.
    /// # Errors
    /// As the system reports.
    pub fn new(name: &std::ffi::CStr) -> std::io::Result<Capture> {
        let file = memory_file(name)?;
        // Append mode: after a truncation, the next write goes to the new end.
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Capture { file })
    }

    /// A second handle, for the child process.
    ///
    /// # Errors
    /// As the system reports.
    pub fn for_child(&self) -> std::io::Result<File> {
        self.file.try_clone()
    }

    /// Returns everything written since the last call, and empties the file.
    pub fn take(&self) -> String {
        let len = self.file.metadata().map_or(0, |m| m.len());
        if len == 0 {
            return String::new();
        }
        let text = self.read(0, len);
        let _ = self.file.set_len(0);
        text
    }

    /// The last `most` bytes written.
    pub fn tail(&self, most: u64) -> String {
        let len = self.file.metadata().map_or(0, |m| m.len());
        self.read(len.saturating_sub(most), len.min(most))
    }

    fn read(&self, from: u64, len: u64) -> String {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        match self.file.read_exact_at(&mut bytes, from) {
            Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_span_outside_the_memory_is_none() {
        let memory = [1_u8, 2, 3];
        assert_eq!(Span { start: 1, len: 2 }.of(&memory), Some(&memory[1..]));
        assert_eq!(Span { start: 2, len: 2 }.of(&memory), None);
        assert_eq!(Span { start: u64::MAX, len: 2 }.of(&memory), None);
    }

    #[test]
    fn two_mappings_see_the_same_bytes() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let mut parent = SharedMemory::new(memory_file(c"test")?);
        let mut child = SharedMemory::new(parent.file().try_clone()?);
        parent.reserve(5000, 0)?;
        child.map_reserved(parent.len())?;
        parent.bytes()[4999] = 42;
        assert_eq!(child.bytes()[4999], 42);
        assert!(parent.reserve(u64::MAX / 2, 0).is_err() && parent.reserve(1, u64::MAX).is_err());
        Ok(())
    }

    #[test]
    fn captured_text_is_taken_once() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let capture = Capture::new(c"test")?;
        let mut child = capture.for_child()?;
        child.write_all(b"one")?;
        assert_eq!(capture.take(), "one");
        child.write_all(b"two")?;
        assert_eq!(capture.tail(2), "wo");
        assert_eq!(capture.take(), "two");
        assert_eq!(capture.take(), "");
        Ok(())
    }
}
