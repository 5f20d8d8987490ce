//! Joins checks of one kernel with different inputs: the tests of a suite that have different values of specialisation
//! constants are checked in parts, one for each set of values.

use kassay_base::error::{Error, Result};
use kassay_results::result::Location;
use kassay_results::result::check::{
    Access, Amplification, Barrier, CheckResult, Finding, FindingKind, HoldsFor, Input, Memory, Mode, Scope,
};
use kassay_results::result::proofs::{Length, Proof, Status};

use super::{checking, findings, messages};

/// What findings of different parts have in common if they are one.
#[derive(PartialEq)]
struct Identity<'a> {
    kind: FindingKind,
    scope: Option<Scope>,
    memory: Option<Memory>,
    variable: Option<&'a str>,
    has_finished: bool,
    accesses: Vec<(&'a Location, &'a str, &'a [Location], Option<Mode>)>,
}

/// Returns whether two results are about the same barriers.
pub fn same_barriers(a: &CheckResult, b: &CheckResult) -> bool {
    let barriers = |result: &CheckResult| -> Vec<(Location, String, String)> {
        let place = |b: &Barrier| (b.location.clone(), b.function.clone(), b.builtin.clone());
        result.barriers.iter().map(place).collect()
    };
    // Where no code was ready within the budget, none are known.
    [a, b].iter().any(|result| result.inputs.is_empty()) || barriers(a) == barriers(b)
}

/// Joins the results of all parts; the inputs are in the order of the parts.
///
/// # Errors
/// `Internal` if there are none.
pub fn join(parts: Vec<CheckResult>) -> Result<CheckResult> {
    let Some(first) = parts.first() else { return Err(Error::internal("there are no checks to join")) };
    let inputs: Vec<Input> = parts.iter().flat_map(|part| part.inputs.clone()).collect();
    let mut findings = joined_findings(&parts);
    let verdict = findings::verdict(&findings, inputs.iter().any(Input::is_finished));
    let barriers = joined_barriers(&parts);
    let redundant: Vec<&Barrier> = barriers.iter().filter(|b| b.redundant == Some(true)).collect();
    let is_redundant =
        |access: &Access| redundant.iter().any(|b| b.location == access.location && b.function == access.function);
    findings.retain(|f| f.kind != FindingKind::RedundantBarrier || f.accesses.iter().all(is_redundant));
    let launches = parts.iter().map(|part| part.summary.launches).sum();
    // Each key is named, so that a new one has to be joined, too.
    Ok(CheckResult {
        header: first.header.clone(),
        elapsed_s: parts.iter().map(|part| part.elapsed_s).fold(0.0, f64::max),
        verdict,
        // The parts are those of a suite, whose launches are facts.
        condition: None,
        holds_for: parts.iter().map(|part| part.holds_for).max().unwrap_or(HoldsFor::ExploredSchedules),
        holds_for_because: distinct(&parts, |part| &part.holds_for_because),
        amplification: parts.iter().map(|part| part.amplification.clone()).reduce(both).flatten(),
        proofs: joined_proofs(&parts),
        lengths: joined_lengths(&parts),
        repairs: Vec::new(),
        first_pass: parts.iter().find_map(|part| part.first_pass.clone()),
        warp_sync: first.warp_sync,
        summary: checking::summary(&findings, &inputs, &barriers, launches),
        notes: distinct(&parts, |part| &part.notes),
        findings,
        inputs,
        barriers,
    })
}

/// Joins the findings: each as the first part that has it shows it, with the numbers of all; redundant barriers last,
/// as in each part.
fn joined_findings(parts: &[CheckResult]) -> Vec<Finding> {
    let mut joined: Vec<Finding> = Vec::new();
    for part in parts {
        let known = joined.len();
        let mut taken = vec![false; known];
        for finding in &part.findings {
            // Findings of one part are different ones, also where no location tells them apart.
            let same = (0..known).find(|at| !taken[*at] && identity(&joined[*at]) == identity(finding));
            match same {
                Some(at) => {
                    taken[at] = true;
                    let found = &mut joined[at];
                    found.count = found.count.saturating_add(finding.count);
                    found.inputs = found.inputs.saturating_add(finding.inputs);
                    found.benign &= finding.benign;
                    if let (FindingKind::RedundantBarrier, [barrier]) = (found.kind, &found.accesses[..]) {
                        found.message =
                            messages::redundant(barrier.builtin.as_deref().unwrap_or("barrier"), found.count);
                    }
                }
                None => joined.push(finding.clone()),
            }
        }
    }
    let place = |finding: &Finding| finding.accesses.first().map(|access| access.location.clone());
    joined.sort_by_key(|finding| (finding.kind, place(finding)));
    joined
}

