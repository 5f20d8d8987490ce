//! Results of interpretations: what a launch did, and the path of a work-item step by step.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{End, Program};
use crate::solve::expression::{Operation, Sort, Term, Terms};

/// A step of a work-item's path that depends on the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A block ended with a branch on a condition.
    Branch { block: u32, condition: Term, taken: bool },
    /// A block ended with a switch to this successor.
    Switch { block: u32, value: Term, taken: u32 },
    /// A mark was passed that did not hold, but could have.
    Mark { goal: u32, holds: Term },
    /// An access went to the address that it went to.
    Pin(Term),
    /// No fault happens: a divisor is not 0, an access is in bounds.
    NoFault(Term),
    /// An access of `size` bytes at offset `at` of an argument's buffer.
    Access { position: u32, at: Term, size: u64 },
    /// A value stored by another work-item was read: that item's path up to `length` is part of this one's.
    Depends { item: u32, length: u32 },
}

/// The paths of the work-items of a group, or of a single one.
#[derive(Debug, Default)]
pub struct Trace {
    pub paths: Vec<Vec<PathStep>>,
    /// By step of each path: the hash of the path that led to it.
    pub prefix_hashes: Vec<Vec<u64>>,
    /// By step: the state ([`super::product_graph`]) in which it was taken; meaningful where a block ends.
    pub states: Vec<Vec<u32>>,
    /// By step: conditions under which the path is in the same state, where `select`s on symbolic conditions
    /// contributed to the state.
    pub chosen: Vec<BTreeMap<usize, Vec<Term>>>,
    /// The first work-item that faulted, and the step of its path that requires the absence of the fault, if the fault
    /// depends on the input.
    pub fault: Option<(usize, usize)>,
    /// The work-item whose ids are symbols.
    pub subject: usize,
    pub group: [u64; 3],
    pub local: [u64; 3],
}

/// Work-items that took the same path.
#[derive(Debug, Clone)]
pub struct Class {
    pub hash: u64,
    /// Ids of the first of them.
    pub group: [u64; 3],
    pub local: [u64; 3],
    /// The states that it was in, ascending.
    pub states: Vec<u32>,
}

/// What a launch did.
#[derive(Debug, Default)]
pub struct Run {
    pub marks: BTreeSet<u32>,
    /// In the order in which they were encountered.
    pub classes: Vec<Class>,
    /// Edges of the product graph that were taken, ascending ([`super::product_graph::ProductGraph::edge`]).
    pub edges: Vec<u32>,
    /// For branches on integers, by state and untaken direction: the least distance of the operands from taking it.
    pub gaps: BTreeMap<(u32, u32), u64>,
    /// Steps along which the product graph has no edge.
    pub graph_misses: u64,
    /// A work-item faulted.
    pub faulty: bool,
    /// The first work-item that faulted: its group id and local id.
    pub faulting_item: Option<([u64; 3], [u64; 3])>,
    /// Signed arithmetic overflowed.
    pub overflowed: bool,
    /// Some work-item did not run to its end.
    pub exhausted: bool,
    /// Some work-item took the expected path.
    pub arrived: bool,
    /// By argument: one past the last byte that was accessed.
    pub access_ends: Vec<u64>,
}

/// Returns the condition under which a switch goes to this successor.
pub fn case(terms: &mut Terms, end: &End, value: Term, successor: u32) -> Term {
    let of = terms.sort(value);
    let End::Switch { cases, .. } = end else { return terms.constant(1, Sort::Bits(1)) };
    let is = |terms: &mut Terms, bits: u64| {
        let bits = terms.constant(bits, of);
        terms.compare(Operation::Eq, value, bits)
    };
    if let Some((bits, _)) = (successor as usize).checked_sub(1).and_then(|i| cases.get(i)) {
        return is(terms, *bits);
    }
    let mut all = terms.constant(1, Sort::Bits(1));
    for (bits, _) in cases {
        let same = is(terms, *bits);
        let other = terms.not(same);
        all = terms.apply(Operation::And, vec![all, other], Sort::Bits(1));
    }
    all
}

impl PathStep {
    /// Returns the condition that held. `None` where the step alone does not determine it, or where there is none.
    pub fn condition(&self, terms: &mut Terms, program: &Program) -> Option<Term> {
        match *self {
            PathStep::Branch { condition, taken: true, .. }
            | PathStep::Pin(condition)
            | PathStep::NoFault(condition) => Some(condition),
            PathStep::Branch { condition, taken: false, .. } => Some(terms.not(condition)),
            PathStep::Switch { block, value, taken } => {
                Some(case(terms, &program.blocks[block as usize].end, value, taken))
            }
            PathStep::Mark { .. } | PathStep::Access { .. } | PathStep::Depends { .. } => None,
        }
    }

    /// Returns the numbers of the block's other successors.
    pub fn alternatives(&self, program: &Program) -> Vec<u32> {
        let (block, taken) = match *self {
            PathStep::Branch { block, taken, .. } => (block, u32::from(!taken)),
            PathStep::Switch { block, taken, .. } => (block, taken),
            _ => return Vec::new(),
        };
        let all = program.blocks[block as usize].end.successors().len() as u32;
        (0..all).filter(|successor| *successor != taken).collect()
    }

    /// Returns the condition for the path to go to another successor, or for the mark to be covered.
    pub fn flipped(&self, terms: &mut Terms, program: &Program, successor: u32) -> Option<Term> {
        match *self {
            PathStep::Branch { condition, .. } if successor == 0 => Some(condition),
            PathStep::Branch { condition, .. } => Some(terms.not(condition)),
            PathStep::Switch { block, value, .. } => {
                Some(case(terms, &program.blocks[block as usize].end, value, successor))
            }
            PathStep::Mark { holds, .. } => Some(holds),
            _ => None,
        }
    }
}
