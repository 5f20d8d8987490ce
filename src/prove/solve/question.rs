//! What is to be proved of two functions that are compared.

use super::expression::{Term, Terms};

/// How the names of values begin that an execution may set several times.
pub(super) const CHANGING: &str = "block ";

/// What has to be proved of two functions.
pub struct Comparison {
    pub terms: Terms,
    pub questions: Vec<Question>,
    /// The phis of the original, to which questions refer by position.
    pub phis: Vec<Phi>,
}

/// Asks whether two terms are equal at a place. `conditions` are one-bit terms with the values that they have whenever
/// the place is reached.
#[derive(Debug, Clone)]
pub struct Question {
    pub left: Term,
    pub right: Term,
    pub conditions: Vec<(Term, bool)>,
    /// The phis, by position, that were set before the place is reached.
    pub after: Vec<usize>,
}

/// A value that is set whenever a block is entered.
#[derive(Debug, Clone)]
pub struct Phi {
    /// What stands for the value.
    pub value: Term,
    /// By edge into the block.
    pub incoming: Vec<Incoming>,
}

/// What a phi is set to on an edge.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub value: Term,
    /// One-bit terms with the values that they have on the edge.
    pub conditions: Vec<(Term, bool)>,
    /// The phis, by position, that were set before the edge is reached.
    pub after: Vec<usize>,
}
