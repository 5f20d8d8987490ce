//! Shows coverage: the metrics, how they grow test by test, what instrumentation costs, and pairs of definitions and
//! uses.

use std::collections::HashSet;

use maud::{Markup, html};

use super::annotations::Notes;
use super::figures::{self, Series};
use super::pages::KernelPage;
use super::parts::{Tone, badge, facts, names, notes, percent_bar, shown, sort_key, time};
use super::source_view::line_anchor;
use crate::result::cover::{CoverResult, METRICS, Measure, TestStatus};
use crate::result::def_use::{AccessPlace, DefUse, DefUsePair};

/// Pairs of definitions and uses that are listed.
const PAIRS: usize = 300;

/// Shows the coverage of a kernel.
pub(super) fn coverage(page: &KernelPage<'_>, notes: &Notes<'_>) -> Markup {
    let Some(run) = page.covers.last() else { return html! {} };
    let result = run.result;
    let anchor = page.anchor();
    html! {
        section.part id={ (anchor) "-coverage" } aria-labelledby={ (anchor) "-coverage-h" } {
            h3 id={ (anchor) "-coverage-h" } { "Coverage" }
            (facts(run.file, &result.header, result.elapsed_s))
            div.columns { (metrics(result)) (growth(result)) }
            (tests(result))
            @if let Some(pairs) = &result.def_use { (def_use(page, notes, pairs)) }
            (self::notes(&result.notes))
        }
    }
}

