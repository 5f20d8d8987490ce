//! Proves equalities with Z3, each in a context of its own, so that the outcome does not depend on earlier queries.

use std::collections::HashMap;

use z3::{Config, Params, SatResult, Solver};

use super::concrete::Valuation;
use super::expression::{Node, Operation, Sort, Term, Terms};
use super::subterms::{Names, reachable};
use super::translate::Translation;

/// Z3's resource limit per query, a measure of work rather than time.
const RLIMIT: u32 = 50_000;
/// Most queries for all questions together.
const MAX_QUERIES: usize = 24;
/// Questions with more terms are not asked.
const MAX_TERMS: usize = 400;
/// Questions with more products, quotients and remainders of variables are not asked: these are what takes long.
const MAX_PRODUCTS: usize = 2;
/// Random valuations that are tried before the solver is asked.
const VALUATIONS: u64 = 160;

/// Asks whether two terms are equal at a place. `conditions` are one-bit terms with the values that they have whenever
/// the place is reached.
#[derive(Debug, Clone)]
pub struct Question {
    pub left: Term,
    pub right: Term,
    pub conditions: Vec<(Term, bool)>,
}

/// Returns whether every pair of terms is proved equal in every launch, whenever its place is reached. False if this
/// could not be established.
pub fn all_equal(terms: &Terms, questions: &[Question]) -> bool {
    let mut proofs = Proofs { terms, known: HashMap::new(), queries: 0 };
    questions.iter().all(|q| !differs_in_a_valuation(terms, q)) && questions.iter().all(|q| proofs.is_proved(q))
}

/// The proofs of one comparison.
struct Proofs<'t> {
    terms: &'t Terms,
    known: HashMap<(Term, Term, Vec<(Term, bool)>), bool>,
    queries: usize,
}

impl Proofs<'_> {
    /// Proves a question by that about the operands that differ, if it is the same operation on both sides; else, or if
    /// they may differ, as a whole. What is changed in a long computation is small, and the whole is not.
    fn is_proved(&mut self, question: &Question) -> bool {
        // From the whole to what differs: all of these pairs are equal if one of them is.
        let mut chain = vec![question.clone()];
        while let Some(inner) = chain.last().and_then(|last| only_difference(self.terms, last)) {
            chain.push(inner);
        }
        let innermost = chain.pop();
        innermost.into_iter().chain(chain.into_iter().rev()).any(|question| self.is_whole_proved(question))
    }

    fn is_whole_proved(&mut self, question: Question) -> bool {
        let key = (question.left, question.right, question.conditions.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.queries >= MAX_QUERIES || differs_in_a_valuation(self.terms, &question) {
            self.known.insert(key, false);
            return false;
        }
        self.queries += 1;
        let proved = is_proved(self.terms, &question);
        self.known.insert(key, proved);
        proved
    }
}

/// Returns the question about the only operands that differ in two applications of the same operation.
fn only_difference(terms: &Terms, question: &Question) -> Option<Question> {
    let (left, right) = match (terms.node(question.left), terms.node(question.right)) {
        (Node::Apply(one, left), Node::Apply(two, right)) if one == two => (left, right),
        (Node::Unknown(one, left), Node::Unknown(two, right)) if one == two => (left, right),
        _ => return None,
    };
    if left.len() != right.len() {
        return None;
    }
    let mut pairs: Vec<(Term, Term)> =
        left.iter().copied().zip(right.iter().copied()).filter(|(left, right)| left != right).collect();
    pairs.dedup();
    let [(left, right)] = pairs[..] else { return None };
    (terms.sort(left) == terms.sort(right)).then(|| Question { left, right, conditions: question.conditions.clone() })
}

fn differs_in_a_valuation(terms: &Terms, question: &Question) -> bool {
    (0..VALUATIONS).any(|seed| {
        let mut valuation = Valuation::new(terms, seed);
        valuation.value(question.left) != valuation.value(question.right)
            && question.conditions.iter().all(|(c, holds)| (valuation.value(*c) == 1) == *holds)
            && terms.facts().iter().all(|fact| valuation.value(*fact) == 1)
    })
}

fn is_proved(terms: &Terms, question: &Question) -> bool {
    if question.left == question.right {
        return true;
    }
    if terms.sort(question.left) != terms.sort(question.right) || terms.sort(question.left) == Sort::Other {
        return false;
    }
    let mut roots: Vec<Term> = question.conditions.iter().map(|(c, _)| *c).collect();
    roots.extend([question.left, question.right]);
    roots.extend(terms.facts());
    let needed = reachable(terms, &roots, Names::Opaque);
    if needed.len() > MAX_TERMS || needed.iter().filter(|t| is_product(terms, **t)).count() > MAX_PRODUCTS {
        return false;
    }
    z3::with_z3_config(&Config::new(), || {
        let solver = Solver::new();
        let mut params = Params::new();
        params.set_u32("rlimit", RLIMIT);
        solver.set_params(&params);
        let mut translation = Translation::new(terms, Names::Opaque);
        translation.add(&needed);
        for (condition, holds) in &question.conditions {
            let bit = translation.is_true(*condition);
            solver.assert(if *holds { bit } else { bit.not() });
        }
        for fact in terms.facts() {
            solver.assert(translation.is_true(*fact));
        }
        solver.assert(translation.equals(question.left, question.right).not());
        solver.check() == SatResult::Unsat
    })
}

fn is_product(terms: &Terms, term: Term) -> bool {
    use Operation::{Mul, SDiv, SRem, UDiv, URem};
    match terms.node(term) {
        // With a constant power of two as an operand it is no more than a shift; in divisions, the constant
        // is the divisor.
        Node::Apply(Mul | UDiv | SDiv | URem | SRem, args) => {
            !args.iter().any(|a| matches!(terms.node(*a), Node::Constant(bits) if bits.is_power_of_two()))
        }
        _ => false,
    }
}
