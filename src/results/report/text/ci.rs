//! Renders the result of `kassay ci` as text.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible, wrap};
use super::super::table::{Cell, Table};
use super::check::{CheckView, verdict_paint};
use super::mutate::{MutateView, percent as score};
use super::{check_set, cover_set, generate_set, heading, mutate_set, percent, run_set, schedule_set};
use crate::result::ci::CiResult;
use crate::result::set::{AnySet, InSet, SetResult};
use crate::result::sum;

/// Renders a row per suite with what each command says of it, and then what the project complains of; with `verbose`,
/// the result of each command, too. `sources` returns the text of a file by its name in the result.
pub fn ci(result: &CiResult, verbose: bool, sources: &dyn Fn(&str) -> Option<String>, style: &Style) -> String {
    // All fields by name, so that the compiler asks for a command that is added.
    let CiResult { header: _, elapsed_s, profile: _, complaints, run, cover, mutate, check, schedule, generate } =
        result;
    let mut out = String::new();
    if verbose {
        let view = CheckView { verbose };
        let of_mutants = MutateView::default();
        let sections = [
            ("run", run.as_ref().map(|set| run_set(set, verbose, style))),
            ("cover", cover.as_ref().map(|set| cover_set(set, verbose, sources, style))),
            ("mutate", mutate.as_ref().map(|set| mutate_set(set, of_mutants, verbose, sources, style))),
            ("check", check.as_ref().map(|set| check_set(set, view, sources, style))),
            ("schedule", schedule.as_ref().map(|set| schedule_set(set, verbose, style))),
            ("generate", generate.as_ref().map(|set| generate_set(set, verbose, sources, style))),
        ];
        for (command, text) in sections.into_iter().filter_map(|(command, text)| Some((command, text?))) {
            out.push_str(&heading(style, &format!("kassay {command}")));
            out.push_str(&text);
        }
        out.push('\n');
    }
    out.push_str(&table(result, style));
    if !complaints.is_empty() {
        out.push_str(&heading(style, "not as the project wants it"));
    }
    for complaint in complaints {
        let text =
            format!("{}: {} (kassay {})", visible(&complaint.suite), visible(&complaint.text), complaint.command);
        let _ = writeln!(out, "  {}", wrap(&text, style.width.saturating_sub(4).max(20)).join("\n    "));
    }
    let verdict = match complaints.len() as u64 {
        0 => style.paint(Paint::Good, "as the project wants it"),
        count => style.paint(Paint::Bad, style::count(count, "complaint")),
    };
    let _ = writeln!(out, "\n{verdict} ({})", style::seconds(*elapsed_s));
    out
}

/// A row per suite, a column per command.
fn table(result: &CiResult, style: &Style) -> String {
    let mut table = Table::new(2, "llrrrlll");
    let generates = result.generate.is_some();
    let head = ["suite", "kernel", "tests passed", "branches", "mutants", "check", "schedule", "generate"];
    table.head(if generates { &head } else { &head[..7] });
    for suite in suites(result) {
        let mut kernel = String::new();
        let run = cell(&mut kernel, result.run.as_ref(), suite, |result| {
            let s = &result.summary;
            let paint = if sum([s.failed, s.broken]) > 0 { Paint::Bad } else { Paint::Good };
            Cell::painted(paint, format!("{} of {}", s.total - s.failed - s.broken, s.total))
        });
        let cover = cell(&mut kernel, result.cover.as_ref(), suite, |result| percent(result.coverage.branch.percent()));
        let mutate = cell(&mut kernel, result.mutate.as_ref(), suite, |result| score(result.summary.score));
        let check = cell(&mut kernel, result.check.as_ref(), suite, |result| {
            Cell::painted(verdict_paint(result.verdict), result.verdict.name())
        });
        let schedule = cell(&mut kernel, result.schedule.as_ref(), suite, |result| {
            let s = &result.summary;
            match s.total - s.stable {
                0 => Cell::painted(Paint::Good, "stable"),
                bad => Cell::painted(Paint::Bad, format!("{bad} of {} not stable", s.total)),
            }
        });
        let generate = cell(&mut kernel, result.generate.as_ref(), suite, |result| {
            let s = &result.summary;
            let decided = sum([s.covered, s.covered_with_fault, s.infeasible, s.equivalent]);
            format!("{decided} of {} goals", sum([decided, s.unknown])).into()
        });
        let mut row = vec![Cell::new(suite), Cell::new(&kernel), run, cover, mutate, check, schedule];
        row.extend(generates.then_some(generate));
        table.row(row);
    }
    table.render(style)
}

/// What a command says of a suite; nothing if it was not asked. Also finds out the kernel's name.
fn cell<R: InSet>(
    kernel: &mut String,
    set: Option<&SetResult<R, R::Total>>,
    suite: &str,
    of: impl Fn(&R) -> Cell,
) -> Cell {
    let Some(set) = set else { return "".into() };
    if let Some(found) = set.kernels.iter().find(|one| one.suite.as_deref() == Some(suite)) {
        kernel.clone_from(&found.result.header().kernel);
        return of(&found.result);
    }
    let is_failed = set.failed.iter().any(|failed| failed.suite.as_deref() == Some(suite));
    if is_failed { Cell::painted(Paint::Bad, "failed") } else { "-".into() }
}

/// Returns the suites in the order of their names.
fn suites(result: &CiResult) -> Vec<&str> {
    let mut suites: Vec<&str> = result.sets().into_iter().flat_map(AnySet::suites).collect();
    suites.sort_unstable();
    suites.dedup();
    suites
}
