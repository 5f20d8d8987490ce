//! Proves equalities with Z3, each in a context of its own, so that the outcome does not depend on earlier queries.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use z3::{Config, Params, SatResult, Solver};

use super::concrete::Valuation;
use super::expression::{Node, Operation, Sort, Term, Terms};
use super::invariants;
use super::question::{Comparison, Phi, Question};
use super::subterms::{Names, reachable};
use super::translate::Translation;

/// Z3's resource limit per query, a measure of work rather than time.
const RLIMIT: u32 = 50_000;
/// Most queries for all questions together.
const MAX_QUERIES: usize = 160;
/// Questions with more terms are not asked.
const MAX_TERMS: usize = 400;
/// Operations that are kept of a question with more.
const MAX_KEPT: usize = 60;
/// Questions with more products, quotients and remainders of variables are not asked: these are what takes long.
const MAX_PRODUCTS: usize = 2;
/// Random valuations that are tried before the solver is asked.
const VALUATIONS: u64 = 160;

/// Returns whether every pair of terms is proved equal in every launch, whenever its place is reached. False if this
/// could not be established.
pub fn all_equal(comparison: &mut Comparison) -> bool {
    let Comparison { terms, questions, phis } = comparison;
    let mut proofs = Proofs { known: HashMap::new(), queries: 0 };
    questions.iter().all(|question| proofs.is_proved(terms, question) || proofs.is_invariant(terms, question, phis))
}

/// Two terms, and what is known where they are compared.
type Compared = (Term, Term, Vec<(Term, bool)>);

/// The proofs of one comparison.
struct Proofs {
    known: HashMap<Compared, bool>,
    queries: usize,
}

impl Proofs {
    /// Proves a question by that about the operands that differ, if it is the same operation on both sides; else, or if
    /// they may differ, as a whole. What is changed in a long computation is small, and the whole is not.
    fn is_proved(&mut self, terms: &Terms, question: &Question) -> bool {
        chain(terms, question).iter().rev().any(|question| self.is_whole_proved(terms, question))
    }

    /// Proves a question with invariants of loops.
    fn is_invariant(&mut self, terms: &mut Terms, question: &Question, phis: &[Phi]) -> bool {
        let chain = chain(terms, question);
        let Some(innermost) = chain.last() else { return false };
        let mut ask = |terms: &Terms, question: &Question| self.is_whole_proved(terms, question);
        let found = invariants::of_question(terms, innermost, phis, &mut ask);
        if found.is_empty() {
            return false;
        }
        let known = found.into_iter().map(|term| (term, true));
        let conditions = innermost.conditions.iter().copied().chain(known).collect();
        self.is_whole_proved(terms, &Question { conditions, ..innermost.clone() })
    }

    fn is_whole_proved(&mut self, terms: &Terms, question: &Question) -> bool {
        let key = (question.left, question.right, question.conditions.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let proved = self.queries < MAX_QUERIES && !differs_in_a_valuation(terms, question) && {
            self.queries += 1;
            is_proved(terms, question)
        };
        self.known.insert(key, proved);
        proved
    }
}

/// Returns a question, that about the only operands that differ, and so on. All are proved by a proof of one.
fn chain(terms: &Terms, question: &Question) -> Vec<Question> {
    let mut chain = vec![question.clone()];
    while let Some(inner) = chain.last().and_then(|last| only_difference(terms, last)) {
        chain.push(inner);
    }
    chain
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
    (terms.sort(left) == terms.sort(right)).then(|| Question { left, right, ..question.clone() })
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
    let facts = facts_about(terms, &mut roots);
    let needed = reachable(terms, &roots, Names::Opaque);
    if needed.len() > MAX_TERMS {
        return is_proved_of_cut(terms, question);
    }
    if needed.iter().filter(|t| is_product(terms, **t)).count() > MAX_PRODUCTS {
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
        for fact in &facts {
            solver.assert(translation.is_true(*fact));
        }
        solver.assert(translation.equals(question.left, question.right).not());
        solver.check() == SatResult::Unsat
    })
}

/// Returns the facts about symbols of the `roots`, and about those of these facts, and adds them to the roots.
fn facts_about(terms: &Terms, roots: &mut Vec<Term>) -> Vec<Term> {
    let symbols = |of: &[Term]| -> BTreeSet<Term> {
        let parts = reachable(terms, of, Names::Opaque);
        parts.into_iter().filter(|part| matches!(terms.node(*part), Node::Symbol(_))).collect()
    };
    let mut known = symbols(roots);
    let mut open: Vec<(Term, BTreeSet<Term>)> = terms.facts().iter().map(|fact| (*fact, symbols(&[*fact]))).collect();
    let mut found = Vec::new();
    while let Some(at) = open.iter().position(|(_, of)| !of.is_disjoint(&known)) {
        let (fact, of) = open.swap_remove(at);
        known.extend(of);
        found.push(fact);
    }
    roots.extend(&found);
    found
}

/// Proves a question about few of the operations before it, whatever their operands are.
fn is_proved_of_cut(terms: &Terms, question: &Question) -> bool {
    let mut kept: HashSet<Term> = HashSet::new();
    let mut worklist = VecDeque::from([question.left, question.right]);
    while let Some(term) = worklist.pop_front() {
        if let Node::Apply(_, args) = terms.node(term)
            && kept.len() < MAX_KEPT
            && kept.insert(term)
        {
            worklist.extend(args);
        }
    }
    let mut cut = Terms::unfolded();
    let mut done: HashMap<Term, Term> = HashMap::new();
    // Operands have lower numbers than what is computed of them.
    let mut all: Vec<Term> = kept.iter().copied().collect();
    all.sort_unstable();
    for term in all {
        let Node::Apply(operation, args) = terms.node(term) else { continue };
        let mut copied = |operand: &Term| match (done.get(operand), terms.node(*operand)) {
            (Some(known), _) => *known,
            (None, Node::Constant(bits)) => cut.constant(*bits, terms.sort(*operand)),
            (None, _) => cut.symbol(format!("{operand:?}"), terms.sort(*operand)),
        };
        let args = args.iter().map(&mut copied).collect();
        let made = cut.apply(*operation, args, terms.sort(term));
        done.insert(term, made);
    }
    let (Some(left), Some(right)) = (done.get(&question.left), done.get(&question.right)) else { return false };
    let question = Question { left: *left, right: *right, conditions: Vec::new(), after: Vec::new() };
    !differs_in_a_valuation(&cut, &question) && is_proved(&cut, &question)
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
