//! Values of the concolic interpreter: bits, and the term of which they are an instance.

use crate::program::arithmetic::width;
use crate::program::{self, Kind, Shape};
use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// A scalar, or one lane of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    pub bits: u64,
    /// `None` if it does not depend on the input.
    pub term: Option<Term>,
}

impl Lane {
    /// A lane that does not depend on the input.
    pub fn known(bits: u64) -> Lane {
        Lane { bits, term: None }
    }
}

impl program::value::Lane for Lane {
    fn new(bits: u64) -> Lane {
        Lane::known(bits)
    }

    fn bits(self) -> u64 {
        self.bits
    }

    /// Results that nothing determines are 0, and do not depend on the input.
    fn undetermined(shape: Shape) -> Value {
        Value::of(Vec::new(), shape)
    }
}

/// A scalar or a vector; never unknown.
pub type Value = program::value::Value<Lane>;

impl Value {
    /// The first lane.
    pub fn first(&self) -> Lane {
        self.lanes().first().copied().unwrap_or(Lane::known(0))
    }

    /// Returns whether any lane depends on the input.
    pub fn is_symbolic(&self) -> bool {
        self.lanes().iter().any(|l| l.term.is_some())
    }
}

/// Returns the sort of terms for lanes of this kind.
pub fn sort(kind: Kind) -> Sort {
    match kind {
        Kind::Int(width) if width <= 64 => Sort::Bits(width),
        Kind::Float(width) => Sort::Float(width),
        Kind::Pointer => Sort::Bits(64),
        _ => Sort::Other,
    }
}

/// Returns a lane as a term.
pub fn term(terms: &mut Terms, lane: Lane, kind: Kind) -> Term {
    lane.term.unwrap_or_else(|| terms.constant(lane.bits, sort(kind)))
}

/// Returns a lane that has these bits in the current run.
pub fn lane(terms: &Terms, term: Term, bits: u64) -> Lane {
    let is_known = matches!(terms.node(term), Node::Constant(_));
    Lane { bits, term: (!is_known).then_some(term) }
}

/// Returns the bytes that a lane occupies in memory, as a term.
pub fn stored(terms: &mut Terms, term: Term, kind: Kind, bytes: u64) -> Term {
    let bits = match kind {
        Kind::Float(width) => terms.apply(Operation::ToBits, vec![term], Sort::Bits(width)),
        _ => term,
    };
    resized(terms, bits, 8 * bytes as u32)
}

/// Returns a lane from the term of its bytes in memory.
pub fn loaded(terms: &mut Terms, bits: Term, kind: Kind) -> Term {
    match kind {
        Kind::Float(width) => terms.apply(Operation::FromBits, vec![bits], Sort::Float(width)),
        _ => resized(terms, bits, width(kind)),
    }
}

/// Zero-extends or truncates.
pub fn resized(terms: &mut Terms, bits: Term, to: u32) -> Term {
    match terms.sort(bits) {
        Sort::Bits(from) if from < to => terms.apply(Operation::ZExt, vec![bits], Sort::Bits(to)),
        Sort::Bits(from) if from > to => terms.apply(Operation::Trunc, vec![bits], Sort::Bits(to)),
        _ => bits,
    }
}

/// Extracts `bytes` bytes from a term of bits, starting at byte `from`.
pub fn extract(terms: &mut Terms, bits: Term, from: u64, bytes: u64) -> Term {
    let to = Sort::Bits(8 * bytes as u32);
    if terms.sort(bits) == to { bits } else { terms.apply(Operation::Extract(8 * from as u32), vec![bits], to) }
}

/// Concatenates terms of whole bytes, the first lowest, into one of up to 64 bits.
pub fn joined(terms: &mut Terms, parts: &[Term]) -> Term {
    let width = |terms: &Terms, part| if let Sort::Bits(width) = terms.sort(part) { width } else { 8 };
    let mut parts = parts.iter();
    let Some(mut sum) = parts.next().copied() else { return terms.constant(0, Sort::Bits(8)) };
    for part in parts {
        let all = (width(terms, sum) + width(terms, *part)).min(64);
        sum = terms.apply(Operation::Concat, vec![*part, sum], Sort::Bits(all));
    }
    sum
}

/// Adds a number to a term of 64 bits; nested sums with numbers are merged.
pub fn plus(terms: &mut Terms, term: Term, number: u64) -> Term {
    let of = Sort::Bits(64);
    if let Node::Constant(bits) = terms.node(term) {
        let sum = bits.wrapping_add(number);
        return terms.constant(sum, of);
    }
    let (base, before) = match terms.node(term) {
        Node::Apply(Operation::Add, args) => match terms.node(args[1]) {
            Node::Constant(bits) => (args[0], *bits),
            _ => (term, 0),
        },
        _ => (term, 0),
    };
    match before.wrapping_add(number) {
        0 => base,
        sum => {
            let sum = terms.constant(sum, of);
            terms.apply(Operation::Add, vec![base, sum], of)
        }
    }
}

/// Returns the condition that two terms are equal; `None` if they are the same term.
pub fn equal(terms: &mut Terms, left: Term, right: Term) -> Option<Term> {
    (left != right).then(|| terms.compare(Operation::Eq, left, right))
}
