//! Finds the terms that others are made of.

use std::collections::BTreeSet;

use super::expression::{Node, Term, Terms};

/// The interpretation of unknowns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Every symbol and every application is a variable of its own.
    Opaque,
    /// Uninterpreted functions: equal arguments yield equal values. Floats are represented by their bits.
    Functions,
}

/// The `roots` and all their subterms; those in the arguments of uninterpreted functions only if
/// `names` interprets these.
pub(super) fn reachable(terms: &Terms, roots: &[Term], names: Names) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    let mut worklist = roots.to_vec();
    while let Some(term) = worklist.pop() {
        if found.insert(term) {
            match terms.node(term) {
                Node::Apply(_, args) => worklist.extend(args),
                Node::Unknown(_, args) if names == Names::Functions => worklist.extend(args),
                _ => {}
            }
        }
    }
    found
}

impl Terms {
    /// The given terms and all their subterms, including arguments of uninterpreted functions.
    pub fn parts(&self, of: &[Term]) -> BTreeSet<Term> {
        reachable(self, of, Names::Functions)
    }
}
