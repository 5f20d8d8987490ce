//! Shows what `check` and `schedule` found: races with both accesses, faults, barriers, and the schedules that witness
//! them, step by step.

use kassay_model::words::Words;
use kassay_suite::schedule::Schedule;
use maud::{Markup, html};

use super::super::style;
use super::super::text::repairs as texts;
use super::super::text::{headline, id};
use super::annotations::{Notes, tone};
use super::pages::KernelPage;
use super::parts::{Tone, badge, facts, names, notes, shown, time};
use super::source_view::{known_hash, line_anchor};
use super::sources::Sources;
use crate::result::Location;
use crate::result::check::{Access, CheckResult, Finding, FindingKind, HoldsFor, Mode, Verdict, lockstep};
use crate::result::proofs::are_race_free;
use crate::result::schedule::{Ran, ScheduleResult, Verdict as ScheduleVerdict};

/// How a verdict of `check` is shown.
pub(super) fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Clean => Tone::Good,
        Verdict::Conditional | Verdict::Unknown => Tone::Warn,
        Verdict::Racy | Verdict::Divergent | Verdict::MemoryFault => Tone::Bad,
    }
}

/// How a verdict of `schedule` is shown.
pub(super) fn schedule_tone(verdict: ScheduleVerdict) -> Tone {
    if verdict == ScheduleVerdict::Stable { Tone::Good } else { Tone::Bad }
}

/// The worst verdict of the tests of a run of `schedule`.
pub(super) fn worst(result: &ScheduleResult) -> ScheduleVerdict {
    result.tests.iter().map(|test| test.verdict).max().unwrap_or(ScheduleVerdict::Stable)
}

/// Shows a check.
pub(super) fn check(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources) -> Markup {
    let Some(run) = page.checks.last() else { return html! {} };
    let result = run.result;
    let words = result.header.words();
    let anchor = page.anchor();
    let holds = match result.holds_for {
        HoldsFor::AllInterleavings => "for all interleavings of the explored inputs",
        HoldsFor::ExploredSchedules => "for the explored schedules",
    };
    let place = |at: &Location| place(page, notes, sources, at);
    html! {
        section.part id={ (anchor) "-check" } aria-labelledby={ (anchor) "-check-h" } {
            h3 id={ (anchor) "-check-h" } {
                "Races and faults " (badge(verdict_tone(result.verdict), result.verdict.name()))
                @if are_race_free(&result.proofs, true) { " " (badge(Tone::Good, "proved")) }
            }
            (facts(run.file, &result.header, result.elapsed_s))
            p {
                "The verdict holds " (holds)
                @if let Some(items) = result.warp_sync { ", " (words.say(&lockstep(items))) }
                "."
            }
            @if let Some(condition) = &result.condition {
                p { "It is clean if " (shown(&condition.text)) ". What follows was found in launches that do not keep to that." }
            }
            @if !result.holds_for_because.is_empty() { ul { @for why in &result.holds_for_because { li { (shown(why)) } } } }
            @for (number, finding) in (1..).zip(&result.findings) {
                article.finding.(tone(finding).class()) id={ (anchor) "-finding" (number) } {
                    h4 { (number) ". " (shown(&headline(words, finding))) }
                    p { (shown(&finding.message)) }
                    div.accesses { @for access in &finding.accesses { (self::access(result, finding, access, &place)) } }
                    @if let Some(branch) = &finding.branch {
                        p { "This " code { (shown(&branch.construct)) } " splits the " (words.say(finding.split())) ":" } (place(&branch.location))
                    }
                    @if let Some(witness) = &finding.witness {
                        div.witness {
                            p {
                                "The result depends on it: " code { (shown(&witness.argument)) "[" (witness.index) "]" @if let Some(field) = &witness.field { "." (shown(field)) } }
                                " differs after two schedules."
                            }
                            div.accesses {
                                @for (n, (schedule, value)) in witness.schedules.iter().zip(&witness.values).enumerate() {
                                    div.side { h5 { (if n == 0 { "First schedule" } else { "Second schedule" }) } (steps(schedule, words)) p { "It leaves " code.value { (shown(value)) } } }
                                }
                            }
                        }
                    }
                    (occurrences(finding, words))
                }
            }
            (repairs(result))
            (inputs(result))
            (barriers(result, &place))
            (proofs(result))
            (amplification(result))
            (self::notes(&result.notes))
        }
    }
}

