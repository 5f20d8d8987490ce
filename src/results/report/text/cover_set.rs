//! Renders the result of `kassay cover` for several kernels as text.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, kernel_name, visible, wrap};
use super::super::table::{Cell, Table};
use super::cover::{CoverOptions, cover};
use super::{notes, percent, quote};
use crate::result::cover::{CoverResult, Coverage, METRICS, Measure, Metric};
use crate::result::set::{CoverSet, Failed, KernelResult, KernelVariant, LeftOut, ProgramRun, SetResult};

/// Renders how the program ended, and a line per kernel with its metrics; with `verbose`, each kernel as `cover`
/// renders it, too. `sources` returns the text of a file by its name in the result.
pub fn cover_set(result: &CoverSet, verbose: bool, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    let mut out = result.program.as_ref().map(|program| heading(program, style)).unwrap_or_default();
    if verbose {
        for kernel in &result.kernels {
            out.push('\n');
            out.push_str(&cover(&kernel.result, CoverOptions::default(), sources, style));
            out.push_str(&variants(&kernel.variants, style));
        }
    }
    out.push_str(&table(result, style));
    out.push_str(&without_result(&result.failed, &result.left_out, verbose, style));
    out.push_str(&notes(style, &result.notes));
    out
}

/// Lists the kernels without a result, and the launches that a result says nothing about.
pub(super) fn without_result(failed: &[Failed], left_out: &[LeftOut], verbose: bool, style: &Style) -> String {
    let mut out = String::new();
    for Failed { kernel, suite, error, .. } in failed {
        let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
        let name = kernel.as_deref().or(suite.as_deref()).unwrap_or("a kernel");
        let text = format!("{} was not measured: {}", visible(name), visible(first));
        let lines = wrap(&text, style.width.saturating_sub(2).max(20)).join("\n  ");
        let _ = writeln!(out, "\n{}", style.paint(Paint::Warn, lines));
        // The kernel of a host program is perhaps not the caller's; a suite is.
        if verbose || suite.is_some() {
            out.push_str(&quote(rest, "  | "));
        }
    }
    for LeftOut { kernel, meaning, count, reason, .. } in left_out {
        // What the user asked for is reported on request only.
        if verbose || reason != "not-selected" {
            let of = kernel.as_ref().map(|kernel| format!(" of {}", visible(kernel))).unwrap_or_default();
            let meaning = meaning.lines().next().unwrap_or_default();
            let text = format!("{}{of} left out: {}", style::count(*count, "launch"), visible(meaning));
            let _ = writeln!(out, "{}", wrap(&text, style.width.max(20)).join("\n  "));
        }
    }
    out
}

pub(super) fn heading(program: &ProgramRun, style: &Style) -> String {
    let command = visible(&program.command.join(" ")).into_owned();
    let end = match (program.exit_code, &program.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => visible(signal).into_owned(),
        (None, None) => "ended".to_owned(),
    };
    format!("\n{} ({end}, {})\n", style.paint(Paint::Bold, command), style::seconds(program.program_s))
}

/// Returns the heads of the columns that say what ran and where a kernel is from.
pub(super) fn columns<R, T>(set: &SetResult<R, T>) -> (&'static str, &'static str) {
    if set.program.is_some() { ("launches", "source") } else { ("tests", "suite") }
}

/// A row per variant of a kernel: what it is built with, and what is not the same for all.
fn variants(variants: &[KernelVariant], style: &Style) -> String {
    if variants.is_empty() {
        return String::new();
    }
    let is_common = |define: &&String| variants.iter().all(|variant| variant.defines.contains(define));
    let mut table = Table::new(2, "rrl");
    table.head(&["variant", "launches", "macros that are not the same for all"]);
    for (number, variant) in (1_u64..).zip(variants) {
        let own: Vec<&str> = variant.defines.iter().filter(|define| !is_common(define)).map(String::as_str).collect();
        table.row([number.to_string().into(), variant.launches.to_string().into(), Cell::new(visible(&own.join(" ")))]);
    }
    format!("\n{}", table.render(style))
}

/// A row per kernel and one for all, a column per metric that any of them has.
fn table(result: &CoverSet, style: &Style) -> String {
    if result.kernels.is_empty() {
        return String::new();
    }
    let applies =
        |metric: &&Metric| matches!((metric.measure)(&result.total), Measure::Ratio(ratio) if ratio.total > 0);
    let metrics: Vec<&Metric> = METRICS.iter().filter(applies).collect();
    let mut table = Table::new(2, &format!("lr{}l", "r".repeat(metrics.len())));
    let labels = metrics.iter().map(|metric| metric.label);
    let (runs, place) = columns(result);
    let head: Vec<&str> = ["kernel", runs].into_iter().chain(labels).chain([place]).collect();
    table.head(&head);
    let mut row = |name: &str, runs: Option<u64>, coverage: &Coverage, place: &str| {
        let runs = runs.map_or("-".to_owned(), |runs| runs.to_string());
        let of = metrics.iter().map(|metric| percent((metric.measure)(coverage).percent()));
        table.row([Cell::new(kernel_name(name)), runs.into()].into_iter().chain(of).chain([Cell::new(place)]));
    };
    let runs = |kernel: &KernelResult<CoverResult>| match kernel.suite {
        Some(_) => Some(kernel.result.tests.len() as u64),
        None => kernel.launches,
    };
    for kernel in &result.kernels {
        let header = &kernel.result.header;
        let name = match kernel.variants.len() {
            0 => header.kernel.clone(),
            several => format!("{} ({several} variants)", kernel_name(&header.kernel)),
        };
        row(&name, runs(kernel), &kernel.result.coverage, kernel.suite.as_ref().unwrap_or(&header.source));
    }
    if result.kernels.len() > 1 {
        row(
            "total",
            result.kernels.iter().map(runs).try_fold(0_u64, |all, more| Some(all.saturating_add(more?))),
            &result.total,
            "",
        );
    }
    format!("\n{}", table.render(style))
}
