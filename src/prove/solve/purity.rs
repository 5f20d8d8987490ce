//! Decides which instructions and calls are terms: values without effects, independent of their position.

use std::collections::HashSet;

use kassay_ir::llvm::{AttributeIndex, Block, Function, Inst, Opcode, Type, TypeKind};

/// Returns whether a function's parameters or result may refer to memory or handles, which is assumed
/// of variadic functions.
pub fn takes_references(f: Function<'_>) -> bool {
    f.value_type().signature().is_none_or(|(result, params, is_variadic)| {
        is_variadic || is_reference(result) || params.into_iter().any(is_reference)
    })
}

/// Returns whether a call's result depends on its arguments only, and the call has no effects.
fn is_pure_call(call: Inst<'_>) -> bool {
    let Some(callee) = call.called_function().filter(|f| f.is_declaration() && !takes_references(*f)) else {
        return false;
    };
    let memory = callee.attributes(AttributeIndex::Function).get("memory");
    memory.is_some_and(|attribute| attribute.number() == Some(0))
}

/// Returns whether an instruction is a term.
pub fn computes_term(inst: Inst<'_>) -> bool {
    use Opcode::*;
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
fn is_reference(ty: Type<'_>) -> bool {
    !matches!(
        ty.scalar().kind(),
        TypeKind::LLVMIntegerTypeKind
            | TypeKind::LLVMHalfTypeKind
            | TypeKind::LLVMBFloatTypeKind
            | TypeKind::LLVMFloatTypeKind
            | TypeKind::LLVMDoubleTypeKind
            | TypeKind::LLVMVoidTypeKind
    )
}

/// The reachable blocks in depth-first order, successors in their order: a block comes after its dominators.
pub fn depth_first(f: Function<'_>) -> Vec<Block<'_>> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    let mut worklist: Vec<Block<'_>> = f.blocks().into_iter().take(1).collect();
    while let Some(block) = worklist.pop() {
        if seen.insert(block) {
            order.push(block);
            worklist.extend(block.terminator().successors().into_iter().rev());
        }
    }
    order
}
