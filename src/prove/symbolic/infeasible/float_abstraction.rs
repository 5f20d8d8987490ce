//! Abstracts floating-point arithmetic from terms: every bit or integer computed from a float becomes an
//! unconstrained symbol.

use std::collections::HashMap;

use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// Terms abstracted so far. Abstraction only removes constraints: if an abstracted term is unsatisfiable, so is
/// the original.
#[derive(Default)]
pub struct FloatAbstraction {
    done: HashMap<Term, Term>,
    /// Terms with a lower rank have been examined already.
    examined: usize,
}

impl FloatAbstraction {
    /// Replaces each bit or integer that `term` computes from a float by a fresh symbol.
    pub fn abstracted(&mut self, terms: &mut Terms, term: Term) -> Term {
        let mut fresh: Vec<(Term, Sort)> = Vec::new();
        for part in terms.since(self.examined) {
            if let Node::Apply(operation, args) = terms.node(part) {
                let is_of_float = matches!(terms.sort(args[0]), Sort::Float(_));
                let sort = terms.sort(part);
                if is_of_float && *operation != Operation::Select && matches!(sort, Sort::Bits(_)) {
                    fresh.push((part, sort));
                }
            }
        }
        for (part, sort) in fresh {
            let symbol = terms.symbol(format!("of floats {}", part.rank()), sort);
            self.done.insert(part, symbol);
        }
        self.examined = terms.len();
        terms.replaced(term, &mut self.done)
    }

    /// Returns the abstraction computed earlier for `term`, or `term` itself if there is none.
    pub fn get(&self, term: Term) -> Term {
        self.done.get(&term).copied().unwrap_or(term)
    }
}
