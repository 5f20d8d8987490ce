//! Candidates: conditions of paths that may be flipped.

use std::rc::Rc;

use super::trace::Trace;

/// The goal of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// Leave a block, in this state of it, to a successor.
    Edge {
        block: u32,
        state: u32,
        successor: u32,
    },
    Mark(u32),
}

/// A step of a path whose condition may be flipped.
pub struct Candidate {
    pub node: usize,
    pub trace: Rc<Trace>,
    /// The work-item, and the step of its path.
    pub item: usize,
    pub position: usize,
    pub target: Target,
    /// Hash of the path and the target; `key_of_sizes` includes the sizes of the launch.
    pub key: u64,
    pub key_of_sizes: u64,
    /// How often the solver gave up.
    pub effort: u32,
}

impl Candidate {
    /// Returns the key by which attempts are counted.
    pub fn at(&self) -> (u32, u32) {
        match self.target {
            Target::Edge { block, successor, .. } => (block, successor),
            Target::Mark(goal) => (u32::MAX, goal),
        }
    }

    /// Same as [`Candidate::at`], for each state separately.
    pub fn at_state(&self) -> (u32, u32) {
        match self.target {
            Target::Edge { state, successor, .. } => (state, successor),
            Target::Mark(goal) => (u32::MAX, goal),
        }
    }
}
