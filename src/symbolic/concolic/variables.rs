//! What terms depend on: arguments, sizes, ids, cells of buffers and whole buffers, by number.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::solve::expression::{Node, Term, Terms};

/// The variables of terms, found once.
#[derive(Debug, Default)]
pub struct Variables {
    numbers: BTreeMap<String, u32>,
    /// Of a cell: the whole buffer.
    wholes: BTreeMap<u32, u32>,
    known: HashMap<Term, Rc<[u32]>>,
}

impl Variables {
    fn number(&mut self, name: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(name).or_insert(next)
    }

    /// What a term depends on, in order. Cells of a buffer at known places are variables of their own; an access to an unknown
    /// place is one to the whole buffer, which has the cell's name without a place.
    pub fn of(&mut self, terms: &Terms, root: Term) -> Rc<[u32]> {
        if let Some(known) = self.known.get(&root) {
            return known.clone();
        }
        // What a condition compares is often what an earlier one compared, and a little more.
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

    /// What a term depends on, by all that it is made of and that is not known.
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

    /// Whether a variable is one cell of a buffer.
    pub fn is_cell(&self, variable: u32) -> bool {
        self.wholes.contains_key(&variable)
    }

    /// The same with the whole buffer in the place of its cells, where that is among `wholes`.
    pub fn within(&mut self, terms: &Terms, root: Term, wholes: &BTreeSet<u32>) -> Vec<u32> {
        let of = self.of(terms, root);
        of.iter().map(|v| self.wholes.get(v).copied().filter(|w| wholes.contains(w)).unwrap_or(*v)).collect()
    }
}
