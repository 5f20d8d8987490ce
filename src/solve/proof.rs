//! Proofs by Z3, in a context of their own each, so that the outcome does not depend on what was asked before.

use std::collections::{BTreeSet, HashMap};

use z3::ast::{Ast, BV, Bool, Float};
use z3::{Config, Params, SatResult, Solver};

use super::concrete::Trial;
use super::expression::{Node, Operation, Sort, Term, Terms};

/// Z3's resource limit of one question: a measure of work, not of time.
const RLIMIT: u32 = 6_000;
/// A question with more terms is not asked.
const MAX_TERMS: usize = 400;
/// Nor is one with more products, quotients and remainders of variables: they are what takes long.
const MAX_PRODUCTS: usize = 2;
/// Concrete tries before a question.
const TRIALS: u64 = 160;

/// Two terms at a place, with the one-bit terms that have these values whenever the place is reached.
#[derive(Debug, Clone)]
pub struct Question {
    pub left: Term,
    pub right: Term,
    pub conditions: Vec<(Term, bool)>,
}

/// Whether every pair of terms is equal whenever its place is reached, in every launch. False also where that was not
/// found out.
pub fn all_equal(terms: &Terms, questions: &[Question]) -> bool {
    questions.iter().all(|q| !differs_in_trials(terms, q)) && questions.iter().all(|q| is_proved(terms, q))
}

fn differs_in_trials(terms: &Terms, question: &Question) -> bool {
    (0..TRIALS).any(|seed| {
        let mut trial = Trial::new(terms, seed);
        trial.value(question.left) != trial.value(question.right)
            && question.conditions.iter().all(|(c, holds)| (trial.value(*c) == 1) == *holds)
            && terms.facts().iter().all(|fact| trial.value(*fact) == 1)
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
    let needed = reachable(terms, &roots);
    if needed.len() > MAX_TERMS || needed.iter().filter(|t| is_product(terms, **t)).count() > MAX_PRODUCTS {
        return false;
    }
    z3::with_z3_config(&Config::new(), || {
        let solver = Solver::new();
        let mut params = Params::new();
        params.set_u32("rlimit", RLIMIT);
        solver.set_params(&params);
        let mut asts = Asts { terms, known: HashMap::new() };
        // Terms come after what they are made of.
        for term in needed {
            let ast = asts.make(term);
            asts.known.insert(term, ast);
        }
        for (condition, holds) in &question.conditions {
            let bit = asts.is_true(*condition);
            solver.assert(if *holds { bit } else { bit.not() });
        }
        for fact in terms.facts() {
            solver.assert(asts.is_true(*fact));
        }
        solver.assert(asts.same(question.left, question.right).not());
        solver.check() == SatResult::Unsat
    })
}

fn is_product(terms: &Terms, term: Term) -> bool {
    use Operation::{Mul, SDiv, SRem, UDiv, URem};
    match terms.node(term) {
        // Divisors are constants; a power of two is no more than a shift.
        Node::Apply(Mul | UDiv | SDiv | URem | SRem, args) => {
            !args.iter().any(|a| matches!(terms.node(*a), Node::Constant(bits) if bits.is_power_of_two()))
        }
        _ => false,
    }
}

fn reachable(terms: &Terms, roots: &[Term]) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    let mut todo = roots.to_vec();
    while let Some(term) = todo.pop() {
        if found.insert(term)
            && let Node::Apply(_, args) = terms.node(term)
        {
            todo.extend(args);
        }
    }
    found
}

enum Z {
    Bits(BV),
    Float(Float),
    None,
}

struct Asts<'t> {
    terms: &'t Terms,
    known: HashMap<Term, Z>,
}

fn bit(condition: &Bool) -> Z {
    Z::Bits(condition.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)))
}

