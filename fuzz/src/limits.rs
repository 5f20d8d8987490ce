//! What an input may take.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes that may be allocated at a time, also if they are never touched.
const MOST_BYTES: usize = 2 << 30;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which aborts beyond [`MOST_BYTES`].
pub struct Limited;

fn count(size: usize) {
    if IN_USE.fetch_add(size, Ordering::Relaxed).saturating_add(size) > MOST_BYTES {
        let text = b"more than 2 GB are allocated\n";
        // SAFETY: `text` is valid for its length; neither call allocates.
        unsafe {
            libc::write(2, text.as_ptr().cast(), text.len());
            libc::abort();
        }
    }
}

// SAFETY: every call is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// Makes writing to a pipe without a reader fail, as in every Rust program whose `main` is Rust's.
pub fn ignore_closed_sockets() {
    // SAFETY: ignoring it is always a valid action.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}
