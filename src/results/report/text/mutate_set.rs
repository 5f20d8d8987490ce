//! Renders the result of `kassay mutate` for several kernels as text.

use super::super::style::{Style, kernel_name};
use super::super::table::{Cell, Table};
use super::comparison::comparison;
use super::cover_set::{columns, heading, without_result};
use super::mutants::Listing;
use super::mutate::{MutateView, mutate, percent, scores};
use super::{notes, title};
use crate::result::mutate::{MutateResult, Summary};
use crate::result::set::{KernelResult, MutateSet};
use crate::result::sum;

/// Renders how the program ended, the undetected mutants of each kernel, and a line per kernel with its numbers; with
/// `verbose`, each kernel as `mutate` renders it. `sources` returns the text of a file by its name in the result.
pub fn mutate_set(
    result: &MutateSet,
    view: MutateView,
    verbose: bool,
    sources: &dyn Fn(&str) -> Option<String>,
    style: &Style,
) -> String {
    let mut out = result.program.as_ref().map(|program| heading(program, style)).unwrap_or_default();
    for kernel in result.kernels.iter().map(|kernel| &kernel.result) {
        let listed = if view.summary_only { String::new() } else { Listing::new(kernel, sources, style).render() };
        if verbose {
            out.push('\n');
            out.push_str(&mutate(kernel, view, sources, style));
        } else if !listed.is_empty() {
            out.push('\n');
            let header = &kernel.header;
            out.push_str(&title(style, &header.kernel, &header.source, header.device.as_ref()));
            out.push_str(&listed);
        }
        let new = kernel.baseline.as_ref().is_some_and(|baseline| !baseline.new_survivors.is_empty());
        if !verbose && new {
            out.push_str(&comparison(kernel, sources, style));
        }
    }
    if !result.kernels.is_empty() {
        out.push('\n');
        out.push_str(&table(result, style));
        out.push('\n');
        out.push_str(&scores(&result.total, style));
    }
    out.push_str(&without_result(&result.failed, &result.left_out, verbose, style));
    out.push_str(&notes(style, &result.notes));
    out
}

/// A row per kernel and one for all.
fn table(result: &MutateSet, style: &Style) -> String {
    let mut table = Table::new(2, "lrrrrrl");
    let (runs, place) = columns(result);
    table.head(&["kernel", runs, "mutants", "detected", "undetected", "score", place]);
    let mut row = |name: &str, runs: Option<u64>, s: &Summary, place: &str| {
        let undetected = sum([s.survived, s.no_coverage, s.undecided, s.equivalent_for_launches]);
        let numbers =
            [s.total, sum([s.killed, s.runtime_error, s.timeout]), undetected].map(|n| Cell::new(n.to_string()));
        let runs = runs.map_or("-".to_owned(), |runs| runs.to_string());
        let first = [Cell::new(kernel_name(name)), runs.into()].into_iter().chain(numbers);
        table.row(first.chain([percent(s.score), Cell::new(place)]));
    };
    let runs = |kernel: &KernelResult<MutateResult>| match kernel.suite {
        Some(_) => Some(kernel.result.tests.len() as u64),
        None => kernel.launches,
    };
    for kernel in &result.kernels {
        let header = &kernel.result.header;
        row(&header.kernel, runs(kernel), &kernel.result.summary, kernel.suite.as_ref().unwrap_or(&header.source));
    }
    if result.kernels.len() > 1 {
        row(
            "total",
            result.kernels.iter().map(runs).try_fold(0_u64, |all, more| Some(all.saturating_add(more?))),
            &result.total,
            "",
        );
    }
    table.render(style)
}
