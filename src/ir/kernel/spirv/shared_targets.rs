//! Gives edges of a `OpSwitch` that share a target with `OpPhi` a block of their own.
//!
//! In SPIR-V a block has one entry for each predecessor in its `OpPhi`, in LLVM IR one for each edge. llvm-spirv keeps
//! the entries and makes IR of them that does not verify where several cases of a switch lead to one block.

use std::collections::{HashMap, HashSet};

use super::words::{self, Id, Words, op};

/// Returns the module in which no two edges of a block lead to the same block with an `OpPhi` of its values: they lead
/// to a new one, which leads there.
pub(super) fn split(module: &Words) -> Words {
    let labels = labels(module);
    let new_blocks = new_blocks(module, &labels);
    if new_blocks.is_empty() {
        return module.clone();
    }
    let mut block = 0;
    let mut split = module.rewritten(|instruction, into| {
        let mut operands = instruction.operands.to_vec();
        match (instruction.opcode, instruction.operands) {
            (op::LABEL, [label]) => block = *label,
            (op::PHI, [_, _, entries @ ..]) => {
                for parent in (0..entries.len() / 2).map(|n| 2 + 2 * n + 1) {
                    if let Some(new) = new_blocks.get(&(operands[parent], block)) {
                        operands[parent] = *new;
                    }
                }
            }
            _ => {}
        }
        let is_terminator = matches!(instruction.opcode, op::SWITCH | op::BRANCH_CONDITIONAL);
        let mut targets: Vec<Id> = Vec::new();
        for at in target_positions(instruction.opcode, instruction.operands, &labels) {
            if let Some(new) = new_blocks.get(&(block, operands[at])) {
                targets.extend((!targets.contains(&operands[at])).then_some(operands[at]));
                operands[at] = *new;
            }
        }
        words::push(into, instruction.opcode, &operands);
        for target in targets.into_iter().filter(|_| is_terminator) {
            words::push(into, op::LABEL, &[new_blocks[&(block, target)]]);
            words::push(into, op::BRANCH, &[target]);
        }
    });
    split.set_bound(module.bound().saturating_add(new_blocks.len() as u32));
    split
}

/// Returns the ids of all blocks.
fn labels(module: &Words) -> HashSet<Id> {
    let labels = module.instructions().filter(|instruction| instruction.opcode == op::LABEL);
    labels.filter_map(|instruction| instruction.operands.first().copied()).collect()
}

/// Returns the ids of the new blocks, by the block that the edges leave and the one that they lead to.
fn new_blocks(module: &Words, labels: &HashSet<Id>) -> HashMap<(Id, Id), Id> {
    let (mut block, mut with_phi) = (0, HashSet::new());
    for instruction in module.instructions() {
        match (instruction.opcode, instruction.operands) {
            (op::LABEL, [label]) => block = *label,
            (op::PHI, [_, _, entries @ ..]) => {
                with_phi.extend(entries.chunks_exact(2).map(|entry| (entry[1], block)));
            }
            _ => {}
        }
    }
    let mut new_blocks = HashMap::new();
    for instruction in module.instructions() {
        if let (op::LABEL, [label]) = (instruction.opcode, instruction.operands) {
            block = *label;
        }
        let mut seen = HashSet::new();
        for at in target_positions(instruction.opcode, instruction.operands, labels) {
            let edge = (block, instruction.operands[at]);
            let number = new_blocks.len() as u32;
            if !seen.insert(edge.1) && with_phi.contains(&edge) {
                new_blocks.entry(edge).or_insert_with(|| module.bound().wrapping_add(number));
            }
        }
    }
    new_blocks
}

/// The positions of the labels among the operands of a conditional branch or a switch; none for other instructions and
/// if not all of them are labels.
fn target_positions(opcode: u32, operands: &[u32], labels: &HashSet<Id>) -> Vec<usize> {
    let all_labels = |positions: &Vec<usize>| positions.iter().all(|at| labels.contains(&operands[*at]));
    match opcode {
        op::BRANCH_CONDITIONAL if operands.len() >= 3 => Some(vec![1, 2]).filter(all_labels).unwrap_or_default(),
        op::SWITCH if operands.len() >= 2 => {
            // The literals have one word or, for selectors of 64 bits, two.
            let of = |words: usize| {
                let cases = (operands.len() - 2) / (words + 1);
                let is_whole = (operands.len() - 2).is_multiple_of(words + 1);
                let positions = (0..cases).map(|n| 2 + n * (words + 1) + words);
                is_whole.then(|| std::iter::once(1).chain(positions).collect::<Vec<usize>>()).filter(all_labels)
            };
            of(1).or_else(|| of(2)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    #[test]
    fn edges_that_share_a_target_get_a_block() {
        // Block 1 leads to 3 by two cases and by default to 2; 3 has a value for either predecessor.
        let given = module(&[
            &[op::LABEL, 1],
            &[op::SWITCH, 9, 2, 10, 3, 20, 3],
            &[op::LABEL, 2],
            &[op::BRANCH, 3],
            &[op::LABEL, 3],
            &[op::PHI, 8, 7, 9, 1, 9, 2],
        ]);
        let wanted = module(&[
            &[op::LABEL, 1],
            &[op::SWITCH, 9, 2, 10, 100, 20, 100],
            &[op::LABEL, 100],
            &[op::BRANCH, 3],
            &[op::LABEL, 2],
            &[op::BRANCH, 3],
            &[op::LABEL, 3],
            &[op::PHI, 8, 7, 9, 100, 9, 2],
        ]);
        let split = split(&given);
        assert_eq!(split.bound(), 101);
        assert!(split.instructions().eq(wanted.instructions()));
    }

    #[test]
    fn others_stay_as_they_are() {
        let given = module(&[
            &[op::LABEL, 1],
            // Selectors of 64 bits; the target has no value of its own for the block.
            &[op::SWITCH, 9, 2, 10, 0, 3, 20, 0, 3],
            &[op::LABEL, 2],
            &[op::BRANCH_CONDITIONAL, 9, 3, 1],
            &[op::LABEL, 3],
            &[op::PHI, 8, 7, 9, 2],
        ]);
        assert_eq!(split(&given), given);
    }
}
