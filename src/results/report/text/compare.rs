//! Renders the result of `kassay compare` as text: tables of a kernel's levels, and of all kernels.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible};
use super::super::table::{Cell, Table};
use super::{heading, notes, title};
use crate::result::compare::{CompareResult, FaultCorrelationRow, Interval, KernelComparison, LevelRow, Total};
use crate::result::mutate::TestStatus;
use crate::result::sum;

/// What is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompareView {
    /// Whether the concepts of each level have rows of their own.
    pub concepts: bool,
}

/// How one level does on another; for a kernel or for all.
struct Cross<'a> {
    adequate_on: &'a str,
    scored_on: &'a str,
    score: Option<f64>,
    suite_size: Option<f64>,
    minimal_subsumed: Option<f64>,
}

/// Renders the tables of each kernel and, if there are several, those of all.
pub fn compare(result: &CompareResult, view: CompareView, style: &Style) -> String {
    let mut out = String::new();
    for kernel in &result.kernels {
        out.push_str(&title(style, &kernel.kernel, &kernel.source, kernel.device.as_ref()));
        out.push_str(&of_kernel(kernel, view, style));
        out.push('\n');
    }
    for failed in &result.failed {
        let _ = writeln!(out, "{} {}", style.paint(Paint::Bad, visible(&failed.suite)), visible(&failed.error));
    }
    if result.kernels.len() > 1 {
        let all = style::count(result.total.kernels, "kernel");
        let _ = writeln!(out, "{}", style.paint(Paint::Bold, format!("all {all}")));
        out.push_str(&of_all(&result.total, view, style));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.push_str(&notes(style, &result.notes));
    out
}

fn of_kernel(kernel: &KernelComparison, view: CompareView, style: &Style) -> String {
    let used = kernel.tests.iter().filter(|test| test.status == TestStatus::Used).count();
    let mut out = format!("  {} that judge all levels", style::count(used as u64, "test"));
    let dropped = kernel.tests.len() - used;
    if dropped > 0 {
        let _ = write!(out, ", {dropped} dropped");
    }
    out.push('\n');
    out.push_str(&levels(&kernel.levels, view, style));
    let crosses: Vec<Cross<'_>> = kernel
        .cross
        .iter()
        .map(|row| Cross {
            adequate_on: &row.adequate_on,
            scored_on: &row.scored_on,
            score: row.mean,
            suite_size: Some(row.suite_size.mean),
            minimal_subsumed: row.minimal_subsumed,
        })
        .collect();
    out.push_str(&cross(&crosses, style));
    out.push_str(&correlation(kernel, style));
    out.push_str(&against_faults(kernel, style));
    let mut twins: Vec<(String, u64)> = Vec::new();
    for pair in &kernel.twins {
        let name = format!("{} = {}", pair.level, pair.other_level);
        match twins.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => twins.push((name, 1)),
        }
    }
    out.push_str(&twin_counts(twins.iter().map(|(name, count)| (name.as_str(), *count)), style));
    out
}

fn of_all(total: &Total, view: CompareView, style: &Style) -> String {
    let mut out = levels(&total.levels, view, style);
    let mean = |interval: Option<Interval>| interval.map(|interval| interval.mean);
    let crosses: Vec<Cross<'_>> = total
        .cross
        .iter()
        .map(|row| Cross {
            adequate_on: &row.adequate_on,
            scored_on: &row.scored_on,
            score: mean(row.score),
            suite_size: mean(row.suite_size),
            minimal_subsumed: mean(row.minimal_subsumed),
        })
        .collect();
    out.push_str(&cross(&crosses, style));
    let correlations = total.correlation.iter().map(|row| Associated {
        name: format!("{}, {}", row.level, row.other_level),
        pearson: row.pearson,
        kendall: row.kendall,
        defined: row.defined,
        of: row.kernels,
    });
    let about = "  mean correlation of scores over random sub-suites of the same size";
    out.push_str(&associations(about, ["scores", "kernels"], correlations, style));
    let correlations = total.against_faults.iter().map(|row| Associated {
        name: row.measure.clone(),
        pearson: row.pearson,
        kendall: row.kendall,
        defined: row.defined,
        of: row.kernels,
    });
    let about = "  mean correlation with finding faults, over random sub-suites of the same size";
    out.push_str(&associations(about, ["measure", "kernels"], correlations, style));
    out.push_str(&twin_counts(total.twins.iter().map(|(name, count)| (name.as_str(), *count)), style));
    out
}

fn levels(rows: &[LevelRow], view: CompareView, style: &Style) -> String {
    let mut table = Table::new(4, "lrrrrrrrrrrrr");
    table.head(&[
        "level",
        "mutants",
        "not run",
        "equivalent",
        "duplicate",
        "detected",
        "missed",
        "score",
        "distinguished",
        "minimal",
        "hard",
        "per line",
        "time",
    ]);
    for row in rows.iter().filter(|row| view.concepts || row.cost.is_some()) {
        let name = match row.cost {
            Some(_) => row.level.clone(),
            None => format!("  {}", row.concept),
        };
        let missed = sum([row.survived, row.equivalent_for_launches, row.undecided, row.no_coverage]);
        table.row([
            Cell::new(name),
            row.generated.to_string().into(),
            sum([row.compile_error, row.ignored]).to_string().into(),
            row.equivalent.to_string().into(),
            row.duplicate.to_string().into(),
            sum([row.killed, row.timeout, row.runtime_error]).to_string().into(),
            missed.to_string().into(),
            percent(row.score).into(),
            row.distinguished.to_string().into(),
            row.minimal.to_string().into(),
            row.hard.to_string().into(),
            per_line(row.generated, row.code.map(|code| code.lines)).into(),
            Cell::painted(Paint::Dim, row.cost.map(|cost| style::seconds(cost.elapsed_s)).unwrap_or_default()),
        ]);
    }
    heading(style, "  mutants") + &table.render(style)
}

