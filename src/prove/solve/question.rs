//! What is to be proved of two functions that are compared.

use super::expression::{Term, Terms};

/// How the names of values begin that an execution may set several times.
pub(super) const CHANGING: &str = "block ";

/// What has to be proved of two functions.
pub struct Comparison {
    /// The terms that the questions refer to.
    pub terms: Terms,
    /// What has to be equal.
    pub questions: Vec<Question>,
    /// The phis of the original, to which questions refer by position.
    pub phis: Vec<Phi>,
}

/// Asks whether two terms are equal at a place. `conditions` are one-bit terms with the values that they have whenever
/// the place is reached.
#[derive(Debug, Clone)]
pub struct Question {
    /// The first term.
    pub left: Term,
    /// The second term.
    pub right: Term,
    /// One-bit terms, with the values that they have whenever the place is reached.
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
    /// The value.
    pub value: Term,
    /// One-bit terms with the values that they have on the edge.
    pub conditions: Vec<(Term, bool)>,
    /// The phis, by position, that were set before the edge is reached.
    pub after: Vec<usize>,
}
