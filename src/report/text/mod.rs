//! Results as text for people. Colour shows only what the words say too.

mod check;
mod cover;
mod generate;
mod inspect;
mod mutants;
mod mutate;
mod run;
mod schedule;
mod source;

pub use check::{CheckView, check};
pub use cover::{CoverOptions, cover};
pub use generate::{GenerateView, generate};
pub use inspect::inspect;
pub use mutate::{MutateView, mutate};
pub use run::run;
pub use schedule::schedule;

use std::fmt::Write;

use super::style::{Paint, Style, visible, wrap};
use crate::result::Device;

/// The first line of a report: what was looked at, and on what.
fn title(style: &Style, kernel: &str, source: &str, device: Option<&Device>) -> String {
    let mut line = format!("{} ({})", style.paint(Paint::Bold, visible(kernel)), visible(source));
    if let Some(device) = device {
        let (name, driver) = (visible(&device.name), visible(&device.driver));
        // A name may say already what it is; such a thing is its own driver.
        let _ = match device.name.ends_with(&device.kind) {
            true => write!(line, " on {name} {driver}"),
            false => write!(line, " on {name} ({}, driver {driver})", device.kind),
        };
    }
    line.push('\n');
    line
}

/// A heading, after an empty line.
fn heading(style: &Style, text: &str) -> String {
    format!("\n{}\n", style.paint(Paint::Bold, text))
}

/// What is said besides, one paragraph each; nothing if there is nothing.
fn notes(style: &Style, notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes {
        let lines = wrap(&visible(note), style.width.saturating_sub(6).max(20));
        let _ = write!(out, "\n{} {}", style.paint(Paint::Warn, "note:"), lines.join("\n      "));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Lines as they are, each behind `prefix`; nothing for an empty text.
fn quote(text: &str, prefix: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", format!("{prefix}{}", visible(line)).trim_end());
        out
    })
}
