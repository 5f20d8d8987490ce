//! Which instructions and calls are terms: values without effects, wherever they stand.

use std::collections::HashSet;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};

use crate::kernel::ir::{Block, Function, Inst};

/// Whether a function's arguments or result reach memory or handles; of variadic ones, they may.
pub fn takes_pointers(f: Function) -> bool {
    // SAFETY: alive; the parameter types fill a buffer of their count.
    unsafe {
        let ty = LLVMGlobalGetValueType(f.0);
        let mut params: Vec<LLVMTypeRef> = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, params.as_mut_ptr());
        LLVMIsFunctionVarArg(ty) != 0 || is_reference(LLVMGetReturnType(ty)) || params.into_iter().any(is_reference)
    }
}

/// Whether the result of a call follows from its arguments alone, and calling does nothing else.
pub fn is_pure_call(call: Inst) -> bool {
    // SAFETY: alive; only asked of calls.
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

/// Whether an instruction is a term.
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

/// Whether a type is, or has, a pointer or an opaque handle (image, sampler, event).
fn is_reference(ty: LLVMTypeRef) -> bool {
    // SAFETY: a type of a living context.
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

/// The blocks that control flow reaches, depth first, successors in order: what dominates a block comes before it.
pub fn reached(f: Function) -> Vec<Block> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    let mut todo: Vec<Block> = f.blocks().into_iter().take(1).collect();
    while let Some(block) = todo.pop() {
        if seen.insert(block) {
            order.push(block);
            todo.extend(block.terminator().successors().into_iter().rev());
        }
    }
    order
}
