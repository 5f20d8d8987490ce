//! Edits the kernel's control-flow graph: gathers variables in the entry block, splits blocks and edges.

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;

use crate::kernel::ir::{Block, Function, Inst};

/// Moves the variables of the entry block to its beginning. The block is split later, and an `alloca` outside the entry
/// block is not part of the fixed frame.
pub fn gather_variables(kernel: Function) {
    // SAFETY: alive; the number of elements is a constant, so nothing before them is needed. The builder is disposed of.
    unsafe {
        let entry = Block(LLVMGetEntryBasicBlock(kernel.0));
        let is_variable =
            |i: &Inst| i.opcode() == LLVMOpcode::LLVMAlloca && !LLVMIsAConstantInt(LLVMGetOperand(i.0, 0)).is_null();
        let all = entry.instructions();
        let Some(first) = all.iter().find(|i| !is_variable(i)).copied() else { return };
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(first.0)));
        for variable in all.into_iter().skip_while(|i| *i != first).filter(is_variable) {
            let location = LLVMInstructionGetDebugLoc(variable.0);
            LLVMInstructionRemoveFromParent(variable.0);
            LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, first.0);
            insert(builder, variable);
            LLVMInstructionSetDebugLoc(variable.0, location);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Inserts an instruction under its old name.
///
/// # Safety
/// Both are alive and the instruction is in no block.
unsafe fn insert(builder: LLVMBuilderRef, inst: Inst) {
    let name = std::ffi::CString::new(inst.name()).unwrap_or_default();
    // SAFETY: see above; the name ends with NUL.
    unsafe { LLVMInsertIntoBuilderWithName(builder, inst.0, name.as_ptr()) };
}

/// Splits the block of `at`: the instructions before `at` move into a new block in front of it, which takes over all
/// incoming edges. The old block begins with `at`; the new one has no terminator.
pub fn split_before(context: LLVMContextRef, at: Inst) -> Block {
    let tail = at.block();
    // SAFETY: alive. Replacing the block while it has no terminator changes who leads to it, and leaves alone what its successors'
    // phis say of it. The builder has no debug location to give, and is disposed of.
    unsafe {
        let builder = LLVMCreateBuilderInContext(context);
        let head = Block(LLVMInsertBasicBlockInContext(context, tail.0, c"".as_ptr()));
        let terminator = tail.terminator();
        let moved: Vec<Inst> = tail.walk().take_while(|i| *i != at).collect();
        LLVMInstructionRemoveFromParent(terminator.0);
        LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(tail.0), LLVMBasicBlockAsValue(head.0));
        LLVMPositionBuilderAtEnd(builder, head.0);
        for inst in moved {
            LLVMInstructionRemoveFromParent(inst.0);
            insert(builder, inst);
        }
        LLVMPositionBuilderAtEnd(builder, tail.0);
        insert(builder, terminator);
        LLVMDisposeBuilder(builder);
        head
    }
}

/// Inserts a block on the edge to the successor at position `successor` and returns the new block's terminator.
pub fn split_edge(context: LLVMContextRef, terminator: Inst, successor: u32) -> Inst {
    let from = terminator.block();
    let to = terminator.successors()[successor as usize];
    // SAFETY: alive; the new block takes the edge's place in the terminator and in the phis of its target.
    unsafe {
        let between = Block(LLVMInsertBasicBlockInContext(context, to.0, c"".as_ptr()));
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, between.0);
        let jump = Inst(LLVMBuildBr(builder, to.0));
        LLVMInstructionSetDebugLoc(jump.0, LLVMInstructionGetDebugLoc(terminator.0));
        LLVMSetSuccessor(terminator.0, successor, between.0);
        let phis: Vec<Inst> = to.walk().take_while(|i| i.opcode() == LLVMOpcode::LLVMPHI).collect();
        for phi in phis {
            LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, phi.0);
            let new = LLVMBuildPhi(builder, LLVMTypeOf(phi.0), c"".as_ptr());
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(phi.0));
            let mut changed = false;
            for i in 0..LLVMCountIncoming(phi.0) {
                let (mut value, mut block) = (LLVMGetIncomingValue(phi.0, i), LLVMGetIncomingBlock(phi.0, i));
                if block == from.0 && !changed {
                    (block, changed) = (between.0, true);
                }
                if value == phi.0 {
                    value = new;
                }
                LLVMAddIncoming(new, &mut value, &mut block, 1);
            }
            LLVMReplaceAllUsesWith(phi.0, new);
            LLVMInstructionEraseFromParent(phi.0);
        }
        LLVMDisposeBuilder(builder);
        jump
    }
}