/// Mutants for each of so many lines.
fn per_line(mutants: u64, lines: Option<u64>) -> String {
    lines.filter(|lines| *lines > 0).map(|lines| format!("{:.1}", mutants as f64 / lines as f64)).unwrap_or_default()
}

/// A matrix: what suites that suffice for a line's level detect of a column's.
fn cross(rows: &[Cross<'_>], style: &Style) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        for name in [row.adequate_on, row.scored_on] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let aligns: String = std::iter::once('l').chain(names.iter().map(|_| 'r')).chain(['r']).collect();
    let matrix = |of: &dyn Fn(&Cross<'_>) -> Option<f64>, with_size: bool| {
        let mut table = Table::new(4, &aligns);
        let last = if with_size { "tests" } else { "" };
        table.row(["level"].iter().chain(&names).chain(&[last]).map(|name| Cell::painted(Paint::Dim, name)));
        for line in &names {
            let found = |on: &&str| rows.iter().find(|row| row.adequate_on == *line && row.scored_on == *on);
            let cells = names.iter().map(|on| match found(on) {
                Some(row) => percent(of(row)).into(),
                None => Cell::painted(Paint::Dim, "-"),
            });
            let size = rows.iter().find(|row| row.adequate_on == *line).and_then(|row| row.suite_size);
            let size = size.filter(|_| with_size).map(|size| format!("{size:.1}")).unwrap_or_default();
            table.row(std::iter::once(Cell::new(line)).chain(cells).chain([Cell::new(size)]));
        }
        table.render(style)
    };
    let scores = "  what minimal suites that detect a line's mutants detect of a column's, and their size";
    let subsumed = "  minimal mutants of a column that a line's minimal mutants subsume";
    heading(style, scores)
        + &matrix(&|row| row.score, true)
        + &heading(style, subsumed)
        + &matrix(&|row| row.minimal_subsumed, false)
}

/// How scores go together within sizes.
fn correlation(kernel: &KernelComparison, style: &Style) -> String {
    let rows = kernel.correlation_within_sizes.iter().map(|row| Associated {
        name: format!("{}, {}", row.level, row.other_level),
        pearson: row.pearson,
        kendall: row.kendall,
        defined: row.defined,
        of: row.sizes,
    });
    let Some(sizes) = range(kernel.correlation.iter().map(|row| row.tests)) else { return String::new() };
    let about = format!("  correlation of scores over random sub-suites of the same size ({sizes})");
    associations(&about, ["scores", "sizes"], rows, style)
}

/// How measures go with finding faults within sizes.
fn against_faults(kernel: &KernelComparison, style: &Style) -> String {
    let rows = kernel.against_faults_within_sizes.iter().map(|row| Associated {
        name: row.measure.clone(),
        pearson: row.pearson,
        kendall: row.kendall,
        defined: row.defined,
        of: row.sizes,
    });
    let Some(sizes) = range(kernel.against_faults.iter().map(|row| row.tests)) else { return String::new() };
    let never = kernel.faults.iter().filter(|fault| fault.found_by.is_empty()).count();
    let faults = style::count(kernel.faults.len() as u64, "fault");
    let found = |row: Option<&FaultCorrelationRow>| percent(row.map(|row| row.found));
    let (least, most) = (found(kernel.against_faults.first()), found(kernel.against_faults.last()));
    let about = format!(
        "  {faults}, {never} found by no test; correlation with finding them, over random sub-suites of the same size\n  \
         ({sizes}, which find {least} to {most} %)"
    );
    associations(&about, ["measure", "sizes"], rows, style)
}

/// The smallest and the largest number of tests; `None` without any.
fn range(tests: impl Iterator<Item = u64> + Clone) -> Option<String> {
    let (least, most) = (tests.clone().min()?, tests.max()?);
    Some(if least == most { style::count(most, "test") } else { format!("{least} to {most} tests") })
}

/// A correlation, and of how many of those that could be it is made up.
struct Associated {
    name: String,
    pearson: Option<Interval>,
    kendall: Option<Interval>,
    defined: u64,
    of: u64,
}

fn associations(
    about: &str,
    [first, last]: [&str; 2],
    rows: impl Iterator<Item = Associated>,
    style: &Style,
) -> String {
    let mut table = Table::new(4, "lrlrlr");
    table.head(&[first, "Pearson", "", "Kendall", "", last]);
    let mut is_empty = true;
    for row in rows {
        is_empty = false;
        let defined = Cell::painted(Paint::Dim, format!("{} of {}", row.defined, row.of));
        let values = with_ends(row.pearson).into_iter().chain(with_ends(row.kendall));
        table.row([Cell::new(row.name)].into_iter().chain(values).chain([defined]));
    }
    if is_empty { String::new() } else { heading(style, about) + &table.render(style) }
}

/// An estimate and the ends of its interval.
fn with_ends(interval: Option<Interval>) -> [Cell; 2] {
    let Some(Interval { mean, low, high }) = interval else { return ["-".into(), "".into()] };
    let ends = low.zip(high).map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
    [format!("{mean:.2}").into(), Cell::painted(Paint::Dim, ends)]
}

fn twin_counts<'a>(twins: impl Iterator<Item = (&'a str, u64)>, style: &Style) -> String {
    let mut table = Table::new(4, "lr");
    let mut is_empty = true;
    for (name, count) in twins {
        table.row([Cell::new(name), count.to_string().into()]);
        is_empty = false;
    }
    if is_empty { String::new() } else { heading(style, "  twins: the same program") + &table.render(style) }
}

/// A percentage without its sign.
fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| style::percent(value).trim_end_matches(" %").to_owned())
}
