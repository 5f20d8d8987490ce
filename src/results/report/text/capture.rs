//! Renders the result of `kassay capture` as text.

use std::fmt::Write;
use std::path::Path;

use super::super::style::{self, Paint, Style, kernel_name, visible, wrap};
use super::super::table::{Cell, Table};
use super::notes;
use crate::result::capture::{CaptureResult, Kernel, LeftOut, Replay};

/// Kernels of which the reasons are shown, unless all are asked for.
const SHOWN: usize = 20;

/// Renders how the program ended, a line per kernel with what is remarkable below it, and where the suites are.
/// `folder` is that of the capture. With `verbose`, kernels of which all is well get their reasons, too.
pub fn capture(result: &CaptureResult, folder: &Path, verbose: bool, style: &Style) -> String {
    let command = visible(&result.command.join(" ")).into_owned();
    let end = match (result.exit_code, &result.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => visible(signal).into_owned(),
        (None, None) => "ended".to_owned(),
    };
    let mut time = style::seconds(result.program_s);
    if let Some(native) = result.native_s {
        let _ = write!(time, "; {} without kassay", style::seconds(native));
    }
    let mut out = format!("\n{} ({end}, {time})\n", style.paint(Paint::Bold, command));
    if !result.kernels.is_empty() {
        out.push('\n');
    }
    let mut table = Table::new(2, "lrrl");
    for kernel in &result.kernels {
        table.row([
            Cell::new(kernel_name(&kernel.name)),
            style::count(kernel.launches, "launch").into(),
            format!("{} kept", kernel.kept).into(),
            Cell::painted(paint(kernel), verdict(kernel)),
        ]);
    }
    let mut left = if verbose { usize::MAX } else { SHOWN };
    for (line, kernel) in table.render(style).lines().zip(&result.kernels) {
        let _ = writeln!(out, "{line}");
        for remark in remarks(kernel, verbose) {
            if left > 0 {
                let lines = wrap(&visible(&remark), style.width.saturating_sub(6).max(20));
                let _ = writeln!(out, "      {}", lines.join("\n      "));
                left -= 1;
            }
        }
    }
    let suites = result.kernels.iter().filter(|kernel| kernel.suite.is_some()).count() as u64;
    let folder = folder.display().to_string();
    let _ = writeln!(out, "\n{} in {}", style::count(suites, "suite"), visible(&folder));
    for LeftOut { meaning, count, .. } in &result.left_out {
        let _ = writeln!(out, "{} left out: {meaning}", style::count(*count, "launch"));
    }
    out.push_str(&notes(style, &result.notes));
    out
}

/// What running the suite has shown, in few words.
fn verdict(kernel: &Kernel) -> String {
    let Some(replay) = &kernel.replay else {
        return if kernel.suite.is_some() { "not run".to_owned() } else { "no suite".to_owned() };
    };
    let Replay { exact, within_tolerance, not_reproduced, error, .. } = replay;
    if error.is_some() {
        return "could not be run".to_owned();
    }
    let mut parts = Vec::new();
    if *exact > 0 {
        parts.push(format!("{exact} reproduced"));
    }
    if *within_tolerance > 0 {
        parts.push(format!("{within_tolerance} within tolerances"));
    }
    let mut tests: Vec<&str> = not_reproduced.iter().map(|not| not.test.as_str()).collect();
    tests.dedup();
    if !tests.is_empty() {
        parts.push(format!("{} not reproduced", tests.len()));
    }
    parts.join(", ")
}

fn paint(kernel: &Kernel) -> Paint {
    match &kernel.replay {
        Some(Replay { error: None, not_reproduced, .. }) if not_reproduced.is_empty() => Paint::Good,
        _ => Paint::Warn,
    }
}

/// What the reader should know of a kernel, a paragraph each.
fn remarks(kernel: &Kernel, verbose: bool) -> Vec<String> {
    let mut all = Vec::new();
    for LeftOut { reason, meaning, count } in &kernel.left_out {
        let is_choice = matches!(reason.as_str(), "not-sampled" | "max-launches" | "not-selected");
        if verbose || !is_choice {
            all.push(format!("{} left out: {meaning}", style::count(*count, "launch")));
        }
    }
    if kernel.refused > 0 {
        all.push(format!("{} refused by the driver", style::count(kernel.refused, "launch")));
    }
    // Of a message of several lines, the first says what is wrong.
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    all.extend(kernel.error.as_deref().map(|text| if verbose { text.to_owned() } else { first(text) }));
    if let Some(replay) = &kernel.replay {
        all.extend(replay.error.as_deref().map(|text| if verbose { text.to_owned() } else { first(text) }));
        for not in &replay.not_reproduced {
            let argument = not.argument.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
            all.push(format!("{}:{argument} not reproduced: {}", not.test, first(&not.message)));
        }
    }
    all
}
