//! Terms without floats: what is asked of floats is a bit, or a number, that may be any.

use std::collections::HashMap;

use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// The terms that were made so. Unsatisfiable ones were so before.
#[derive(Default)]
pub struct FloatAbstraction {
    done: HashMap<Term, Term>,
    /// Terms below this rank have been looked at.
    seen: usize,
}

impl FloatAbstraction {
    /// The term with a symbol for each thing that is asked of a float.
    pub fn of(&mut self, terms: &mut Terms, term: Term) -> Term {
        let mut fresh: Vec<(Term, Sort)> = Vec::new();
        for part in terms.since(self.seen) {
            if let Node::Apply(operation, args) = terms.node(part) {
                let of_float = matches!(terms.sort(args[0]), Sort::Float(_));
                let sort = terms.sort(part);
                if of_float && *operation != Operation::Select && matches!(sort, Sort::Bits(_)) {
                    fresh.push((part, sort));
                }
            }
        }
        for (part, sort) in fresh {
            let symbol = terms.symbol(format!("of floats {}", part.rank()), sort);
            self.done.insert(part, symbol);
        }
        self.seen = terms.len();
        terms.replaced(term, &mut self.done)
    }

    /// What was made of a term before; the term itself if nothing was.
    pub fn known(&self, term: Term) -> Term {
        self.done.get(&term).copied().unwrap_or(term)
    }
}
