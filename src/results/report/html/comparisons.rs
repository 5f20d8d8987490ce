//! Shows results of `compare`: levels side by side, what tests of one level do on another, correlations, faults.

use maud::{Markup, html};

use super::super::style;
use super::figures::{self, Cells};
use super::pages::Run;
use super::parts::{facts, notes, percent_bar, shown, sort_key};
use crate::result::compare::{CompareResult, Interval, KernelComparison, LevelRow};
use crate::result::sum;

/// Shows a comparison of levels over all of its kernels.
pub(super) fn comparison(number: usize, run: &Run<'_, CompareResult>) -> Markup {
    let result = run.result;
    let mean = |interval: &Option<Interval>| interval.map(|interval| interval.mean);
    let total = &result.total;
    let cross: Vec<_> =
        total.cross.iter().map(|row| (row.adequate_on.as_str(), row.scored_on.as_str(), mean(&row.score))).collect();
    let subsumed: Vec<_> = total
        .cross
        .iter()
        .map(|row| (row.adequate_on.as_str(), row.scored_on.as_str(), mean(&row.minimal_subsumed)))
        .collect();
    html! {
        section.view id={ "compare" (number) } aria-labelledby={ "compare" (number) "-h" } {
            h2 id={ "compare" (number) "-h" } { "Levels compared over " (style::count(total.kernels, "kernel")) }
            (facts(run.file, &result.header, result.elapsed_s))
            (levels(&total.levels))
            div.columns { (matrix(CROSS, &cross)) (matrix(SUBSUMED, &subsumed)) }
            @if !total.correlation.is_empty() {
                (correlations("Correlation of scores over random suites of the same size", total.correlation.iter().map(|row|
                    (format!("{}, {}", row.level, row.other_level), row.pearson, row.kendall, row.defined, row.kernels))))
            }
            @if !total.against_faults.is_empty() {
                (correlations("Correlation with finding faults", total.against_faults.iter().map(|row|
                    (row.measure.clone(), row.pearson, row.kendall, row.defined, row.kernels))))
            }
            @if !total.twins.is_empty() {
                details.part-more {
                    summary { "Mutants of different levels that are the same program" }
                    table.numbers { tbody { @for (levels, n) in &total.twins { tr { th scope="row" { (shown(levels)) } td.n { (n) } } } } }
                }
            }
            @if !result.failed.is_empty() {
                h3 { "Not compared" }
                ul { @for failed in &result.failed { li { (shown(&failed.suite)) ": " (shown(&failed.error)) } } }
            }
            (notes(&result.notes))
        }
    }
}

const CROSS: &str = "Percent of a column's mutants that suites detect which suffice for a row";
const SUBSUMED: &str = "Percent of a column's minimal mutants that a row's subsume";

/// Shows the levels of one kernel.
pub(super) fn of_kernel(anchor: &str, compared: &[&KernelComparison]) -> Markup {
    html! {
        @if !compared.is_empty() {
            section.part id={ (anchor) "-compare" } aria-labelledby={ (anchor) "-compare-h" } {
                h3 id={ (anchor) "-compare-h" } { "Levels compared" }
                @for kernel in compared {
                    @let cross: Vec<_> = kernel.cross.iter().map(|row| (row.adequate_on.as_str(), row.scored_on.as_str(), row.mean)).collect();
                    @let subsumed: Vec<_> = kernel.cross.iter().map(|row| (row.adequate_on.as_str(), row.scored_on.as_str(), row.minimal_subsumed)).collect();
                    p.facts { span { (shown(&kernel.suite)) } span { (style::count(kernel.tests.len() as u64, "test")) } span { (style::count(kernel.twins.len() as u64, "twin")) } }
                    (levels(&kernel.levels))
                    div.columns { (matrix(CROSS, &cross)) (matrix(SUBSUMED, &subsumed)) }
                    @if !kernel.correlation_within_sizes.is_empty() {
                        (correlations("Correlation of scores over random suites of the same size", kernel.correlation_within_sizes.iter().map(|row|
                            (format!("{}, {}", row.level, row.other_level), row.pearson, row.kendall, row.defined, row.sizes))))
                    }
                    @if !kernel.against_faults_within_sizes.is_empty() {
                        (correlations("Correlation with finding faults", kernel.against_faults_within_sizes.iter().map(|row|
                            (row.measure.clone(), row.pearson, row.kendall, row.defined, row.sizes))))
                    }
                    (faults(kernel))
                    @for left in &kernel.left_out { p.quiet { (shown(&left.level)) " was left out: " (shown(&left.reason)) } }
                }
            }
        }
    }
}

