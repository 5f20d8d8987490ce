//! What an input may take, and what libFuzzer must not do to the children of a target.

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

/// Lets forked children die of their signals: libFuzzer's handlers would take their deaths for crashes of the target.
pub fn leave_children_alone() {
    extern "C" fn in_child() {
        let signals =
            [libc::SIGABRT, libc::SIGALRM, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGTERM];
        for signal in signals {
            // SAFETY: the default action is always a valid one.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
    // SAFETY: the handler only calls `signal`, which is async-signal-safe.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

/// Has writing to what nobody reads fail, as in every Rust program whose `main` is Rust's.
pub fn ignore_closed_sockets() {
    // SAFETY: ignoring it is always a valid action.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}
