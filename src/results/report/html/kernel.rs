//! The page of a kernel: what is untested first, then its source, and then what each command found.

use maud::{Markup, html};

use super::super::style;
use super::annotations::{Chip, Notes};
use super::figures::{self, Series};
use super::mutants::missed_on_line;
use super::pages::KernelPage;
use super::parts::{Tone, badge, file_name, percent_bar, shown};
use super::source_view::{known_hash, line_anchor};
use super::sources::Sources;
use super::{comparisons, coverage, findings, goals, mutants, source_view};
use crate::result::sum;

/// A line of which something is untested.
pub(super) struct Untested {
    pub(super) anchor: String,
    /// File and line.
    pub(super) place: String,
    /// Its text, if it is known.
    pub(super) text: String,
    pub(super) chips: Vec<Chip>,
    /// Missed mutants in words.
    pub(super) missed: String,
}

/// A page with what it is made from.
pub(super) struct Prepared<'p, 'a> {
    pub(super) page: &'p KernelPage<'a>,
    pub(super) notes: Notes<'a>,
    pub(super) untested: Vec<Untested>,
}

impl<'p, 'a> Prepared<'p, 'a> {
    /// Gathers what is known of a kernel.
    pub(super) fn of(page: &'p KernelPage<'a>, sources: &Sources) -> Prepared<'p, 'a> {
        let notes = Notes::of(page);
        let untested = untested(page, &notes, sources);
        Prepared { page, notes, untested }
    }

    /// Number of outcomes and lines that no test covers and nothing proves infeasible.
    pub(super) fn open_lines(&self) -> usize {
        self.untested.iter().filter(|line| line.chips.iter().any(|chip| chip.tone == Tone::Bad)).count()
    }
}

fn untested(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources) -> Vec<Untested> {
    let mut all = Vec::new();
    for (index, file) in notes.files.iter().enumerate() {
        let text = sources.text(file.name, page.source, known_hash(page, file.name));
        let lines: Vec<&str> = text.as_ref().as_ref().map(|text| text.lines().collect()).unwrap_or_default();
        for (number, line) in &file.lines {
            let chips: Vec<Chip> = notes.untested(line).into_iter().filter(|chip| chip.tone != Tone::Quiet).collect();
            if chips.is_empty() {
                continue;
            }
            let place = match number {
                0 => "no line".to_owned(),
                line if notes.files.len() > 1 => format!("{}:{line}", file_name(file.name)),
                line => line.to_string(),
            };
            let text = (*number as usize).checked_sub(1).and_then(|at| lines.get(at)).map_or("", |line| line.trim());
            all.push(Untested {
                anchor: line_anchor(page, index, *number),
                place,
                text: text.to_owned(),
                chips,
                missed: missed_on_line(page, file.name, *number),
            });
        }
    }
    all
}

/// Lists lines with what is untested of them.
pub(super) fn untested_table(lines: &[&Untested], caption: &str) -> Markup {
    html! {
        table.untested {
            @if !caption.is_empty() { caption { (caption) } }
            thead.vh { tr { th scope="col" { "line" } th scope="col" { "source" } th scope="col" { "untested" } } }
            tbody {
                @for line in lines {
                    tr {
                        td.n { a href={ "#" (line.anchor) } { (shown(&line.place)) } }
                        td { code { (shown(&line.text)) } }
                        td {
                            @for chip in &line.chips { span.chip.(chip.tone.class()) { (shown(&chip.text)) } " " }
                            @if !line.missed.is_empty() { span.quiet { (line.missed) } }
                        }
                    }
                }
            }
        }
    }
}

/// The page of a kernel.
pub(super) fn kernel(prepared: &Prepared<'_, '_>, sources: &Sources) -> Markup {
    let page = prepared.page;
    let anchor = page.anchor();
    html! {
        section.view id=(anchor) aria-labelledby={ (anchor) "-h" } {
            header.kernel {
                h2 id={ (anchor) "-h" } { (shown(page.name)) }
                p.facts {
                    span { (shown(page.source)) }
                    @if let Some(program) = page.program { span { "program " (shown(program)) } }
                    @if let Some(suite) = page.suite { span { (shown(suite)) } }
                    @if let Some(launches) = page.launches { span { (style::count(launches, "launch")) } }
                }
                (glance(prepared))
                (contents(prepared))
            }
            (what_is_untested(prepared))
            (trend(page))
            @for section in sections_of(prepared) { ((section.render)(prepared, sources)) }
        }
    }
}

