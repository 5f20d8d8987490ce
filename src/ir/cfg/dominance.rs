//! Computes dominators, post-dominators and control dependence of a function's control-flow graph.

use std::collections::BTreeSet;

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

use super::graph::{Cfg, Edge};
use super::indices::BlockIndex;

/// The dominator and post-dominator trees of one function.
#[derive(Debug, Clone)]
pub struct Dominance {
    forward: DominatorTree,
    /// Computed on the reversed graph, with one virtual exit after every block that ends the function.
    backward: DominatorTree,
}

/// A dominator tree.
#[derive(Debug, Clone)]
pub struct DominatorTree {
    dominators: Dominators<NodeIndex>,
    /// For each node, the times at which a depth-first walk of the tree enters and leaves it; `None` for nodes
    /// unreachable from the root. A node dominates another if and only if its interval contains the other's.
    intervals: Vec<Option<(u32, u32)>>,
}

impl DominatorTree {
    /// Computes the tree of a graph, given each node's successors. Node 0 is the entry.
    pub fn of(successors: &[Vec<usize>]) -> DominatorTree {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = successors.iter().map(|_| graph.add_node(())).collect();
        for (from, targets) in nodes.iter().zip(successors) {
            graph.extend_with_edges(targets.iter().map(|to| (*from, nodes[*to])));
        }
        DominatorTree::new(simple_fast(&graph, nodes[0]), successors.len())
    }

    fn new(dominators: Dominators<NodeIndex>, count: usize) -> DominatorTree {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        for node in 0..count {
            if let Some(parent) = dominators.immediate_dominator(NodeIndex::new(node)) {
                children[parent.index()].push(node);
            }
        }
        let mut intervals = vec![None; count];
        let mut time = 0;
        let mut stack = vec![(dominators.root().index(), 0)];
        while let Some((node, next)) = stack.last_mut() {
            if *next == 0 {
                intervals[*node] = Some((time, time));
                time += 1;
            }
            match children[*node].get(*next) {
                Some(child) => {
                    *next += 1;
                    stack.push((*child, 0));
                }
                None => {
                    if let Some(interval) = &mut intervals[*node] {
                        interval.1 = time;
                    }
                    stack.pop();
                }
            }
        }
        DominatorTree { dominators, intervals }
    }

    /// Returns whether every path from the entry to `b` goes through `a` (true for `a == b`, false if
    /// one of them is unreachable).
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.intervals.get(a), self.intervals.get(b)) {
            (Some(Some(a)), Some(Some(b))) => a.0 <= b.0 && b.1 <= a.1,
            _ => false,
        }
    }

    fn immediate(&self, node: usize) -> Option<usize> {
        self.dominators.immediate_dominator(NodeIndex::new(node)).map(NodeIndex::index)
    }
}

impl Dominance {
    /// Computes both trees.
    pub fn of(cfg: &Cfg) -> Dominance {
        let forward = simple_fast(&cfg.graph, NodeIndex::new(0));
        let mut with_exit: DiGraph<(), ()> = cfg.graph.map(|_, ()| (), |_, _| ());
        let exit = with_exit.add_node(());
        for block in cfg.indices() {
            if cfg.successors(block).is_empty() {
                with_exit.add_edge(block.node(), exit, ());
            }
        }
        connect_endless_loops(&mut with_exit, exit, cfg.len());
        let backward = simple_fast(Reversed(&with_exit), exit);
        Dominance {
            forward: DominatorTree::new(forward, cfg.len()),
            backward: DominatorTree::new(backward, cfg.len() + 1),
        }
    }

