//! Finds the loops of a kernel in LLVM's blocks, as they are after inlining; `cfg::loops` has those of the source.

use std::collections::{BTreeSet, HashMap};

use petgraph::algo::dominators::{self, Dominators};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::llvm::{Block, Function, Opcode};

/// A natural loop; blocks are indices into [`Loops::blocks`].
pub struct Loop {
    pub header: usize,
    pub blocks: BTreeSet<usize>,
    pub latches: BTreeSet<usize>,
}

/// The loops and the dominator tree of a kernel.
pub struct Loops<'m> {
    pub blocks: Vec<Block<'m>>,
    index: HashMap<Block<'m>, usize>,
    /// Sorted by size, so that outer loops precede the loops that they contain.
    pub all: Vec<Loop>,
    /// Edges (source, position among its successors) that close cycles other than natural loops.
    pub irregular: Vec<(usize, u32)>,
    successors: Vec<Vec<usize>>,
    dominators: Dominators<NodeIndex>,
    /// By block: entry and exit numbers of a depth-first walk of the dominator tree, which make dominance a comparison.
    dominator_intervals: Vec<(usize, usize)>,
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
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = blocks.iter().map(|_| graph.add_node(())).collect();
        for (from, to) in successors.iter().enumerate() {
            for to in to {
                graph.add_edge(nodes[from], nodes[*to], ());
            }
        }
        let dominators = dominators::simple_fast(&graph, nodes[0]);
        let dominator_intervals = dominator_intervals(&dominators, blocks.len());
        let innermost = vec![None; blocks.len()];
        let mut loops = Loops {
            blocks,
            index,
            all: Vec::new(),
            irregular: Vec::new(),
            successors,
            dominators,
            dominator_intervals,
            innermost,
        };
        loops.find();
        loops
    }

    fn find(&mut self) {
        let mut by_header: HashMap<usize, BTreeSet<usize>> = HashMap::new();
        for (from, successor) in self.retreating_edges() {
            let header = self.successors[from][successor];
            if self.dominates(header, from) {
                by_header.entry(header).or_default().insert(from);
            } else {
                self.irregular.push((from, successor as u32));
            }
        }
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        for (from, to) in self.successors.iter().enumerate().filter(|(b, _)| self.is_reachable(*b)) {
            to.iter().for_each(|to| predecessors[*to].push(from));
        }
        for (header, latches) in by_header {
            let mut blocks = BTreeSet::from([header]);
            let mut todo: Vec<usize> = latches.iter().copied().collect();
            while let Some(block) = todo.pop() {
                if blocks.insert(block) {
                    todo.extend(&predecessors[block]);
                }
            }
            self.all.push(Loop { header, blocks, latches });
        }
        self.all.sort_by_key(|l| (std::cmp::Reverse(l.blocks.len()), l.header));
        for (number, l) in self.all.iter().enumerate() {
            l.blocks.iter().for_each(|b| self.innermost[*b] = Some(number));
        }
    }

    /// Returns the retreating edges of a depth-first walk from the entry.
    fn retreating_edges(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut state = vec![0u8; self.blocks.len()];
        let mut path = vec![(0usize, 0usize)];
        state[0] = 1;
        while let Some((block, next)) = path.pop() {
            let Some(to) = self.successors[block].get(next).copied() else {
                state[block] = 2;
                continue;
            };
            path.push((block, next + 1));
            match state[to] {
                0 => {
                    state[to] = 1;
                    path.push((to, 0));
                }
                1 => found.push((block, next)),
                _ => {}
            }
        }
        found
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

    /// Returns whether a block is reachable from the entry.
    pub fn is_reachable(&self, block: usize) -> bool {
        block == 0 || self.dominators.immediate_dominator(NodeIndex::new(block)).is_some()
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        let ((enter, leave), (at, _)) = (self.dominator_intervals[a], self.dominator_intervals[b]);
        self.is_reachable(b) && self.is_reachable(a) && (enter..leave).contains(&at)
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
            let is_always_executed =
                self.innermost[*b] == Some(number) && l.latches.iter().all(|latch| self.dominates(*b, *latch));
            (is_always_executed && self.blocks[*b].terminator().is(Opcode::LLVMBr)).then_some((self.blocks[*b], leaves))
        })
    }

    /// Returns the first target outside the loop.
    pub fn exit(&self, l: &Loop) -> Option<Block<'m>> {
        let mut targets = l.blocks.iter().flat_map(|b| &self.successors[*b]).filter(|to| !l.blocks.contains(to));
        targets.next().map(|to| self.blocks[*to])
    }
}

/// Numbers the nodes of the dominator tree: a node gets the number `enter`, and it dominates exactly the
/// nodes in `enter..leave`.
fn dominator_intervals(dominators: &Dominators<NodeIndex>, count: usize) -> Vec<(usize, usize)> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    for block in 1..count {
        if let Some(over) = dominators.immediate_dominator(NodeIndex::new(block)) {
            below[over.index()].push(block);
        }
    }
    let mut walk = vec![(0, 0); count];
    let (mut next, mut path) = (0, vec![(0, false)]);
    while let Some((block, done)) = path.pop() {
        if done {
            walk[block].1 = next;
            continue;
        }
        walk[block].0 = next;
        next += 1;
        path.push((block, true));
        path.extend(below[block].iter().map(|b| (*b, false)));
    }
    walk
}
