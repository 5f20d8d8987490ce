//! `--sandbox`: whether suites are trusted. It holds for everything that a command opens.

use std::sync::atomic::{AtomicBool, Ordering};

use kassay_base::error::{Error, Result};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// From here on suites are not trusted.
pub fn turn_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Returns whether suites are not trusted.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Refuses `--sandbox` where it would promise what kassay cannot keep.
///
/// # Errors
/// `Caller` if it was given.
pub fn refuse(what: &str) -> Result<()> {
    match is_on() {
        true => Err(Error::caller(format!("--sandbox does not confine {what}"))
            .help("leave it out; docs/trust.md says what it does")),
        false => Ok(()),
    }
}
