//! Renders results as text for human readers. Colour never carries information that the words do not.

mod capture;
mod check;
mod check_set;
mod ci;
mod compare;
mod comparison;
mod cover;
mod cover_set;
mod def_use;
mod generate;
mod inspect;
mod mcdc;
mod mutants;
mod mutate;
mod mutate_set;
mod proofs;
pub(super) mod repairs;
mod run;
mod schedule;
mod sets;
mod source;

pub use capture::capture;
pub use check::{CheckView, check};
pub use check_set::check_set;
pub use ci::ci;
pub use compare::{CompareView, compare};
pub use cover::{CoverOptions, cover};
pub use cover_set::cover_set;
pub use generate::{GenerateView, generate};
pub use inspect::inspect;
pub use mutants::change;
pub use mutate::{MutateView, mutate};
pub use mutate_set::mutate_set;
pub use run::run;
pub use schedule::schedule;
pub use sets::{generate_set, run_set, schedule_set};

pub(super) use check::{headline, id, schedule_text};
pub(super) use run::mismatch;
pub(super) use schedule::differs;

use std::fmt::Write;

use super::style::{self, Paint, Style, visible, wrap};
use super::table::Cell;
use crate::result::Device;

/// Returns the first line of a report: the kernel, its file and the device.
fn title(style: &Style, kernel: &str, source: &str, device: Option<&Device>) -> String {
    let mut line = format!("{} ({})", style.paint(Paint::Bold, visible(kernel)), visible(source));
    if let Some(device) = device {
        let (name, driver) = (visible(&device.name), visible(&device.driver));
        // If the name already ends with the kind (the simulator), the device is its own driver.
        let _ = match device.name.ends_with(&device.kind) {
            true => write!(line, " on {name} {driver}"),
            false => write!(line, " on {name} ({}, driver {driver})", device.kind),
        };
    }
    line.push('\n');
    line
}

/// Returns a heading after an empty line.
fn heading(style: &Style, text: &str) -> String {
    format!("\n{}\n", style.paint(Paint::Bold, text))
}

/// Returns the notes, a paragraph each; empty if there are none.
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

/// Returns each line of `text` after `prefix`; empty for an empty text.
fn quote(text: &str, prefix: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", format!("{prefix}{}", visible(line)).trim_end());
        out
    })
}

/// Returns a percentage as a cell; `None`: there is nothing to cover.
fn percent(p: Option<f64>) -> Cell {
    match p {
        Some(p) => {
            let paint = match p {
                _ if p >= 100.0 => Paint::Good,
                _ if p > 0.0 => Paint::Warn,
                _ => Paint::Bad,
            };
            Cell::painted(paint, style::percent(p))
        }
        None => "-".into(),
    }
}
