//! Finds the nest of natural loops of a kernel, and the order in which to encode its blocks.

use std::collections::{BTreeSet, HashMap};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::natural_loops::{self, NaturalLoop};

use crate::program::{Code, End, Program};

/// A natural loop: the header, and the blocks that it dominates and from which it is reached again.
pub struct LoopNode {
    pub header: BlockIndex,
    pub blocks: BTreeSet<BlockIndex>,
    pub parent: Option<usize>,
    /// Predecessors of the header inside the loop, in the order in which they are encoded.
    pub latches: Vec<BlockIndex>,
    /// Order in which the body is encoded: blocks outside inner loops, and the headers of inner loops.
    pub order: Vec<BlockIndex>,
}

/// The loops of a kernel.
pub struct LoopNest {
    pub nodes: Vec<LoopNode>,
    /// Maps a header to its loop's position in `nodes`.
    pub by_header: HashMap<BlockIndex, usize>,
    /// Blocks outside all loops, and headers of the outermost loops.
    pub order: Vec<BlockIndex>,
    pub predecessors: Vec<Vec<BlockIndex>>,
    /// By block: the innermost loop that contains it.
    innermost: Vec<Option<usize>>,
}

/// Returns the successors without duplicates, ascending.
pub fn successors(end: &End) -> Vec<BlockIndex> {
    let mut all = end.successors();
    all.sort_unstable();
    all.dedup();
    all
}

impl LoopNest {
    /// Finds the loops of a kernel. `None` if the control flow is irreducible (some cycle has several entries).
    pub fn of(program: &Program) -> Option<LoopNest> {
        let numbers = |code: &Code| successors(&code.end).into_iter().map(|b| b.0).collect();
        let successors: Vec<Vec<usize>> = program.blocks.iter().map(numbers).collect();
        let order = reverse_postorder(&successors);
        let mut position = vec![usize::MAX; program.blocks.len()];
        for (i, block) in order.iter().enumerate() {
            position[*block] = i;
        }
        // Unreachable blocks are in no loop.
        let dominates =
            |a: usize, b: usize| position[b] != usize::MAX && program.dominates(BlockIndex(a), BlockIndex(b));
        if !natural_loops::irregular_edges(&successors, dominates).is_empty() {
            return None;
        }
        let mut predecessors = vec![Vec::new(); program.blocks.len()];
        for block in &order {
            successors[*block].iter().for_each(|to| predecessors[*to].push(BlockIndex(*block)));
        }
        let mut loops = natural_loops::find(&successors, dominates);
        // Headers of outer loops precede those of inner loops in reverse postorder.
        loops.sort_by_key(|l| position[l.header]);
        let mut nodes: Vec<LoopNode> = Vec::new();
        let mut innermost: Vec<Option<usize>> = vec![None; program.blocks.len()];
        for NaturalLoop { header, blocks, latches } in loops {
            let header = BlockIndex(header);
            let blocks: BTreeSet<BlockIndex> = blocks.into_iter().map(BlockIndex).collect();
            let mut latches: Vec<BlockIndex> = latches.into_iter().map(BlockIndex).collect();
            latches.sort_by_key(|b| position[b.0]);
            let parent = innermost[header];
            blocks.iter().for_each(|block| innermost[*block] = Some(nodes.len()));
            nodes.push(LoopNode { header, blocks, parent, latches, order: Vec::new() });
        }
        let by_header: HashMap<BlockIndex, usize> = nodes.iter().enumerate().map(|(i, c)| (c.header, i)).collect();
        let mut inside: Vec<Vec<BlockIndex>> = vec![Vec::new(); nodes.len()];
        let mut outside = Vec::new();
        for block in order.into_iter().map(BlockIndex) {
            let mut into = |place: Option<usize>| match place {
                Some(i) => inside[i].push(block),
                None => outside.push(block),
            };
            into(innermost[block]);
            // In the order of the enclosing loop, the header stands for the inner loop.
            if let Some(i) = by_header.get(&block) {
                into(nodes[*i].parent);
            }
        }
        for (node, order) in nodes.iter_mut().zip(inside) {
            node.order = order;
        }
        Some(LoopNest { nodes, by_header, order: outside, predecessors, innermost })
    }

    /// Returns the loops that contain block `inside` but not block `outside`, innermost first.
    pub fn exited_loops(&self, inside: BlockIndex, outside: BlockIndex) -> impl Iterator<Item = usize> {
        let around = std::iter::successors(self.innermost[inside], |i| self.nodes[*i].parent);
        around.take_while(move |i| !self.nodes[*i].blocks.contains(&outside))
    }
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut done = Vec::new();
    let mut stack = vec![(0usize, successors[0].clone())];
    seen[0] = true;
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, successors[next].clone()));
            }
            Some(_) => {}
            None => {
                done.push(*block);
                stack.pop();
            }
        }
    }
    done.reverse();
    done
}
