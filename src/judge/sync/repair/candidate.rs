//! A change of a kernel's text that may mend what was found.

use std::collections::BTreeSet;

use super::layout::Piece;
use super::outline::Outline;
use crate::mutation::catalogue::source_level::text_edit::TextEdit;

/// What a change does. The kinds of one cost are equally cheap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Another scope of an atomic or a barrier.
    Scope,
    /// Other flags of a barrier, or another barrier in its place.
    Flags,
    /// A barrier where there is none.
    Insertion,
    /// A read and a write of one statement, with a barrier between.
    Split,
    /// A barrier or a wait elsewhere.
    Move,
    /// An atomic in place of a plain update.
    Atomic,
    /// A barrier less.
    Removal,
}

/// A change to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub kind: Kind,
    /// The cheapest is tried first.
    pub cost: u64,
    /// What it does, such as "insert `barrier(…);` after line 7".
    pub what: String,
    /// Its line in the original.
    pub line: u32,
    pub edit: TextEdit,
}

/// Loops make what is in them dearer by this factor each, as in GPURepair.
const PER_LOOP: u64 = 10;

/// How often something is executed that is in so many loops, as a factor.
pub fn in_loops(loops: usize) -> u64 {
    PER_LOOP.saturating_pow(u32::try_from(loops).unwrap_or(u32::MAX))
}

/// Candidates in the order in which they were thought of, each edit once.
pub struct Candidates<'o, 'a> {
    pub outline: &'o Outline<'a>,
    pub all: Vec<Candidate>,
    known: BTreeSet<TextEdit>,
}

impl<'o, 'a> Candidates<'o, 'a> {
    pub fn new(outline: &'o Outline<'a>) -> Candidates<'o, 'a> {
        Candidates { outline, all: Vec::new(), known: BTreeSet::new() }
    }

    pub fn add(&mut self, kind: Kind, cost: u64, what: String, pieces: &[Piece]) {
        let Some((first, _)) = pieces.first() else { return };
        let line = self.outline.line(first.start);
        let edit = self.outline.edit(pieces);
        if self.known.insert(edit.clone()) {
            self.all.push(Candidate { kind, cost, what, line, edit });
        }
    }

    /// The cheapest first; those of one cost stay in their order.
    pub fn sorted(mut self) -> Vec<Candidate> {
        self.all.sort_by_key(|candidate| candidate.cost);
        self.all
    }
}
