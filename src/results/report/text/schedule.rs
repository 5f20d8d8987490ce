//! Renders the result of `kassay schedule` as text: a line per test, the differences, and the schedules that they
//! are between.

use std::fmt::Write;

use kassay_model::words::Words;
use kassay_suite::schedule::Schedule;

use super::super::style::{self, Paint, Style, visible};
use super::super::table::{Cell, Table};
use super::check::schedule_text;
use super::{notes, title};
use crate::result::schedule::{Difference, Ran, RunStatus, ScheduleResult, Test, Verdict};

/// Number of differences shown per test.
const SHOWN: usize = 5;

/// Renders a line per test, and below it the differences and the schedules that they are between; with `verbose`
/// all schedules.
pub fn schedule(result: &ScheduleResult, verbose: bool, style: &Style) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    if !result.tests.is_empty() {
        out.push('\n');
    }
    let mut table = Table::new(2, "llll");
    for test in &result.tests {
        table.row([
            Cell::painted(paint(test.verdict), test.verdict.name()),
            Cell::new(&test.name),
            style::count(test.schedules.len() as u64, "schedule").into(),
            Cell::new(result.header.words().say(&style::count(test.work_groups, "work-group"))),
        ]);
    }
    for (line, test) in table.render(style).lines().zip(&result.tests) {
        let _ = writeln!(out, "{line}");
        out.push_str(&details(test, result.header.words(), verbose, style));
    }
    let _ = writeln!(out, "\n{}", summary(result, style));
    out.push_str(&notes(style, &result.notes));
    out
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Stable => Paint::Good,
        _ => Paint::Bad,
    }
}

fn details(test: &Test, words: Words, verbose: bool, style: &Style) -> String {
    let mut out = String::new();
    for difference in test.differing_outputs.iter().take(SHOWN) {
        let _ = writeln!(out, "      {}", visible(&differs(difference)));
    }
    let more = test.differing_outputs.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(out, "      and {}", style::count(more as u64, "more difference"));
    }
    let mut named: Vec<u64> = test.differing_outputs.iter().take(SHOWN).flat_map(|d| d.schedules).collect();
    named.sort_unstable();
    named.dedup();
    let mut table = Table::new(6, "rlll");
    let reason = |ran: &Ran| ran.reason.clone().unwrap_or_else(|| ran.status.name().to_owned());
    let failed: Vec<&Ran> = test.schedules.iter().filter(|ran| ran.status != RunStatus::Completed).collect();
    // A reason that all schedules share is shown once.
    let shared = failed.first().map(|ran| reason(ran)).filter(|first| {
        failed.len() > 1 && failed.len() == test.schedules.len() && failed.iter().all(|ran| reason(ran) == *first)
    });
    if let Some(reason) = &shared {
        let _ = writeln!(out, "      {}", style.paint(Paint::Bad, visible(&format!("under every schedule: {reason}"))));
    }
    for ran in &test.schedules {
        let failed = ran.status != RunStatus::Completed && shared.is_none();
        if verbose || failed || named.contains(&ran.index) {
            let status = if failed { reason(ran) } else { String::new() };
            table.row([
                format!("#{}", ran.index).into(),
                Cell::new(&ran.family),
                schedule_text(&schedule_of(ran), words).into(),
                Cell::painted(Paint::Bad, status),
            ]);
        }
    }
    out.push_str(&table.render(style));
    out
}

fn schedule_of(ran: &Ran) -> Schedule {
    Schedule { map: ran.map.clone(), item_order: ran.item_order.clone(), preemptions: ran.preemptions.clone() }
}

/// Describes how an output differs between two schedules.
pub(crate) fn differs(d: &Difference) -> String {
    let field = d.field.as_deref().map(|f| format!(".{f}")).unwrap_or_default();
    let [a, b] = d.schedules;
    let between = if a == b { format!("between runs of #{a}") } else { format!("between #{a} and #{b}") };
    format!(
        "{}[{}]{field}: {} or {}, {between}; {} of {} differ",
        d.argument,
        d.index,
        d.values[0],
        d.values[1],
        d.mismatches,
        style::count(d.elements, "element")
    )
}

fn summary(result: &ScheduleResult, style: &Style) -> String {
    let s = &result.summary;
    let parts: Vec<_> = [
        (s.stable, Verdict::Stable),
        (s.order_dependent, Verdict::OrderDependent),
        (s.nondeterministic, Verdict::Nondeterministic),
        (s.failed, Verdict::Failed),
    ]
    .into_iter()
    .filter(|part| part.0 > 0)
    .map(|(n, verdict)| style.paint(paint(verdict), format!("{n} {}", verdict.name())))
    .collect();
    let runs = style::count(result.repeats, "run");
    format!(
        "{}: {}; {runs} of each schedule, seed {} ({})",
        style::count(s.total, "test"),
        parts.join(", "),
        result.header.seed,
        style::seconds(result.elapsed_s)
    )
}
