//! Gives modules with equal contents one canonical order: blocks as a traversal of the CFG reaches them, terms just
//! before their first use.

use std::collections::HashSet;

use kassay_ir::llvm::{Block, Builder, Inst, Opcode, View};
use kassay_prove::solve::purity;

/// Reorders the blocks and instructions of every function.
pub fn canonicalise(module: View<'_>) {
    let builder = module.builder();
    for f in module.functions().into_iter().filter(|f| f.has_body()) {
        let blocks = purity::depth_first(f);
        for pair in blocks.windows(2) {
            pair[1].move_after(pair[0]);
        }
        for block in blocks {
            reorder_block(block, &builder);
        }
    }
}

fn reorder_block<'m>(block: Block<'m>, builder: &Builder<'m>) {
    let movable: Vec<Inst<'m>> = block.instructions().into_iter().filter(|i| !i.is(Opcode::LLVMPHI)).collect();
    let Some((terminator, rest)) = movable.split_last() else { return };
    let terms: HashSet<Inst<'m>> = rest.iter().copied().filter(|i| purity::computes_term(*i)).collect();
    let mut placed = HashSet::new();
    let mut order = Vec::with_capacity(rest.len());
    let pinned = rest.iter().filter(|i| !terms.contains(i));
    for inst in pinned.chain([terminator]) {
        place(*inst, &terms, &mut placed, &mut order);
    }
    order.pop();
    // Terms that only other blocks use.
    for inst in rest {
        place(*inst, &terms, &mut placed, &mut order);
    }
    // Definitions precede uses in this order.
    for inst in order {
        inst.remove();
        builder.before(*terminator);
        builder.insert(inst);
    }
}

/// Appends an instruction after the terms that it needs, without recursion, as chains of operands may be long.
fn place<'m>(inst: Inst<'m>, terms: &HashSet<Inst<'m>>, placed: &mut HashSet<Inst<'m>>, order: &mut Vec<Inst<'m>>) {
    let mut stack = vec![(inst, 0)];
    while let Some((inst, next)) = stack.pop() {
        if placed.contains(&inst) {
            continue;
        }
        let operands = inst.operand_instructions();
        match operands.get(next) {
            Some(operand) => {
                stack.push((inst, next + 1));
                if terms.contains(operand) && !placed.contains(operand) {
                    stack.push((*operand, 0));
                }
            }
            None => {
                placed.insert(inst);
                order.push(inst);
            }
        }
    }
}
