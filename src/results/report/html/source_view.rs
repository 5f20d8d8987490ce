//! Shows the source of a kernel: how many tests execute each line, and beside it what is untested, divergence, mutants
//! and findings; unfolded, all outcomes.

use maud::{Markup, html};

use super::super::by_file::Site;
use super::super::style;
use super::annotations::{Chip, File, Hits, Line, Notes};
use super::highlight::{self, Span};
use super::pages::KernelPage;
use super::parts::{Tone, file_name, names, shown};
use super::sources::Sources;
use crate::result::generate::{Goal, GoalStatus};
use crate::result::mcdc::McdcDecision;

/// The anchor of a line.
pub(super) fn line_anchor(page: &KernelPage<'_>, file: usize, line: u32) -> String {
    format!("{}-f{file}-L{line}", page.anchor())
}

/// The hash of a file's text that the mutants of a page were made from, if it is known.
pub(super) fn known_hash<'a>(page: &KernelPage<'a>, file: &str) -> Option<&'a str> {
    page.mutates().find_map(|(_, result)| result.texts.get(file)).map(String::as_str)
}

/// Shows the source files of a kernel.
pub(super) fn source(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources) -> Markup {
    html! {
        @for (index, file) in notes.files.iter().enumerate() {
            @let text = sources.text(file.name, page.source, known_hash(page, file.name));
            section.file aria-label=(format!("Source of {}", shown(file_name(file.name)))) {
                h4 { (shown(file.name)) }
                @match text.as_ref() {
                    Ok(text) => (listing(page, notes, index, file, Some(&highlight::lines(text)))),
                    Err(why) => {
                        p.gone { "The source is not shown: " (shown(why)) "." }
                        (listing(page, notes, index, file, None))
                    }
                }
                @if let Some(line) = file.lines.get(&0) { (unplaced(page, notes, index, line)) }
            }
        }
    }
}

/// Shows all lines of a text; without it those of which something is known.
fn listing(
    page: &KernelPage<'_>,
    notes: &Notes<'_>,
    index: usize,
    file: &File<'_>,
    text: Option<&[Vec<Span<'_>>]>,
) -> Markup {
    // Lines after the end of a text that has changed are not lost.
    let mut numbers: Vec<u32> = (1..=text.map_or(0, |text| text.len() as u32)).collect();
    let end = numbers.len() as u32;
    numbers.extend(file.lines.keys().copied().filter(|number| *number > end));
    html! {
        ol.source {
            @for number in numbers {
                @let known = file.lines.get(&number);
                @let anchor = line_anchor(page, index, number);
                @let chips = known.map(|line| chips(notes, line)).unwrap_or_default();
                li id=(anchor) class=(class_of(known, &chips)) {
                    a.no href={ "#" (anchor) } { (number) }
                    (hits(known.and_then(|line| line.hits.as_ref()), notes))
                    code {
                        @if let Some(spans) = text.and_then(|text| text.get(number as usize - 1)) {
                            @for (class, part) in spans {
                                @if class.is_empty() { (shown(part)) } @else { span.(class) { (shown(part)) } }
                            }
                        }
                    }
                    @if let Some(line) = known { (more(page, notes, index, number, line, &chips)) }
                }
            }
        }
    }
}

fn chips(notes: &Notes<'_>, line: &Line<'_>) -> Vec<Chip> {
    let mut chips = notes.untested(line);
    chips.extend(notes.remarks(line));
    chips
}

fn class_of(line: Option<&Line<'_>>, chips: &[Chip]) -> &'static str {
    let Some(line) = line else { return "" };
    match &line.hits {
        Some(hits) if !hits.covered => "un",
        _ if chips.iter().any(|chip| chip.tone == Tone::Bad) => "part",
        _ => "",
    }
}

/// The share of tests that execute a line, as one of five steps of a colour, and in words.
fn hits(hits: Option<&Hits>, notes: &Notes<'_>) -> Markup {
    let Some(hits) = hits else { return html! { span.hits {} } };
    let tests = notes.tests;
    let step = match (hits.tests * 5).div_ceil(tests.max(1)) {
        _ if !hits.covered => 0,
        step => step.clamp(1, 5),
    };
    // Numbers of work-items exceed those of tests only if they were counted.
    let counted = if hits.items > hits.tests as u64 {
        format!(", {} {}", hits.items, notes.words.say("work-items"))
    } else {
        String::new()
    };
    let words = format!("executed by {} of {tests} tests{counted}", hits.tests);
    html! { span.hits.(format!("heat{step}")) title=(words) { (hits.tests) span.vh { " of " (tests) " tests" } } }
}

/// Remarks on a line, which open into all that is known of it.
fn more(page: &KernelPage<'_>, notes: &Notes<'_>, file: usize, number: u32, line: &Line<'_>, chips: &[Chip]) -> Markup {
    let has_sites = line.sites.iter().any(|site| is_listed(site));
    if chips.is_empty() && !has_sites && line.goals.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary {
                @if chips.is_empty() { span.chip.dots title="outcomes" { "⋯" span.vh { "outcomes" } } }
                @for chip in chips { span.chip.(chip.tone.class()) { (shown(&chip.text)) } " " }
            }
            (body(page, notes, file, number, line))
        }
    }
}

fn is_listed(site: &Site<'_>) -> bool {
    !site.is("statement") && !site.is("region")
}

