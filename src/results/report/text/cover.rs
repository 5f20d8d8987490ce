//! Renders the result of `kassay cover` as text: the metrics, the tests, and the source with what is not covered.

use std::fmt::Write;

use kassay_model::words::Words;

use super::super::by_file;
use super::super::style::{self, Paint, Style};
use super::super::table::{Cell, Table};
use super::mcdc::decisions;
use super::{def_use, heading, notes, percent, quote, source, title};
use crate::result::Ratio;
use crate::result::cover::{CoverResult, Coverage, METRICS, Measure, TestOutcome, TestStatus};

/// Options of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverOptions {
    /// Leaves the source out.
    pub summary_only: bool,
}

/// Renders the metrics, the tests, and the source with hits and what is not covered. `sources` returns the text of a
/// file by its name in the result; for files without text, what is not covered is listed by location.
pub fn cover(
    result: &CoverResult,
    options: CoverOptions,
    sources: &dyn Fn(&str) -> Option<String>,
    style: &Style,
) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    out.push('\n');
    out.push_str(&metrics(&result.coverage, style));
    out.push_str(&result.mcdc.as_ref().map(|mcdc| decisions(mcdc, style)).unwrap_or_default());
    if let Some(pairs) = &result.def_use {
        out.push_str(&def_use::def_use(pairs, options.summary_only, style));
    }
    out.push_str(&tests(&result.tests, result.header.words(), style));
    if let Some(overhead) = result.overhead {
        let _ = writeln!(out, "\noverhead: {overhead:.2} times the original kernel time (median over the tests)");
    }
    let _ = writeln!(out, "seed {}, {}", result.header.seed, style::seconds(result.elapsed_s));
    if !options.summary_only {
        let listing = source::Listing::new(result, style);
        for file in by_file::files(result) {
            out.push_str(&listing.file(&file, sources(file.name).as_deref()));
        }
    }
    out.push_str(&notes(style, &result.notes));
    out
}

fn metrics(coverage: &Coverage, style: &Style) -> String {
    let mut table = Table::new(2, "lrrr");
    table.head(&["metric", "covered", "total", "percent"]);
    let mut row = |name: &str, ratio: Ratio| {
        table.row([
            Cell::new(name),
            ratio.covered.to_string().into(),
            ratio.total.to_string().into(),
            percent(ratio.percent()),
        ]);
    };
    for metric in &METRICS {
        match (metric.measure)(coverage) {
            Measure::Ratio(ratio) => row(metric.label, ratio),
            Measure::Mean(_) | Measure::Unmeasured => continue,
        }
        // Without loops, the rows of their classes are left out.
        if metric.site_kind == "loop" && coverage.loops.total > 0 {
            coverage.loops.by_class().into_iter().for_each(|(class, ratio)| row(&format!("  {class}"), ratio));
        }
    }
    for metric in &METRICS {
        if let Measure::Mean(Some(mean)) = (metric.measure)(coverage) {
            table.row([metric.label.into(), "".into(), "".into(), percent(Some(mean))]);
        }
    }
    table.render(style)
}

fn paint(status: TestStatus) -> Paint {
    if status == TestStatus::Completed { Paint::Good } else { Paint::Bad }
}

fn tests(tests: &[TestOutcome], words: Words, style: &Style) -> String {
    if tests.is_empty() {
        return String::new();
    }
    let mut out = heading(style, "tests");
    let mut table = Table::new(2, "llrrrr");
    let [items, groups] = ["work-items", "work-groups"].map(|name| words.say(name));
    table.head(&["name", "status", &items, &groups, "original", "instrumented"]);
    let time = |t: Option<f64>| Cell::new(t.map_or("-".to_owned(), style::seconds));
    for test in tests {
        table.row([
            Cell::new(&test.name),
            Cell::painted(paint(test.status), test.status.name()),
            test.work_items.to_string().into(),
            test.work_groups.to_string().into(),
            time(test.original_s),
            time(test.instrumented_s),
        ]);
    }
    let text = table.render(style);
    let mut lines = text.lines();
    if let Some(head) = lines.next() {
        let _ = writeln!(out, "{head}");
    }
    for (line, test) in lines.zip(tests) {
        let _ = writeln!(out, "{line}");
        out.push_str(&test.reason.as_deref().map(|r| quote(r, "      ")).unwrap_or_default());
        out.push_str(&quote(&test.printf, "      | "));
    }
    out
}
