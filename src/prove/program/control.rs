//! What branches decide.

use std::collections::HashSet;

use kassay_ir::cfg::indices::BlockIndex;

use super::Program;

/// By block: the branches from which two successors lead there before their paths have joined or returned to
/// the branch.
pub fn joined_branches(program: &Program) -> Vec<Vec<BlockIndex>> {
    let successors = program.cfg.all_successors();
    let mut all = vec![Vec::new(); program.blocks.len()];
    for branch in 0..program.blocks.len() {
        let sides = &successors[branch];
        if sides.len() < 2 {
            continue;
        }
        let together =
            program.dominance.immediate_post_dominator(&program.cfg, BlockIndex(branch)).map(|block| block.0);
        let mut ways = vec![0u32; program.blocks.len()];
        for side in sides {
            let mut seen = HashSet::new();
            let mut todo = vec![*side];
            while let Some(block) = todo.pop() {
                if seen.insert(block) {
                    ways[block] += 1;
                    if block != branch && Some(block) != together {
                        todo.extend(&successors[block]);
                    }
                }
            }
        }
        for (block, _) in ways.iter().enumerate().filter(|(_, n)| **n > 1) {
            all[block].push(BlockIndex(branch));
        }
    }
    all
}