    /// Returns whether every path from the entry to `b` goes through `a` (true for `a == b`, false if
    /// `b` is unreachable).
    pub fn dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.forward.dominates(a.0, b.0)
    }

    /// Returns whether every path from `b` to the end goes through `a` (true for `a == b`).
    pub fn post_dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.backward.dominates(a.0, b.0)
    }

    /// The immediate dominator; `None` for the entry and for unreachable blocks.
    pub fn immediate_dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.forward.immediate(block.0).map(BlockIndex)
    }

    /// The immediate post-dominator: the first block that every path from `block` to the end goes through. `None` if
    /// that is the end of the function itself.
    pub fn immediate_post_dominator(&self, cfg: &Cfg, block: BlockIndex) -> Option<BlockIndex> {
        self.backward.immediate(block.0).filter(|n| *n < cfg.len()).map(BlockIndex)
    }

    /// The edges that decide whether `block` is executed (Ferrante, Ottenstein and Warren: `block` post-dominates the
    /// edge's target, but does not strictly post-dominate its source).
    pub fn control_dependence(&self, cfg: &Cfg, block: BlockIndex) -> Vec<Edge> {
        let strictly = |a, b| a != b && self.post_dominates(a, b);
        let mut all = Vec::new();
        for source in cfg.indices().filter(|b| cfg.reachable[*b] && !strictly(block, *b)) {
            let targets = cfg.successors(source);
            if targets.len() > 1 {
                let controlling_edge = |(successor, target)| {
                    self.post_dominates(block, target).then_some(Edge { block: source, successor })
                };
                all.extend(targets.into_iter().enumerate().filter_map(controlling_edge));
            }
        }
        all
    }

    /// [`Self::control_dependence`] of all blocks at once: walks from each edge's target up the post-dominator tree, as
    /// far as the immediate post-dominator of the edge's source.
    pub fn control_dependences(&self, cfg: &Cfg) -> Vec<Vec<Edge>> {
        let mut all = vec![Vec::new(); cfg.len()];
        for source in cfg.indices().filter(|b| cfg.reachable[*b]) {
            let targets = cfg.successors(source);
            if targets.len() < 2 {
                continue;
            }
            let end = self.immediate_post_dominator(cfg, source);
            for (successor, target) in targets.into_iter().enumerate() {
                let mut next = Some(target);
                while let Some(block) = next.filter(|b| Some(*b) != end) {
                    all[block].push(Edge { block: source, successor });
                    next = self.immediate_post_dominator(cfg, block);
                }
            }
        }
        all
    }

    /// By block: the blocks whose branches decide whether it is executed.
    pub fn deciders(&self, cfg: &Cfg) -> Vec<BTreeSet<BlockIndex>> {
        let dependences = self.control_dependences(cfg).into_iter();
        dependences.map(|edges| edges.into_iter().map(|e| e.block).collect()).collect()
    }

    /// [`Self::deciders`], and the blocks that decide whether those are executed, and so on.
    pub fn transitive_deciders(&self, cfg: &Cfg) -> Vec<BTreeSet<BlockIndex>> {
        let direct = self.deciders(cfg);
        let all_deciders = |block: &BTreeSet<BlockIndex>| {
            let mut all = BTreeSet::new();
            let mut worklist: Vec<BlockIndex> = block.iter().copied().collect();
            while let Some(decider) = worklist.pop() {
                if all.insert(decider) {
                    worklist.extend(&direct[decider]);
                }
            }
            all
        };
        direct.iter().map(all_deciders).collect()
    }
}

/// Connects endless loops to the exit, so that post-dominance is defined everywhere: adds an edge from the last block
/// (in order) that cannot reach the exit, until all blocks can.
fn connect_endless_loops(graph: &mut DiGraph<(), ()>, exit: NodeIndex, blocks: usize) {
    loop {
        let mut reaches = vec![false; graph.node_count()];
        let mut search = petgraph::visit::Dfs::new(Reversed(&*graph), exit);
        while let Some(n) = search.next(Reversed(&*graph)) {
            reaches[n.index()] = true;
        }
        match (0..blocks).rev().find(|b| !reaches[*b]) {
            Some(block) => graph.add_edge(NodeIndex::new(block), exit, ()),
            None => return,
        };
    }
}
