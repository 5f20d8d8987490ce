//! Renders the result of `kassay mutate` as text: the undetected mutants, then the numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::style::{self, Paint, Style};
use super::super::table::{Cell, Table};
use super::comparison::comparison;
use super::mutants::Listing;
use super::{heading, notes, quote, title};
use crate::result::mutate::{MutateResult, SecondOrder, Summary, TestOutcome, TestStatus, Timing};
use crate::result::sum;

/// Options of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MutateView {
    /// Leaves the lists of mutants out.
    pub summary_only: bool,
}

/// Renders the undetected mutants with their source lines; numbers by operator and class, tests, scores and times.
/// `sources` returns the text of a file by its name in the result; without text the source lines are left out.
pub fn mutate(
    result: &MutateResult,
    view: MutateView,
    sources: &dyn Fn(&str) -> Option<String>,
    style: &Style,
) -> String {
    let mut out = title(style, &result.header.kernel, &result.header.source, result.header.device.as_ref());
    if !view.summary_only {
        out.push_str(&Listing::new(result, sources, style).render());
    }
    if !result.operators.is_empty() {
        out.push_str(&heading(style, "mutants by operator"));
        out.push_str(&breakdown("operator", &result.operators, Some(&result.summary), style));
    }
    if result.classes.len() > 1 {
        out.push_str(&heading(style, "mutants by class of operator"));
        out.push_str(&breakdown("class", &result.classes, None, style));
    }
    if let Some(pairs) = &result.pairs {
        out.push_str(&heading(style, "pairs"));
        out.push_str(&breakdown("", &BTreeMap::from([("pairs".to_owned(), *pairs)]), None, style));
    }
    if let Some(table) = &result.second_order {
        out.push_str(&second_order(table, style));
    }
    out.push_str(&tests(&result.tests, &result.timing, style));
    out.push('\n');
    out.push_str(&scores(&result.summary, style));
    out.push_str(&timing(result));
    out.push_str(&comparison(result, sources, style));
    out.push_str(&notes(style, &result.notes));
    out
}

