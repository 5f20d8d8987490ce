//! The first page: all kernels in one table, what is untested of them, and what concerns several.

use maud::{Markup, html};

use super::super::style;
use super::figures;
use super::findings::{schedule_tone, verdict_tone, worst};
use super::kernel::{Prepared, Untested, untested_table};
use super::pages::{KernelPage, Pages};
use super::parts::{Tone, badge, percent_bar, ratio_bar, shown, sort_key};
use super::programs;
use crate::result::Ratio;
use crate::result::cover::Coverage;
use crate::result::mutate::Summary;
use crate::result::sum;

/// Lines that the overview lists of each kernel, and of all.
const LINES_EACH: usize = 4;
const LINES: usize = 24;

/// The table of all kernels and what is untested.
pub(super) fn overview(pages: &Pages<'_>, prepared: &[Prepared<'_, '_>]) -> Markup {
    html! {
        section.view id="overview" aria-labelledby="overview-h" {
            h2 id="overview-h" { "Overview" }
            @if prepared.len() > 1 { (totals(prepared)) }
            @if !prepared.is_empty() { div.wide tabindex="0" role="group" aria-label="Table of kernels" { (kernels(prepared)) } }
            (gaps(prepared))
            @for set in &pages.sets { (programs::set(set)) }
        }
    }
}

/// How a metric is read.
type Read = fn(&Coverage) -> Ratio;

/// The metrics that the overview shows: the name of the column, what it counts, and how it is read.
const METRICS: [(&str, &str, Read); 5] = [
    ("branch", "branch outcomes", |c| c.branch),
    ("condition", "conditions", |c| c.condition),
    ("loop", "loop classes", |c| c.loops.classes()),
    ("barrier", "barriers", |c| c.barrier),
    ("line", "lines", |c| c.line),
];