impl Asts<'_> {
    fn bits(&self, term: Term) -> Option<&BV> {
        match self.known.get(&term) {
            Some(Z::Bits(bits)) => Some(bits),
            _ => None,
        }
    }

    fn float(&self, term: Term) -> Option<&Float> {
        match self.known.get(&term) {
            Some(Z::Float(float)) => Some(float),
            _ => None,
        }
    }

    /// Of what the solver does not know, nothing is true or false.
    fn is_true(&self, term: Term) -> Bool {
        match self.bits(term) {
            Some(bits) if bits.get_size() == 1 => Ast::eq(bits, BV::from_u64(1, 1)),
            _ => Bool::fresh_const("unknown"),
        }
    }

    fn same(&self, left: Term, right: Term) -> Bool {
        match (self.known.get(&left), self.known.get(&right)) {
            (Some(Z::Bits(l)), Some(Z::Bits(r))) => Ast::eq(l, r),
            (Some(Z::Float(l)), Some(Z::Float(r))) => Ast::eq(l, r),
            _ => Bool::from_bool(false),
        }
    }

    fn make(&self, term: Term) -> Z {
        let sort = self.terms.sort(term);
        match self.terms.node(term) {
            Node::Constant(bits) => match sort {
                Sort::Bits(width) => Z::Bits(BV::from_u64(*bits, width)),
                Sort::Float(32) => Z::Float(Float::from_f32(f32::from_bits(*bits as u32))),
                Sort::Float(_) => Z::Float(Float::from_f64(f64::from_bits(*bits))),
                Sort::Other => Z::None,
            },
            Node::Apply(operation, args) => self.apply(*operation, args, sort).unwrap_or_else(|| self.free(term, sort)),
            Node::Symbol(_) | Node::Unknown(..) => self.free(term, sort),
        }
    }

    /// A variable of the term's own: one term, one value.
    fn free(&self, term: Term, sort: Sort) -> Z {
        let name = format!("{term:?}");
        match sort {
            Sort::Bits(width) => Z::Bits(BV::new_const(name, width)),
            Sort::Float(32) => Z::Float(Float::new_const_float32(name)),
            Sort::Float(_) => Z::Float(Float::new_const_double(name)),
            Sort::Other => Z::None,
        }
    }

    fn apply(&self, operation: Operation, args: &[Term], sort: Sort) -> Option<Z> {
        use Operation::*;
        if operation == Select {
            let condition = self.is_true(args[0]);
            return Some(match sort {
                Sort::Bits(_) => Z::Bits(condition.ite(self.bits(args[1])?, self.bits(args[2])?)),
                Sort::Float(_) => Z::Float(condition.ite(self.float(args[1])?, self.float(args[2])?)),
                Sort::Other => return None,
            });
        }
        if matches!(operation, FEq | FLt | FLe | IsNan | FNeg) {
            let left = self.float(args[0])?;
            return Some(match operation {
                FEq => bit(&left.eq_fpa(self.float(args[1])?)),
                FLt => bit(&left.lt(self.float(args[1])?)),
                FLe => bit(&left.le(self.float(args[1])?)),
                IsNan => bit(&left.is_nan()),
                _ => Z::Float(left.unary_neg()),
            });
        }
        let left = self.bits(args[0])?;
        let Sort::Bits(width) = sort else { return None };
        match operation {
            ZExt => return Some(Z::Bits(left.zero_ext(width - left.get_size()))),
            SExt => return Some(Z::Bits(left.sign_ext(width - left.get_size()))),
            Trunc => return Some(Z::Bits(left.extract(width - 1, 0))),
            _ => {}
        }
        let right = self.bits(args[1])?;
        Some(match operation {
            Add => Z::Bits(left.bvadd(right)),
            Sub => Z::Bits(left.bvsub(right)),
            Mul => Z::Bits(left.bvmul(right)),
            UDiv => Z::Bits(left.bvudiv(right)),
            SDiv => Z::Bits(left.bvsdiv(right)),
            URem => Z::Bits(left.bvurem(right)),
            SRem => Z::Bits(left.bvsrem(right)),
            And => Z::Bits(left.bvand(right)),
            Or => Z::Bits(left.bvor(right)),
            Xor => Z::Bits(left.bvxor(right)),
            Shl => Z::Bits(left.bvshl(right)),
            LShr => Z::Bits(left.bvlshr(right)),
            AShr => Z::Bits(left.bvashr(right)),
            Eq => bit(&Ast::eq(left, right)),
            Ult => bit(&left.bvult(right)),
            Ule => bit(&left.bvule(right)),
            Slt => bit(&left.bvslt(right)),
            Sle => bit(&left.bvsle(right)),
            _ => return None,
        })
    }
}
