//! Orders the work of LLVM's pass `always-inline`.
//!
//! The pass takes one function after the other, in the module's order, into its callers: in a chain of helpers, as
//! macros of libraries and generators write them, each with all those below it, so that time and debug locations grow
//! with the square of the chain's length. Callers first, each function is copied once.

use std::collections::HashMap;

use super::{AttributeIndex, Function, View};

const ALWAYS: &str = "alwaysinline";

/// Functions of so many layers are inlined by one run of the pass: a run costs some time, too.
const LAYERS: usize = 8;

/// The functions that are always inlined, by the run of the pass that is to do it: those first that are called from
/// outside.
pub(super) struct Plan<'m>(Vec<Vec<Function<'m>>>);

impl<'m> Plan<'m> {
    pub fn of(view: View<'m>) -> Plan<'m> {
        let is_always = |f: &Function<'m>| f.has_body() && f.attributes(AttributeIndex::Function).has(ALWAYS);
        let functions: Vec<Function<'m>> = view.functions().into_iter().filter(|f| f.has_body()).collect();
        let mut callees: HashMap<Function<'m>, Vec<Function<'m>>> = HashMap::new();
        let mut callers: HashMap<Function<'m>, usize> = HashMap::new();
        for f in &functions {
            let mut called: Vec<Function<'m>> =
                f.instructions().into_iter().filter_map(|inst| inst.called_function()).filter(is_always).collect();
            called.sort_unstable();
            called.dedup();
            called.iter().for_each(|callee| *callers.entry(*callee).or_default() += 1);
            callees.insert(*f, called);
        }
        let mut depth: HashMap<Function<'m>, usize> = HashMap::new();
        let mut ready: Vec<Function<'m>> = functions.iter().copied().filter(|f| !callers.contains_key(f)).collect();
        while let Some(f) = ready.pop() {
            let own = depth.get(&f).copied().unwrap_or(0);
            for callee in callees.get(&f).into_iter().flatten() {
                let known = depth.entry(*callee).or_default();
                *known = (*known).max(own + 1);
                if let Some(left) = callers.get_mut(callee) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push(*callee);
                    }
                }
            }
        }
        // Recursive functions, and what they call, stay where the longest chain that leads there puts them.
        let mut lists: Vec<Vec<Function<'m>>> = Vec::new();
        for f in functions.into_iter().filter(is_always) {
            let at = depth.get(&f).copied().unwrap_or(0) / LAYERS;
            lists.resize_with(lists.len().max(at + 1), Vec::new);
            lists[at].push(f);
        }
        Plan(lists)
    }

    /// How many runs of the pass there are to be.
    pub fn runs(&self) -> usize {
        self.0.len().max(1)
    }

    /// Prepares the first run.
    pub fn begin(&self) {
        for f in self.0.iter().skip(1).flatten() {
            f.attributes(AttributeIndex::Function).remove(ALWAYS);
        }
    }

    /// Prepares run `number` of the pass, after those before it: only functions of later runs are sure to be there
    /// still.
    pub fn prepare(&self, number: usize) {
        for f in self.0.get(number).into_iter().flatten() {
            f.attributes(AttributeIndex::Function).add_flag(ALWAYS);
        }
    }
}
