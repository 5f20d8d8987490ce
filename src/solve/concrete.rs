//! Evaluates expressions on concrete values: computes operations on bits, and offers cheap random valuations that may
//! show two terms to differ before a solver is asked.

use std::collections::HashMap;

use super::expression::{Node, Operation, Rounding, Sort, Term, Terms, mask};
use super::query::Model;
use crate::hash;
use crate::kernel::floats;

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

fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
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

fn width(sort: Sort) -> u32 {
    match sort {
        Sort::Bits(width) | Sort::Float(width) => width,
        Sort::Other => 64,
    }
}

/// Computes an operation exactly, on the bits of its arguments.
pub fn evaluate(operation: Operation, v: &[u64], from: &[Sort], to: Sort) -> u64 {
    use Operation::*;
    let wide = width(from[0]);
    let s = |i: usize| signed(v[i], wide);
    let f = |i: usize| floats::number(v[i], width(from[i]));
    let shift = |i: usize| u32::try_from(v[i]).unwrap_or(u32::MAX);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "conversions round")]
    #[expect(clippy::cast_sign_loss, reason = "conversions saturate")]
    let bits = match operation {
        Add => v[0].wrapping_add(v[1]),
        Sub => v[0].wrapping_sub(v[1]),
        Mul => v[0].wrapping_mul(v[1]),
        UDiv => v[0].checked_div(v[1]).unwrap_or(u64::MAX),
        SDiv if s(1) == 0 => {
            if s(0) < 0 {
                1
            } else {
                u64::MAX
            }
        }
        SDiv => s(0).wrapping_div(s(1)).cast_unsigned(),
        URem => v[0].checked_rem(v[1]).unwrap_or(v[0]),
        SRem if s(1) == 0 => v[0],
        SRem => s(0).wrapping_rem(s(1)).cast_unsigned(),
        And => v[0] & v[1],
        Or => v[0] | v[1],
        Xor => v[0] ^ v[1],
        Shl => v[0].checked_shl(shift(1)).unwrap_or(0),
        LShr => v[0].checked_shr(shift(1)).unwrap_or(0),
        AShr => (s(0) >> shift(1).min(63)).cast_unsigned(),
        ZExt | Trunc | FromBits | ToBits => v[0],
        SExt => s(0).cast_unsigned(),
        Concat => v[0] << width(from[1]) | v[1],
        Extract(low) => v[0] >> low,
        Eq => u64::from(v[0] == v[1]),
        Ult => u64::from(v[0] < v[1]),
        Ule => u64::from(v[0] <= v[1]),
        Slt => u64::from(s(0) < s(1)),
        Sle => u64::from(s(0) <= s(1)),
        FEq => u64::from(f(0) == f(1)),
        FLt => u64::from(f(0) < f(1)),
        FLe => u64::from(f(0) <= f(1)),
        IsNan => u64::from(f(0).is_nan()),
        FNeg => v[0] ^ (1 << (wide - 1)),
        FAbs => v[0] & mask(wide - 1),
        // For narrower floats, a 64-bit result is precise enough that rounding it again is harmless.
        FAdd => floats::bits(f(0) + f(1), wide),
        FSub => floats::bits(f(0) - f(1), wide),
        FMul => floats::bits(f(0) * f(1), wide),
        FDiv => floats::bits(f(0) / f(1), wide),
        FRem => floats::bits(f(0) % f(1), wide),
        FSqrt => floats::bits(f(0).sqrt(), wide),
        FFma if wide == 32 => (f(0) as f32).mul_add(f(1) as f32, f(2) as f32).to_bits().into(),
        FFma => floats::bits(f(0).mul_add(f(1), f(2)), wide),
        FRound(Rounding::Even) => floats::bits(f(0).round_ties_even(), wide),
        FRound(Rounding::Away) => floats::bits(f(0).round(), wide),
        FRound(Rounding::Up) => floats::bits(f(0).ceil(), wide),
        FRound(Rounding::Down) => floats::bits(f(0).floor(), wide),
        FRound(Rounding::Zero) => floats::bits(f(0).trunc(), wide),
        FToF => floats::bits(f(0), width(to)),
        FToSI => {
            let max = i64::MAX >> (64 - width(to).clamp(1, 64));
            (f(0) as i64).clamp(-max - 1, max).cast_unsigned()
        }
        FToUI => (f(0) as u64).min(mask(width(to))),
        // In one step: going through 64 bits would round twice.
        SIToF if to == Sort::Float(32) => (s(0) as f32).to_bits().into(),
        UIToF if to == Sort::Float(32) => (v[0] as f32).to_bits().into(),
        SIToF => floats::bits(s(0) as f64, width(to)),
        UIToF => floats::bits(v[0] as f64, width(to)),
        Select => v[if v[0] & 1 == 1 { 1 } else { 2 }],
    };
    match to {
        Sort::Bits(width) => bits & mask(width),
        _ => bits,
    }
}
