//! Inserts code that follows the paths by which decisions are evaluated (`cfg::condition_graph`): a private variable
//! sums the increments of the edges taken, so that it is the number of the path when the decision has its result.
//!
//! All code is at the ends of the blocks that compute conditions; no edge is split. Promotion turns the variable into a
//! register.

use crate::cfg::compound_decisions::{Evaluation, Leaf, LeafPlace};
use crate::cfg::condition_graph::Next;
use crate::cfg::indices::BlockIndex;
use crate::llvm::{Builder, Inst, Value};

/// The places of a decision's conditions, found in the unchanged module.
#[derive(Debug)]
pub(super) struct DecisionPaths<'a, 'm> {
    evaluation: &'a Evaluation,
    leaves: Vec<ResolvedLeaf<'m>>,
}

#[derive(Debug)]
struct ResolvedLeaf<'m> {
    condition: usize,
    /// The end of the block that computes the condition.
    terminator: Inst<'m>,
    source: Source<'m>,
}

/// Where the condition's value is. It is read as late as possible, because weaving replaces calls.
#[derive(Debug, Clone, Copy)]
enum Source<'m> {
    /// The terminator's condition, or its negation if the value is false.
    Terminator(bool),
    /// What this `phi` receives.
    Phi(Inst<'m>),
}

/// A decision that has a result after the builder's position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'m> {
    /// The number of the path; meaningless unless `holds`.
    pub(super) path: Value<'m>,
    /// Whether the decision has its result; `None`: always.
    pub(super) holds: Option<Value<'m>>,
}

impl<'a, 'm> DecisionPaths<'a, 'm> {
    /// Finds the places in a function with these instructions, block by block; `None` if one is not there.
    pub(super) fn resolve(evaluation: &'a Evaluation, insts: &[Vec<Inst<'m>>]) -> Option<DecisionPaths<'a, 'm>> {
        let terminator = |block: BlockIndex| insts.get(block.0)?.last().copied();
        let resolve = |leaf: &Leaf| {
            let (terminator, source) = match leaf.place {
                LeafPlace::Branch { block, when_true } => (terminator(block)?, Source::Terminator(when_true == 0)),
                LeafPlace::PhiOperand { block, phi } => {
                    (terminator(block)?, Source::Phi(*insts.get(phi.0.0)?.get(phi.1)?))
                }
            };
            Some(ResolvedLeaf { condition: leaf.condition, terminator, source })
        };
        Some(DecisionPaths { evaluation, leaves: evaluation.leaves.iter().map(resolve).collect::<Option<_>>()? })
    }

    /// The number of paths.
    pub(super) fn count(&self) -> u32 {
        self.evaluation.graph.paths() as u32
    }

    /// Inserts the code. `variable` is an `i32` of the function's own; the numbers of paths begin with `first`. `ended`
    /// is called with the builder where the decision may have its result.
    ///
    /// Must come before edges of the function are split.
    pub(super) fn weave(
        &self,
        builder: &Builder<'m>,
        variable: Value<'m>,
        first: u32,
        ended: &mut dyn FnMut(&Builder<'m>, Ended<'m>),
    ) {
        let graph = &self.evaluation.graph;
        let int = builder.types().int(32);
        for leaf in &self.leaves {
            builder.before(leaf.terminator);
            let Some((value, when_set)) = leaf.value() else { continue };
            let before = match leaf.condition {
                0 => int.int(u64::from(first)),
                _ => builder.load(int, variable, "").value(),
            };
            let after = |value: bool| match graph.increment(leaf.condition, value) {
                0 => before,
                increment => builder.add(before, int.int(increment), ""),
            };
            let path = builder.select(value, after(when_set), after(!when_set), "");
            let ends = |value: bool| matches!(graph.next(leaf.condition, value), Next::Result(_));
            match (ends(when_set), ends(!when_set)) {
                (true, true) => ended(builder, Ended { path, holds: None }),
                (true, false) => ended(builder, Ended { path, holds: Some(value) }),
                (false, true) => ended(builder, Ended { path, holds: Some(builder.not(value, "")) }),
                (false, false) => {}
            }
            if !(ends(true) && ends(false)) {
                builder.store(path, variable);
            }
        }
    }
}

impl<'m> ResolvedLeaf<'m> {
    /// Returns the `i1` that decides, and the condition's value if it is set.
    fn value(&self) -> Option<(Value<'m>, bool)> {
        match self.source {
            Source::Terminator(when_set) => Some((self.terminator.branch_condition()?, when_set)),
            Source::Phi(phi) => Some((phi.incoming_from(self.terminator.block())?, true)),
        }
    }
}
