//! What interpretations leave: what a launch did, and the steps by which a work-item came where it went.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{End, Program};
use crate::solve::expression::{Operation, Sort, Term, Terms};

/// A step of a work-item's path that depends on the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The end of a block, on a condition that was true or false.
    Branch { block: u32, condition: Term, taken: bool },
    /// The end of a block, to this successor.
    Switch { block: u32, value: Term, taken: u32 },
    /// A mark that could hold and did not.
    Mark { goal: u32, holds: Term },
    /// An access went where it went.
    Require(Term),
    /// That nothing is done that no kernel may: a divisor is not 0, an access is in bounds.
    Sound(Term),
    /// An access of so many bytes to the buffer of an argument, so far from its begin.
    Access { position: u32, at: Term, size: u64 },
    /// What another work-item stored was read: that one's path up to there is part of this one's.
    Depends { item: u32, length: u32 },
}

/// The paths of a group's work-items, or of one alone.
#[derive(Debug, Default)]
pub struct Trace {
    pub paths: Vec<Vec<Entry>>,
    /// By step of each path: a number for the way that led there.
    pub ways: Vec<Vec<u64>>,
    /// And the state ([`super::product_graph`]) in which it was taken; of use where a block ends.
    pub states: Vec<Vec<u32>>,
    /// By step: that it is this state, where that is because of a `select` on a condition that is a term.
    pub chosen: Vec<BTreeMap<usize, Vec<Term>>>,
    /// The work-item that first did what no kernel may, and which step of its path says that it does not, if that depends on the input.
    pub fault: Option<(usize, usize)>,
    /// The one whose ids are symbols.
    pub subject: usize,
    pub group: [u64; 3],
    pub local: [u64; 3],
}

/// Work-items that went the same way.
#[derive(Debug, Clone)]
pub struct Class {
    pub hash: u64,
    /// Of the first of them.
    pub group: [u64; 3],
    pub local: [u64; 3],
    /// The states that it was in, ascending.
    pub states: Vec<u32>,
}

/// What a launch did.
#[derive(Debug, Default)]
pub struct Run {
    pub marks: BTreeSet<u32>,
    /// In the order in which they were met.
    pub classes: Vec<Class>,
    /// Ways out of states that were taken, ascending ([`super::product_graph::States::way`]).
    pub ways: Vec<u32>,
    /// Of branches on integers: by state and the direction that was not taken, how far the operands were from taking it.
    pub gaps: BTreeMap<(u32, u32), u64>,
    /// Steps to where the graph of states does not lead.
    pub strays: u64,
    /// It did what no kernel may.
    pub faulty: bool,
    /// The first work-item that did: its group and its id there.
    pub culprit: Option<([u64; 3], [u64; 3])>,
    /// Some work-item did not come to its end.
    pub exhausted: bool,
    /// Some work-item went the way that was expected.
    pub arrived: bool,
    /// By argument: one past the last byte that was accessed.
    pub reached: Vec<u64>,
}

/// That a switch goes to this successor.
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

impl Entry {
    /// What held; `None` where that takes more than the step itself to say, or nothing has to.
    pub fn condition(&self, terms: &mut Terms, program: &Program) -> Option<Term> {
        match *self {
            Entry::Branch { condition, taken: true, .. } | Entry::Require(condition) | Entry::Sound(condition) => {
                Some(condition)
            }
            Entry::Branch { condition, taken: false, .. } => Some(terms.not(condition)),
            Entry::Switch { block, value, taken } => {
                Some(case(terms, &program.blocks[block as usize].end, value, taken))
            }
            Entry::Mark { .. } | Entry::Access { .. } | Entry::Depends { .. } => None,
        }
    }

    /// The other ways out of the block, by their numbers.
    pub fn alternatives(&self, program: &Program) -> Vec<u32> {
        let (block, taken) = match *self {
            Entry::Branch { block, taken, .. } => (block, u32::from(!taken)),
            Entry::Switch { block, taken, .. } => (block, taken),
            _ => return Vec::new(),
        };
        let all = program.blocks[block as usize].end.successors().len() as u32;
        (0..all).filter(|successor| *successor != taken).collect()
    }

    /// What has to hold for the path to go to another successor, or for the mark to be covered.
    pub fn flipped(&self, terms: &mut Terms, program: &Program, successor: u32) -> Option<Term> {
        match *self {
            Entry::Branch { condition, .. } if successor == 0 => Some(condition),
            Entry::Branch { condition, .. } => Some(terms.not(condition)),
            Entry::Switch { block, value, .. } => {
                Some(case(terms, &program.blocks[block as usize].end, value, successor))
            }
            Entry::Mark { holds, .. } => Some(holds),
            _ => None,
        }
    }
}
