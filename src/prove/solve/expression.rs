//! Represents expressions over the unknowns of an execution: arguments, results of loads and calls, work-item ids.
//!
//! Identical expressions are one [`Term`]; any further equality is for the solver to prove (`proof`).

use std::collections::HashMap;

use super::operation::mask;

pub use super::operation::{Operation, Rounding, Sort};

/// A node of an expression graph, by its position in its [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    /// The position of the term, which is greater than those of the terms it is made of and of all terms
    /// created before it.
    pub fn rank(self) -> usize {
        self.0 as usize
    }
}

/// The definition of a term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// An unknown value; every occurrence of the name has the same one.
    Symbol(String),
    /// A constant, as bits also for floats.
    Constant(u64),
    /// The operation, applied to these.
    Apply(Operation, Vec<Term>),
    /// An application of an uninterpreted function: nothing is known of it except its name.
    Unknown(String, Vec<Term>),
}

/// An expression graph with sharing (hash-consing). Operations on constants are evaluated and simple identities are
/// applied, except in [`Terms::unfolded`].
#[derive(Debug, Clone, Default)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    known: HashMap<(Node, Sort), Term>,
    /// Terms that are true in every launch.
    facts: Vec<Term>,
    is_unfolded: bool,
}

impl Terms {
    /// An empty graph whose terms stay as they are created, without folding.
    pub fn unfolded() -> Terms {
        Terms { is_unfolded: true, ..Terms::default() }
    }

    /// The definition of a term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    /// The type of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// One-bit terms that are true in every launch.
    pub fn facts(&self) -> &[Term] {
        &self.facts
    }

    /// Adds a fact, unless it is known.
    pub(super) fn add_fact(&mut self, fact: Term) {
        if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// Whether terms stay as they are created.
    pub(super) fn is_unfolded(&self) -> bool {
        self.is_unfolded
    }

    /// The term of that definition, which is added if it is new.
    pub(super) fn add(&mut self, node: Node, sort: Sort) -> Term {
        let next = Term(self.nodes.len() as u32);
        match self.known.entry((node, sort)) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(new) => {
                self.nodes.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    /// The unknown of that name and sort.
    pub fn symbol(&mut self, name: impl Into<String>, sort: Sort) -> Term {
        self.add(Node::Symbol(name.into()), sort)
    }

    /// A constant; excess bits are cut off.
    pub fn constant(&mut self, bits: u64, sort: Sort) -> Term {
        let bits = match sort {
            Sort::Bits(width) => bits & mask(width),
            _ => bits,
        };
        self.add(Node::Constant(bits), sort)
    }

    /// The bits of a constant; `None` for other terms.
    pub fn as_constant(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Constant(bits) => Some(*bits),
            _ => None,
        }
    }

    /// The terms of that rank and above.
    pub fn since(&self, rank: usize) -> impl Iterator<Item = Term> + use<> {
        (rank as u32..self.nodes.len() as u32).map(Term)
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A truth value, as one bit.
    pub fn truth(&mut self, is: bool) -> Term {
        self.constant(is.into(), Sort::Bits(1))
    }

    /// An application of the uninterpreted function of that name.
    pub fn unknown(&mut self, name: impl Into<String>, args: Vec<Term>, sort: Sort) -> Term {
        self.add(Node::Unknown(name.into(), args), sort)
    }
}