/// Renders a row per entry with abbreviated statuses (`invalid`: compile-error); only statuses that occur get a column.
fn breakdown(what: &str, rows: &BTreeMap<String, Summary>, all: Option<&Summary>, style: &Style) -> String {
    type Column = (&'static str, fn(&Summary) -> u64);
    const COLUMNS: [Column; 12] = [
        ("killed", |s| s.killed),
        ("error", |s| s.runtime_error),
        ("timeout", |s| s.timeout),
        ("survived", |s| s.survived),
        ("undecided", |s| s.undecided),
        ("no-cov", |s| s.no_coverage),
        ("equiv", |s| s.equivalent),
        ("launches", |s| s.equivalent_for_launches),
        ("dup", |s| s.duplicate),
        ("ignored", |s| s.ignored),
        ("invalid", |s| s.compile_error),
        ("pending", |s| s.pending),
    ];
    let columns: Vec<&Column> = COLUMNS.iter().filter(|(_, n)| rows.values().any(|s| n(s) > 0)).collect();
    let mut table = Table::new(2, &format!("lr{}r", "r".repeat(columns.len())));
    let names = columns.iter().map(|(name, _)| *name);
    table.head(&[what, "mutants"].into_iter().chain(names).chain(["score"]).collect::<Vec<_>>());
    let all = all.filter(|_| rows.len() > 1).map(|all| ("all", all));
    for (name, s) in rows.iter().map(|(name, s)| (name.as_str(), s)).chain(all) {
        let numbers = columns.iter().map(|(_, n)| Cell::new(n(s).to_string()));
        let start = [Cell::new(name), s.total.to_string().into()];
        table.row(start.into_iter().chain(numbers).chain([percent(s.score)]));
    }
    table.render(style)
}

/// Renders LIU's table 8.4.
fn second_order(t: &SecondOrder, style: &Style) -> String {
    let mut out = heading(style, &format!("{} of {} survived; of these", t.survived, style::count(t.pairs, "pair")));
    let mut table = Table::new(2, "lr");
    for (what, n) in [
        ("by two equivalent mutants", t.by_two_equivalent),
        ("by two survivors", t.by_two_survived),
        ("by an equivalent mutant and a survivor", t.by_equivalent_and_survived),
        ("by one equivalent mutant or survivor", t.by_one_equivalent_or_survived),
        ("by two detected mutants", t.others),
    ] {
        table.row([what.into(), n.to_string().into()]);
    }
    out.push_str(&table.render(style));
    out
}

fn tests(tests: &[TestOutcome], timing: &Timing, style: &Style) -> String {
    if tests.is_empty() {
        return String::new();
    }
    let mut out = heading(style, "tests");
    let mut table = Table::new(2, "llrrr");
    table.head(&["name", "status", "reaches", "kills", "original"]);
    for test in tests {
        let paint = if test.status == TestStatus::Used { Paint::Good } else { Paint::Bad };
        let time = timing.originals_s.get(&test.name).map_or("-".to_owned(), |s| style::seconds(*s));
        table.row([
            Cell::new(&test.name),
            Cell::painted(paint, test.status.name()),
            test.reaches.to_string().into(),
            test.kills.to_string().into(),
            time.into(),
        ]);
    }
    let text = table.render(style);
    let mut lines = text.lines();
    let _ = writeln!(out, "{}", lines.next().unwrap_or_default());
    for (line, test) in lines.zip(tests) {
        let _ = writeln!(out, "{line}");
        out.push_str(&test.reason.as_deref().map(|r| quote(r, "      ")).unwrap_or_default());
    }
    out
}

/// Renders the scores.
pub(super) fn scores(s: &Summary, style: &Style) -> String {
    let judged = s.total.saturating_sub(sum([s.equivalent, s.duplicate, s.ignored, s.compile_error, s.pending]));
    let detected = sum([s.killed, s.runtime_error]);
    let mut table = Table::new(0, "lrl");
    let of = |detected: u64, of: u64| Cell::new(format!("{detected} of {} detected", style::count(of, "mutant")));
    table.row(["mutation score".into(), percent(s.score), of(sum([detected, s.timeout]), judged)]);
    table.row([
        "without time-outs".into(),
        percent(s.score_without_timeouts),
        of(detected, judged.saturating_sub(s.timeout)),
    ]);
    table.row(["mutation coverage".into(), percent(s.mutation_coverage)]);
    table.render(style)
}

/// Renders a percentage in the colour of a good or a bad score.
pub(super) fn percent(p: Option<f64>) -> Cell {
    match p {
        Some(p) if p >= 100.0 => Cell::painted(Paint::Good, style::percent(p)),
        Some(p) if p > 0.0 => Cell::painted(Paint::Warn, style::percent(p)),
        Some(p) => Cell::painted(Paint::Bad, style::percent(p)),
        None => "-".into(),
    }
}

fn timing(result: &MutateResult) -> String {
    let t = &result.timing;
    let pairs = style::count(t.pairs, "mutant-test pair");
    let mut out = match t.builds {
        // Another program ran them, and tells no times.
        0 => format!("\n{pairs} run"),
        builds => {
            let (built, ran) = (style::seconds(t.build_s), style::seconds(t.run_s));
            format!("\n{} in {built}; {pairs} run in {ran}", style::count(builds, "build"))
        }
    };
    if t.run_s > 0.0 && t.pairs > 0 {
        let _ = write!(out, " ({:.0} a second)", t.pairs as f64 / t.run_s);
    }
    if t.pruned_pairs > 0 {
        let _ = write!(out, ", {} pruned", t.pruned_pairs);
    }
    if t.batched_pairs > 0 {
        let _ = write!(out, ", {} in batches", t.batched_pairs);
    }
    if t.equivalence_s > 0.0 {
        let _ = write!(out, "; equivalents {}", style::seconds(t.equivalence_s));
    }
    let shard = result.shard.as_deref().map(|s| format!("shard {s}, ")).unwrap_or_default();
    let _ = writeln!(out, "\n{shard}seed {}, {}", result.header.seed, style::seconds(result.elapsed_s));
    out
}
