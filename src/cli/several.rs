//! Runs a command for several files, and turns what becomes of it into an exit code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::options::OutputFlags;
use crate::error::{Error, Result};
use crate::report::Style;
use crate::result::set::{Failed, Fault};

/// The signal that says to stop; 0: none has come.
static SIGNAL: std::sync::OnceLock<Arc<AtomicUsize>> = std::sync::OnceLock::new();

/// Returns whether a signal has come since [`interruptible`] began.
pub fn is_interrupted() -> bool {
    SIGNAL.get().is_some_and(|signal| signal.load(Ordering::Relaxed) != 0)
}

/// Does work that asks its observer whether to stop. If a signal has stopped it, tells how far it came and how to go on
/// (`resume`), and ends the process by that signal, as it would have ended at once.
///
/// # Errors
/// Those of the work.
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
    // What it returns if it fails does not matter: the process ends.
    let _ = signal_hook::low_level::emulate_default_handler(came as i32);
    Err(Error::environment("interrupted"))
}

/// Writes the result of several files, if requested, and prints the text or the JSON.
///
/// # Errors
/// Those of [`OutputFlags::deliver`].
pub fn deliver<T: Serialize>(
    output: &OutputFlags,
    set: &T,
    text: impl FnOnce(&dyn Fn(&str) -> Option<String>, &Style) -> String,
) -> Result<()> {
    output.deliver(set, |style| text(&source, style))
}

/// Returns the text of a file by its name in a result.
pub fn source(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// Returns the exit code of a result of several files: that of the worst failure; if nothing failed, 1 with findings.
pub fn exit_code(failed: &[Failed], findings: bool) -> u8 {
    match failed.iter().filter_map(|failed| failed.fault).max() {
        Some(Fault::Kassay) => 4,
        Some(Fault::Environment) => 3,
        Some(Fault::Caller) => 2,
        None => u8::from(findings),
    }
}

/// Refuses flags that are for one file.
///
/// # Errors
/// `Caller` if one is given.
pub fn refuse(flags: &[(&str, bool)]) -> Result<()> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Error::caller(format!("{flag} is for one file, and several are given"))
            .help(format!("name one file, or leave out {flag}"))),
        None => Ok(()),
    }
}