/// A column of the table of kernels besides the metrics.
struct Column {
    head: &'static str,
    is_number: bool,
    /// Whether a kernel has a value.
    has: fn(&KernelPage<'_>) -> bool,
    cell: fn(&KernelPage<'_>) -> Markup,
}

const COLUMNS: [Column; 6] = [
    Column { head: "mutation score", is_number: false, has: |p| !p.mutates.is_empty(), cell: score },
    Column { head: "missed", is_number: true, has: |p| !p.mutates.is_empty(), cell: missed },
    Column {
        head: "check",
        is_number: false,
        has: |p| !p.checks.is_empty(),
        cell: |p| html! { td { @if let Some(check) = p.check() { (badge(verdict_tone(check.verdict), check.verdict.name())) } } },
    },
    Column {
        head: "schedules",
        is_number: false,
        has: |p| !p.schedules.is_empty(),
        cell: |p| html! { td { @if let Some(run) = p.schedules.last() { (badge(schedule_tone(worst(run.result)), worst(run.result).name())) } } },
    },
    Column { head: "goals", is_number: false, has: |p| !p.generates.is_empty(), cell: goals },
    Column { head: "tests", is_number: false, has: |p| !p.runs.is_empty(), cell: tests },
];

fn score(page: &KernelPage<'_>) -> Markup {
    let scores: Vec<f64> =
        page.mutates.first().iter().flat_map(|(_, runs)| runs).filter_map(|run| run.result.summary.score).collect();
    let last = scores.last().copied();
    html! { td data-sort=(sort_key(last)) { @if !page.mutates.is_empty() { (percent_bar(last)) } (figures::sparkline("Mutation score", &scores)) } }
}

fn missed(page: &KernelPage<'_>) -> Markup {
    let of = |summary: &Summary| {
        sum([summary.survived, summary.undecided, summary.no_coverage, summary.equivalent_for_launches])
    };
    html! { td.n { @if !page.mutates.is_empty() { (page.mutates().map(|(_, result)| of(&result.summary)).fold(0, u64::saturating_add)) } } }
}

fn goals(page: &KernelPage<'_>) -> Markup {
    html! { td { @if let Some(result) = page.generate() { (result.summary.covered) " of " (result.goals.len()) @if result.summary.unknown > 0 { ", " (result.summary.unknown) " unknown" } } } }
}

fn tests(page: &KernelPage<'_>) -> Markup {
    html! {
        td {
            @if let Some(run) = page.runs.last() {
                @let s = &run.result.summary;
                (badge(if sum([s.failed, s.broken]) > 0 { Tone::Bad } else { Tone::Good }, &format!("{} of {}", s.passed, s.total)))
            }
        }
    }
}

/// The columns of the table of kernels: those that some kernel has a value in.
struct Columns {
    metrics: Vec<(&'static str, Read)>,
    others: Vec<&'static Column>,
}

impl Columns {
    fn of(prepared: &[Prepared<'_, '_>]) -> Columns {
        let coverage = || prepared.iter().filter_map(|one| one.page.cover()).map(|cover| &cover.coverage);
        let has_some = |of: Read| coverage().any(|c| of(c).total > 0);
        Columns {
            metrics: METRICS.iter().filter(|m| has_some(m.2)).map(|(name, _, of)| (*name, *of)).collect(),
            others: COLUMNS.iter().filter(|column| prepared.iter().any(|p| (column.has)(p.page))).collect(),
        }
    }
}

/// The sums over all kernels.
fn totals(prepared: &[Prepared<'_, '_>]) -> Markup {
    let add = |of: Read| {
        prepared.iter().filter_map(|p| p.page.cover()).map(|c| of(&c.coverage)).fold(Ratio::default(), Ratio::plus)
    };
    let mutants = prepared.iter().flat_map(|p| p.page.mutates()).flat_map(|(_, r)| &r.mutants).filter(|m| !m.is_pair());
    let mutants = Summary::of(mutants);
    let bad = prepared.iter().filter_map(|p| p.page.check()).filter(|c| verdict_tone(c.verdict) == Tone::Bad).count();
    let checked = prepared.iter().filter(|p| p.page.check().is_some()).count();
    let open: usize = prepared.iter().map(|p| p.untested.len()).sum();
    html! {
        dl.glance.large {
            div { dt { "kernels" } dd { (prepared.len()) } }
            div { dt { "lines with something untested" } dd { (open) } }
            @for (_, name, of) in METRICS { @let ratio = add(of); @if ratio.total > 0 { div { dt { (name) } dd { (ratio_bar(ratio)) } } } }
            @if mutants.total > 0 { div { dt { "mutation score" } dd { (percent_bar(mutants.score)) } } }
            @if checked > 0 { div { dt { "races and faults" } dd { (badge(if bad > 0 { Tone::Bad } else { Tone::Good }, &format!("{bad} of {} with findings", style::count(checked as u64, "kernel")))) } } }
        }
    }
}

fn kernels(prepared: &[Prepared<'_, '_>]) -> Markup {
    let columns = Columns::of(prepared);
    html! {
        table.numbers.sortable.kernels {
            caption.vh { "Kernels" }
            thead {
                tr {
                    th scope="col" { "kernel" } th.n scope="col" { "untested lines" }
                    @for (name, _) in &columns.metrics { th scope="col" { (name) } }
                    @for column in &columns.others { th.n[column.is_number] scope="col" { (column.head) } }
                }
            }
            tbody { @for one in prepared { (row(one, &columns)) } }
        }
    }
}

fn row(one: &Prepared<'_, '_>, columns: &Columns) -> Markup {
    let page = one.page;
    let coverage = page.cover().map(|cover| &cover.coverage);
    let branches: Vec<f64> = page.covers.iter().filter_map(|r| r.result.coverage.branch.percent()).collect();
    html! {
        tr {
            th scope="row" { a href={ "#" (page.anchor()) } { (shown(page.name)) } div.quiet { (shown(page.source)) } }
            td.n {
                // For a kernel without coverage and mutants, it is not known.
                @if coverage.is_some() || !page.mutates.is_empty() {
                    @if one.open_lines() > 0 { b { (one.untested.len()) } } @else { (one.untested.len()) }
                }
            }
            @for (name, of) in &columns.metrics {
                @let percent = coverage.and_then(|c| of(c).percent());
                td data-sort=(sort_key(percent)) {
                    @if coverage.is_some() { (percent_bar(percent)) }
                    @if *name == "branch" { (figures::sparkline("Branch coverage", &branches)) }
                }
            }
            @for column in &columns.others { ((column.cell)(page)) }
        }
    }
}

/// The first untested lines of each kernel; those that are never covered before those with missed mutants only.
fn gaps(prepared: &[Prepared<'_, '_>]) -> Markup {
    let mut left = LINES;
    let chosen: Vec<(&Prepared<'_, '_>, Vec<&Untested>)> = prepared
        .iter()
        .filter(|one| !one.untested.is_empty())
        .map(|one| {
            let mut lines: Vec<&Untested> = one.untested.iter().collect();
            lines.sort_by_key(|line| line.chips.iter().all(|chip| chip.tone != Tone::Bad));
            lines.truncate(LINES_EACH.min(left));
            left -= lines.len();
            (one, lines)
        })
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    html! {
        // The page of a single kernel follows right below, with all of its lines.
        @if prepared.len() > 1 && !chosen.is_empty() {
            section.part.gaps aria-labelledby="gaps-h" {
                h3 id="gaps-h" { "What is untested" }
                @for (one, lines) in chosen {
                    h4 { a href={ "#" (one.page.anchor()) "-untested" } { (shown(one.page.name)) } span.quiet { ", " (lines.len()) " of " (style::count(one.untested.len() as u64, "line")) } }
                    (untested_table(&lines, ""))
                }
            }
        }
    }
}
