//! Substitutes terms within others.

use std::collections::HashMap;

use super::expression::{Node, Term, Terms};

impl Terms {
    /// Substitutes terms within `term`. `done` maps terms to their replacements, and is extended by all terms
    /// that are rewritten.
    pub fn replaced(&mut self, term: Term, done: &mut HashMap<Term, Term>) -> Term {
        let mut worklist = vec![term];
        while let Some(next) = worklist.last().copied() {
            if done.contains_key(&next) {
                worklist.pop();
                continue;
            }
            let (node, sort) = (self.node(next).clone(), self.sort(next));
            let args = match &node {
                Node::Apply(_, args) | Node::Unknown(_, args) => args.as_slice(),
                _ => &[],
            };
            let before = worklist.len();
            worklist.extend(args.iter().filter(|a| !done.contains_key(a)));
            if worklist.len() > before {
                continue;
            }
            let new: Vec<Term> = args.iter().map(|a| done[a]).collect();
            let made = match node {
                Node::Apply(operation, _) => self.apply(operation, new, sort),
                Node::Unknown(name, _) => self.unknown(name, new, sort),
                Node::Symbol(_) | Node::Constant(_) => next,
            };
            done.insert(next, made);
            worklist.pop();
        }
        done[&term]
    }
}
