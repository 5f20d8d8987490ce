//! Dominators, post-dominators and control dependence of one function's graph.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

use super::graph::{BlockIndex, Cfg, Edge};

#[derive(Debug)]
pub struct Dominance {
    forward: Dominators<NodeIndex>,
    /// Of the graph with one virtual exit behind every block that ends the function.
    backward: Dominators<NodeIndex>,
    forward_tree: Tree,
    backward_tree: Tree,
}

/// A tree of dominators by the order in which a walk enters and leaves its nodes, so that a question takes no walk.
#[derive(Debug)]
struct Tree {
    /// By block: when it was entered, and the last one entered below it; `None` if it is not in the tree.
    spans: Vec<Option<(u32, u32)>>,
}

impl Tree {
    fn of(dominators: &Dominators<NodeIndex>, nodes: usize) -> Tree {
        let mut children = vec![Vec::new(); nodes];
        for node in 0..nodes {
            if let Some(parent) = dominators.immediate_dominator(NodeIndex::new(node)) {
                children[parent.index()].push(node);
            }
        }
        let mut spans = vec![None; nodes];
        let root = dominators.root().index();
        let mut entered = 0;
        let mut open = vec![(root, 0)];
        spans[root] = Some((entered, entered));
        while let Some((node, next)) = open.last_mut() {
            match children[*node].get(*next) {
                Some(&child) => {
                    *next += 1;
                    entered += 1;
                    spans[child] = Some((entered, entered));
                    open.push((child, 0));
                }
                None => {
                    if let Some((_, last)) = &mut spans[*node] {
                        *last = entered;
                    }
                    open.pop();
                }
            }
        }
        Tree { spans }
    }

    /// Whether `a` is `b` or above it.
    fn is_above(&self, a: BlockIndex, b: BlockIndex) -> bool {
        match (self.spans[a], self.spans[b]) {
            (Some((first, last)), Some((at, _))) => (first..=last).contains(&at),
            _ => false,
        }
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
        let forward_tree = Tree::of(&forward, cfg.len());
        let backward_tree = Tree::of(&backward, cfg.len() + 1);
        Dominance { forward, backward, forward_tree, backward_tree }
    }

    /// Whether every path from the entry to `b` goes through `a` (true for `a == b`); false for unreachable `b`.
    pub fn dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.forward_tree.is_above(a, b)
    }

    /// Whether every path from `b` to the end goes through `a` (true for `a == b`).
    pub fn post_dominates(&self, a: BlockIndex, b: BlockIndex) -> bool {
        self.backward_tree.is_above(a, b)
    }

    pub fn immediate_dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.forward.immediate_dominator(NodeIndex::new(block)).map(NodeIndex::index)
    }

    /// The next block on every path from `block` to the end; `None` if that is the function's end itself.
    pub fn immediate_post_dominator(&self, cfg: &Cfg, block: BlockIndex) -> Option<BlockIndex> {
        self.backward.immediate_dominator(NodeIndex::new(block)).map(NodeIndex::index).filter(|n| *n < cfg.len())
    }

    /// The edges that decide whether `block` is executed (Ferrante, Ottenstein and Warren: the block post-dominates the edge's
    /// target, but does not strictly post-dominate its source).
    pub fn control_dependence(&self, cfg: &Cfg, block: BlockIndex) -> Vec<Edge> {
        let strictly = |a, b| a != b && self.post_dominates(a, b);
        let branching = (0..cfg.len()).filter(|b| cfg.reachable[*b] && cfg.successors(*b).len() > 1);
        branching
            .flat_map(|b| cfg.edges_out(b))
            .filter(|e| self.post_dominates(block, cfg.target(*e)) && !strictly(block, e.block))
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_answers_as_the_chains_of_dominators_do() {
        // A loop, a branch into its middle, a block that nothing reaches, and a long chain.
        let edges: [(u32, u32); 9] = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (0, 3), (6, 5)];
        let chain = (7u32..200).map(|i| (if i == 7 { 5 } else { i - 1 }, i));
        let graph = DiGraph::<(), ()>::from_edges(edges.into_iter().chain(chain));
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        let tree = Tree::of(&dominators, graph.node_count());
        for (a, b) in (0..200).flat_map(|a| (0..200).map(move |b| (a, b))) {
            let chain = dominators.dominators(NodeIndex::new(b));
            let wanted = chain.is_some_and(|mut all| all.any(|n| n.index() == a));
            assert_eq!(tree.is_above(a, b), wanted, "{a} {b}");
        }
    }
}