fn identity(finding: &Finding) -> Identity<'_> {
    let mut accesses = Vec::new();
    for Access { location, function, called_from, mode, .. } in &finding.accesses {
        accesses.push((location, &function[..], &called_from[..], *mode));
    }
    Identity {
        kind: finding.kind,
        scope: finding.scope,
        memory: finding.memory,
        variable: finding.variable.as_deref(),
        has_finished: finding.finished.is_some(),
        accesses,
    }
}

/// Joins the barriers: one is needed if it is in some part, and redundant if it is in all parts that reach it.
fn joined_barriers(parts: &[CheckResult]) -> Vec<Barrier> {
    let known: Vec<&[Barrier]> = parts.iter().filter(|p| !p.inputs.is_empty()).map(|p| &p.barriers[..]).collect();
    let count = known.first().map_or(0, |barriers| barriers.len());
    let joined = |at: usize| {
        let all: Vec<&Barrier> = known.iter().filter_map(|barriers| barriers.get(at)).collect();
        let reached = || all.iter().filter(|b| b.reached > 0);
        let open = || reached().find(|b| b.redundant.is_none());
        let decisive = reached().find(|b| b.redundant == Some(false)).or_else(open).or_else(|| reached().next());
        let mut barrier = decisive.or(all.first()).map(|b| (**b).clone())?;
        barrier.reached = all.iter().map(|b| b.reached).sum();
        Some(barrier)
    };
    (0..count).filter_map(joined).collect()
}

/// What holds for both of two clean verdicts; nothing is known if it is not known of one.
fn both(a: Option<Amplification>, b: Option<Amplification>) -> Option<Amplification> {
    let (mut a, b) = (a?, b?);
    if a.proved != b.proved {
        a.proved = None;
    }
    a.access_invariant &= b.access_invariant;
    a.holds_for_all_values_of.retain(|input| b.holds_for_all_values_of.contains(input));
    for (texts, more) in [(&mut a.property_integrity_inputs, b.property_integrity_inputs), (&mut a.why_not, b.why_not)]
    {
        let new: Vec<String> = more.into_iter().filter(|text| !texts.contains(text)).collect();
        texts.extend(new);
    }
    Some(a)
}

/// What is proved in all parts: of each property the result of a part that has the least of it.
fn joined_proofs(parts: &[CheckResult]) -> Vec<Proof> {
    let rank = |proof: &Proof| match proof.status {
        Status::Proved => 0,
        Status::Unsupported => 1,
        Status::Unknown => 2,
        Status::Refuted => 3,
    };
    let Some(first) = parts.first() else { return Vec::new() };
    let of_property = |(i, proof): (usize, &Proof)| {
        let all: Option<Vec<&Proof>> = parts.iter().map(|part| part.proofs.get(i)).collect();
        // Of a part without proofs nothing is known.
        let all = all?;
        let least = all.iter().max_by_key(|p| (rank(p), p.holds_for)).copied().unwrap_or(proof);
        let mut joined = least.clone();
        joined.queries = all.iter().map(|p| p.queries).sum();
        joined.milliseconds = all.iter().map(|p| p.milliseconds).sum();
        if joined.status == Status::Proved {
            let mut conditions: Vec<&String> = Vec::new();
            for p in &all {
                conditions.extend(p.condition.iter().filter(|c| !conditions.contains(c)).collect::<Vec<_>>());
                let new: Vec<String> =
                    p.preconditions.iter().filter(|c| !joined.preconditions.contains(c)).cloned().collect();
                joined.preconditions.extend(new);
            }
            let texts: Vec<&str> = conditions.into_iter().map(String::as_str).collect();
            joined.condition = (!texts.is_empty()).then(|| texts.join(" and "));
        }
        Some(joined)
    };
    first.proofs.iter().enumerate().filter_map(of_property).collect()
}

/// The lengths that are the same in all parts.
fn joined_lengths(parts: &[CheckResult]) -> Vec<Length> {
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    let is_in_all = |length: &&Length| others.iter().all(|part| part.lengths.contains(length));
    first.lengths.iter().filter(is_in_all).cloned().collect()
}

fn distinct(parts: &[CheckResult], of: fn(&CheckResult) -> &Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in parts.iter().flat_map(of) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}
