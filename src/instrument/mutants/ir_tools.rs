//! Provides a builder, type helpers and block surgery for all weavers of mutants.

use std::cell::RefCell;
use std::collections::HashMap;

use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::kernel::ir::{self, Block, Inst};

/// A builder and its module.
pub(in crate::instrument) struct Tools {
    pub module: LLVMModuleRef,
    pub context: LLVMContextRef,
    pub builder: LLVMBuilderRef,
    /// Blocks that were split, each with the block that now holds its beginning. See [`Tools::split`].
    heads: RefCell<HashMap<Block, Block>>,
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
            Tools { module, context, builder, heads: RefCell::default() }
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

    /// Broadcasts `value` to all lanes of a vector like `like`; returns `value` itself if that is not a vector.
    pub fn splat(&self, value: LLVMValueRef, like: LLVMTypeRef) -> LLVMValueRef {
        let Some(lanes) = lanes(like) else { return value };
        // SAFETY: alive; lane 0 exists in every vector.
        unsafe {
            if !LLVMIsAConstant(value).is_null() {
                let mut all = vec![value; lanes as usize];
                return LLVMConstVector(all.as_mut_ptr(), lanes);
            }
            let ty = LLVMVectorType(LLVMTypeOf(value), lanes);
            let zero = self.number(0);
            let first = LLVMBuildInsertElement(self.builder, LLVMGetPoison(ty), value, zero, c"".as_ptr());
            let mask = LLVMConstNull(LLVMVectorType(self.int(), lanes));
            LLVMBuildShuffleVector(self.builder, first, LLVMGetPoison(ty), mask, c"".as_ptr())
        }
    }

    /// Builds a `select`. A scalar condition is broadcast to the lanes of vectors: SPIR-V before 1.4 has no other form.
    pub fn select(&self, condition: LLVMValueRef, yes: LLVMValueRef, no: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; the two values have one type.
        unsafe {
            let scalar = lanes(LLVMTypeOf(condition)).is_none();
            let condition = if scalar { self.splat(condition, LLVMTypeOf(yes)) } else { condition };
            LLVMBuildSelect(self.builder, condition, yes, no, c"".as_ptr())
        }
    }

    /// Returns whether any lane of a boolean vector is true; a scalar is returned unchanged.
    pub fn any(&self, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; lanes are below the vector's length.
        unsafe {
            let Some(lanes) = lanes(LLVMTypeOf(value)) else { return value };
            let lane = |i| LLVMBuildExtractElement(self.builder, value, self.number(i), c"".as_ptr());
            (1..lanes).fold(lane(0), |all, i| LLVMBuildOr(self.builder, all, lane(i), c"".as_ptr()))
        }
    }

    /// Inserts an empty block in front of `next`.
    pub fn block(&self, next: Block, name: &std::ffi::CStr) -> Block {
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
    pub fn at_end(&self, block: Block) {
        // SAFETY: alive.
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
        }
    }

    /// Ends a block without a terminator by a conditional branch.
    pub fn branch(&self, from: Block, condition: LLVMValueRef, yes: Block, no: Block) {
        self.at_end(from);
        // SAFETY: alive; the condition is a boolean that dominates the block's end.
        unsafe { LLVMBuildCondBr(self.builder, condition, yes.0, no.0) };
    }

    /// Moves the instructions before `inst` into a new block, which takes over the old block's incoming edges and has
    /// no terminator yet. The old block keeps `inst` and what follows, so that `phi`s in its successors stay valid.
    pub fn split(&self, inst: LLVMValueRef) -> Block {
        // SAFETY: alive. Users of a block are terminators; LLVM's replacement of all uses would change `phi`s behind the block
        // too. The builder has no debug location while it inserts what is moved: each instruction keeps its own.
        unsafe {
            let tail = Inst(inst).block();
            let head = self.block(tail, c"kassay.head");
            for terminator in ir::users(LLVMBasicBlockAsValue(tail.0)) {
                for (i, _) in Inst(terminator).successors().iter().enumerate().filter(|(_, s)| **s == tail) {
                    LLVMSetSuccessor(terminator, i as u32, head.0);
                }
            }
            self.at_end(head);
            let mut next = LLVMGetFirstInstruction(tail.0);
            while next != inst {
                let following = LLVMGetNextInstruction(next);
                LLVMInstructionRemoveFromParent(next);
                LLVMInsertIntoBuilder(self.builder, next);
                next = following;
            }
            self.heads.borrow_mut().entry(tail).or_insert(head);
            head
        }
    }

