//! What a work-item executes between two barriers, as an acyclic graph of copies of nodes.
//!
//! A segment begins at the kernel's entry or behind a barrier, the *start*, and ends at the next barriers that *cut*:
//! those which order accesses to the memory in question. Let L1, L2, ... be the loops around the start, the innermost
//! first. Copies of phase 0 belong to the iterations of these loops in which the start was passed. The back edge of Li
//! leads to copies of phase i, the next iteration of Li; leaving Li leads to copies of phase 0 again, outside of it.
//! Nodes that come before the start keep the values which they had when it was passed.

use std::collections::{BTreeMap, BTreeSet};

use super::accesses::{Barrier, Memory, Unsupported};
use super::graph::{Graph, NodeId};

/// The barriers at which segments end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Those that order accesses to local memory.
    Local,
    /// Those that order accesses to global memory.
    Global,
    /// Those that order accesses to images.
    Image,
    /// All.
    Any,
    /// None: work-items of different groups do not wait for each other.
    Never,
}

impl Cut {
    /// The barriers at which accesses to a memory are ordered.
    pub fn of(memory: Memory) -> Cut {
        match memory {
            Memory::Local => Cut::Local,
            Memory::Global => Cut::Global,
            Memory::Image => Cut::Image,
            Memory::Private => Cut::Never,
        }
    }

    /// Whether segments end at a barrier.
    pub fn is_at(self, barrier: &Barrier) -> bool {
        match self {
            Cut::Local => barrier.local,
            Cut::Global => barrier.global,
            Cut::Image => barrier.image,
            Cut::Any => true,
            Cut::Never => false,
        }
    }
}

/// A node and its phase.
pub type Copy = (NodeId, usize);

/// An edge from a copy, with the outcome of the branch that leads there.
pub type CopyEdge = (Copy, Option<usize>);

/// A segment.
pub struct Segment {
    /// The first copy.
    pub first: Copy,
    /// Nodes on paths to the start, in order.
    pub before: Vec<NodeId>,
    pub is_before: BTreeSet<NodeId>,
    /// Copies that the segment consists of, each after its predecessors.
    pub copies: Vec<Copy>,
    /// By copy: its predecessors in the segment.
    pub incoming: BTreeMap<Copy, Vec<CopyEdge>>,
    /// Where it ends: the last copy, and the node of the barrier.
    pub ends: Vec<(Copy, NodeId)>,
    /// The loops around the start, the innermost first; the loop of phase `i` is at `i - 1`.
    pub around: Vec<usize>,
}

impl Segment {
    /// Builds the segment that begins at `start`, the node of a barrier, or at the entry.
    pub fn of(graph: &Graph, start: Option<NodeId>, cut: Cut) -> Result<Segment, Unsupported> {
        let around: Vec<usize> = start.map_or_else(Vec::new, |s| graph.nodes[s].loops.iter().rev().copied().collect());
        let is_before = before(graph, start);
        let first = (start.unwrap_or(graph.order[0]), 0);
        let mut edges: BTreeMap<Copy, Vec<CopyEdge>> = BTreeMap::new();
        let mut ends = Vec::new();
        let (mut seen, mut todo) = (BTreeSet::from([first]), vec![first]);
        while let Some(copy) = todo.pop() {
            let mut out = Vec::new();
            for (to, outcome) in &graph.nodes[copy.0].successors {
                if graph.nodes[*to].barrier.as_ref().is_some_and(|barrier| cut.is_at(barrier)) {
                    ends.push((copy, *to));
                    continue;
                }
                let Some(target) = target(graph, &around, copy, *to) else { continue };
                if target.1 == 0 && is_before.contains(&target.0) {
                    continue;
                }
                out.push((target, *outcome));
                if seen.insert(target) {
                    todo.push(target);
                }
            }
            edges.insert(copy, out);
        }
        let copies = in_order(first, &edges)?;
        let mut incoming: BTreeMap<Copy, Vec<CopyEdge>> = BTreeMap::new();
        for copy in &copies {
            for (to, outcome) in &edges[copy] {
                incoming.entry(*to).or_default().push((*copy, *outcome));
            }
        }
        let before = graph.order.iter().copied().filter(|n| is_before.contains(n)).collect();
        Ok(Segment { first, before, is_before, copies, incoming, ends, around })
    }

    /// The loop that a phase repeats; `None` for phase 0.
    pub fn loop_of(&self, phase: usize) -> Option<usize> {
        self.around.get(phase.wrapping_sub(1)).copied()
    }

    /// The phase that repeats a loop, if it is around the start.
    pub fn phase_of(&self, l: usize) -> Option<usize> {
        self.around.iter().position(|around| *around == l).map(|i| i + 1)
    }
}

/// Nodes from which the start is reached without a back edge.
fn before(graph: &Graph, start: Option<NodeId>) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    let Some(start) = start else { return all };
    let mut todo = vec![start];
    while let Some(node) = todo.pop() {
        for (from, _) in &graph.nodes[node].predecessors {
            if graph.position[*from] < graph.position[node] && all.insert(*from) {
                todo.push(*from);
            }
        }
    }
    all
}

/// The copy that an edge leads to; `None` for back edges of loops whose iterations are not told apart.
fn target(graph: &Graph, around: &[usize], (from, phase): Copy, to: NodeId) -> Option<Copy> {
    let back = graph.headers[to].filter(|l| graph.loops[*l].body.contains(&from));
    if let Some(l) = back {
        let next = around.iter().position(|a| *a == l)? + 1;
        return (next > phase).then_some((to, next));
    }
    let leaves = phase > 0 && !graph.loops[around[phase - 1]].body.contains(&to);
    Some((to, if leaves { 0 } else { phase }))
}

/// The copies that can be reached, each after its predecessors.
fn in_order(first: Copy, edges: &BTreeMap<Copy, Vec<CopyEdge>>) -> Result<Vec<Copy>, Unsupported> {
    let mut order = Vec::new();
    let mut finished: BTreeMap<Copy, bool> = BTreeMap::from([(first, false)]);
    let mut path = vec![(first, 0)];
    while let Some((copy, next)) = path.pop() {
        let Some((to, _)) = edges[&copy].get(next) else {
            finished.insert(copy, true);
            order.push(copy);
            continue;
        };
        path.push((copy, next + 1));
        match finished.get(to) {
            Some(true) => {}
            Some(false) => return Err(Unsupported::new("its loops share code in a way that is not told apart", None)),
            None => {
                finished.insert(*to, false);
                path.push((*to, 0));
            }
        }
    }
    order.reverse();
    Ok(order)
}
