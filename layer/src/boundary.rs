//! Keeps failures of the layer away from the program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::spool;

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
                let tell = || spool::note("stepped-aside", "the layer failed and only lets calls through");
                let _ = catch_unwind(tell);
            }
            None
        }
    }
}

/// Whether the layer has failed and only lets calls through.
pub fn has_stepped_aside() -> bool {
    STEPPED_ASIDE.load(Ordering::Relaxed)
}
