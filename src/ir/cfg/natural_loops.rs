//! Finds natural loops by dominance, in any graph whose nodes are numbers: that of the source, of the module after
//! inlining, or of a promoted kernel.
//!
//! An edge is a back edge if its target, the header, dominates its source, a latch. The loop of a header consists of
//! the nodes from which a latch can be reached without passing the header.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The natural loop of all back edges to one header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaturalLoop {
    /// Position of the block through which control enters it.
    pub header: usize,
    /// All nodes, including the header.
    pub blocks: BTreeSet<usize>,
    /// The sources of the back edges.
    pub latches: BTreeSet<usize>,
}

/// Finds the natural loops of a graph, given each node's successors, in the order of their headers. `dominates` says
/// whether its first argument dominates its second, which is false for unreachable nodes.
pub fn find(successors: &[Vec<usize>], dominates: impl Fn(usize, usize) -> bool) -> Vec<NaturalLoop> {
    let mut by_header: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, targets) in successors.iter().enumerate() {
        for to in targets {
            predecessors[*to].push(from);
            if dominates(*to, from) {
                by_header.entry(*to).or_default().insert(from);
            }
        }
    }
    let body = |(header, latches): (usize, BTreeSet<usize>)| {
        let mut blocks = BTreeSet::from([header]);
        let mut worklist: Vec<usize> = latches.iter().copied().collect();
        while let Some(block) = worklist.pop() {
            if blocks.insert(block) {
                // The header dominates the loop, so this leaves out unreachable predecessors only.
                worklist.extend(predecessors[block].iter().filter(|p| dominates(header, **p)));
            }
        }
        NaturalLoop { header, blocks, latches }
    };
    by_header.into_iter().map(body).collect()
}

/// Finds the edges (source, position among its successors) that close cycles other than natural loops: the retreating
/// edges of a depth-first walk from node 0 whose target does not dominate their source. Whether there are any does not
/// depend on the walk: there are none if and only if the graph is reducible.
pub fn irregular_edges(successors: &[Vec<usize>], dominates: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy)]
    enum Visit {
        Unseen,
        OnPath,
        Finished,
    }
    let mut irregular = Vec::new();
    let mut visits = vec![Visit::Unseen; successors.len()];
    let mut path = vec![(0, 0)];
    visits[0] = Visit::OnPath;
    while let Some((block, next)) = path.pop() {
        let Some(&to) = successors[block].get(next) else {
            visits[block] = Visit::Finished;
            continue;
        };
        path.push((block, next + 1));
        match visits[to] {
            Visit::Unseen => {
                visits[to] = Visit::OnPath;
                path.push((to, 0));
            }
            Visit::OnPath if !dominates(to, block) => irregular.push((block, next)),
            Visit::OnPath | Visit::Finished => {}
        }
    }
    irregular
}

/// Finds the cycles that have several entries, each with the natural loops that begin on it: the strongly connected
/// components that are left without the back edges of natural loops. Cycles that share a node are one.
pub fn irreducible_cycles(
    successors: &[Vec<usize>],
    loops: &[NaturalLoop],
    dominates: impl Fn(usize, usize) -> bool,
) -> Vec<BTreeSet<usize>> {
    let targets = |(from, targets): (usize, &Vec<usize>)| {
        let forward = targets.iter().filter(|to| !dominates(**to, from));
        forward.map(|to| (from as u32, *to as u32)).collect::<Vec<_>>()
    };
    let mut graph = DiGraph::<(), ()>::from_edges(successors.iter().enumerate().flat_map(targets));
    while graph.node_count() < successors.len() {
        graph.add_node(());
    }
    let with_loops = |nodes: Vec<NodeIndex>| {
        let cycle: BTreeSet<usize> = nodes.into_iter().map(NodeIndex::index).collect();
        let inside = loops.iter().filter(|l| cycle.contains(&l.header)).flat_map(|l| &l.blocks).copied();
        inside.chain(cycle.iter().copied()).collect()
    };
    tarjan_scc(&graph).into_iter().filter(|nodes| nodes.len() > 1).map(with_loops).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decides dominance by its definition: `b` is reachable, but not without passing `a`.
    fn dominates(successors: &[Vec<usize>], a: usize, b: usize) -> bool {
        let reaches = |avoided: Option<usize>| {
            let mut seen = BTreeSet::new();
            let mut worklist = vec![0];
            while let Some(node) = worklist.pop() {
                if Some(node) != avoided && seen.insert(node) {
                    worklist.extend(&successors[node]);
                }
            }
            seen.contains(&b)
        };
        reaches(None) && !reaches(Some(a))
    }

    #[test]
    fn back_edges_to_one_header_form_one_loop() {
        // 0 → 1 → 2 → 3 → {1, 4}, 2 → 1; node 5 is unreachable and leads into the loop.
        let successors = [vec![1], vec![2], vec![3, 1], vec![1, 4], vec![], vec![2]];
        let loops = find(&successors, |a, b| dominates(&successors, a, b));
        assert_eq!(loops, [NaturalLoop { header: 1, blocks: [1, 2, 3].into(), latches: [2, 3].into() }]);
        assert!(irregular_edges(&successors, |a, b| dominates(&successors, a, b)).is_empty());
    }

    #[test]
    fn a_cycle_with_two_entries_is_no_natural_loop() {
        let successors = [vec![1, 2], vec![2], vec![1, 3], vec![3]];
        let loops = find(&successors, |a, b| dominates(&successors, a, b));
        assert_eq!(loops, [NaturalLoop { header: 3, blocks: [3].into(), latches: [3].into() }]);
        assert_eq!(irregular_edges(&successors, |a, b| dominates(&successors, a, b)), [(2, 0)]);
        assert_eq!(irreducible_cycles(&successors, &loops, |a, b| dominates(&successors, a, b)), [[1, 2].into()]);
    }

    #[test]
    fn cycles_have_the_loops_that_begin_on_them_and_not_those_around() {
        // 1 is the header of a loop around 1 to 6, 2 and 3 are a cycle with two entries, 4 and 5 a loop after it.
        let successors = [vec![1], vec![2, 3], vec![3], vec![2, 4], vec![5, 6], vec![4], vec![1, 7], vec![]];
        let is_dominated = |a, b| dominates(&successors, a, b);
        let loops = find(&successors, is_dominated);
        assert_eq!(irreducible_cycles(&successors, &loops, is_dominated), [[2, 3].into()]);
        // The same with a way back from the inner loop to the cycle.
        let successors = [vec![1], vec![2, 3], vec![3], vec![2, 4], vec![5, 2], vec![4], vec![1, 7], vec![]];
        let is_dominated = |a, b| dominates(&successors, a, b);
        let loops = find(&successors, is_dominated);
        assert_eq!(irreducible_cycles(&successors, &loops, is_dominated), [[2, 3, 4, 5].into()]);
    }
}
