//! Computes MC/DC from the test vectors that were executed: a condition is covered when two of them show its
//! independent effect. The two may come from different work-items, launches and tests.
//!
//! All vectors that a decision has, with their results, say which of them show a condition: its code is not needed.

use std::collections::BTreeMap;

use kassay_ir::cfg::compound_decisions::CompoundDecision;
use kassay_ir::cfg::condition_graph::TestVector;
use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::cfg::sites::{Site, SiteKind, Sites};
use kassay_results::result::Location;
use kassay_results::result::mcdc::{Criterion, Mcdc, McdcCondition, McdcDecision, McdcVector};

use super::summary::TestTally;

/// Returns the MC/DC of all tests together. The sites, which the tallies are of, must be those with vectors
/// ([`Sites::with_vectors`]). `main_file` is the kernel's file.
pub fn measure(sites: &Sites, tests: &[TestTally], criterion: Criterion, main_file: &str) -> Mcdc {
    let positions = (0..sites.sites.len()).filter(|s| sites.sites[*s].kind == SiteKind::Decision);
    measure_at(decisions(sites, main_file).into_iter().zip(positions), tests, criterion)
}

/// As [`measure`], of decisions with the positions of their sites.
pub fn measure_at(
    decisions: impl Iterator<Item = (McdcDecision, usize)>,
    tests: &[TestTally],
    criterion: Criterion,
) -> Mcdc {
    let with_hits = |(mut decision, s): (McdcDecision, usize)| {
        for (way, vector) in decision.vectors.iter_mut().enumerate() {
            let hits = |test: &TestTally| test.sites[s].hits.get(way).copied().unwrap_or(0);
            vector.hits_by_test = tests.iter().map(|test| (test.name.clone(), hits(test))).collect();
        }
        decision
    };
    judge(decisions.map(with_hits).collect(), criterion)
}

/// Checks that vectors, which were read from a file, are as kassay writes them.
///
/// # Errors
/// What is wrong.
pub fn check(decision: &McdcDecision) -> std::result::Result<(), String> {
    let conditions = decision.conditions.len();
    let is_wrong = |text: &str| TestVector::parse(text, true).is_none_or(|v| v.values.len() != conditions);
    match decision.vectors.iter().find(|vector| is_wrong(&vector.values)) {
        Some(vector) => Err(format!("`{}` is no vector of {conditions} conditions", vector.values)),
        None => Ok(()),
    }
}

/// Returns the decisions with all of their vectors, in the order of their sites; nothing is executed.
pub fn decisions(sites: &Sites, main_file: &str) -> Vec<McdcDecision> {
    let location = |site: &Site| match &site.location {
        Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
        None => Location { file: main_file.to_owned(), line: 0, column: 0 },
    };
    let compound =
        FunctionIndex::enumerate(&sites.functions).flat_map(|(f, of)| of.compound.iter().map(move |d| (f, d)));
    let vector = |vector: TestVector| McdcVector {
        values: vector.text(),
        result: vector.result,
        executed: false,
        hits_by_test: BTreeMap::new(),
    };
    let decision = |(site, (f, decision)): (&Site, (FunctionIndex, &CompoundDecision))| {
        let own: Vec<&Site> = sites.of_kind(SiteKind::Condition).filter(|site| site.function == f).collect();
        let vectors = decision.evaluation.as_ref().map(|evaluation| evaluation.graph.vectors()).unwrap_or_default();
        let condition = |position: &usize| McdcCondition {
            site: own[*position].id.clone(),
            location: location(own[*position]),
            covered: false,
            pair: None,
            missing: Vec::new(),
            reason: None,
        };
        McdcDecision {
            id: site.id.clone(),
            construct: site.construct.clone(),
            function: sites.functions[f].cfg.function.clone(),
            location: location(site),
            conditions: decision.conditions.iter().map(condition).collect(),
            vectors: vectors.into_iter().map(vector).collect(),
            reason: decision.evaluation.as_ref().err().map(ToString::to_string),
        }
    };
    sites.of_kind(SiteKind::Decision).zip(compound).map(decision).collect()
}

/// Returns the MC/DC of decisions whose vectors have their hits: what else is said of vectors and conditions is
/// computed from these. The decisions come to be in order of place.
pub fn judge(mut decisions: Vec<McdcDecision>, criterion: Criterion) -> Mcdc {
    for decision in &mut decisions {
        for vector in &mut decision.vectors {
            vector.executed = vector.hits_by_test.values().any(|hits| *hits > 0);
        }
        let all = vectors(decision);
        let executed: Vec<bool> = decision.vectors.iter().map(|vector| vector.executed).collect();
        if decision.reason.is_some() {
            continue;
        }
        for (number, condition) in decision.conditions.iter_mut().enumerate() {
            match best_pair(number, &all, &executed, criterion) {
                None => condition.reason = Some("its value never changes the decision's result".to_owned()),
                Some(pair) => {
                    condition.covered = pair.iter().all(|way| executed[*way]);
                    condition.pair = Some(pair.map(|way| all[way].text()));
                    condition.missing =
                        pair.iter().filter(|way| !executed[**way]).map(|way| all[*way].text()).collect();
                }
            }
        }
    }
    decisions.sort_by(|a, b| a.location.cmp(&b.location));
    Mcdc { criterion, decisions }
}

/// The vectors of a decision; none if they are not as kassay writes them.
fn vectors(decision: &McdcDecision) -> Vec<TestVector> {
    let vector = |vector: &McdcVector| TestVector::parse(&vector.values, vector.result);
    decision.vectors.iter().map(vector).collect::<Option<_>>().unwrap_or_default()
}

/// Returns all pairs of vectors of a decision, by their numbers, that show the independent effect of a condition, the
/// one in which it is true first.
pub fn pairs(decision: &McdcDecision, condition: usize, criterion: Criterion) -> Vec<[usize; 2]> {
    pairs_of(condition, &vectors(decision), criterion)
}

fn pairs_of(condition: usize, vectors: &[TestVector], criterion: Criterion) -> Vec<[usize; 2]> {
    let decided: Vec<bool> = vectors.iter().map(|vector| vector.is_decided_by(condition, vectors)).collect();
    let shows = |[a, b]: &[usize; 2]| match criterion {
        // By CAST-6 the condition has different values and decides both results, which differ.
        Criterion::Masking => vectors[*a].result != vectors[*b].result && decided[*a] && decided[*b],
        Criterion::Unique => vectors[*a].is_unique_cause_pair(&vectors[*b], condition),
    };
    let with = |value: bool| (0..vectors.len()).filter(move |way| vectors[*way].value(condition) == Some(value));
    with(true).flat_map(|a| with(false).map(move |b| [a, b])).filter(shows).collect()
}

/// Returns two vectors that show the independent effect of a condition, the one in which it is true first: those of
/// which the fewest are not executed and, among these, which differ least. `vectors` are all of the decision. `None` if
/// there are no such vectors.
pub fn best_pair(
    condition: usize,
    vectors: &[TestVector],
    executed: &[bool],
    criterion: Criterion,
) -> Option<[usize; 2]> {
    let price = |[a, b]: &[usize; 2]| {
        let missing = usize::from(!executed[*a]) + usize::from(!executed[*b]);
        let changes = vectors[*a].values.iter().zip(&vectors[*b].values).filter(|(x, y)| x != y).count();
        (missing, changes)
    };
    pairs_of(condition, vectors, criterion).into_iter().min_by_key(price)
}
