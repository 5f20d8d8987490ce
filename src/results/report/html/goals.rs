//! Shows what `generate`, `run` and `inspect` say of a kernel.

use maud::{Markup, html};

use super::super::style;
use super::annotations::Notes;
use super::pages::KernelPage;
use super::parts::{Tone, badge, facts, names, notes, percent_bar, shown, sort_key, time};
use super::source_view::{line_anchor, status_word};
use crate::result::cover::{METRICS, Measure};
use crate::result::generate::{By, GenerateResult, Goal, GoalStatus, SeedReport};
use crate::result::inspect::Kernel;
use crate::result::run::{Output, TestStatus};

fn by(by: By) -> &'static str {
    match by {
        By::Seed => "seed",
        By::Fuzz => "fuzzing",
        By::Smt => "solver",
    }
}

fn goal_tone(status: GoalStatus) -> Tone {
    match status {
        GoalStatus::Covered => Tone::Good,
        GoalStatus::CoveredWithFault | GoalStatus::Unknown => Tone::Warn,
        GoalStatus::Infeasible | GoalStatus::Equivalent => Tone::Quiet,
    }
}

/// Shows a search for tests: its goals with their reasons, its tests, and what the seeds have in common.
pub(super) fn generate(page: &KernelPage<'_>, notes: &Notes<'_>) -> Markup {
    let Some(run) = page.generates.last() else { return html! {} };
    let result = run.result;
    let words = result.header.words();
    let anchor = page.anchor();
    // What is not covered comes first.
    let mut goals: Vec<&Goal> = result.goals.iter().collect();
    goals.sort_by_key(|goal| match goal.status {
        GoalStatus::Unknown => 0,
        GoalStatus::CoveredWithFault => 1,
        GoalStatus::Infeasible | GoalStatus::Equivalent => 2,
        GoalStatus::Covered => 3,
    });
    html! {
        section.part id={ (anchor) "-generate" } aria-labelledby={ (anchor) "-generate-h" } {
            h3 id={ (anchor) "-generate-h" } { "Generated tests" }
            (facts(run.file, &result.header, result.elapsed_s))
            (numbers(result))
            table.numbers.sortable {
                caption { "Goals" }
                thead { tr { th scope="col" { "status" } th scope="col" { "goal" } th scope="col" { "place" } th scope="col" { "by" } th.n scope="col" { "after" } th scope="col" { "reason" } } }
                tbody { @for goal in goals { (self::goal(page, notes, goal)) } }
            }
            details.part-more {
                summary { "Tests (" (result.tests.len()) ")" }
                table.numbers.sortable {
                    thead { tr { th scope="col" { "test" } th scope="col" { "by" } th.n scope="col" { (words.say("work-items")) } th.n scope="col" { (words.say("groups")) } th.n scope="col" { "covers" } th scope="col" { "assumes" } } }
                    tbody {
                        @for test in &result.tests {
                            tr { th scope="row" { (shown(&test.name)) } td { (by(test.by)) } td.n { (test.work_items) } td.n { (test.work_groups) } td.n { (test.covers) } td { (names(&test.preconditions, 4)) } }
                        }
                    }
                }
            }
            @if let Some(from) = &result.from { (seeds(from)) }
            (self::notes(&result.notes))
        }
    }
}

fn numbers(result: &GenerateResult) -> Markup {
    let s = &result.summary;
    html! {
        p.facts {
            span { (style::count(s.tests, "test")) }
            span { (s.covered) " of " (style::count(result.goals.len() as u64, "goal")) " covered" }
            @if s.covered_with_fault > 0 { span { (s.covered_with_fault) " with faults" } }
            @if s.infeasible > 0 { span { (s.infeasible) " infeasible" } }
            @if s.equivalent > 0 { span { (s.equivalent) " equivalent" } }
            span { (s.unknown) " unknown" }
            span { (style::count(s.executions, "launch")) ", " (s.faulted) " faulted" }
            span { "fuzzing " (style::seconds(s.fuzz_s)) ", solving " (style::seconds(s.smt_s)) }
        }
        p.meters {
            @for metric in METRICS.iter().filter(|m| m.site_kind != "region") {
                @if let Measure::Ratio(ratio) = (metric.measure)(&result.coverage) { span { (metric.label) " " (percent_bar(ratio.percent())) } }
            }
            @if let Some(scores) = &result.scores {
                span { "mutation score " (percent_bar(scores.suite)) } span { "of the suite that covers the branches " (percent_bar(scores.branch_suite)) }
            }
        }
    }
}

fn goal(page: &KernelPage<'_>, notes: &Notes<'_>, goal: &Goal) -> Markup {
    let at = &goal.location;
    let what = goal.outcome.as_deref().or(goal.mutant.as_deref()).unwrap_or_default();
    let file = notes.files.iter().position(|file| file.name == at.file).filter(|_| at.line > 0);
    html! {
        tr {
            td { (badge(goal_tone(goal.status), status_word(goal))) }
            th scope="row" { (shown(&goal.kind)) " " code { (shown(what)) } }
            td data-sort=(at.line) {
                @match file {
                    Some(file) => a href={ "#" (line_anchor(page, file, at.line)) } { (at.position()) },
                    None if at.line > 0 => { (at.position()) }
                    None => "–",
                }
            }
            td { (goal.by.map_or("", by)) }
            td.n data-sort=(sort_key(Some(goal.time_s))) { (style::seconds(goal.time_s)) }
            td {
                @if let Some(reason) = &goal.reason { (shown(reason)) }
                @if let Some(bound) = &goal.bound { span.quiet { " " (shown(bound)) } }
                @if !goal.preconditions.is_empty() { span.quiet { " assuming " (names(&goal.preconditions, 4)) } }
            }
        }
    }
}