/// A place with its line of the source.
fn place(page: &KernelPage<'_>, notes: &Notes<'_>, sources: &Sources, at: &Location) -> Markup {
    let text = sources.text(&at.file, page.source, known_hash(page, &at.file));
    let line = text.as_ref().as_ref().ok().and_then(|text| text.lines().nth((at.line as usize).checked_sub(1)?));
    let file = notes.files.iter().position(|file| file.name == at.file).filter(|_| at.line > 0);
    html! {
        div.place {
            @match file {
                Some(file) => a href={ "#" (line_anchor(page, file, at.line)) } { (shown(&at.to_string())) },
                None => span { (shown(&at.to_string())) },
            }
            @if let Some(line) = line { pre { code { (shown(line.trim())) } } }
        }
    }
}

fn access(result: &CheckResult, finding: &Finding, access: &Access, place: &dyn Fn(&Location) -> Markup) -> Markup {
    let input = finding.input.as_ref().and_then(|name| result.inputs.iter().find(|i| i.name == *name));
    let dims = input.map_or(3, |input| input.global.len());
    let words = result.header.words();
    let what = match (finding.kind, access.mode, access.waiting) {
        (FindingKind::RedundantBarrier, ..) => "Not needed".to_owned(),
        (FindingKind::BarrierDivergence, _, Some(n)) => format!("{} waiting", words.say(&style::count(n, "work-item"))),
        (FindingKind::BarrierDivergence, _, None) => "Other arguments".to_owned(),
        (_, Some(Mode::Read), _) => "Read".to_owned(),
        (_, Some(Mode::Write), _) => "Write".to_owned(),
        (_, Some(Mode::Atomic), _) => "Atomic access".to_owned(),
        (FindingKind::Division, None, _) => "Division".to_owned(),
        (FindingKind::NonTermination, None, _) => "Loop".to_owned(),
        (_, None, _) => "Here".to_owned(),
    };
    html! {
        div.side {
            h5 { (what) @if let Some(builtin) = access.builtin.as_ref().filter(|_| access.mode.is_some()) { " by " code { (shown(builtin)) } } }
            p {
                @if let Some(item) = access.global_id {
                    @if access.waiting.is_some() { "such as " } (words.say("work-item")) " " b { (id(item, dims)) }
                    @if let Some(group) = access.group_id { " of " (words.say("group")) " " b { (id(group, dims)) } }
                }
                @if let Some(element) = &access.element { ", element " code { (shown(element)) } }
                @if let Some(bytes) = access.bytes { ", " (bytes) " bytes" }
                ", in " code { (shown(&access.function)) }
            }
            (place(&access.location))
            @for caller in &access.called_from { p.quiet { "called in" } (place(caller)) }
        }
    }
}

/// A schedule as steps.
pub(super) fn steps(schedule: &Schedule, words: Words) -> Markup {
    let list = |numbers: &[u32]| names(&numbers.iter().map(u32::to_string).collect::<Vec<_>>(), 24);
    html! {
        ol.steps {
            @if schedule.map.is_empty() { li { (words.say("Work-groups run in ascending order.")) } }
            @else { li { (words.say("Work-groups run in the order")) " " (list(&schedule.map)) "." } }
            @if schedule.item_order.is_empty() { li { (words.say("The work-items of a group run in ascending order.")) } }
            @else { li { (words.say("The work-items of a group run in the order")) " " (list(&schedule.item_order)) "." } }
            @for stop in &schedule.preemptions {
                li {
                    (words.say("Work-item")) " " (stop.item) " of " (words.say("group")) " " (stop.group) " is interrupted before its access " (stop.access) "; "
                    @match stop.to { Some(to) => { (words.say("work-item")) " " (to) " runs next." } None => "the next that can run does." }
                }
            }
        }
    }
}

