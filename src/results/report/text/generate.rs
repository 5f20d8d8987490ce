//! Renders the result of `kassay generate` as text: what the suite covers and what it does not.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible, wrap};
use super::super::table::{Cell, Table};
use super::{heading, notes, title};
use crate::result::cover::{METRICS, Measure};
use crate::result::generate::{By, GenerateResult, Goal, GoalStatus, SeedReport};

/// Options of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GenerateView {
    /// Also lists covered goals and tests one by one.
    pub verbose: bool,
    /// Path of the suite written.
    pub suite: String,
}

/// Renders coverage, the goals not covered (unknown, or decided by a proof or with faults only), and numbers. `sources`
/// returns the text of a file by its name in the result; without text the source lines are left out.
pub fn generate(
    result: &GenerateResult,
    view: &GenerateView,
    sources: &dyn Fn(&str) -> Option<String>,
    style: &Style,
) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    out.push('\n');
    let coverage = &result.coverage;
    let mut table = Table::new(2, "lrrr");
    table.head(&["metric", "covered", "total", "percent"]);
    // Region coverage follows from branch coverage.
    for metric in METRICS.iter().filter(|m| m.site_kind != "region") {
        let Measure::Ratio(ratio) = (metric.measure)(coverage) else { continue };
        let percent = ratio.percent().map_or("-".to_owned(), style::percent);
        table.row([
            Cell::new(metric.label),
            ratio.covered.to_string().into(),
            ratio.total.to_string().into(),
            percent.into(),
        ]);
    }
    out.push_str(&table.render(style));
    out.push_str(&goals(&result.goals, view.verbose, sources, style));
    if view.verbose && !result.tests.is_empty() {
        out.push_str(&tests(result, style));
    }
    if let Some(from) = &result.from {
        out.push_str(&seeds(from, style));
    }
    let summary = &result.summary;
    let tests = format!("{} in {}", style::count(summary.tests, "test"), visible(&view.suite));
    let (covered, all) = (summary.covered, result.goals.len() as u64);
    let _ = match &result.scores {
        None => writeln!(
            out,
            "\n{tests}: {covered} of {} covered,{} {} infeasible, {} unknown",
            style::count(all, "outcome"),
            match summary.covered_with_fault {
                0 => String::new(),
                n => format!(" {n} more with faults,"),
            },
            summary.infeasible,
            summary.unknown
        ),
        Some(scores) => writeln!(
            out,
            "\n{tests}: {covered} of {} killed, {} equivalent, {} unknown\nmutation score {}, of the suite that covers the branches {}",
            style::count(all, "mutant"),
            summary.equivalent,
            summary.unknown,
            scores.suite.map_or("-".to_owned(), style::percent),
            scores.branch_suite.map_or("-".to_owned(), style::percent)
        ),
    };
    let _ = writeln!(
        out,
        "{} ({} faulted); seed {}, {}",
        style::count(summary.executions, "launch"),
        summary.faulted,
        result.header.seed,
        style::seconds(result.elapsed_s)
    );
    out.push_str(&notes(style, &result.notes));
    out
}

fn goals(goals: &[Goal], verbose: bool, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    let shown: Vec<&Goal> = goals.iter().filter(|g| verbose || g.status != GoalStatus::Covered).collect();
    if shown.is_empty() {
        return String::new();
    }
    let has_faults = shown.iter().any(|g| g.status == GoalStatus::CoveredWithFault);
    let title = match (verbose, has_faults) {
        (true, _) => "goals",
        (false, true) => "not covered, or with faults only",
        (false, false) => "not covered",
    };
    let mut out = heading(style, title);
    let mut previous = (&None, &None);
    for goal in shown {
        let (paint, status) = match goal.status {
            GoalStatus::Covered if goal.mutant.is_some() => (Paint::Good, "killed"),
            GoalStatus::Covered => (Paint::Good, "covered"),
            GoalStatus::CoveredWithFault => (Paint::Warn, "covered with fault"),
            GoalStatus::Infeasible => (Paint::Dim, "infeasible"),
            GoalStatus::Equivalent => (Paint::Dim, "equivalent"),
            GoalStatus::Unknown => (Paint::Warn, "unknown"),
        };
        let what = goal.outcome.as_deref().or(goal.mutant.as_deref()).unwrap_or_default();
        let place = match goal.location.line {
            0 => goal.site.clone().unwrap_or_default(),
            _ => goal.location.to_string(),
        };
        let by = goal.by.map(|by| format!(" by {}", name(by))).unwrap_or_default();
        let _ = writeln!(out, "  {}  {} {}{by}", visible(&place), visible(what), style.paint(paint, status));
        let text = sources(&goal.location.file);
        let line = text.as_deref().and_then(|t| t.lines().nth((goal.location.line as usize).checked_sub(1)?));
        if let Some(line) = line.filter(|_| goal.status != GoalStatus::Covered) {
            let _ = writeln!(out, "      | {}", visible(line.trim()));
        }
        // Goals given up together have the same reason, which is shown once.
        if (&goal.reason, &goal.bound) == previous {
            continue;
        }
        previous = (&goal.reason, &goal.bound);
        for remark in [&goal.reason, &goal.bound].into_iter().flatten() {
            for line in wrap(&visible(remark), style.width.saturating_sub(6).max(20)) {
                let _ = writeln!(out, "      {line}");
            }
        }
    }
    out
}

fn tests(result: &GenerateResult, style: &Style) -> String {
    let mut out = heading(style, "tests");
    let mut table = Table::new(2, "llrrr");
    let [items, groups] = ["work-items", "work-groups"].map(|name| result.header.words().say(name));
    table.head(&["name", "by", &items, &groups, "covers"]);
    for test in &result.tests {
        table.row([
            Cell::new(&test.name),
            name(test.by).into(),
            test.work_items.to_string().into(),
            test.work_groups.to_string().into(),
            test.covers.to_string().into(),
        ]);
    }
    out.push_str(&table.render(style));
    out
}

/// Renders what the seeds cover and have in common, what contradicts them, and what they exclude.
fn seeds(from: &SeedReport, style: &Style) -> String {
    let mut out = heading(style, "seeds");
    let branch = from.coverage.branch;
    let _ = writeln!(
        out,
        "  {} of {} cover {} of {}; {} were added",
        style::count(from.launches, "launch"),
        visible(&from.suite),
        branch.covered,
        style::count(branch.total, "outcome"),
        from.added
    );
    let mut list = |title: &str, lines: &mut dyn Iterator<Item = String>| {
        for (at, line) in lines.enumerate() {
            if at == 0 {
                out.push_str(&heading(style, title));
            }
            let lines = wrap(&visible(&line), style.width.saturating_sub(4).max(20));
            let _ = writeln!(out, "  {}", lines.join("\n    "));
        }
    };
    let guess = |is_guess: bool| if is_guess { " (a guess: nothing of it varies)" } else { "" };
    list("kept in all tests", &mut from.couplings.iter().map(|c| format!("{}{}", c.sentence, guess(c.guess))));
    let excluded = from.excluded.iter().map(|goal| {
        format!("{}  {}  breaks: {} (test \"{}\")", goal.location, goal.outcome, goal.breaks.join("; "), goal.test)
    });
    list("only by breaking what the seeds have in common", &mut excluded.into_iter());
    list("contradicted by the seeds", &mut from.contradictions.iter().cloned());
    list("seeds left out", &mut from.left_out.iter().cloned());
    out
}

fn name(by: By) -> &'static str {
    match by {
        By::Seed => "seed",
        By::Fuzz => "fuzz",
        By::Smt => "smt",
    }
}