fn seeds(from: &SeedReport) -> Markup {
    html! {
        details.part-more {
            summary { "Seeds: " (style::count(from.launches, "launch")) " of " (shown(&from.suite)) ", " (from.added) " outcomes added" }
            @if !from.couplings.is_empty() {
                h4 { "Kept in all tests" }
                ul { @for row in &from.couplings { li { (shown(&row.sentence)) @if row.guess { span.quiet { " (a guess: nothing of it varies)" } } } } }
            }
            @if !from.excluded.is_empty() {
                h4 { "Only by breaking what the seeds have in common" }
                ul { @for goal in &from.excluded { li { (goal.location.position()) " " code { (shown(&goal.outcome)) } " breaks " (names(&goal.breaks, 4)) " (test " (shown(&goal.test)) ")" } } }
            }
            @for (title, list) in [("Contradicted by the seeds", &from.contradictions), ("Seeds left out", &from.left_out)] {
                @if !list.is_empty() { h4 { (title) } ul { @for line in list { li { (shown(line)) } } } }
            }
        }
    }
}

/// Shows which tests produce the expected outputs.
pub(super) fn run(page: &KernelPage<'_>) -> Markup {
    let Some(run) = page.runs.last() else { return html! {} };
    let result = run.result;
    let s = &result.summary;
    let anchor = page.anchor();
    let tone = |status| match status {
        TestStatus::Passed => Tone::Good,
        TestStatus::Unchecked => Tone::Quiet,
        _ => Tone::Bad,
    };
    html! {
        section.part id={ (anchor) "-run" } aria-labelledby={ (anchor) "-run-h" } {
            h3 id={ (anchor) "-run-h" } { "Tests" }
            (facts(run.file, &result.header, result.elapsed_s))
            p.facts { span { (s.passed) " passed" } span { (s.failed) " failed" } span { (s.broken) " broken" } span { (s.unchecked) " unchecked" } }
            table.numbers.sortable {
                thead { tr { th scope="col" { "test" } th scope="col" { "status" } th scope="col" { "outputs" } th.n scope="col" { "time" } } }
                tbody {
                    @for test in &result.tests {
                        tr {
                            th scope="row" { (shown(&test.name)) }
                            td { (badge(tone(test.status), test.status.name())) @if let Some(why) = &test.reason { " " (shown(why)) } }
                            td {
                                @for output in &test.outputs { (self::output(output)) }
                                @if !test.printf.is_empty() { details { summary { "printed" } pre { (shown(&test.printf)) } } }
                            }
                            td.n data-sort=(sort_key(test.kernel_s.map(|t| t * 1e9))) { (time(test.kernel_s)) }
                        }
                    }
                }
            }
            (notes(&result.notes))
        }
    }
}

fn output(output: &Output) -> Markup {
    html! {
        div {
            code { (shown(&output.arg)) } " "
            @if output.passed { span.quiet { "as expected" } }
            @else {
                span.bad { (output.mismatches) " of " (output.elements) " differ" }
                @if let Some(first) = &output.first {
                    ", first [" (first.index) "]" @if let Some(field) = &first.field { "." (shown(field)) }
                    ": expected " code.value { (shown(&first.expected)) } ", got " code.value { (shown(&first.actual)) }
                }
            }
            @if let Some(error) = output.largest_absolute_error.filter(|e| *e > 0.0) { span.quiet { " (error up to " (style::magnitude(error)) ")" } }
        }
    }
}

/// Shows a kernel's interface and what there is to test of it.
pub(super) fn inspected(page: &KernelPage<'_>, kernel: &Kernel) -> Markup {
    let c = &kernel.counts;
    let anchor = page.anchor();
    let counts = [
        ("branches", c.branches),
        ("branch outcomes", c.branch_outcomes),
        ("conditions", c.conditions),
        ("decisions of several conditions", c.decisions),
        ("loops", c.loops),
        ("barriers", c.barriers),
        ("basic blocks", c.basic_blocks),
        ("lines", c.lines),
        ("statements", c.statements),
        ("mutants", c.mutants),
    ];
    html! {
        section.part id={ (anchor) "-inspect" } aria-labelledby={ (anchor) "-inspect-h" } {
            h3 id={ (anchor) "-inspect-h" } { "Interface" }
            div.columns {
                table.numbers {
                    caption { "Arguments" }
                    thead { tr { th scope="col" { "name" } th scope="col" { "type" } th scope="col" { "memory" } th scope="col" { "access" } } }
                    tbody {
                        @for arg in &kernel.args {
                            tr {
                                th scope="row" { (arg.name.as_deref().map_or_else(|| arg.position.to_string(), |name| shown(name).into_owned())) }
                                td { code { (shown(&arg.type_name)) } } td { (shown(&arg.address_space)) } td { @if arg.access != "none" { (shown(&arg.access)) } }
                            }
                        }
                    }
                }
                table.numbers {
                    caption { "What there is to test" }
                    tbody { @for (name, n) in counts { tr { th scope="row" { (name) } td.n { (n) } } } }
                }
                @if !kernel.mutants_by_operator.is_empty() {
                    table.numbers {
                        caption { "Mutants by operator" }
                        tbody { @for (operator, n) in &kernel.mutants_by_operator { tr { th scope="row" { (shown(operator)) } td.n { (n) } } } }
                    }
                }
            }
        }
    }
}
