//! Ends long work when the process gets a signal, and says how to go on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use kassay_base::error::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The signal that says to stop; 0: none has come.
static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Returns whether a signal has come since [`interruptible`] began.
pub fn is_interrupted() -> bool {
    SIGNAL.get().is_some_and(|signal| signal.load(Ordering::Relaxed) != 0)
}

/// Does work that asks its observer whether to stop. If a signal has stopped it, tells how far it came and how to go on
/// (`resume`), and ends the process by that signal, as it would have ended at once.
///
/// # Errors
/// Errors of the work.
pub fn interruptible<R>(resume: Option<&str>, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let signal = SIGNAL.get_or_init(|| {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // It fails for no signal of these; the default action would remain.
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize);
        }
        signal
    });
    let done = work();
    let came = signal.load(Ordering::Relaxed);
    if came == 0 {
        return done;
    }
    if let Err(e) = done {
        let e = match resume {
            Some(resume) => e.help(resume),
            None => e,
        };
        eprintln!("kassay: {e}");
    }
    kassay_base::files::release_all();
    // What it returns if it fails does not matter: the process ends.
    let _ = signal_hook::low_level::emulate_default_handler(came as i32);
    Err(Error::environment("interrupted"))
}
