//! Provides a builder on LLVM's raw handles. Until `instrument::marks` moves to crate::llvm.

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::kernel::ir::Block;

/// A builder and its module.
pub(in crate::instrument) struct Tools {
    pub module: LLVMModuleRef,
    pub context: LLVMContextRef,
    pub builder: LLVMBuilderRef,
}

impl Drop for Tools {
    fn drop(&mut self) {
        // SAFETY: created in `new`, used nowhere else.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl Tools {
    /// Creates a builder for the module.
    pub fn new(module: &Module<'_>) -> Tools {
        // SAFETY: the module and its context are alive as long as the weaver.
        unsafe {
            let module = module.as_mut_ptr();
            let context = LLVMGetModuleContext(module);
            let builder = LLVMCreateBuilderInContext(context);
            Tools { module, context, builder }
        }
    }

    /// Positions the builder before an instruction.
    pub fn before(&self, inst: LLVMValueRef) {
        // SAFETY: alive and inside a block.
        unsafe { LLVMPositionBuilderBefore(self.builder, inst) };
    }

    /// The type `i32`.
    pub fn int(&self) -> LLVMTypeRef {
        // SAFETY: the context is alive.
        unsafe { LLVMInt32TypeInContext(self.context) }
    }

    /// The type `i1`.
    pub fn bool(&self) -> LLVMTypeRef {
        // SAFETY: the context is alive.
        unsafe { LLVMInt1TypeInContext(self.context) }
    }

    /// An `i32` constant.
    pub fn number(&self, n: u32) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.int(), u64::from(n), 0) }
    }

    /// Inserts an empty block in front of `next`.
    fn block(&self, next: Block, name: &std::ffi::CStr) -> Block {
        // SAFETY: alive.
        Block(unsafe { LLVMInsertBasicBlockInContext(self.context, next.0, name.as_ptr()) })
    }

    /// Inserts a block in front of `next` that jumps to `to`. Returns it with its terminator.
    pub fn passing(&self, next: Block, to: Block, name: &std::ffi::CStr) -> (Block, LLVMValueRef) {
        let block = self.block(next, name);
        self.at_end(block);
        // SAFETY: alive; the block is empty.
        (block, unsafe { LLVMBuildBr(self.builder, to.0) })
    }

    /// Positions the builder at the end of a block without a terminator, without a debug location.
    fn at_end(&self, block: Block) {
        // SAFETY: alive.
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
        }
    }

    /// Rebuilds the `phi`s of `block` so that one entry of each that came from `old` comes from `new`.
    pub fn redirect_phis(&self, block: Block, old: Block, new: Block) {
        for phi in phis(block) {
            // SAFETY: alive and a phi; the replacement has the same type and stands at the same place.
            unsafe {
                LLVMPositionBuilderBeforeInstrAndDbgRecords(self.builder, phi);
                let replacement = LLVMBuildPhi(self.builder, LLVMTypeOf(phi), c"".as_ptr());
                let mut redirected = false;
                for i in 0..LLVMCountIncoming(phi) {
                    let mut value = LLVMGetIncomingValue(phi, i);
                    let mut from = LLVMGetIncomingBlock(phi, i);
                    if from == old.0 && !redirected {
                        from = new.0;
                        redirected = true;
                    }
                    LLVMAddIncoming(replacement, &mut value, &mut from, 1);
                }
                LLVMReplaceAllUsesWith(phi, replacement);
                LLVMInstructionEraseFromParent(phi);
            }
        }
    }
}

/// The `phi`s at the start of a block.
fn phis(block: Block) -> Vec<LLVMValueRef> {
    let all = block.instructions().into_iter();
    all.take_while(|i| i.opcode() == llvm_sys::LLVMOpcode::LLVMPHI).map(|i| i.0).collect()
}

/// Returns the value that a `phi` takes from a predecessor.
pub(in crate::instrument) fn incoming(phi: LLVMValueRef, from: Block) -> Option<LLVMValueRef> {
    // SAFETY: alive and a phi; indices are below the count.
    unsafe {
        let mut entries = 0..LLVMCountIncoming(phi);
        entries.find(|i| LLVMGetIncomingBlock(phi, *i) == from.0).map(|i| LLVMGetIncomingValue(phi, i))
    }
}
