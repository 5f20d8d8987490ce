//! Joins mutation results of one list of mutants and different tests: those of a suite whose tests have different
//! values of specialisation constants are run in parts, one for each set of values.
//!
//! What no part detects counts for less than what one detects: a mutant is killed if some part kills it, equivalent
//! only if it is in all parts, a duplicate only of a mutant that it equals in all parts.

use std::collections::{BTreeMap, HashMap};

use kassay_base::error::{Error, Result};
use kassay_base::hash::Fnv1a;

use super::merge::{add_timing, distinct};
use super::mutate::{Mutant, MutateResult, Status, TestName, TestNames};
use super::mutate_summary::finish;

/// Joins the results of all parts. `tests`: the names of all tests, in the order of the suite. `class_of` returns the
/// class of an operator by its id.
///
/// # Errors
/// `Internal` if there are no parts, or they do not have the same mutants ([`same_mutants`]).
pub fn join(parts: Vec<MutateResult>, tests: &[&str], class_of: &dyn Fn(&str) -> String) -> Result<MutateResult> {
    let Some(first) = parts.first().filter(|first| parts.iter().all(|part| same_mutants(first, part))) else {
        return Err(Error::internal("results of different mutants cannot be joined"));
    };
    let positions: HashMap<&str, usize> = tests.iter().enumerate().map(|(at, test)| (*test, at)).collect();
    let mut joined = first.clone();
    joined.configuration = configuration(&parts.iter().map(|part| part.configuration.as_str()).collect::<Vec<_>>());
    joined.elapsed_s = parts.iter().map(|part| part.elapsed_s).sum();
    joined.timing = parts[1..].iter().fold(first.timing.clone(), |sum, part| add_timing(sum, &part.timing));
    joined.texts = parts.iter().flat_map(|part| part.texts.clone()).collect();
    joined.tests = parts.iter().flat_map(|part| part.tests.clone()).collect();
    joined.tests.sort_by_key(|test| positions.get(test.name.as_str()).copied());
    // Each part has a code of its own.
    joined.basis = None;
    joined.not_simulated.clear();
    for left in parts.iter().flat_map(|part| &part.not_simulated) {
        if !joined.not_simulated.contains(left) {
            joined.not_simulated.push(left.clone());
        }
    }
    joined.notes = distinct(parts.iter().flat_map(|part| &part.notes));
    let mut originals: BTreeMap<Vec<Option<&str>>, &str> = BTreeMap::new();
    for (at, mutant) in joined.mutants.iter_mut().enumerate() {
        let rows: Vec<&Mutant> = parts.iter().map(|part| &part.mutants[at]).collect();
        *mutant = joined_row(&rows, &positions, first.options.full_matrix);
        if mutant.status == Status::Equivalent {
            continue;
        }
        let original = *originals.entry(class(&rows)).or_insert(&rows[0].id);
        mutant.duplicate_of = (original != mutant.id).then(|| original.to_owned());
    }
    finish(&mut joined, class_of);
    Ok(joined)
}

/// Returns whether two results have the same mutants.
pub fn same_mutants(a: &MutateResult, b: &MutateResult) -> bool {
    a.mutants.iter().map(|mutant| &mutant.id).eq(b.mutants.iter().map(|mutant| &mutant.id))
}

/// Returns the hash of the configurations of all parts; of a single part, its own.
pub fn configuration(parts: &[&str]) -> String {
    match parts {
        [only] => (*only).to_owned(),
        all => {
            let mut hash = Fnv1a::default();
            all.iter().for_each(|part| hash.add(part.as_bytes()));
            format!("{:016x}", hash.value())
        }
    }
}

/// Returns what a mutant equals in each part, by the id of the first such mutant; `None`: the original.
fn class<'m>(rows: &[&'m Mutant]) -> Vec<Option<&'m str>> {
    let in_part = |row: &&'m Mutant| {
        let distinct = row.status != Status::Equivalent || row.duplicate_of.is_some();
        distinct.then(|| row.duplicate_of.as_deref().unwrap_or(&row.id))
    };
    rows.iter().map(in_part).collect()
}

/// Joins the rows of one mutant.
fn joined_row(rows: &[&Mutant], positions: &HashMap<&str, usize>, full_matrix: bool) -> Mutant {
    let position = |test: &TestName| positions.get(&**test).copied().unwrap_or(usize::MAX);
    let detected_at = |row: &Mutant| row.killed_by.first().map_or(usize::MAX, position);
    // The first test that detects it decides; otherwise, that it was run counts for more than that it was not.
    let rank = |row: &Mutant| match row.status {
        Status::Killed | Status::RuntimeError | Status::Timeout => (0, detected_at(row)),
        Status::Pending => (1, 0),
        Status::Undecided => (2, 0),
        Status::Survived => (3, 0),
        Status::CompileError => (4, 0),
        Status::NoCoverage => (5, 0),
        Status::Ignored => (6, 0),
        Status::EquivalentForLaunches => (7, 0),
        Status::Equivalent => (8, 0),
    };
    let Some(decisive) = rows.iter().min_by_key(|row| rank(row)) else {
        unreachable!("there is a row for each part");
    };
    let in_order = |of: fn(&Mutant) -> &TestNames| {
        let mut tests: Vec<TestName> = rows.iter().flat_map(|row| of(row).iter().cloned()).collect();
        tests.sort_by_key(position);
        tests
    };
    let mut row = Mutant { duplicate_of: None, ..(*decisive).clone() };
    row.covered_by = in_order(|row| &row.covered_by).into();
    let mut killed_by = in_order(|row| &row.killed_by);
    killed_by.truncate(if full_matrix { killed_by.len() } else { 1 });
    row.killed_by = killed_by.into();
    let is_partly_equivalent = rows.iter().any(|row| row.status.is_equivalent());
    if row.status.is_undetected() && !row.status.is_equivalent() && is_partly_equivalent {
        let with_others = "with the values of other tests it is equivalent";
        row.reason = Some(row.reason.map_or(with_others.to_owned(), |reason| format!("{reason}; {with_others}")));
    }
    row
}
