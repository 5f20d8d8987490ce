//! Finds invariants of loops: bounds and remainders of the variables that a question mentions, proved by induction over
//! the edges on which these get their values.

use std::collections::{BTreeSet, HashMap};

use super::expression::{Node, Operation, Sort, Term, Terms};
use super::houdini::keep_confirmed;
use super::question::{CHANGING, Phi, Question};
use super::subterms::{Names, reachable};

/// Most variables of a question for which invariants are sought.
const MAX_VARIABLES: usize = 6;
/// Most invariants that are tried for a question.
const MAX_CANDIDATES: usize = 48;
/// Remainders by powers of two up to this exponent are tried.
const MAX_POWER: u32 = 5;

/// Something that may hold of a phi whenever it is set.
struct Candidate {
    phi: usize,
    term: Term,
}

/// Returns one-bit terms that are true at the place of a question. `ask` returns whether a question is proved.
pub fn of_question(
    terms: &mut Terms,
    question: &Question,
    phis: &[Phi],
    ask: &mut dyn FnMut(&Terms, &Question) -> bool,
) -> Vec<Term> {
    let mentioned = reachable(terms, &[question.left, question.right], Names::Opaque);
    let variables: Vec<usize> = question
        .after
        .iter()
        .copied()
        .filter(|phi| mentioned.contains(&phis[*phi].value) && matches!(terms.sort(phis[*phi].value), Sort::Bits(_)))
        .collect();
    if variables.is_empty() || variables.len() > MAX_VARIABLES {
        return Vec::new();
    }
    let mut candidates = candidates(terms, &mentioned, &variables, phis);
    // Proofs of candidates are worth it only if these decide the question.
    let known = candidates.iter().map(|candidate| (candidate.term, true));
    let conditions = question.conditions.iter().copied().chain(known).collect();
    if candidates.is_empty() || !ask(terms, &Question { conditions, ..question.clone() }) {
        return Vec::new();
    }
    keep_confirmed(&mut candidates, |known| {
        (0..known.len()).find(|at| !is_kept(terms, known, *at, phis, ask)).into_iter().collect()
    });
    candidates.into_iter().map(|candidate| candidate.term).collect()
}

/// Returns whether a candidate holds on every edge that sets its phi, provided that all candidates held when the phis
/// before it were set.
fn is_kept(
    terms: &mut Terms,
    candidates: &[Candidate],
    at: usize,
    phis: &[Phi],
    ask: &mut dyn FnMut(&Terms, &Question) -> bool,
) -> bool {
    let Candidate { phi, term } = candidates[at];
    let yes = terms.truth(true);
    phis[phi].incoming.iter().all(|edge| {
        let mut replacements = HashMap::from([(phis[phi].value, edge.value)]);
        let left = terms.replaced(term, &mut replacements);
        let known = candidates.iter().filter(|other| edge.after.contains(&other.phi)).map(|other| (other.term, true));
        let conditions = edge.conditions.iter().copied().chain(known).collect();
        ask(terms, &Question { left, right: yes, conditions, after: Vec::new() })
    })
}

/// What may hold: bounds by constants and arguments with which a phi is compared, by what it starts with, and the
/// remainder with which it starts.
fn candidates(terms: &mut Terms, mentioned: &BTreeSet<Term>, variables: &[usize], phis: &[Phi]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |phi: usize, term: Term| {
        if found.len() < MAX_CANDIDATES && !found.iter().any(|known| known.term == term) {
            found.push(Candidate { phi, term });
        }
    };
    for term in mentioned {
        let Node::Apply(operation, args) = terms.node(*term).clone() else { continue };
        use Operation::{Eq, Sle, Slt, Ule, Ult};
        let ([x, y], true) = (&args[..], matches!(operation, Eq | Ult | Ule | Slt | Sle)) else { continue };
        for (value, bound) in [(*x, *y), (*y, *x)] {
            let Some(phi) = only_variable(terms, value, variables, phis) else { continue };
            if is_fixed(terms, bound) {
                add(phi, terms.compare(Sle, value, bound));
                add(phi, terms.compare(Sle, bound, value));
                add(phi, terms.compare(Ule, value, bound));
            }
        }
    }
    for phi in variables {
        let value = phis[*phi].value;
        let sort = terms.sort(value);
        let Sort::Bits(width) = sort else { continue };
        let starts: Vec<u64> = phis[*phi].incoming.iter().filter_map(|edge| terms.as_constant(edge.value)).collect();
        for start in starts {
            let bound = terms.constant(start, sort);
            add(*phi, terms.compare(Operation::Sle, bound, value));
            add(*phi, terms.compare(Operation::Ule, bound, value));
            for power in (1..=MAX_POWER).filter(|power| *power < width) {
                let ones = terms.constant((1 << power) - 1, sort);
                let remainder = terms.apply(Operation::And, vec![value, ones], sort);
                let first = terms.constant(start & ((1 << power) - 1), sort);
                add(*phi, terms.compare(Operation::Eq, remainder, first));
            }
        }
    }
    found
}

/// Returns the phi on which a term depends, if nothing else in it changes.
fn only_variable(terms: &Terms, term: Term, variables: &[usize], phis: &[Phi]) -> Option<usize> {
    let mut found = None;
    for part in reachable(terms, &[term], Names::Opaque) {
        match variables.iter().find(|phi| phis[**phi].value == part) {
            Some(phi) => found = Some(*phi),
            None if is_fixed_leaf(terms, part) => {}
            None => return None,
        }
    }
    found
}

/// Returns whether a term has the same value throughout a work-item's run.
fn is_fixed(terms: &Terms, term: Term) -> bool {
    reachable(terms, &[term], Names::Opaque).into_iter().all(|part| is_fixed_leaf(terms, part))
}

fn is_fixed_leaf(terms: &Terms, part: Term) -> bool {
    match terms.node(part) {
        Node::Symbol(name) => !name.starts_with(CHANGING),
        Node::Constant(_) | Node::Apply(..) => true,
        Node::Unknown(..) => false,
    }
}