fn faults(kernel: &KernelComparison) -> Markup {
    html! {
        @if !kernel.faults.is_empty() {
            details.part-more {
                summary { "Faulty variants: " (kernel.faults.iter().filter(|f| !f.found_by.is_empty()).count()) " of " (kernel.faults.len()) " found" }
                table.numbers.sortable {
                    thead { tr { th scope="col" { "variant" } th.n scope="col" { "found by tests" } } }
                    tbody { @for fault in &kernel.faults { tr { th scope="row" { (shown(&fault.fault)) } td.n { (fault.found_by.len()) } } } }
                }
            }
        }
    }
}

fn levels(rows: &[LevelRow]) -> Markup {
    let is_whole = |row: &&LevelRow| row.concept == "all";
    let parts = |row: &LevelRow| {
        [
            (sum([row.killed, row.timeout, row.runtime_error]), "good", "detected"),
            (sum([row.survived, row.undecided, row.equivalent_for_launches]), "bad", "survived or undecided"),
            (row.no_coverage, "warn", "not reached"),
            (sum([row.equivalent, row.duplicate]), "quiet", "equivalent or duplicate"),
            (sum([row.ignored, row.compile_error]), "none", "not run"),
        ]
    };
    html! {
        table.numbers.sortable {
            caption { "Levels side by side" }
            thead {
                tr {
                    th scope="col" { "level" } th scope="col" { "score" } th.n scope="col" { "mutants" } th.n scope="col" { "equivalent" } th.n scope="col" { "duplicate" }
                    th.n scope="col" { "distinguished" } th.n scope="col" { "minimal" } th.n scope="col" { "hard" } th.n scope="col" { "time" } th { span.vh { "parts" } }
                }
            }
            tbody {
                @for row in rows.iter().filter(is_whole) {
                    @let cost = row.cost.map(|cost| cost.elapsed_s);
                    tr {
                        th scope="row" { (shown(&row.level)) }
                        td data-sort=(sort_key(row.score)) { (percent_bar(row.score)) }
                        td.n { (row.generated) } td.n { (row.equivalent) } td.n { (row.duplicate) }
                        td.n { (row.distinguished) } td.n { (row.minimal) } td.n { (row.hard) }
                        td.n data-sort=(sort_key(cost)) { (cost.map_or(String::new(), style::seconds)) }
                        td.w { (figures::bars(&parts(row))) }
                    }
                }
            }
        }
        @if rows.iter().any(|row| row.concept != "all") {
            details {
                summary { "By concept" }
                table.numbers.sortable {
                    thead { tr { th scope="col" { "level" } th scope="col" { "concept" } th scope="col" { "score" } th.n scope="col" { "mutants" } th.n scope="col" { "minimal" } th { span.vh { "parts" } } } }
                    tbody {
                        @for row in rows.iter().filter(|row| row.concept != "all") {
                            tr {
                                th scope="row" { (shown(&row.level)) } td { (shown(&row.concept)) } td data-sort=(sort_key(row.score)) { (percent_bar(row.score)) }
                                td.n { (row.generated) } td.n { (row.minimal) } td.w { (figures::bars(&parts(row))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Shows values of ordered pairs of levels as a heat map.
fn matrix(caption: &str, rows: &[(&str, &str, Option<f64>)]) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|(a, b, _)| [*a, *b]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |a: &str, b: &str| rows.iter().find(|row| row.0 == a && row.1 == b).and_then(|row| row.2);
    let values = names.iter().map(|a| names.iter().map(|b| value(a, b)).collect()).collect();
    html! { @if !rows.is_empty() { (figures::heat_map(&Cells { caption, corner: "suffices for", names, values })) } }
}

fn correlations(
    caption: &str,
    rows: impl Iterator<Item = (String, Option<Interval>, Option<Interval>, u64, u64)>,
) -> Markup {
    let text = |interval: Option<Interval>| match interval {
        Some(Interval { mean, low: Some(low), high: Some(high) }) => format!("{mean:.2} ({low:.2} to {high:.2})"),
        Some(Interval { mean, .. }) => format!("{mean:.2}"),
        None => "–".to_owned(),
    };
    html! {
        table.numbers {
            caption { (caption) span.quiet { ", with 95 % intervals" } }
            thead { tr { th scope="col" { "of" } th scope="col" { "Pearson" } th scope="col" { "Kendall τ-b" } th.n scope="col" { "defined" } } }
            tbody {
                @for (name, pearson, kendall, defined, of) in rows {
                    tr { th scope="row" { (shown(&name)) } td { (text(pearson)) } td { (text(kendall)) } td.n { (defined) " of " (of) } }
                }
            }
        }
    }
}
