//! Renders the checks of several kernels as text.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, kernel_name, visible, wrap};
use super::super::table::{Cell, Table};
use super::check::{CheckView, check, verdict_paint};
use super::cover_set::without_result;
use super::notes;
use crate::result::check::{CheckResult, CheckSet, Verdict};
use crate::result::set::{Failed, KernelResult, LeftOut};

/// Reasons that follow from what was asked for, and are reported only if all are asked for.
const CHOICES: &[&str] = &["not-sampled", "max-launches", "not-selected", "same-inputs"];

/// Renders the findings of each kernel that has some, a line per kernel, what was left out, and the verdict. With
/// [`CheckView::verbose`] every kernel is rendered like one that was checked alone. `sources` returns the text of a
/// file by its name in the result.
pub fn check_set(set: &CheckSet, view: CheckView, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    let mut out = String::from("\n");
    if let Some(program) = &set.program {
        let end = match (program.exit_code, &program.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => visible(signal).into_owned(),
            (None, None) => "ended".to_owned(),
        };
        let command = visible(&program.command.join(" ")).into_owned();
        let time = style::seconds(program.program_s);
        let _ = writeln!(out, "{} ({end}, {time})", style.paint(Paint::Bold, command));
    }
    for KernelResult { result, .. } in &set.kernels {
        if view.verbose || !result.findings.is_empty() || result.verdict != Verdict::Clean {
            let _ = write!(out, "\n{}", check(result, view, sources, style));
        }
    }
    if !set.kernels.is_empty() {
        out.push('\n');
    }
    let mut table = Table::new(2, "lrrrl");
    for kernel in &set.kernels {
        table.row(row(kernel));
    }
    out.push_str(&table.render(style));
    let mut remark = |text: &str| {
        let lines = wrap(&visible(text), style.width.saturating_sub(4).max(20));
        let _ = writeln!(out, "  - {}", lines.join("\n    "));
    };
    for failed in &set.failed {
        // A suite is the caller's, who gets the whole message below.
        if failed.suite.is_none() {
            let name = failed.kernel.as_deref().unwrap_or("a kernel");
            let what = if view.verbose { &failed.error } else { failed.error.lines().next().unwrap_or_default() };
            remark(&format!("{name}: {what}"));
        }
    }
    for LeftOut { kernel, reason, meaning, count, .. } in &set.left_out {
        if view.verbose || !CHOICES.contains(&reason.as_str()) {
            let of = kernel.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            remark(&format!("{of}{} left out: {meaning}", style::count(*count, "launch")));
        }
    }
    let of_suites: Vec<Failed> = set.failed.iter().filter(|failed| failed.suite.is_some()).cloned().collect();
    out.push_str(&without_result(&of_suites, &[], view.verbose, style));
    let verdict = set.total.verdict;
    let inputs = set.total.summary.inputs;
    let checked = match set.program {
        Some(_) => format!("{inputs} of {} checked", style::count(launches(set), "launch")),
        None => style::count(inputs, "input"),
    };
    let _ = writeln!(
        out,
        "\nverdict: {}; {}, {checked} ({})",
        style.paint(verdict_paint(verdict), verdict.name()),
        style::count(set.kernels.len() as u64, "kernel"),
        style::seconds(set.elapsed_s)
    );
    out.push_str(&notes(style, &set.notes));
    out
}

/// Returns the number of launches of kernels that were to be checked, also of those without a result.
fn launches(set: &CheckSet) -> u64 {
    let has_result = |name: &String| set.kernels.iter().any(|kernel| kernel.result.header.kernel == *name);
    let was_asked_for = |left: &&LeftOut| !CHOICES.contains(&left.reason.as_str());
    let without = set.left_out.iter().filter(was_asked_for);
    let without = without.filter(|left| left.kernel.as_ref().is_some_and(|name| !has_result(name)));
    let counts = set.kernels.iter().filter_map(|kernel| kernel.launches).chain(without.map(|left| left.count));
    counts.fold(0, u64::saturating_add)
}

fn row(kernel: &KernelResult<CheckResult>) -> [Cell; 5] {
    let KernelResult { result, launches, suite, .. } = kernel;
    let found = result.findings.len() as u64;
    let inputs = match suite {
        Some(_) => style::count(result.summary.inputs, "input"),
        None => format!("{} checked", result.summary.inputs),
    };
    [
        Cell::new(kernel_name(&result.header.kernel)),
        launches.map_or_else(String::new, |count| style::count(count, "launch")).into(),
        inputs.into(),
        if found == 0 { "-".to_owned() } else { style::count(found, "finding") }.into(),
        Cell::painted(verdict_paint(result.verdict), result.verdict.name()),
    ]
}
