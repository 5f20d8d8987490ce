//! Finds the loops of a kernel in LLVM's blocks, as they are after inlining; `cfg::loops` has those of the source.

use std::collections::{BTreeSet, HashMap};

use crate::cfg::dominance::DominatorTree;
use crate::cfg::natural_loops::{self, NaturalLoop};
use crate::llvm::{Block, Function, Opcode};

/// A natural loop; blocks are indices into [`Loops::blocks`].
pub type Loop = NaturalLoop;

/// The loops and the dominator tree of a kernel.
pub struct Loops<'m> {
    pub blocks: Vec<Block<'m>>,
    index: HashMap<Block<'m>, usize>,
    /// Sorted by size, so that outer loops precede the loops that they contain.
    pub all: Vec<Loop>,
    /// Edges (source, position among its successors) that close cycles other than natural loops.
    pub irregular: Vec<(usize, u32)>,
    /// The blocks of each cycle that has several entries: see [`natural_loops::irreducible_cycles`].
    pub irreducible: Vec<BTreeSet<usize>>,
    successors: Vec<Vec<usize>>,
    dominators: DominatorTree,
    /// By block: the innermost loop that contains it.
    innermost: Vec<Option<usize>>,
}

impl<'m> Loops<'m> {
    /// Analyses the control-flow graph of `kernel`.
    pub fn of(kernel: Function<'m>) -> Loops<'m> {
        let blocks = kernel.blocks();
        let index: HashMap<_, _> = blocks.iter().copied().enumerate().map(|(i, b)| (b, i)).collect();
        let successors: Vec<Vec<usize>> =
            blocks.iter().map(|b| b.terminator().successors().iter().map(|s| index[s]).collect()).collect();
        let dominators = DominatorTree::of(&successors);
        let dominates = |a, b| dominators.dominates(a, b);
        let mut all = natural_loops::find(&successors, dominates);
        all.sort_by_key(|l| (std::cmp::Reverse(l.blocks.len()), l.header));
        let irregular = natural_loops::irregular_edges(&successors, dominates);
        let irregular = irregular.into_iter().map(|(from, successor)| (from, successor as u32)).collect();
        let irreducible = natural_loops::irreducible_cycles(&successors, &all, dominates);
        let mut innermost = vec![None; blocks.len()];
        for (number, l) in all.iter().enumerate() {
            l.blocks.iter().for_each(|b| innermost[*b] = Some(number));
        }
        Loops { blocks, index, all, irregular, irreducible, successors, dominators, innermost }
    }

    /// By block: its incoming edges in order, as source and position among the source's successors.
    pub fn predecessors(&self) -> Vec<Vec<(usize, u32)>> {
        let mut all = vec![Vec::new(); self.blocks.len()];
        for (from, to) in self.successors.iter().enumerate() {
            (0..).zip(to).for_each(|(successor, to)| all[*to].push((from, successor)));
        }
        all
    }

    /// Returns the index of a block of the kernel.
    pub fn index(&self, block: Block<'m>) -> usize {
        self.index[&block]
    }

    /// Returns a branch that every iteration executes and that may leave the loop, by its block and
    /// the successor outside.
    pub fn exit_branch(&self, number: usize) -> Option<(Block<'m>, u32)> {
        let l = &self.all[number];
        l.blocks.iter().find_map(|b| {
            let [yes, no] = self.successors[*b][..] else { return None };
            let leaves = match (l.blocks.contains(&yes), l.blocks.contains(&no)) {
                (false, true) => 0,
                (true, false) => 1,
                _ => return None,
            };
            let is_always_executed = self.innermost[*b] == Some(number)
                && l.latches.iter().all(|latch| self.dominators.dominates(*b, *latch));
            (is_always_executed && self.blocks[*b].terminator().is(Opcode::LLVMBr)).then_some((self.blocks[*b], leaves))
        })
    }

    /// Returns the first target outside the loop.
    pub fn exit(&self, l: &Loop) -> Option<Block<'m>> {
        let mut targets = l.blocks.iter().flat_map(|b| &self.successors[*b]).filter(|to| !l.blocks.contains(to));
        targets.next().map(|to| self.blocks[*to])
    }
}
