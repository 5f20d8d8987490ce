//! The subsumption graph: mutants that the same tests kill are one node; a node subsumes another if all tests that kill
//! the first kill the other (Kurtz et al. 2014, "Mutant subsumption graphs"). Tests that kill those at the top kill
//! all.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use maud::{Markup, html};

use super::super::parts::{names, shown};
use crate::result::mutate::{Mutant, MutateResult};

/// A larger graph is not drawn.
const MOST: usize = 60;
const NODE: f64 = 18.0;
const ACROSS: f64 = 56.0;
const DOWN: f64 = 58.0;

/// Mutants that the same tests kill.
struct Class<'a> {
    tests: FixedBitSet,
    mutants: Vec<&'a Mutant>,
    /// Distance from the top.
    depth: usize,
}

/// Draws the graph of a run of all pairs of mutants and tests; nothing if not all were run, or nothing was killed.
pub fn subsumption(result: &MutateResult) -> Markup {
    if !result.options.full_matrix {
        return html! {};
    }
    let classes = classes(result);
    if classes.len() < 2 {
        return html! {};
    }
    let top = classes.iter().filter(|class| class.depth == 0);
    let (minimal, all): (usize, usize) = (top.clone().count(), classes.iter().map(|class| class.mutants.len()).sum());
    html! {
        figure.graph {
            figcaption {
                "Subsumption" span.quiet {
                    ": " (all) " detected mutants in " (classes.len()) " classes that the same tests detect; tests that detect the "
                    (minimal) @if minimal == 1 { " class" } @else { " classes" } " at the top detect all"
                }
            }
            @if classes.len() <= MOST { (drawing(&classes)) }
            @else { p.quiet { "The graph has more than " (MOST) " nodes and is not drawn." } }
            details {
                summary { "The mutants at the top" }
                ul.plain {
                    @for class in top {
                        li {
                            (class.mutants.len()) ": "
                            @for (n, mutant) in class.mutants.iter().take(3).enumerate() {
                                @if n > 0 { ", " }
                                (shown(&mutant.operator)) @if mutant.location.start.line > 0 { " in line " (mutant.location.start.line) }
                            }
                            @if class.mutants.len() > 3 { " …" }
                            span.quiet { " detected by " (names(&tests_of(class, result), 4)) }
                        }
                    }
                }
            }
        }
    }
}

fn tests_of<'a>(class: &Class<'_>, result: &'a MutateResult) -> Vec<&'a str> {
    class.tests.ones().map(|at| result.tests[at].name.as_str()).collect()
}

/// Returns the classes, those that fewer tests detect first.
fn classes(result: &MutateResult) -> Vec<Class<'_>> {
    let positions: BTreeMap<&str, usize> =
        result.tests.iter().enumerate().map(|(at, t)| (t.name.as_str(), at)).collect();
    let mut by_tests: BTreeMap<Vec<usize>, Vec<&Mutant>> = BTreeMap::new();
    for mutant in result.mutants.iter().filter(|m| m.duplicate_of.is_none() && !m.is_pair()) {
        let mut tests: Vec<usize> = mutant.killed_by.iter().filter_map(|t| positions.get(&**t).copied()).collect();
        tests.sort_unstable();
        if !tests.is_empty() {
            by_tests.entry(tests).or_default().push(mutant);
        }
    }
    let mut classes: Vec<Class<'_>> = by_tests
        .into_iter()
        .map(|(tests, mutants)| Class { tests: tests.into_iter().collect(), mutants, depth: 0 })
        .collect();
    classes.sort_by_key(|class| class.tests.count_ones(..));
    for n in 0..classes.len() {
        let above = classes[..n].iter().filter(|other| other.tests.is_subset(&classes[n].tests));
        classes[n].depth = above.map(|other| other.depth + 1).max().unwrap_or(0);
    }
    classes
}

/// Returns the classes right below each class, without those that follow through others.
fn edges(classes: &[Class<'_>]) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for (low, class) in classes.iter().enumerate() {
        let above: Vec<usize> = (0..low).filter(|n| classes[*n].tests.is_subset(&class.tests)).collect();
        let is_direct = |n: &&usize| !above.iter().any(|m| m != *n && classes[**n].tests.is_subset(&classes[*m].tests));
        edges.extend(above.iter().filter(is_direct).map(|high| (*high, low)));
    }
    edges
}

fn drawing(classes: &[Class<'_>]) -> Markup {
    let depth = classes.iter().map(|class| class.depth).max().unwrap_or(0);
    let mut widths = vec![0usize; depth + 1];
    let mut places = vec![(0.0, 0.0); classes.len()];
    for class in classes {
        widths[class.depth] += 1;
    }
    let width = ACROSS * widths.iter().copied().max().unwrap_or(1) as f64;
    let mut used = vec![0usize; depth + 1];
    for (place, class) in places.iter_mut().zip(classes) {
        let across = width / widths[class.depth] as f64;
        *place = (across * (used[class.depth] as f64 + 0.5), NODE + 4.0 + DOWN * class.depth as f64);
        used[class.depth] += 1;
    }
    let height = DOWN * depth as f64 + 2.0 * NODE + 8.0;
    html! {
        div.wide tabindex="0" role="group" aria-label="Subsumption graph" {
            svg viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) role="img"
                aria-label=(format!("Subsumption graph of {} classes in {} layers", classes.len(), depth + 1)) {
                @for (high, low) in edges(classes) {
                    @let (x1, y1) = places[high];
                    @let (x2, y2) = places[low];
                    line.edge x1=(format!("{x1:.1}")) y1=(format!("{:.1}", y1 + NODE - 4.0)) x2=(format!("{x2:.1}")) y2=(format!("{:.1}", y2 - NODE + 4.0)) {}
                }
                @for (class, (x, y)) in classes.iter().zip(&places) {
                    g {
                        title { (class.mutants.len()) " mutants, detected by " (class.tests.count_ones(..)) " tests" }
                        circle.node.top[class.depth == 0] cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r=(NODE - 4.0) {}
                        text.count x=(format!("{x:.1}")) y=(format!("{y:.1}")) text-anchor="middle" dominant-baseline="central" { (class.mutants.len()) }
                    }
                }
            }
        }
    }
}