/// A section of a kernel's page, whose anchor ends in `id`.
struct Section {
    id: &'static str,
    title: &'static str,
    /// Whether there is anything to show.
    has: fn(&Prepared<'_, '_>) -> bool,
    render: fn(&Prepared<'_, '_>, &Sources) -> Markup,
}

/// The sections after what is untested, in their order.
const SECTIONS: [Section; 9] = [
    Section { id: "source", title: "Source", has: |p| !p.notes.files.is_empty(), render: source },
    Section {
        id: "coverage",
        title: "Coverage",
        has: |p| !p.page.covers.is_empty(),
        render: |p, _| coverage::coverage(p.page, &p.notes),
    },
    Section {
        id: "mutants",
        title: "Mutants",
        has: |p| !p.page.mutates.is_empty(),
        render: |p, sources| mutants::mutants(p.page, &p.notes, sources),
    },
    Section {
        id: "check",
        title: "Races and faults",
        has: |p| !p.page.checks.is_empty(),
        render: |p, sources| findings::check(p.page, &p.notes, sources),
    },
    Section {
        id: "schedule",
        title: "Schedules",
        has: |p| !p.page.schedules.is_empty(),
        render: |p, _| findings::schedule(p.page),
    },
    Section {
        id: "generate",
        title: "Generated tests",
        has: |p| !p.page.generates.is_empty(),
        render: |p, _| goals::generate(p.page, &p.notes),
    },
    Section { id: "run", title: "Tests", has: |p| !p.page.runs.is_empty(), render: |p, _| goals::run(p.page) },
    Section {
        id: "compare",
        title: "Levels",
        has: |p| !p.page.compared.is_empty(),
        render: |p, _| comparisons::of_kernel(&p.page.anchor(), &p.page.compared),
    },
    Section {
        id: "inspect",
        title: "Interface",
        has: |p| p.page.inspected.is_some(),
        render: |p, _| html! { @if let Some(inspected) = p.page.inspected { (goals::inspected(p.page, inspected)) } },
    },
];

fn sections_of(prepared: &Prepared<'_, '_>) -> impl Iterator<Item = &'static Section> {
    SECTIONS.iter().filter(|section| (section.has)(prepared))
}

fn source(prepared: &Prepared<'_, '_>, sources: &Sources) -> Markup {
    let anchor = prepared.page.anchor();
    html! {
        section.part id={ (anchor) "-source" } aria-labelledby={ (anchor) "-source-h" } {
            h3 id={ (anchor) "-source-h" } { "Source" }
            (source_view::source(prepared.page, &prepared.notes, sources))
        }
    }
}

/// The numbers that decide whether to look further.
fn glance(prepared: &Prepared<'_, '_>) -> Markup {
    let page = prepared.page;
    html! {
        dl.glance {
            @if let Some(cover) = page.cover() {
                @for (name, ratio) in [("branch", cover.coverage.branch), ("condition", cover.coverage.condition), ("loop", cover.coverage.loops.classes()), ("barrier", cover.coverage.barrier), ("line", cover.coverage.line)] {
                    @if ratio.total > 0 { div { dt { (name) } dd { (percent_bar(ratio.percent())) } } }
                }
            }
            @for (level, result) in page.mutates() {
                div { dt { "mutation score" @if page.mutates.len() > 1 { ", " (shown(level)) } } dd { (percent_bar(result.summary.score)) } }
            }
            @if let Some(check) = page.check() { div { dt { "check" } dd { (badge(findings::verdict_tone(check.verdict), check.verdict.name())) } } }
            @if let Some(run) = page.schedules.last() { div { dt { "schedules" } dd { (badge(findings::schedule_tone(findings::worst(run.result)), findings::worst(run.result).name())) } } }
            @if let Some(run) = page.runs.last() {
                @let s = &run.result.summary;
                div { dt { "tests" } dd { (badge(if sum([s.failed, s.broken]) > 0 { Tone::Bad } else { Tone::Good }, &format!("{} of {} passed", s.passed, s.total))) } }
            }
        }
    }
}

