//! Forks and the end of the process.
//!
//! A child that goes on without `exec` is a process of its own in the spool, with counts that begin at zero. Nothing is
//! allocated or freed between the fork and the child's next call: another thread may have been anywhere.

use std::cell::UnsafeCell;
use std::sync::{MutexGuard, Once};

use crate::boundary;
use crate::capture::{self, Kinds};
use crate::generation;
use crate::live::{self, Table};
use crate::shadow::{self, State};
use crate::spool::counts::Header;
use crate::spool::process::{self, Current};

/// Registers for notification of forks and of the end, once.
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

/// The locks that are held through a fork, so that the child does not inherit one that is never released.
struct Held(UnsafeCell<Option<Locks>>);

/// The one that is taken first comes last, as it is released last.
type Locks =
    (MutexGuard<'static, Current>, MutexGuard<'static, Table>, MutexGuard<'static, Kinds>, MutexGuard<'static, State>);

// SAFETY: only the thread that forks touches the cell, while it holds the very locks that are in it.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

extern "C" fn before_fork() {
    boundary::shielded(|| {
        let state = shadow::state();
        let kinds = capture::kinds();
        let table = live::table();
        let current = process::hold();
        // SAFETY: see `Held`.
        unsafe { *HELD.0.get() = Some((current, table, kinds, state)) };
    });
}

extern "C" fn after_fork_in_parent() {
    // SAFETY: see `Held`; the forking thread is this one.
    boundary::shielded(|| drop(unsafe { (*HELD.0.get()).take() }));
}

extern "C" fn after_fork_in_child() {
    generation::begin();
    after_fork_in_parent();
}

extern "C" fn at_exit() {
    boundary::shielded(|| {
        process::count(Header::Ended);
    });
}
