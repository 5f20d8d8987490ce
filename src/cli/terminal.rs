//! Shows on the terminal what happens while a command runs: clang's warnings, notes, progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::api::Observer;

/// Standard error, as far as the flags let it be used.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    verbose: bool,
    /// The bar of the work that goes on.
    bar: Mutex<Option<ProgressBar>>,
}

impl Terminal {
    /// Shows all of clang's warnings with `verbose`, and nothing with `quiet`.
    pub fn new(quiet: bool, verbose: bool) -> Terminal {
        Terminal { quiet, verbose, bar: Mutex::new(None) }
    }

    /// Returns whether more is to be shown.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }
}

impl Observer for Terminal {
    fn warnings(&self, all: &str, accepted_errors: &str) {
        if self.verbose {
            eprint!("{all}");
        } else if !self.quiet {
            eprint!("{accepted_errors}");
        }
    }

    fn note(&self, text: &str) {
        note(text);
    }

    fn begin(&self, things: &'static str, count: Option<u64>) {
        let (bar, template) = match count {
            Some(count) => (ProgressBar::new(count), "{prefix} {bar:30} {pos}/{len} {elapsed}"),
            None => (ProgressBar::no_length(), "{prefix} {pos}, {msg} {elapsed}"),
        };
        bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(things);
        draw_later(&bar, self.quiet);
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    fn progress(&self, done: u64, message: &str) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.set_position(done.max(bar.position()));
            bar.set_message(message.to_owned());
        }
    }

    fn stop(&self) -> bool {
        super::interrupt::is_interrupted()
    }

    fn end(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

/// Draws a bar after a second.
fn draw_later(bar: &ProgressBar, quiet: bool) {
    bar.set_draw_target(ProgressDrawTarget::hidden());
    if !quiet {
        let weak = bar.downgrade();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            // indicatif draws nothing if standard error is not a terminal.
            if let Some(bar) = weak.upgrade().filter(|b| !b.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(200));
            }
        });
    }
}

/// Whether notes are suppressed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes from now on.
pub fn silence_notes() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Prints a note on standard error, unless `--quiet` was given.
pub fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        complain(text);
    }
}

/// Prints on standard error why the exit code is not 0, even with `--quiet`.
pub fn complain(text: &str) {
    eprintln!("note: {text}");
}
