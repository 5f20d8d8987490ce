//! Computes MC/DC from the test vectors that were executed: a condition is covered when two of them show its independent
//! effect. The two may come from different work-items, launches and tests.

use std::collections::BTreeMap;

use super::summary::TestTally;
use crate::cfg::condition_graph::{ConditionGraph, TestVector};
use crate::cfg::indices::FunctionIndex;
use crate::cfg::sites::{Site, SiteKind, Sites};
use crate::result::Location;
use crate::result::mcdc::{Criterion, Mcdc, McdcCondition, McdcDecision, McdcVector};

/// Returns the MC/DC of all tests together. The sites, which the tallies are of, must be those with vectors
/// ([`Sites::with_vectors`]). `main_file` is the kernel's file.
pub fn measure(sites: &Sites, tests: &[TestTally], criterion: Criterion, main_file: &str) -> Mcdc {
    let location = |site: &Site| match &site.location {
        Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
        None => Location { file: main_file.to_owned(), line: 0, column: 0 },
    };
    let compound =
        FunctionIndex::enumerate(&sites.functions).flat_map(|(f, of)| of.compound.iter().map(move |d| (f, d)));
    let recorded = sites.sites.iter().enumerate().filter(|(_, site)| site.kind == SiteKind::Decision);
    let mut decisions: Vec<McdcDecision> = Vec::new();
    for ((s, site), (f, decision)) in recorded.zip(compound) {
        let own: Vec<&Site> = sites.of_kind(SiteKind::Condition).filter(|site| site.function == f).collect();
        let hits = |way: usize| -> BTreeMap<String, u64> {
            tests.iter().map(|t| (t.name.clone(), t.sites[s].hits.get(way).copied().unwrap_or(0))).collect()
        };
        let row = |way: usize, vector: &TestVector| {
            let hits_by_test = hits(way);
            let executed = hits_by_test.values().any(|hits| *hits > 0);
            McdcVector { values: vector.text(), result: vector.result, executed, hits_by_test }
        };
        let (vectors, rows, graph) = match &decision.evaluation {
            Ok(evaluation) => {
                let vectors = evaluation.graph.vectors();
                let rows = vectors.iter().enumerate().map(|(way, vector)| row(way, vector)).collect();
                (vectors, rows, Some(&evaluation.graph))
            }
            Err(_) => (Vec::new(), Vec::new(), None),
        };
        let executed: Vec<bool> = rows.iter().map(|row: &McdcVector| row.executed).collect();
        let condition = |(number, position): (usize, &usize)| {
            let site = own[*position];
            let seen = McdcCondition {
                site: site.id.clone(),
                location: location(site),
                covered: false,
                pair: None,
                missing: Vec::new(),
                reason: None,
            };
            match graph.map(|graph| best_pair(graph, number, &vectors, &executed, criterion)) {
                None => seen,
                Some(None) => {
                    McdcCondition { reason: Some("its value never changes the decision's result".to_owned()), ..seen }
                }
                Some(Some(pair)) => McdcCondition {
                    covered: pair.iter().all(|way| executed[*way]),
                    pair: Some(pair.map(|way| vectors[way].text())),
                    missing: pair.iter().filter(|way| !executed[**way]).map(|way| vectors[*way].text()).collect(),
                    ..seen
                },
            }
        };
        decisions.push(McdcDecision {
            id: site.id.clone(),
            construct: site.construct.clone(),
            function: sites.functions[f].cfg.function.clone(),
            location: location(site),
            conditions: decision.conditions.iter().enumerate().map(condition).collect(),
            vectors: rows,
            reason: decision.evaluation.as_ref().err().map(ToString::to_string),
        });
    }
    decisions.sort_by(|a, b| a.location.cmp(&b.location));
    Mcdc { criterion, decisions }
}

/// Returns two vectors that show the independent effect of a condition, the one in which it is true first: those of which
/// the fewest are not executed and, among these, which differ least. `None` if there are no such vectors.
pub fn best_pair(
    graph: &ConditionGraph,
    condition: usize,
    vectors: &[TestVector],
    executed: &[bool],
    criterion: Criterion,
) -> Option<[usize; 2]> {
    let shows = |a: &TestVector, b: &TestVector| match criterion {
        Criterion::Masking => graph.is_masking_pair(condition, a, b),
        Criterion::Unique => graph.is_unique_cause_pair(condition, a, b),
    };
    let with = |value: bool| (0..vectors.len()).filter(move |way| vectors[*way].values[condition] == Some(value));
    let pairs = with(true).flat_map(|a| with(false).map(move |b| [a, b]));
    let price = |[a, b]: &[usize; 2]| {
        let missing = usize::from(!executed[*a]) + usize::from(!executed[*b]);
        let changes = vectors[*a].values.iter().zip(&vectors[*b].values).filter(|(x, y)| x != y).count();
        (missing, changes)
    };
    pairs.filter(|[a, b]| shows(&vectors[*a], &vectors[*b])).min_by_key(price)
}
