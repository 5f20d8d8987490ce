//! Heat maps: matrices of shares, and which test kills which mutants.

use std::collections::HashMap;

use maud::{Markup, html};

use super::super::parts::shown;
use crate::result::mutate::{Mutant, MutateResult, Status};

/// Rows by columns of percentages; `None`: no value.
pub struct Cells<'a> {
    pub caption: &'a str,
    /// What rows are, and what columns are.
    pub corner: &'a str,
    pub names: Vec<&'a str>,
    pub values: Vec<Vec<Option<f64>>>,
}

/// Shows a square matrix as a table whose cells are coloured by their values.
pub fn heat_map(cells: &Cells<'_>) -> Markup {
    html! {
        table.heatmap {
            caption { (cells.caption) }
            thead { tr { th scope="col" { (cells.corner) } @for name in &cells.names { th scope="col" { (shown(name)) } } } }
            tbody {
                @for (name, row) in cells.names.iter().zip(&cells.values) {
                    tr {
                        th scope="row" { (shown(name)) }
                        @for value in row {
                            @match value {
                                Some(value) => { td.(format!("heat{}", (value / 20.0).ceil().clamp(0.0, 5.0))) { (format!("{value:.1}")) } }
                                None => { td.none { "–" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Columns of the kill matrix: more mutants share columns.
const COLUMNS: usize = 240;
/// Rows of the kill matrix: of more tests, those that kill most are shown.
const ROWS: usize = 40;
const CELL: f64 = 3.0;
const ROW: f64 = 14.0;
const LABELS: f64 = 150.0;

/// Shows which tests kill which mutants, mutants in the order of the source. Nothing without kills.
pub fn kill_matrix(result: &MutateResult) -> Markup {
    let counted = |m: &&Mutant| {
        m.duplicate_of.is_none() && !m.is_pair() && !matches!(m.status, Status::Ignored | Status::Pending)
    };
    let mutants: Vec<&Mutant> = result.mutants.iter().filter(counted).collect();
    if mutants.iter().all(|m| m.killed_by.is_empty()) {
        return html! {};
    }
    let mut tests: Vec<(usize, u64)> = result.tests.iter().enumerate().map(|(at, t)| (at, t.kills)).collect();
    tests.sort_by_key(|(at, kills)| (std::cmp::Reverse(*kills), *at));
    tests.truncate(ROWS);
    tests.sort_unstable();
    let rows: HashMap<&str, usize> =
        tests.iter().enumerate().map(|(row, (at, _))| (result.tests[*at].name.as_str(), row)).collect();
    let columns = mutants.len().min(COLUMNS);
    let column = |n: usize| n * columns / mutants.len();
    let (mut kills, mut reached) = (vec![vec![0u32; columns]; tests.len()], vec![vec![0u32; columns]; tests.len()]);
    let mut sizes = vec![0u32; columns];
    for (n, mutant) in mutants.iter().enumerate() {
        sizes[column(n)] += 1;
        for row in mutant.killed_by.iter().filter_map(|test| rows.get(&**test)) {
            kills[*row][column(n)] += 1;
        }
        for row in mutant.covered_by.iter().filter_map(|test| rows.get(&**test)) {
            reached[*row][column(n)] += 1;
        }
    }
    let cell = (COLUMNS as f64 * CELL / columns as f64).min(16.0);
    let (width, height) = (LABELS + cell * columns as f64, ROW * tests.len() as f64 + 2.0);
    let step = |row: usize, column: usize| match (kills[row][column] * 5).div_ceil(sizes[column]) {
        0 if reached[row][column] > 0 => "reached".to_owned(),
        step => format!("heat{step}"),
    };
    let paths = |row: usize| {
        let mut by_step: Vec<(String, String)> = Vec::new();
        for n in 0..columns {
            let class = step(row, n);
            if class == "heat0" {
                continue;
            }
            let piece = format!(
                "M{:.1} {:.1}h{cell:.2}v{:.1}h-{cell:.2}z",
                LABELS + cell * n as f64,
                ROW * row as f64 + 1.0,
                ROW - 2.0
            );
            match by_step.iter_mut().find(|(known, _)| *known == class) {
                Some((_, path)) => path.push_str(&piece),
                None => by_step.push((class, piece)),
            }
        }
        by_step
    };
    let more = result.tests.len().saturating_sub(ROWS);
    html! {
        figure.matrix {
            figcaption {
                "Which test kills which mutants" span.quiet {
                    ": mutants from left to right in the order of the source; dark: killed, pale: reached but not killed"
                    @if !result.options.full_matrix { " or not tried, because an earlier test had killed it (all pairs are run with " code { "--full-matrix" } ")" }
                    @if more > 0 { "; the " (ROWS) " tests of " (result.tests.len()) " that kill most" }
                }
            }
            div.wide tabindex="0" role="group" aria-label="Kill matrix" {
                svg viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) role="img"
                    aria-label=(format!("Kill matrix of {} tests and {} mutants; the table of tests has the numbers", tests.len(), mutants.len())) {
                    @for (row, (at, _)) in tests.iter().enumerate() {
                        text.tick x=(LABELS - 6.0) y=(ROW * row as f64 + ROW / 2.0) text-anchor="end" dominant-baseline="middle" {
                            (short(&result.tests[*at].name))
                        }
                        @for (class, path) in paths(row) { path class=(class) d=(path) {} }
                    }
                }
            }
        }
    }
}

/// A name that fits beside a row.
fn short(name: &str) -> String {
    let name = shown(name);
    if name.chars().count() <= 24 { name.into_owned() } else { name.chars().take(23).chain(['…']).collect() }
}
