//! Evaluates expressions on concrete values: those of a model, or cheap random ones that may show two terms to differ
//! before a solver is asked.

use std::collections::HashMap;

use kassay_base::hash;
use kassay_ir::kernel::floats;

use super::evaluation::evaluate;
use super::expression::{Node, Term, Terms};
use super::operation::{Sort, mask};
use super::query::Model;

/// An assignment of values to symbols and uninterpreted functions, under which terms are evaluated.
pub struct Valuation<'t> {
    terms: &'t Terms,
    source: Source,
    values: HashMap<Term, u64>,
}

enum Source {
    Seed(u64),
    /// Values from a model; what it lacks is 0.
    Model(Model),
}

impl<'t> Valuation<'t> {
    /// A pseudo-random assignment, determined by the seed.
    pub fn new(terms: &'t Terms, seed: u64) -> Valuation<'t> {
        Valuation { terms, source: Source::Seed(seed), values: HashMap::new() }
    }

    /// The assignment of a model that the solver found.
    pub fn of(terms: &'t Terms, model: Model) -> Valuation<'t> {
        Valuation { terms, source: Source::Model(model), values: HashMap::new() }
    }

    /// The bits of a term's value.
    pub fn value(&mut self, term: Term) -> u64 {
        let mut stack = vec![term];
        while let Some(next) = stack.last().copied() {
            if self.values.contains_key(&next) {
                stack.pop();
                continue;
            }
            let args: &[Term] = match self.terms.node(next) {
                Node::Apply(_, args) | Node::Unknown(_, args) => args,
                _ => &[],
            };
            let before = stack.len();
            stack.extend(args.iter().filter(|a| !self.values.contains_key(a)));
            if stack.len() == before {
                let value = self.compute(next);
                self.values.insert(next, value);
                stack.pop();
            }
        }
        self.values[&term]
    }

    fn compute(&self, term: Term) -> u64 {
        let sort = self.terms.sort(term);
        match self.terms.node(term) {
            Node::Constant(bits) => *bits,
            Node::Symbol(name) => match &self.source {
                Source::Seed(seed) => arbitrary(*seed, hash::of((*seed, name)), sort),
                Source::Model(model) => model.symbol(name).unwrap_or(0),
            },
            Node::Unknown(name, args) => {
                let args: Vec<u64> = args.iter().map(|a| self.values[a]).collect();
                match &self.source {
                    Source::Seed(seed) => arbitrary(*seed, hash::of((*seed, name, args)), sort),
                    Source::Model(model) => model.application(name, &args).unwrap_or(0),
                }
            }
            Node::Apply(operation, args) => {
                let values: Vec<u64> = args.iter().map(|a| self.values[a]).collect();
                let sorts: Vec<Sort> = args.iter().map(|a| self.terms.sort(*a)).collect();
                evaluate(*operation, &values, &sorts, sort)
            }
        }
    }
}

/// Values at which programs tend to differ: small ones and extreme ones. All values of one seed share the range of
/// the small ones.
fn arbitrary(seed: u64, random: u64, sort: Sort) -> u64 {
    let choice = (random >> 8) % 8;
    match sort {
        Sort::Bits(width) => {
            let value = match choice {
                0..=3 => random % (2 << (seed % 6)),
                4 => (random % 8).wrapping_neg(),
                5 => (1u64 << (width - 1)).wrapping_sub(random & 1),
                _ => random,
            };
            value & mask(width)
        }
        Sort::Float(width) => {
            let value = match choice {
                0..=3 => (random % 5) as f64 - 2.0,
                4 => f64::NAN,
                5 => -0.0,
                6 => f64::INFINITY,
                _ => (random % 1000) as f64 / 7.0 - 70.0,
            };
            floats::bits(value, width)
        }
        Sort::Other => random,
    }
}