fn occurrences(finding: &Finding, words: Words) -> Markup {
    html! {
        @if let Some(cause) = finding.cause { p.quiet { "Cause: " (words.say(cause.words())) " (" code { (cause.name()) } ")." } }
        @if let Some(condition) = &finding.unless { p.quiet { "Not found if " (shown(condition)) "." } }
        p.facts {
            @match finding.kind {
                FindingKind::DataRace => span { "at " (style::count(finding.count, "element")) },
                FindingKind::RedundantBarrier => {}
                _ => span { (style::count(finding.count, "occurrence")) },
            }
            @if let Some(input) = &finding.input {
                span { "input " (shown(input)) @if finding.inputs > 1 { " and " (finding.inputs - 1) " more" } }
            }
            @if let Some(path) = &finding.reproduction { span { "again: " code { "kassay check " (shown(path)) } } }
        }
        @if !finding.schedule.is_natural() { details { summary { "The schedule that shows it" } (steps(&finding.schedule, words)) } }
    }
}

/// How findings can be mended, with the changes, and why others cannot.
fn repairs(result: &CheckResult) -> Markup {
    let words = result.header.words();
    let class = |line: &str| match texts::side(line) {
        Some(texts::Side::Added) => "plus",
        Some(texts::Side::Removed) => "minus",
        None => "quiet",
    };
    html! {
        @if !result.repairs.is_empty() {
            details.part-more open {
                summary { "Repairs (" (result.repairs.iter().filter(|repair| repair.is_one()).count()) ")" }
                @for repair in &result.repairs {
                    @if repair.is_one() {
                        p { b { (texts::subject(repair)) ": " } (shown(&texts::edits(repair))) br; (shown(&words.say(&texts::known(repair)))) }
                        pre.diff { @for line in repair.diff.lines() { span class=(class(line)) { (shown(line)) } "\n" } }
                    } @else {
                        p { b { (texts::subject(repair)) ": " } (shown(texts::why_not(repair))) }
                    }
                }
            }
        }
    }
}

