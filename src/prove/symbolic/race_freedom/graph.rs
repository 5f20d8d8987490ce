//! The control-flow graph of a kernel, with blocks split at barriers.

use std::collections::BTreeSet;
use std::ops::Range;

use kassay_ir::cfg::dominance::DominatorTree;
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::natural_loops;

use super::Unsupported;
use super::accesses::{Barrier, barrier_of};
use crate::program::{End, Program};

/// Number of a node.
pub type NodeId = usize;

/// A block, or the part of one between two barriers.
pub struct Node {
    pub block: BlockIndex,
    /// Its instructions, without the barrier.
    pub instructions: Range<usize>,
    /// The barrier that every path into the node passes.
    pub barrier: Option<Barrier>,
    /// Each with the number of the outcome that leads there, if the node ends with a branch.
    pub successors: Vec<(NodeId, Option<usize>)>,
    pub predecessors: Vec<(NodeId, Option<usize>)>,
    /// Numbers of the loops that contain it, the outermost first.
    pub loops: Vec<usize>,
}

/// A natural loop.
pub struct Loop {
    pub header: NodeId,
    pub body: BTreeSet<NodeId>,
    pub latches: BTreeSet<NodeId>,
}

/// The graph.
pub struct Graph {
    pub nodes: Vec<Node>,
    /// Nodes that can be reached, each after its predecessors but for back edges.
    pub order: Vec<NodeId>,
    /// By node: its place in `order`.
    pub position: Vec<usize>,
    pub loops: Vec<Loop>,
    /// By node: the loop that begins there.
    pub headers: Vec<Option<usize>>,
    /// By block: the node at its end.
    pub last: Vec<NodeId>,
}

impl Graph {
    /// Splits the blocks of a kernel at its barriers.
    pub fn of(program: &Program) -> Result<Graph, Unsupported> {
        let mut nodes: Vec<Node> = Vec::new();
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (block, code) in BlockIndex::enumerate(&program.blocks) {
            first.push(nodes.len());
            let mut begin = 0;
            let mut barrier = None;
            for (i, instruction) in code.instructions.iter().enumerate() {
                let Some(next) = barrier_of(program, instruction)? else { continue };
                nodes.push(Node::new(block, begin..i, barrier.replace(next)));
                let id = nodes.len();
                nodes[id - 1].successors.push((id, None));
                begin = i + 1;
            }
            nodes.push(Node::new(block, begin..code.instructions.len(), barrier));
            last.push(nodes.len() - 1);
        }
        for (block, code) in BlockIndex::enumerate(&program.blocks) {
            let targets = code.end.successors();
            let are_same = targets.iter().all(|to| *to == targets[0]);
            let outcome = |i: usize| (!are_same && !matches!(code.end, End::Goto(_))).then_some(i);
            let targets = targets.iter().take(if are_same { 1 } else { usize::MAX }).enumerate();
            nodes[last[block.0]].successors = targets.map(|(i, to)| (first[to.0], outcome(i))).collect();
        }
        let successors: Vec<Vec<usize>> = nodes.iter().map(|n| n.successors.iter().map(|s| s.0).collect()).collect();
        let order = reverse_postorder(&successors);
        let mut position = vec![usize::MAX; nodes.len()];
        order.iter().enumerate().for_each(|(i, n)| position[*n] = i);
        for from in &order {
            for (to, outcome) in nodes[*from].successors.clone() {
                nodes[to].predecessors.push((*from, outcome));
            }
        }
        let tree = DominatorTree::of(&successors);
        let dominates = |a: usize, b: usize| position[b] != usize::MAX && tree.dominates(a, b);
        if !natural_loops::irregular_edges(&successors, dominates).is_empty() {
            return Err(Unsupported::new("its control flow is no nest of loops", None));
        }
        let mut loops: Vec<Loop> = natural_loops::find(&successors, dominates)
            .into_iter()
            .map(|l| Loop { header: l.header, body: l.blocks, latches: l.latches })
            .collect();
        // The outer ones first.
        loops.sort_by_key(|l| (std::cmp::Reverse(l.body.len()), l.header));
        let mut headers = vec![None; nodes.len()];
        for (i, l) in loops.iter().enumerate() {
            headers[l.header] = Some(i);
            l.body.iter().for_each(|n| nodes[*n].loops.push(i));
        }
        Ok(Graph { nodes, order, position, loops, headers, last })
    }

    /// The nodes that begin with a barrier.
    pub fn barriers(&self) -> impl Iterator<Item = (NodeId, &Barrier)> {
        self.order.iter().filter_map(|n| Some((*n, self.nodes[*n].barrier.as_ref()?)))
    }

    /// Whether a cycle through the loop's header passes no barrier of which `cuts` holds.
    pub fn has_free_cycle(&self, l: usize, cuts: impl Fn(&Barrier) -> bool) -> bool {
        let Loop { header, body, .. } = &self.loops[l];
        let (mut seen, mut todo) = (BTreeSet::from([*header]), vec![*header]);
        while let Some(node) = todo.pop() {
            for (to, _) in &self.nodes[node].successors {
                if !body.contains(to) || self.nodes[*to].barrier.as_ref().is_some_and(&cuts) {
                    continue;
                }
                if to == header {
                    return true;
                }
                if seen.insert(*to) {
                    todo.push(*to);
                }
            }
        }
        false
    }
}

impl Node {
    fn new(block: BlockIndex, instructions: Range<usize>, barrier: Option<Barrier>) -> Node {
        let (successors, predecessors, loops) = (Vec::new(), Vec::new(), Vec::new());
        Node { block, instructions, barrier, successors, predecessors, loops }
    }
}

/// The nodes that can be reached from the first one, in reverse postorder of a depth-first walk.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    let mut path = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, next)) = path.pop() {
        let Some(to) = successors[node].get(next) else {
            order.push(node);
            continue;
        };
        path.push((node, next + 1));
        if !seen[*to] {
            seen[*to] = true;
            path.push((*to, 0));
        }
    }
    order.reverse();
    order
}
