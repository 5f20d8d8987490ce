//! Provides the early exit of the kernel, for work-items that are ended while they wait or spin.

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;

use super::blocks;
use super::emit::Emitter;
use crate::kernel::ir::{self, Block, Inst};
use crate::lower::host::abi::{ItemContext, placeholder};

/// The start of the early exit, which is always the first instruction of a block: [`placeholder::LEAVE`].
#[derive(Clone, Copy)]
pub struct Exit(Inst);

/// Gives the first placeholder a block of its own and removes the others.
pub fn find(module: &Module<'_>) -> Option<Exit> {
    let placeholder = ir::function(module, placeholder::LEAVE)?;
    let mut calls = ir::users(placeholder.0).into_iter().map(Inst);
    let exit = calls.next()?;
    for other in calls {
        // SAFETY: alive; nothing uses a call that gives nothing.
        unsafe { LLVMInstructionEraseFromParent(other.0) };
    }
    // SAFETY: alive; the new block gets a terminator, and the builder is disposed of.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let head = blocks::split_before(context, exit);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, head.0);
        let jump = LLVMBuildBr(builder, exit.block().0);
        llvm_sys::debuginfo::LLVMInstructionSetDebugLoc(jump, llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(exit.0));
        LLVMDisposeBuilder(builder);
    }
    Some(Exit(exit))
}

impl Exit {
    /// Makes items that are to leave do so before `at`.
    pub fn leave_before(self, e: &Emitter<'_, '_>, at: Inst) {
        let head = blocks::split_before(e.context, at);
        e.at_end(head, at);
        self.branch(e, at.block());
    }

    /// Makes items that are to leave do so at the builder's position, the end of a block; building continues in the
    /// block that the other items reach.
    pub fn leave_at_end(self, e: &Emitter<'_, '_>) {
        // SAFETY: alive; the builder stands at the end of a block.
        unsafe {
            let current = LLVMGetInsertBlock(e.builder);
            let on = Block(LLVMAppendBasicBlockInContext(e.context, e.kernel.0, c"".as_ptr()));
            LLVMMoveBasicBlockAfter(on.0, current);
            self.branch(e, on);
            LLVMPositionBuilderAtEnd(e.builder, on.0);
        }
    }

    fn branch(self, e: &Emitter<'_, '_>, on: Block) {
        let leaves = e.load(e.long, e.byte_offset(e.item, std::mem::offset_of!(ItemContext, leaves) as u64));
        let leaves = e.compare(LLVMIntNE, leaves, e.const_i64(0));
        // SAFETY: alive; the way out has no phis.
        unsafe { LLVMBuildCondBr(e.builder, leaves, self.0.block().0, on.0) };
    }

    /// Removes the placeholder. To be called when everything is built.
    pub fn finish(self) {
        // SAFETY: alive; nothing uses a call that gives nothing.
        unsafe { LLVMInstructionEraseFromParent(self.0.0) };
    }
}
