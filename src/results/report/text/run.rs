//! Renders the result of `kassay run` as text.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible};
use super::super::table::{Cell, Table};
use super::{notes, quote, title};
use crate::result::run::{AgainstSource, Comparison, Output, RunResult, Test, TestStatus};

/// Renders a line per test, with its mismatches and its printf output below, and a summary line.
pub fn run(result: &RunResult, style: &Style) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    if !result.tests.is_empty() {
        out.push('\n');
    }
    // The table has one line per test; the details of a test are inserted after its line.
    let mut table = Table::new(2, "llr");
    for test in &result.tests {
        table.row([
            Cell::painted(paint(test.status), test.status.name()),
            Cell::new(&test.name),
            Cell::painted(Paint::Dim, test.kernel_s.map(style::seconds).unwrap_or_default()),
        ]);
    }
    for (line, test) in table.render(style).lines().zip(&result.tests) {
        let _ = writeln!(out, "{line}");
        out.push_str(&details(test));
    }
    let _ = writeln!(out, "\n{}", summary(result, style));
    out.push_str(&notes(style, &result.notes));
    out
}

/// Returns the role of a status.
fn paint(status: TestStatus) -> Paint {
    match status {
        TestStatus::Passed => Paint::Good,
        TestStatus::Unchecked => Paint::Warn,
        TestStatus::Failed | TestStatus::Timeout | TestStatus::Crashed | TestStatus::Rejected => Paint::Bad,
    }
}

fn details(test: &Test) -> String {
    const INDENT: &str = "      ";
    let mut out = test.reason.as_deref().map(|r| quote(r, INDENT)).unwrap_or_default();
    if let Some(AgainstSource { comparison, message: Some(message) }) = &test.against_source {
        let meaning = match comparison {
            Comparison::Differs => "not what the driver makes of the source",
            _ => "not compared with the source",
        };
        out.push_str(&quote(&format!("{meaning}: {message}"), INDENT));
    }
    for output in test.outputs.iter().filter(|o| !o.passed) {
        let _ = writeln!(out, "{INDENT}{}", mismatch(output));
    }
    out.push_str(&quote(&test.printf, &format!("{INDENT}| ")));
    out
}

/// Describes how an output differs from what is expected.
pub(crate) fn mismatch(output: &Output) -> String {
    let mut text = match &output.first {
        Some(first) => {
            let field = match first.field.as_deref() {
                Some(f) if f.starts_with(['.', '[']) => f.to_owned(),
                Some(f) => format!(".{f}"),
                None => String::new(),
            };
            format!("{}[{}]{field}: expected {}, is {}", output.arg, first.index, first.expected, first.actual)
        }
        None => format!("{}: not as expected", output.arg),
    };
    if output.mismatches > 0 {
        let _ = write!(text, "; {} of {} differ", output.mismatches, style::count(output.elements, "element"));
    }
    if let Some(error) = output.largest_absolute_error {
        let _ = write!(text, ", largest error {}", style::magnitude(error));
    }
    visible(&text).into_owned()
}

fn summary(result: &RunResult, style: &Style) -> String {
    let s = &result.summary;
    let parts: Vec<_> = [
        (s.passed, "passed", Paint::Good),
        (s.failed, "failed", Paint::Bad),
        (s.broken, "broken", Paint::Bad),
        (s.unchecked, "unchecked", Paint::Warn),
    ]
    .into_iter()
    .filter(|part| part.0 > 0)
    .map(|(n, what, paint)| style.paint(paint, format!("{n} {what}")))
    .collect();
    let tests = style::count(s.total, "test");
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{tests}{parts} ({})", style::seconds(result.elapsed_s))
}
