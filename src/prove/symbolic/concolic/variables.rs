//! Numbers the variables that terms depend on: arguments, sizes, ids, buffer cells and whole buffers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::solve::expression::{Node, Term, Terms};

/// The variables of terms; each term is examined once.
#[derive(Debug, Default)]
pub struct Variables {
    numbers: BTreeMap<String, u32>,
    /// Maps a cell to its buffer.
    wholes: BTreeMap<u32, u32>,
    known: HashMap<Term, Rc<[u32]>>,
}

impl Variables {
    fn number(&mut self, name: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(name).or_insert(next)
    }

    /// Returns the variables that a term depends on, ascending. A buffer cell at a constant offset is a variable of its
    /// own; an access at an unknown offset depends on the whole buffer, which has the same name without an offset.
    pub fn of(&mut self, terms: &Terms, root: Term) -> Rc<[u32]> {
        if let Some(known) = self.known.get(&root) {
            return known.clone();
        }
        // The operands of a condition often extend those of an earlier condition.
        let mut found = BTreeSet::new();
        match terms.node(root) {
            Node::Apply(_, args) => {
                for arg in args {
                    if !self.known.contains_key(arg) {
                        let of = self.walked(terms, *arg);
                        self.known.insert(*arg, of);
                    }
                    found.extend(self.known[arg].iter().copied());
                }
            }
            _ => found.extend(self.walked(terms, root).iter().copied()),
        }
        let found: Rc<[u32]> = found.into_iter().collect();
        self.known.insert(root, found.clone());
        found
    }

    /// Finds the variables of a term by visiting all subterms that were not visited before.
    fn walked(&mut self, terms: &Terms, root: Term) -> Rc<[u32]> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut todo = vec![root];
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Some(known) = self.known.get(&term) {
                found.extend(known.iter().copied());
                continue;
            }
            match terms.node(term) {
                Node::Symbol(name) => {
                    found.insert(self.number(name.clone()));
                }
                Node::Unknown(name, args) => {
                    let whole = self.number(name.clone());
                    match args.first().and_then(|a| terms.as_constant(*a)) {
                        Some(at) => {
                            let cell = self.number(format!("{name}@{at}"));
                            self.wholes.insert(cell, whole);
                            found.insert(cell);
                        }
                        None => {
                            found.insert(whole);
                        }
                    }
                    todo.extend(args);
                }
                Node::Apply(_, args) => todo.extend(args),
                Node::Constant(_) => {}
            }
        }
        found.into_iter().collect()
    }

    /// Returns whether a variable is a single buffer cell.
    pub fn is_cell(&self, variable: u32) -> bool {
        self.wholes.contains_key(&variable)
    }

    /// Same as [`Variables::of`], with cells replaced by their whole buffer if that is among `wholes`.
    pub fn within(&mut self, terms: &Terms, root: Term, wholes: &BTreeSet<u32>) -> Vec<u32> {
        let of = self.of(terms, root);
        of.iter().map(|v| self.wholes.get(v).copied().filter(|w| wholes.contains(w)).unwrap_or(*v)).collect()
    }
}
