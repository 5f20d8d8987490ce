//! Renders the results of `kassay run`, `schedule` and `generate` for several kernels as text.

use super::super::style::{Paint, Style, seconds};
use super::super::table::{Cell, Table};
use super::cover_set::without_result;
use super::generate::{GenerateView, generate};
use super::{notes, percent, run, schedule};
use crate::result::generate::{GenerateSet, GenerateSummary};
use crate::result::run::{self as of_run, RunSet};
use crate::result::schedule::{self as of_schedule, ScheduleSet};
use crate::result::set::{InSet, SetResult};
use crate::result::sum;

/// Renders each kernel of which a test did not pass, as `run` does, and a line per kernel; with `verbose`, each kernel.
pub fn run_set(set: &RunSet, verbose: bool, style: &Style) -> String {
    let row = |s: &of_run::Summary| {
        let bad = |n: u64| if n > 0 { Cell::painted(Paint::Bad, n.to_string()) } else { n.to_string().into() };
        vec![
            s.total.to_string().into(),
            s.passed.to_string().into(),
            bad(s.failed),
            bad(s.broken),
            s.unchecked.to_string().into(),
        ]
    };
    let head = ["tests", "passed", "failed", "broken", "unchecked"];
    let text = |result: &of_run::RunResult| {
        let speaks = verbose || sum([result.summary.failed, result.summary.broken]) > 0;
        speaks.then(|| run::run(result, style))
    };
    render(set, &head, text, |result| row(&result.summary), row(&set.total), verbose, style)
}

/// Renders each kernel of which a test is not stable, as `schedule` does, and a line per kernel; with `verbose`, each
/// kernel.
pub fn schedule_set(set: &ScheduleSet, verbose: bool, style: &Style) -> String {
    let row = |s: &of_schedule::Summary| {
        let bad = |n: u64| if n > 0 { Cell::painted(Paint::Bad, n.to_string()) } else { n.to_string().into() };
        vec![
            s.total.to_string().into(),
            s.stable.to_string().into(),
            bad(s.order_dependent),
            bad(s.nondeterministic),
            bad(s.failed),
        ]
    };
    let head = ["tests", "stable", "order-dependent", "nondeterministic", "failed"];
    let text = |result: &of_schedule::ScheduleResult| {
        let speaks = verbose || result.summary.stable < result.summary.total;
        speaks.then(|| schedule::schedule(result, verbose, style))
    };
    render(set, &head, text, |result| row(&result.summary), row(&set.total), verbose, style)
}

/// Renders a line per kernel with the suite written for it; with `verbose`, each kernel as `generate` does.
pub fn generate_set(
    set: &GenerateSet,
    verbose: bool,
    sources: &dyn Fn(&str) -> Option<String>,
    style: &Style,
) -> String {
    let row = |s: &GenerateSummary, branch: Option<f64>| {
        let goals = sum([s.covered, s.covered_with_fault, s.infeasible, s.equivalent, s.unknown]);
        let mut cells: Vec<Cell> = [s.tests, goals, s.covered, sum([s.infeasible, s.equivalent]), s.unknown]
            .map(|n| n.to_string().into())
            .into();
        cells.push(percent(branch));
        cells
    };
    let head = ["tests", "goals", "covered", "infeasible", "unknown", "branches"];
    let text = |result: &crate::result::generate::GenerateResult| {
        let view = GenerateView { verbose, suite: "its suite".to_owned() };
        verbose.then(|| generate(result, &view, sources, style))
    };
    let (mut covered, mut total) = (0, 0);
    for kernel in &set.kernels {
        covered += kernel.result.coverage.branch.covered;
        total += kernel.result.coverage.branch.total;
    }
    let all = crate::result::Ratio { covered, total }.percent();
    render(
        set,
        &head,
        text,
        |result| row(&result.summary, result.coverage.branch.percent()),
        row(&set.total, all),
        verbose,
        style,
    )
}

/// Renders what there is to say of kernels, then a table with a row per kernel and one for all, then what has no
/// result.
fn render<R: InSet>(
    set: &SetResult<R, R::Total>,
    head: &[&str],
    text: impl Fn(&R) -> Option<String>,
    row: impl Fn(&R) -> Vec<Cell>,
    total: Vec<Cell>,
    verbose: bool,
    style: &Style,
) -> String {
    let mut out = String::new();
    for text in set.kernels.iter().filter_map(|kernel| text(&kernel.result)) {
        out.push_str(&text);
        out.push('\n');
    }
    if !set.kernels.is_empty() {
        let mut table = Table::new(2, &format!("l{}l", "r".repeat(head.len())));
        let head: Vec<&str> = ["kernel"].iter().chain(head).chain(&["suite"]).copied().collect();
        table.head(&head);
        for kernel in &set.kernels {
            let header = kernel.result.header();
            let place = kernel.suite.as_ref().unwrap_or(&header.source);
            table.row([Cell::new(&header.kernel)].into_iter().chain(row(&kernel.result)).chain([Cell::new(place)]));
        }
        if set.kernels.len() > 1 {
            table.row([Cell::new("total")].into_iter().chain(total).chain([Cell::new(seconds(set.elapsed_s))]));
        }
        out.push_str(&table.render(style));
    }
    out.push_str(&without_result(&set.failed, &set.left_out, verbose, style));
    out.push_str(&notes(style, &set.notes));
    out
}