fn inputs(result: &CheckResult) -> Markup {
    let size = |n: &[u64]| n.iter().map(u64::to_string).collect::<Vec<_>>().join("×");
    html! {
        @if !result.inputs.is_empty() {
            details.part-more {
                summary { "Inputs (" (result.inputs.len()) ")" }
                table.numbers {
                    thead { tr { th scope="col" { "input" } th scope="col" { "origin" } th scope="col" { "global" } th scope="col" { "local" } th.n scope="col" { "findings" } th scope="col" { "completed" } } }
                    tbody {
                        @for input in &result.inputs {
                            tr {
                                th scope="row" { (shown(&input.name)) } td { (shown(&input.origin)) } td { (size(&input.global)) } td { (size(&input.local)) } td.n { (input.findings) }
                                td { @if input.completed { "yes" } @else { span.bad { "no" } @if let Some(why) = &input.reason { ": " (shown(why)) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn barriers(result: &CheckResult, place: &dyn Fn(&Location) -> Markup) -> Markup {
    html! {
        @if !result.barriers.is_empty() {
            details.part-more {
                summary { "Barriers (" (result.barriers.len()) ")" }
                table.numbers {
                    thead { tr { th scope="col" { "barrier" } th.n scope="col" { "reached in inputs" } th scope="col" { "needed" } } }
                    tbody {
                        @for barrier in &result.barriers {
                            tr {
                                td { (place(&barrier.location)) } td.n { (barrier.reached) }
                                td { @match barrier.redundant { Some(true) => span.warn { "no" }, Some(false) => "yes", None => span.quiet { "not tried" } } ": " (shown(&barrier.reason)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What is proved, and what is not.
fn proofs(result: &CheckResult) -> Markup {
    let words = result.header.words();
    let mut assumed: Vec<&str> = Vec::new();
    for clause in result.proofs.iter().flat_map(|proof| proof.assumed(words)) {
        if !assumed.contains(&clause) {
            assumed.push(clause);
        }
    }
    html! {
        @if !result.proofs.is_empty() || !result.lengths.is_empty() {
            details.part-more {
                summary { "What is proved" }
                dl {
                    @for proof in &result.proofs {
                        dt { (words.say(proof.subject())) }
                        dd {
                            (shown(&proof.known(words)))
                            @for reason in &proof.why_not { br; span.quiet { (shown(reason)) } }
                        }
                    }
                    @if !result.lengths.is_empty() {
                        dt { "lengths of buffers" }
                        dd { @for (n, length) in result.lengths.iter().enumerate() { @if n > 0 { br; } (shown(&length.text())) } }
                    }
                    @if !assumed.is_empty() {
                        dt { "assuming" }
                        dd { @for (n, clause) in assumed.iter().enumerate() { @if n > 0 { br; } (shown(clause)) } }
                    }
                }
            }
        }
    }
}

fn amplification(result: &CheckResult) -> Markup {
    let list = |all: &[String]| if all.is_empty() { "none".to_owned() } else { names(all, usize::MAX) };
    html! {
        @if let Some(amplification) = &result.amplification {
            details.part-more {
                summary { "What the inputs stand for" }
                dl {
                    dt { "access invariant" } dd { (if amplification.access_invariant { "yes" } else { "no" }) }
                    dt { "holds for all values of" } dd { (list(&amplification.holds_for_all_values_of)) }
                    dt { "depends on" } dd { (list(&amplification.property_integrity_inputs)) }
                    @if let Some(proved) = &amplification.proved {
                        dt { "no races, by proof, in" } dd { (shown(&proved.text(result.header.words()))) }
                    }
                }
                @if !amplification.why_not.is_empty() { ul { @for why in &amplification.why_not { li { (shown(why)) } } } }
            }
        }
    }
}

/// Shows tests under several schedules.
pub(super) fn schedule(page: &KernelPage<'_>) -> Markup {
    let Some(run) = page.schedules.last() else { return html! {} };
    let result = run.result;
    let words = result.header.words();
    let anchor = page.anchor();
    html! {
        section.part id={ (anchor) "-schedule" } aria-labelledby={ (anchor) "-schedule-h" } {
            h3 id={ (anchor) "-schedule-h" } { "Schedules " (badge(schedule_tone(worst(result)), worst(result).name())) }
            (facts(run.file, &result.header, result.elapsed_s))
            @for test in &result.tests {
                article.finding.(schedule_tone(test.verdict).class()) {
                    h4 { (shown(&test.name)) " " (badge(schedule_tone(test.verdict), test.verdict.name())) }
                    p.facts { span { (style::count(test.schedules.len() as u64, "schedule")) } span { (words.say(&style::count(test.work_groups, "work-group"))) } span { (style::count(result.repeats, "run")) " of each" } }
                    @for difference in test.differing_outputs.iter().take(5) {
                        @let [a, b] = difference.schedules;
                        p {
                            code { (shown(&difference.argument)) "[" (difference.index) "]" @if let Some(field) = &difference.field { "." (shown(field)) } }
                            " is " code.value { (shown(&difference.values[0])) } " or " code.value { (shown(&difference.values[1])) } ", "
                            @if a == b { "between runs of schedule " (a) } @else { "after schedule " (a) " or " (b) }
                            "; " (difference.mismatches) " of " (style::count(difference.elements, "element")) " differ."
                        }
                        div.accesses {
                            @for (index, value) in difference.schedules.iter().zip(&difference.values).take(if a == b { 1 } else { 2 }) {
                                @if let Some(ran) = test.schedules.iter().find(|ran| ran.index == *index) {
                                    div.side { h5 { "Schedule " (index) span.quiet { " " (shown(&ran.family)) } } (steps(&schedule_of(ran), words)) p { "It leaves " code.value { (shown(value)) } } }
                                }
                            }
                        }
                    }
                    @if test.differing_outputs.len() > 5 { p.quiet { "and " (test.differing_outputs.len() - 5) " more differences" } }
                    details { summary { "All schedules" } (all_schedules(&test.schedules)) }
                }
            }
            (self::notes(&result.notes))
        }
    }
}

fn schedule_of(ran: &Ran) -> Schedule {
    Schedule { map: ran.map.clone(), item_order: ran.item_order.clone(), preemptions: ran.preemptions.clone() }
}

fn all_schedules(all: &[Ran]) -> Markup {
    html! {
        table.numbers {
            thead { tr { th.n scope="col" { "no." } th scope="col" { "family" } th scope="col" { "status" } th.n scope="col" { "outcome" } th.n scope="col" { "time" } } }
            tbody {
                @for ran in all {
                    tr {
                        td.n { (ran.index) } td { (shown(&ran.family)) }
                        td { (ran.status.name()) @if let Some(why) = &ran.reason { ": " (shown(why)) } }
                        td.n { (ran.outcome.map_or("–".to_owned(), |n| n.to_string())) } td.n { (time(ran.kernel_s)) }
                    }
                }
            }
        }
    }
}
