//! Keeps failures of the layer away from the program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Set when something here has panicked: the shadow may be wrong from then on, so the layer only lets calls through.
static STEPPED_ASIDE: AtomicBool = AtomicBool::new(false);

/// Runs the layer's own work. `None` if it panics, or if something has panicked before.
///
/// The program's call to the driver must not be made inside: it has to be made whatever happens here, and once.
pub fn shielded<R>(work: impl FnOnce() -> R) -> Option<R> {
    static HOOK: Once = Once::new();
    if STEPPED_ASIDE.load(Ordering::Relaxed) {
        return None;
    }
    // This crate links its own copy of the standard library: the hook does not concern a program written in Rust.
    HOOK.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(_) => {
            if !STEPPED_ASIDE.swap(true, Ordering::Relaxed) {
                let _ = catch_unwind(|| {
                    crate::spool::note("stepped-aside", "the layer failed and only lets calls through")
                });
            }
            None
        }
    }
}

/// Whether the layer has failed and only lets calls through.
pub fn has_stepped_aside() -> bool {
    STEPPED_ASIDE.load(Ordering::Relaxed)
}

/// Locks a mutex, also one whose holder has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
