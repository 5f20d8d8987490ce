//! Dominators, post-dominators and control dependence of one function's graph.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

use super::graph::{BlockIndex, Cfg, Edge};

#[derive(Debug)]
pub struct Dominance {
    forward: Tree,
    /// Of the graph with one virtual exit behind every block that ends the function.
    backward: Tree,
}

/// A tree of dominators.
#[derive(Debug)]
struct Tree {
    dominators: Dominators<NodeIndex>,
    /// By node: when a walk through the tree enters and leaves it; nothing of what the root does not lead to. One node dominates another
    /// if the walk is in it all the time that it is in the other.
    stays: Vec<Option<(u32, u32)>>,
}

impl Tree {
    fn new(dominators: Dominators<NodeIndex>, count: usize) -> Tree {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
        for node in 0..count {
            if let Some(above) = dominators.immediate_dominator(NodeIndex::new(node)) {
                below[above.index()].push(node);
            }
        }
        let mut stays = vec![None; count];
        let mut time = 0;
        let mut todo = vec![(dominators.root().index(), 0)];
        while let Some((node, next)) = todo.last_mut() {
            if *next == 0 {
                stays[*node] = Some((time, time));
                time += 1;
            }
            match below[*node].get(*next) {
                Some(child) => {
                    *next += 1;
                    todo.push((*child, 0));
                }
                None => {
                    if let Some(stay) = &mut stays[*node] {
                        stay.1 = time;
                    }
                    todo.pop();
                }
            }
        }
        Tree { dominators, stays }
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        match (self.stays.get(a), self.stays.get(b)) {
            (Some(Some(a)), Some(Some(b))) => a.0 <= b.0 && b.1 <= a.1,
            _ => false,
        }
    }

    fn immediate(&self, node: usize) -> Option<usize> {
        self.dominators.immediate_dominator(NodeIndex::new(node)).map(NodeIndex::index)
    }
}

impl Dominance {
    pub fn of(cfg: &Cfg) -> Dominance {
        let forward = simple_fast(&cfg.graph, NodeIndex::new(0));
        let mut with_exit: DiGraph<(), ()> = cfg.graph.map(|_, ()| (), |_, _| ());
        let exit = with_exit.add_node(());
        for block in 0..cfg.len() {
            if cfg.successors(block).is_empty() {
                with_exit.add_edge(NodeIndex::new(block), exit, ());
            }
        }
        connect_endless(&mut with_exit, exit, cfg.len());
        let backward = simple_fast(Reversed(&with_exit), exit);
        Dominance { forward: Tree::new(forward, cfg.len()), backward: Tree::new(backward, cfg.len() + 1) }
    }

    /// Whether every path from the entry to `b` goes through `a` (true for `a == b`); false for unreachable `b`.
    pub fn dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.forward.dominates(a, b)
    }

    /// Whether every path from `b` to the end goes through `a` (true for `a == b`).
    pub fn post_dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.backward.dominates(a, b)
    }

    pub fn immediate_dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.forward.immediate(block)
    }

    /// The next block on every path from `block` to the end; `None` if that is the function's end itself.
    pub fn immediate_post_dominator(&self, cfg: &Cfg, block: BlockIndex) -> Option<BlockIndex> {
        self.backward.immediate(block).filter(|n| *n < cfg.len())
    }

    /// The edges that decide whether `block` is executed (Ferrante, Ottenstein and Warren: the block post-dominates the edge's
    /// target, but does not strictly post-dominate its source).
    pub fn control_dependence(&self, cfg: &Cfg, block: BlockIndex) -> Vec<Edge> {
        let strictly = |a, b| a != b && self.post_dominates(a, b);
        let mut all = Vec::new();
        for source in (0..cfg.len()).filter(|b| cfg.reachable[*b] && !strictly(block, *b)) {
            let targets = cfg.successors(source);
            if targets.len() > 1 {
                let decides = |(successor, target)| {
                    self.post_dominates(block, target).then_some(Edge { block: source, successor })
                };
                all.extend(targets.into_iter().enumerate().filter_map(decides));
            }
        }
        all
    }

    /// The same of all blocks at once: from each edge's target up the tree of post-dominators, as far as to that of its source.
    pub fn control_dependences(&self, cfg: &Cfg) -> Vec<Vec<Edge>> {
        let mut all = vec![Vec::new(); cfg.len()];
        for source in (0..cfg.len()).filter(|b| cfg.reachable[*b]) {
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
}

/// Joins endless loops to the exit, so that post-dominance is defined everywhere: one edge from the first block (in
/// order) that cannot reach the exit yet, until all can.
fn connect_endless(graph: &mut DiGraph<(), ()>, exit: NodeIndex, blocks: usize) {
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
