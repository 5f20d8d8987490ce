//! Renders the result of `kassay mutate -- COMMAND` as text.

use super::super::style::Style;
use super::super::table::{Cell, Table};
use super::cover_set::{heading, without_result};
use super::mutants::Listing;
use super::mutate::{MutateView, mutate, percent, scores};
use super::{notes, title};
use crate::result::mutate::Summary;
use crate::result::set::MutateSet;

/// Renders how the program ended, the undetected mutants of each kernel, and a line per kernel with its numbers; with `verbose`, each
/// kernel as `mutate` renders it. `sources` returns the text of a file by its name in the result.
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
    table.head(&["kernel", "launches", "mutants", "detected", "undetected", "score", "source"]);
    let mut row = |name: &str, launches: Option<u64>, s: &Summary, source: &str| {
        let undetected = s.survived + s.no_coverage + s.undecided + s.equivalent_for_launches;
        let numbers = [s.total, s.killed + s.runtime_error + s.timeout, undetected].map(|n| Cell::new(n.to_string()));
        let launches = launches.map_or("-".to_owned(), |launches| launches.to_string());
        let first = [Cell::new(name), launches.into()].into_iter().chain(numbers);
        table.row(first.chain([percent(s.score), Cell::new(source)]));
    };
    for kernel in &result.kernels {
        let header = &kernel.result.header;
        row(&header.kernel, kernel.launches, &kernel.result.summary, &header.source);
    }
    if result.kernels.len() > 1 {
        row("total", result.kernels.iter().map(|kernel| kernel.launches).sum(), &result.total, "");
    }
    table.render(style)
}