fn body(page: &KernelPage<'_>, notes: &Notes<'_>, file: usize, number: u32, line: &Line<'_>) -> Markup {
    html! {
        div.why {
            @if line.sites.iter().any(is_listed) {
                table.outcomes {
                    thead { tr { th scope="col" { "site" } th scope="col" { "outcome" } th scope="col" { "tests" } } }
                    tbody { @for site in line.sites.iter().filter(|s| is_listed(s)) { (outcomes(notes, site)) } }
                }
            }
            @for decision in &line.decisions { (decision_table(decision)) }
            @if line.sites.is_empty() { (goals(&line.goals)) }
            @for (finding, what) in &line.findings {
                p { a href={ "#" (page.anchor()) "-finding" (finding) } { "Finding " (finding) } ": " (shown(&what.message)) }
            }
            @if line.mutants > 0 {
                div.line-mutants data-page=(page.number) data-file=(file) data-line=(number) {}
            }
        }
    }
}

/// The rows of a site's outcomes.
fn outcomes(notes: &Notes<'_>, site: &Site<'_>) -> Markup {
    let what = site.shared();
    let name = if what.kind == "loop" || what.construct == what.kind {
        what.construct.clone()
    } else {
        format!("{} ({})", what.construct, what.kind)
    };
    html! {
        @for (n, outcome) in site.outcomes.iter().enumerate() {
            tr {
                @if n == 0 {
                    th scope="rowgroup" rowspan=(site.outcomes.len()) {
                        code { (shown(&name)) }
                        @if what.location.column > 0 { span.quiet { " column " (what.location.column) } }
                        @if site.divergent_groups() > 0 { br; span.quiet { "diverges in " (style::count(site.divergent_groups(), "group")) } }
                    }
                }
                td { code { (shown(&outcome.outcome)) } }
                td {
                    @let tests: Vec<&String> = outcome.hits_by_test.iter().filter(|(_, n)| **n > 0).map(|(t, _)| t).collect();
                    @match (outcome.covered, notes.decided(&what.id, &outcome.outcome)) {
                        (true, _) if tests.is_empty() => "covered",
                        (true, _) => (names(&tests, 8)),
                        (false, Some(GoalStatus::Infeasible)) => span.quiet { "none; proved infeasible" },
                        (false, Some(GoalStatus::Unknown)) => span.bad { "none; the search did not reach it" },
                        (false, _) => span.bad { "none" },
                    }
                }
            }
        }
    }
}

/// A decision's test vectors, and which conditions they show to matter.
fn decision_table(decision: &McdcDecision) -> Markup {
    html! {
        table.vectors {
            caption { "MC/DC of this " code { (shown(&decision.construct)) } @if let Some(why) = &decision.reason { ": not measured, " (shown(why)) } }
            thead {
                tr {
                    @for n in 1..=decision.conditions.len() { th scope="col" { "c" (n) } }
                    th scope="col" { "result" } th scope="col" { "executed by" }
                }
            }
            tbody {
                @for vector in &decision.vectors {
                    tr.never[!vector.executed] {
                        @for value in vector.values.chars() { td { (shown(&value.to_string())) } }
                        td { (if vector.result { "T" } else { "F" }) }
                        td {
                            @let tests: Vec<&String> = vector.hits_by_test.iter().filter(|(_, n)| **n > 0).map(|(t, _)| t).collect();
                            @if vector.executed { (if tests.is_empty() { "executed".to_owned() } else { names(&tests, 6) }) }
                            @else { span.bad { "never" } }
                        }
                    }
                }
            }
        }
        ul.plain {
            @for (n, condition) in (1..).zip(&decision.conditions) {
                li {
                    "c" (n) " "
                    @match (&condition.reason, condition.covered, &condition.pair) {
                        (Some(why), ..) => { "does not count: " (shown(why)) }
                        (None, true, Some([a, b])) => { "shown by " code { (shown(a)) } " and " code { (shown(b)) } }
                        (None, true, None) => "shown",
                        (None, false, Some([a, b])) => {
                            span.bad { "not shown" } ": " code { (shown(a)) } " and " code { (shown(b)) } " would; missing "
                            code { (names(&condition.missing, 2)) }
                        }
                        (None, false, None) => span.bad { "not shown" },
                    }
                }
            }
        }
    }
}

/// Goals of a line, where there is no coverage beside which they stand.
fn goals(goals: &[&Goal]) -> Markup {
    html! {
        @if !goals.is_empty() {
            ul.plain {
                @for goal in goals {
                    li { code { (shown(goal.outcome.as_deref().or(goal.mutant.as_deref()).unwrap_or_default())) } " (" (shown(&goal.kind)) "): " (status_word(goal)) }
                }
            }
        }
    }
}

/// The status of a goal in words.
pub(super) fn status_word(goal: &Goal) -> &'static str {
    match goal.status {
        GoalStatus::Covered if goal.mutant.is_some() => "killed",
        GoalStatus::Covered => "covered",
        GoalStatus::CoveredWithFault => "covered with fault",
        GoalStatus::Infeasible => "infeasible",
        GoalStatus::Equivalent => "equivalent",
        GoalStatus::Unknown => "unknown",
    }
}

/// What has no place in the source.
fn unplaced(page: &KernelPage<'_>, notes: &Notes<'_>, file: usize, line: &Line<'_>) -> Markup {
    let chips = chips(notes, line);
    html! {
        div.unplaced id=(line_anchor(page, file, 0)) {
            p { "Without a place in the source: " @for chip in &chips { span.chip.(chip.tone.class()) { (shown(&chip.text)) } " " } }
            @if line.sites.iter().any(is_listed) || line.mutants > 0 {
                details { summary { "All of it" } (body(page, notes, file, 0, line)) }
            }
        }
    }
}
