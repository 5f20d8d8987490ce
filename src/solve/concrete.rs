//! Expressions on concrete values: cheap tries that show two terms to differ before a solver is asked.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::expression::{Node, Operation, Sort, Term, Terms, mask};

/// One assignment of values to symbols, by a seed.
pub struct Trial<'t> {
    terms: &'t Terms,
    seed: u64,
    known: HashMap<Term, u64>,
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

fn float(bits: u64, sort: Sort) -> f64 {
    match sort {
        Sort::Float(32) => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

impl<'t> Trial<'t> {
    pub fn new(terms: &'t Terms, seed: u64) -> Trial<'t> {
        Trial { terms, seed, known: HashMap::new() }
    }

    /// The value's bits.
    pub fn value(&mut self, term: Term) -> u64 {
        let mut todo = vec![term];
        while let Some(next) = todo.last().copied() {
            if self.known.contains_key(&next) {
                todo.pop();
                continue;
            }
            let args: &[Term] = match self.terms.node(next) {
                Node::Apply(_, args) | Node::Unknown(_, args) => args,
                _ => &[],
            };
            let before = todo.len();
            todo.extend(args.iter().filter(|a| !self.known.contains_key(a)));
            if todo.len() == before {
                let value = self.compute(next);
                self.known.insert(next, value);
                todo.pop();
            }
        }
        self.known[&term]
    }

    fn compute(&self, term: Term) -> u64 {
        let sort = self.terms.sort(term);
        match self.terms.node(term) {
            Node::Constant(bits) => *bits,
            Node::Symbol(name) => self.arbitrary(hash((self.seed, name)), sort),
            Node::Unknown(name, args) => {
                let args: Vec<u64> = args.iter().map(|a| self.known[a]).collect();
                self.arbitrary(hash((self.seed, name, args)), sort)
            }
            Node::Apply(operation, args) => {
                let values: Vec<u64> = args.iter().map(|a| self.known[a]).collect();
                self.apply(*operation, &values, self.terms.sort(args[0]), sort)
            }
        }
    }

    /// Values at which programs tend to differ: small ones and those at the ends, of a common choice for each seed.
    fn arbitrary(&self, random: u64, sort: Sort) -> u64 {
        let choice = (random >> 8) % 8;
        match sort {
            Sort::Bits(width) => {
                let value = match choice {
                    0..=3 => random % (2 << (self.seed % 6)),
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
                if width == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
            }
            Sort::Other => random,
        }
    }

    fn apply(&self, operation: Operation, v: &[u64], from: Sort, to: Sort) -> u64 {
        use Operation::*;
        let width = match from {
            Sort::Bits(width) | Sort::Float(width) => width,
            Sort::Other => 64,
        };
        let s = |i: usize| signed(v[i], width);
        let f = |i: usize| float(v[i], from);
        let shift = |i: usize| u32::try_from(v[i]).unwrap_or(u32::MAX);
        let bits = match operation {
            Add => v[0].wrapping_add(v[1]),
            Sub => v[0].wrapping_sub(v[1]),
            Mul => v[0].wrapping_mul(v[1]),
            UDiv => v[0].checked_div(v[1]).unwrap_or(0),
            SDiv => s(0).checked_div(s(1)).unwrap_or(0) as u64,
            URem => v[0].checked_rem(v[1]).unwrap_or(0),
            SRem => s(0).checked_rem(s(1)).unwrap_or(0) as u64,
            And => v[0] & v[1],
            Or => v[0] | v[1],
            Xor => v[0] ^ v[1],
            Shl => v[0].checked_shl(shift(1)).unwrap_or(0),
            LShr => v[0].checked_shr(shift(1)).unwrap_or(0),
            AShr => (s(0) >> shift(1).min(63)) as u64,
            ZExt | Trunc => v[0],
            SExt => s(0) as u64,
            Eq => u64::from(v[0] == v[1]),
            Ult => u64::from(v[0] < v[1]),
            Ule => u64::from(v[0] <= v[1]),
            Slt => u64::from(s(0) < s(1)),
            Sle => u64::from(s(0) <= s(1)),
            FEq => u64::from(f(0) == f(1)),
            FLt => u64::from(f(0) < f(1)),
            FLe => u64::from(f(0) <= f(1)),
            IsNan => u64::from(f(0).is_nan()),
            FNeg => v[0] ^ (1 << (width - 1)),
            Select => v[if v[0] & 1 == 1 { 1 } else { 2 }],
        };
        match to {
            Sort::Bits(width) => bits & mask(width),
            _ => bits,
        }
    }
}