    /// Returns the block that now holds the beginning of a block of the unchanged form.
    pub fn head(&self, block: Block) -> Block {
        self.heads.borrow().get(&block).copied().unwrap_or(block)
    }

    /// Builds a `phi` at the start of `block`.
    pub fn phi(&self, block: Block, ty: LLVMTypeRef, incoming: &[(LLVMValueRef, Block)]) -> LLVMValueRef {
        // SAFETY: alive; the caller names every predecessor.
        unsafe {
            // In front of the block's debug records too: no record may precede a phi.
            LLVMPositionBuilderBeforeInstrAndDbgRecords(self.builder, LLVMGetFirstInstruction(block.0));
            let phi = LLVMBuildPhi(self.builder, ty, c"".as_ptr());
            for (value, from) in incoming {
                let (mut value, mut from) = (*value, from.0);
                LLVMAddIncoming(phi, &mut value, &mut from, 1);
            }
            phi
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
pub(super) fn phis(block: Block) -> Vec<LLVMValueRef> {
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

/// Replaces `old` by `new` in the operands of `users`.
pub(super) fn replace_in(users: &[LLVMValueRef], old: LLVMValueRef, new: LLVMValueRef) {
    for user in users {
        // SAFETY: alive, users of `old`; indices are below the operand count; both values have one type.
        unsafe {
            for i in 0..LLVMGetNumOperands(*user).max(0) as u32 {
                if LLVMGetOperand(*user, i) == old {
                    LLVMSetOperand(*user, i, new);
                }
            }
        }
    }
}

pub(super) fn type_of(value: LLVMValueRef) -> LLVMTypeRef {
    // SAFETY: alive.
    unsafe { LLVMTypeOf(value) }
}

pub(super) fn kind(ty: LLVMTypeRef) -> LLVMTypeKind {
    // SAFETY: alive.
    unsafe { LLVMGetTypeKind(ty) }
}

/// The number of a vector's lanes; `None` for other types.
pub(super) fn lanes(ty: LLVMTypeRef) -> Option<u32> {
    // SAFETY: alive; asked of vectors only.
    (kind(ty) == LLVMTypeKind::LLVMVectorTypeKind).then(|| unsafe { LLVMGetVectorSize(ty) })
}

/// The type of a vector's lanes; for other types the type itself.
pub(super) fn element(ty: LLVMTypeRef) -> LLVMTypeRef {
    // SAFETY: alive; asked of vectors only.
    if lanes(ty).is_some() { unsafe { LLVMGetElementType(ty) } } else { ty }
}

/// A vector of `scalar` with as many lanes as `like`; `scalar` itself if `like` is not a vector.
pub(super) fn shaped(scalar: LLVMTypeRef, like: LLVMTypeRef) -> LLVMTypeRef {
    // SAFETY: alive.
    lanes(like).map_or(scalar, |n| unsafe { LLVMVectorType(scalar, n) })
}

/// Returns whether a type is an integer or a vector of integers.
pub(super) fn is_integer(ty: LLVMTypeRef) -> bool {
    kind(element(ty)) == LLVMTypeKind::LLVMIntegerTypeKind
}

/// Returns whether a type is half, float or double, or a vector of these.
pub(super) fn is_float(ty: LLVMTypeRef) -> bool {
    use LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind};
    matches!(kind(element(ty)), LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind)
}

/// Returns whether a type is a pointer or a vector of pointers.
pub(super) fn is_pointer(ty: LLVMTypeRef) -> bool {
    kind(element(ty)) == LLVMTypeKind::LLVMPointerTypeKind
}

/// Width in bits of an integer or float (or of a vector's lane).
pub(super) fn width(ty: LLVMTypeRef) -> u32 {
    let ty = element(ty);
    match kind(ty) {
        // SAFETY: alive and an integer.
        LLVMTypeKind::LLVMIntegerTypeKind => unsafe { LLVMGetIntTypeWidth(ty) },
        LLVMTypeKind::LLVMHalfTypeKind => 16,
        LLVMTypeKind::LLVMFloatTypeKind => 32,
        _ => 64,
    }
}
