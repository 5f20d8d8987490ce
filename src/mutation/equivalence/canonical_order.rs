//! Gives modules with equal contents one canonical order: blocks as a traversal of the CFG reaches them, terms just
//! before their first use.

use std::collections::HashSet;

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::kernel::ir::{self, Block, Inst};
use crate::solve::purity::{self, reachable_blocks};

/// Reorders the blocks and instructions of every function.
pub fn canonicalise(module: &Module<'_>) {
    // SAFETY: the borrowed module keeps its context alive; the builder is used and disposed of in this function only.
    let builder = unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr())) };
    for f in ir::functions(module).into_iter().filter(|f| f.has_body()) {
        let blocks = reachable_blocks(f);
        for pair in blocks.windows(2) {
            // SAFETY: two blocks of one function of the borrowed module.
            unsafe { LLVMMoveBasicBlockAfter(pair[1].0, pair[0].0) };
        }
        for block in blocks {
            reorder_block(block, builder);
        }
    }
    // SAFETY: created above, and not used afterwards.
    unsafe { LLVMDisposeBuilder(builder) };
}

fn reorder_block(block: Block, builder: LLVMBuilderRef) {
    let movable: Vec<Inst> = block.instructions().into_iter().filter(|i| i.opcode() != LLVMOpcode::LLVMPHI).collect();
    let Some((terminator, rest)) = movable.split_last() else { return };
    let terms: HashSet<Inst> = rest.iter().copied().filter(|i| purity::is_term(*i)).collect();
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
    for inst in order {
        // SAFETY: `order` is a permutation of the block's instructions in which definitions precede uses.
        unsafe {
            LLVMInstructionRemoveFromParent(inst.0);
            LLVMPositionBuilderBefore(builder, terminator.0);
            LLVMInsertIntoBuilder(builder, inst.0);
        }
    }
}

/// Appends an instruction after the terms that it needs, without recursion, as chains of operands may be long.
fn place(inst: Inst, terms: &HashSet<Inst>, placed: &mut HashSet<Inst>, order: &mut Vec<Inst>) {
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
