//! Memory of launches: ranges of the address space with unused ones between, so that a wild pointer rarely hits a neighbour.

use std::ptr::NonNull;

use crate::error::{Error, Result};

/// Unused bytes in front of every object and behind the last one.
pub const GAP: u64 = 1 << 16;

/// Of every object: the largest OpenCL type's.
pub const ALIGNMENT: u64 = 128;

/// So much is kept for the next launch; what is more goes back to the system.
const KEEP: u64 = 256 << 20;

/// A range of the address space that this process may use; memory is taken where it is touched first, and is zero.
#[derive(Debug, Default)]
pub struct Reserved {
    at: Option<(NonNull<u8>, usize)>,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Reserved {}

impl Reserved {
    /// At least `bytes` bytes. What was there before may be lost.
    ///
    /// # Errors
    /// `Environment` if the address space has no such range.
    pub fn reserve(&mut self, bytes: u64) -> Result<*mut u8> {
        let lacking = || {
            Error::environment(format!("the system gives no {bytes} bytes of memory"))
                .help("give the launch smaller buffers, or free some memory")
        };
        if let Some((start, len)) = self.at
            && len as u64 >= bytes
        {
            return Ok(start.as_ptr());
        }
        self.release();
        let len = usize::try_from(bytes.max(1)).map_err(|_| lacking())?.next_multiple_of(1 << 20);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping anywhere; it replaces nothing.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let start = (start != libc::MAP_FAILED).then_some(start).and_then(|s| NonNull::new(s.cast::<u8>()));
        let start = start.ok_or_else(lacking)?;
        self.at = Some((start, len));
        Ok(start.as_ptr())
    }

    /// Gives large memory back.
    pub fn relax(&mut self) {
        if self.at.is_some_and(|(_, len)| len as u64 > KEEP) {
            self.release();
        }
    }

    fn release(&mut self) {
        if let Some((start, len)) = self.at.take() {
            // SAFETY: our own mapping, of this length, which nobody uses any more.
            unsafe { libc::munmap(start.as_ptr().cast(), len) };
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.release();
    }
}

/// Hands out places with gaps between, as offsets from the range's start.
#[derive(Debug)]
pub struct Places {
    end: u64,
}

impl Places {
    pub fn new() -> Places {
        Places { end: 0 }
    }

    pub fn place(&mut self, bytes: u64) -> u64 {
        let start = self.end.saturating_add(GAP).next_multiple_of(ALIGNMENT);
        self.end = start.saturating_add(bytes);
        start
    }

    /// Bytes in all, with the last gap.
    pub fn bytes(&self) -> u64 {
        self.end.saturating_add(GAP)
    }
}