fn metrics(result: &CoverResult) -> Markup {
    let loops = &result.coverage.loops;
    html! {
        table.numbers {
            caption { "Metrics" }
            thead { tr { th scope="col" { "metric" } th scope="col" { "covered" } th.n scope="col" { "open" } th.n scope="col" { "all" } } }
            tbody {
                @for metric in &METRICS {
                    @match (metric.measure)(&result.coverage) {
                        Measure::Ratio(ratio) if ratio.total == 0 => {}
                        Measure::Ratio(ratio) => tr {
                            th scope="row" { (metric.label) }
                            td { (percent_bar(ratio.percent())) } td.n { b { (ratio.total.saturating_sub(ratio.covered)) } } td.n { (ratio.total) }
                        },
                        Measure::Mean(Some(mean)) => tr { th scope="row" { (metric.label) } td { (percent_bar(Some(mean))) } td {} td {} },
                        Measure::Mean(None) | Measure::Unmeasured => {}
                    }
                    @if metric.site_kind == "loop" && loops.total > 0 {
                        @for (class, ratio) in loops.by_class() {
                            tr.sub {
                                th scope="row" { (class) }
                                td { (percent_bar(ratio.percent())) } td.n { (ratio.total.saturating_sub(ratio.covered)) } td.n { (ratio.total) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What all tests up to each one cover, in the order of the suite.
fn growth(result: &CoverResult) -> Markup {
    let steps: Vec<String> = result.tests.iter().map(|test| test.name.clone()).collect();
    let kinds =
        [("branch", "branch"), ("condition", "condition"), ("loop", "loop"), ("barrier", "barrier"), ("line", "line")];
    let series: Vec<Series> = kinds
        .into_iter()
        .filter_map(|(kind, name)| {
            let all: Vec<_> = result.sites.iter().filter(|site| site.kind == kind).collect();
            let mut covered = HashSet::new();
            let values = steps.iter().map(|test| {
                let hit =
                    all.iter().enumerate().filter(|(_, site)| site.hits_by_test.get(test).is_some_and(|n| *n > 0));
                covered.extend(hit.map(|(at, _)| at));
                Some(100.0 * covered.len() as f64 / all.len() as f64)
            });
            let values: Vec<Option<f64>> = values.collect();
            (!all.is_empty()).then(|| Series { name: name.to_owned(), values })
        })
        .collect();
    html! {
        @if steps.len() > 1 && !series.is_empty() {
            (figures::lines("Growth of coverage", "tests, in their order", &steps, &series))
        }
    }
}

fn tests(result: &CoverResult) -> Markup {
    let ratio = |instrumented: Option<f64>, original: Option<f64>| Some(instrumented? / original.filter(|t| *t > 0.0)?);
    let words = result.header.words();
    let most = result.tests.iter().filter_map(|t| ratio(t.instrumented_s, t.original_s)).fold(1.0, f64::max);
    html! {
        @if !result.tests.is_empty() {
            table.numbers.sortable {
                caption {
                    "Tests"
                    @if let Some(overhead) = result.overhead { span.quiet { ": instrumented, the kernel takes " (format!("{overhead:.2}")) " times its time (median)" } }
                }
                thead {
                    tr {
                        th scope="col" { "test" } th scope="col" { "status" } th.n scope="col" { (words.say("work-items")) } th.n scope="col" { (words.say("groups")) }
                        th.n scope="col" { "original" } th.n scope="col" { "instrumented" } th scope="col" { "overhead" }
                    }
                }
                tbody {
                    @for test in &result.tests {
                        @let overhead = ratio(test.instrumented_s, test.original_s);
                        tr {
                            th scope="row" { (shown(&test.name)) }
                            td {
                                @if test.status == TestStatus::Completed { span.quiet { "completed" } } @else { (badge(Tone::Bad, test.status.name())) }
                                @if let Some(why) = &test.reason { " " (shown(why)) }
                                @if !test.printf.is_empty() { details { summary { "printed" } pre { (shown(&test.printf)) } } }
                            }
                            td.n { (test.work_items) } td.n { (test.work_groups) }
                            td.n data-sort=(sort_key(test.original_s.map(|t| t * 1e9))) { (time(test.original_s)) }
                            td.n data-sort=(sort_key(test.instrumented_s.map(|t| t * 1e9))) { (time(test.instrumented_s)) }
                            td data-sort=(sort_key(overhead)) { @if let Some(times) = overhead { (factor(times, most)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A factor as a bar, on the scale of the largest.
fn factor(times: f64, most: f64) -> Markup {
    html! {
        span.meter.plain {
            svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                rect.track width="100" height="8" {}
                rect.fill width=(format!("{:.1}", 100.0 * times / most)) height="8" {}
            }
            span.num { (format!("{times:.2}×")) }
        }
    }
}

fn def_use(page: &KernelPage<'_>, notes: &Notes<'_>, pairs: &DefUse) -> Markup {
    let open: Vec<&DefUsePair> = pairs.pairs.iter().filter(|pair| !pair.covered).collect();
    html! {
        details.part-more {
            summary { "Definitions and uses: " (open.len()) " of " (pairs.pairs.len()) " pairs not exercised" }
            table.numbers {
                caption.vh { "Pairs by kind" }
                thead { tr { th scope="col" { "kind" } th scope="col" { "covered" } th.n scope="col" { "pairs" } } }
                tbody {
                    @for kind in pairs.summary.iter().filter(|kind| kind.pairs > 0) {
                        tr { th scope="row" { (kind.kind.label()) } td { (percent_bar(kind.percent)) } td.n { (kind.pairs) } }
                    }
                }
            }
            @if pairs.unordered > 0 { p.bad { (pairs.unordered) " definitions and uses of different " (notes.words.say("work-items")) " met although nothing orders them, as in a race." } }
            @if !open.is_empty() {
                table.numbers.sortable {
                    caption { "Pairs that no test exercises" }
                    thead { tr { th scope="col" { "variable" } th scope="col" { "kind" } th scope="col" { "definition" } th scope="col" { "use" } } }
                    tbody {
                        @for pair in open.iter().take(PAIRS) {
                            tr {
                                th scope="row" { code { (shown(&pair.variable)) } } td { (pair.kind.label()) }
                                td { @match &pair.definition { Some(at) => (place(page, notes, at)), None => "the host" } }
                                td { (place(page, notes, &pair.usage)) @if pair.predicate { " (decides a branch)" } }
                            }
                        }
                    }
                }
                @if open.len() > PAIRS { p.quiet { "and " (open.len() - PAIRS) " more in the result" } }
            }
        }
    }
}

fn place(page: &KernelPage<'_>, notes: &Notes<'_>, at: &AccessPlace) -> Markup {
    let text = names(&[format!("{} in line {}", at.operation, at.location.line)], 1);
    html! {
        @match notes.files.iter().position(|file| file.name == at.location.file).filter(|_| at.location.line > 0) {
            Some(file) => a href={ "#" (line_anchor(page, file, at.location.line)) } { (text) },
            None => (text),
        }
    }
}
