//! Forks and the end of the process.
//!
//! A child that goes on without `exec` is a process of its own in the spool, with counts that begin at zero. Nothing is
//! allocated or freed between the fork and the child's next call: another thread may have been anywhere.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, Once};

use crate::boundary;
use crate::shadow::{self, State};
use crate::spool::counts::Header;
use crate::spool::process::{self, Current};

/// Counts the forks between the process that loaded the library and this one.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Tells a process from the one that it was forked from.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Asks to be told of forks and of the end, once.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions stay loaded (the library is linked with `nodelete`).
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child));
            libc::atexit(at_exit);
        }
    });
}

/// The locks that are held through a fork, so that the child does not inherit one that nobody will release.
struct Held(UnsafeCell<Option<(MutexGuard<'static, Current>, MutexGuard<'static, State>)>>);

// SAFETY: only the thread that forks touches the cell, while it holds the very locks that are in it.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

extern "C" fn before_fork() {
    boundary::shielded(|| {
        let state = shadow::state();
        let current = process::hold();
        // SAFETY: see `Held`.
        unsafe { *HELD.0.get() = Some((current, state)) };
    });
}

extern "C" fn after_fork_in_parent() {
    // SAFETY: see `Held`; the forking thread is this one.
    boundary::shielded(|| drop(unsafe { (*HELD.0.get()).take() }));
}

extern "C" fn after_fork_in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    after_fork_in_parent();
}

extern "C" fn at_exit() {
    boundary::shielded(|| {
        process::count(Header::Ended);
    });
}
