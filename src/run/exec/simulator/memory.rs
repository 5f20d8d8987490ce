//! Address space for launches: objects with unused gaps between them, so that a wild pointer rarely hits
//! another object.

use std::ptr::NonNull;

use kassay_base::error::{Error, Result};

/// Unused bytes before every object and after the last one.
pub const GAP: u64 = 1 << 16;

/// Alignment of every object: that of the largest OpenCL type.
pub const ALIGNMENT: u64 = 128;

/// Reservations up to this size are kept for the next launch; larger ones go back to the system.
const MAX_KEPT_BYTES: u64 = 256 << 20;

/// A reserved range of the address space; pages are allocated when first touched, and are zero.
#[derive(Debug, Default)]
pub struct Reservation {
    at: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the mapping has this value as its only owner and is not tied to a thread.
unsafe impl Send for Reservation {}

impl Reservation {
    /// Returns at least `bytes` bytes. Their previous contents may be lost.
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
        // SAFETY: without an address hint, `mmap` creates a new mapping that replaces no other.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        let start = (start != libc::MAP_FAILED).then_some(start).and_then(|s| NonNull::new(s.cast::<u8>()));
        let start = start.ok_or_else(lacking)?;
        self.at = Some((start, len));
        Ok(start.as_ptr())
    }

    /// Releases the range if it is large.
    pub fn trim(&mut self) {
        if self.at.is_some_and(|(_, len)| len as u64 > MAX_KEPT_BYTES) {
            self.release();
        }
    }

    fn release(&mut self) {
        if let Some((start, len)) = self.at.take() {
            // SAFETY: `reserve` made this mapping with this length; taking it out of `self.at` makes sure that it is
            // unmapped once, and the owner no longer uses it.
            unsafe { libc::munmap(start.as_ptr().cast(), len) };
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release();
    }
}

/// Assigns offsets in a range to objects, with gaps between them.
#[derive(Debug)]
pub struct OffsetAllocator {
    end: u64,
}

impl OffsetAllocator {
    /// An empty layout.
    pub fn new() -> OffsetAllocator {
        OffsetAllocator { end: 0 }
    }

    /// The offset of a new object of `bytes` bytes.
    pub fn allocate(&mut self, bytes: u64) -> u64 {
        let start = self.end.saturating_add(GAP).next_multiple_of(ALIGNMENT);
        self.end = start.saturating_add(bytes);
        start
    }

    /// Total size in bytes, including the last gap.
    pub fn bytes(&self) -> u64 {
        self.end.saturating_add(GAP)
    }
}
