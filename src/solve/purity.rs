//! Decides which instructions and calls are terms: values without effects, independent of their position.

use std::collections::HashSet;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};

use crate::kernel::ir::{Block, Function, Inst};

/// Returns whether a function's parameters or result may refer to memory or handles, which is assumed
/// of variadic functions.
pub fn takes_pointers(f: Function) -> bool {
    // SAFETY: the function belongs to a living module, and the buffer has room for as many types as LLVM counts.
    unsafe {
        let ty = LLVMGlobalGetValueType(f.0);
        let mut params: Vec<LLVMTypeRef> = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, params.as_mut_ptr());
        LLVMIsFunctionVarArg(ty) != 0 || is_reference(LLVMGetReturnType(ty)) || params.into_iter().any(is_reference)
    }
}

/// Returns whether a call's result depends on its arguments only, and the call has no effects.
pub fn is_pure_call(call: Inst) -> bool {
    // SAFETY: callers pass calls of a living module, and the attribute is checked for null before its value is read.
    unsafe {
        let callee = LLVMGetCalledValue(call.0);
        if LLVMIsAFunction(callee).is_null() || LLVMIsDeclaration(callee) == 0 || takes_pointers(Function(callee)) {
            return false;
        }
        let kind = LLVMGetEnumAttributeKindForName("memory".as_ptr().cast(), "memory".len());
        let attribute = LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind);
        !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) == 0
    }
}

/// Returns whether an instruction is a term.
pub fn is_term(inst: Inst) -> bool {
    use LLVMOpcode::*;
    match inst.opcode() {
        LLVMCall => is_pure_call(inst),
        LLVMAdd | LLVMFAdd | LLVMSub | LLVMFSub | LLVMMul | LLVMFMul | LLVMUDiv | LLVMSDiv | LLVMFDiv | LLVMURem
        | LLVMSRem | LLVMFRem | LLVMShl | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMTrunc | LLVMZExt
        | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt | LLVMPtrToInt
        | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMICmp | LLVMFCmp | LLVMSelect | LLVMExtractElement
        | LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue | LLVMInsertValue | LLVMFNeg | LLVMFreeze
        | LLVMGetElementPtr => true,
        _ => false,
    }
}

/// Returns whether a type is or contains a pointer or an opaque handle (image, sampler, event).
fn is_reference(ty: LLVMTypeRef) -> bool {
    // SAFETY: `ty` belongs to the context of a living module, and only vectors are asked for their element type.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind
            | LLVMTypeKind::LLVMHalfTypeKind
            | LLVMTypeKind::LLVMBFloatTypeKind
            | LLVMTypeKind::LLVMFloatTypeKind
            | LLVMTypeKind::LLVMDoubleTypeKind
            | LLVMTypeKind::LLVMVoidTypeKind => false,
            LLVMTypeKind::LLVMVectorTypeKind => is_reference(LLVMGetElementType(ty)),
            _ => true,
        }
    }
}

/// The reachable blocks in depth-first order, successors in their order: a block comes after its dominators.
pub fn reachable_blocks(f: Function) -> Vec<Block> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    let mut worklist: Vec<Block> = f.blocks().into_iter().take(1).collect();
    while let Some(block) = worklist.pop() {
        if seen.insert(block) {
            order.push(block);
            worklist.extend(block.terminator().successors().into_iter().rev());
        }
    }
    order
}