fn contents(prepared: &Prepared<'_, '_>) -> Markup {
    let page = prepared.page;
    let untested = is_known(&prepared.notes).then_some(("untested", "Untested"));
    html! {
        nav.contents aria-label=(format!("Parts of {}", shown(page.name))) {
            @for (id, name) in untested.into_iter().chain(sections_of(prepared).map(|s| (s.id, s.title))) { a href={ "#" (page.anchor()) "-" (id) } { (name) } " " }
        }
    }
}

/// Without coverage and mutants, nothing is known of what is tested.
fn is_known(notes: &Notes<'_>) -> bool {
    let mut lines = notes.files.iter().flat_map(|file| file.lines.values());
    lines.any(|line| line.hits.is_some() || line.mutants > 0 || !line.sites.is_empty())
}

fn what_is_untested(prepared: &Prepared<'_, '_>) -> Markup {
    let Prepared { page, notes, untested } = prepared;
    const FIRST: usize = 40;
    let all: Vec<&Untested> = untested.iter().collect();
    let (first, rest) = all.split_at(all.len().min(FIRST));
    html! {
        @if is_known(notes) {
            section.part.gaps id={ (page.anchor()) "-untested" } {
                h3 { "Untested" }
                @if untested.is_empty() { p.all-well { "Every line, outcome and mutant that was looked at is covered, detected or proved out of reach." } }
                @else {
                    (untested_table(first, &format!("{} with something that no test covers or detects", style::count(untested.len() as u64, "line"))))
                    @if !rest.is_empty() { details { summary { (rest.len()) " more" } (untested_table(rest, "More lines")) } }
                }
            }
        }
    }
}

/// How coverage and scores have changed over the results that were named.
fn trend(page: &KernelPage<'_>) -> Markup {
    let most = page.covers.len().max(page.mutates.iter().map(|(_, runs)| runs.len()).max().unwrap_or(0));
    if most < 2 {
        return html! {};
    }
    // Results of a shorter past end at the same, newest step.
    let padded = |mut values: Vec<Option<f64>>| {
        values.splice(0..0, std::iter::repeat_n(None, most - values.len()));
        values
    };
    let mut series = Vec::new();
    if page.covers.len() > 1 {
        let metric = |name: &str, of: fn(&crate::result::cover::Coverage) -> Option<f64>| Series {
            name: name.to_owned(),
            values: padded(page.covers.iter().map(|run| of(&run.result.coverage)).collect()),
        };
        series.push(metric("branch", |c| c.branch.percent()));
        series.push(metric("loop", |c| c.loops.classes().percent()));
        series.push(metric("line", |c| c.line.percent()));
    }
    for (level, runs) in page.mutates.iter().filter(|(_, runs)| runs.len() > 1) {
        let values = padded(runs.iter().map(|run| run.result.summary.score).collect());
        series.push(Series { name: format!("score, {level}"), values });
    }
    series.retain(|s| s.values.iter().any(Option::is_some));
    let steps: Vec<String> = (1..=most).map(|n| n.to_string()).collect();
    let value = |value: &Option<f64>| value.map_or("–".to_owned(), style::percent);
    let change = |values: &[Option<f64>]| match values {
        [.., Some(before), Some(now)] if now - before >= 0.05 => format!("+{:.1}", now - before),
        [.., Some(before), Some(now)] if before - now >= 0.05 => format!("−{:.1}", before - now),
        _ => String::new(),
    };
    html! {
        section.part aria-label="Trend" {
            h3 { "Trend" }
            div.columns {
                (figures::lines("Over the results, in the order given", "results", &steps, &series))
                table.numbers {
                    thead { tr { th scope="col" { "measure" } @for step in &steps { th.n scope="col" { (step) } } th.n scope="col" { "change" } } }
                    tbody { @for one in &series { tr { th scope="row" { (shown(&one.name)) } @for v in &one.values { td.n { (value(v)) } } td.n { (change(&one.values)) } } } }
                }
            }
        }
    }
}
