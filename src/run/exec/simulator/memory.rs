//! Address space for launches: objects with unused gaps between them, so that a wild pointer rarely hits
//! another object.

use kassay_base::error::{Error, Result};
use memmap2::{MmapOptions, MmapRaw};

/// Unused bytes before every object and after the last one.
pub const GAP: u64 = 1 << 16;

/// Alignment of every object: that of the largest OpenCL type.
pub const ALIGNMENT: u64 = 128;

/// Reservations up to this size are kept for the next launch; larger ones go back to the system.
const MAX_KEPT_BYTES: u64 = 256 << 20;

/// A reserved range of the address space; pages are allocated when first touched, and are zero.
#[derive(Debug, Default)]
pub struct Reservation {
    at: Option<MmapRaw>,
}

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
        if let Some(at) = self.at.as_ref().filter(|at| at.len() as u64 >= bytes) {
            return Ok(at.as_mut_ptr());
        }
        self.at = None;
        let len = usize::try_from(bytes.max(1)).map_err(|_| lacking())?.next_multiple_of(1 << 20);
        let map = MmapOptions::new().len(len).no_reserve_swap().map_anon().map_err(|_| lacking())?;
        Ok(self.at.insert(map.into()).as_mut_ptr())
    }

    /// Releases the range if it is large.
    pub fn trim(&mut self) {
        if self.at.as_ref().is_some_and(|at| at.len() as u64 > MAX_KEPT_BYTES) {
            self.at = None;
        }
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
