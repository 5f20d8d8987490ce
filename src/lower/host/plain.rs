//! Removes everything that allows an optimiser to assume that something does not happen: attributes that promise
//! values, progress or the absence of effects, flags that produce poison, metadata.
//!
//! The purpose of the simulator is to observe what a kernel does wrong. The result must not depend on how an optimiser
//! treats the error.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMAttributeReturnIndex, LLVMOpcode};

use crate::kernel::ir::{Block, Function, Inst};

/// Attributes that describe how values are passed, or that are harmless.
const KEPT_ATTRIBUTES: [&str; 3] = ["nounwind", "zeroext", "signext"];

fn kind_of(name: &str) -> u32 {
    // SAFETY: a pointer with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// Removes all attributes from a function and its calls except those that describe how arguments are passed; the
/// calling convention becomes C's.
pub fn strip_function(f: Function) {
    if f.name().starts_with("llvm.") {
        return;
    }
    let kept = KEPT_ATTRIBUTES.map(kind_of);
    let align = kind_of("align");
    // SAFETY: alive; attributes are copied before any is removed.
    unsafe {
        LLVMSetFunctionCallConv(f.0, 0);
        LLVMSetGC(f.0, std::ptr::null());
        for index in indices(LLVMCountParams(f.0)) {
            let mut all = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(f.0, index) as usize];
            LLVMGetAttributesAtIndex(f.0, index, all.as_mut_ptr());
            let by_value = all.iter().any(|a| LLVMIsTypeAttribute(*a) != 0);
            for attribute in all {
                match kind(attribute) {
                    Kind::Text(name) => {
                        LLVMRemoveStringAttributeAtIndex(f.0, index, name.as_ptr().cast(), name.len() as u32)
                    }
                    Kind::Number(kind) if kept.contains(&kind) || (by_value && kind == align) => {}
                    Kind::Number(kind) => LLVMRemoveEnumAttributeAtIndex(f.0, index, kind),
                    Kind::Type => {}
                }
            }
        }
    }
    for inst in f.blocks().into_iter().flat_map(Block::instructions) {
        strip_call(inst, &kept, align);
    }
}

fn strip_call(inst: Inst, kept: &[u32], align: u32) {
    // SAFETY: alive; asked of calls only; attributes are copied before any is removed.
    unsafe {
        if LLVMIsACallInst(inst.0).is_null() || inst.callee().is_some_and(|name| name.starts_with("llvm.")) {
            return;
        }
        LLVMSetInstructionCallConv(inst.0, 0);
        for index in indices(LLVMGetNumArgOperands(inst.0)) {
            let mut all = vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(inst.0, index) as usize];
            LLVMGetCallSiteAttributes(inst.0, index, all.as_mut_ptr());
            let by_value = all.iter().any(|a| LLVMIsTypeAttribute(*a) != 0);
            for attribute in all {
                match kind(attribute) {
                    Kind::Text(name) => {
                        LLVMRemoveCallSiteStringAttribute(inst.0, index, name.as_ptr().cast(), name.len() as u32);
                    }
                    Kind::Number(kind) if kept.contains(&kind) || (by_value && kind == align) => {}
                    Kind::Number(kind) => LLVMRemoveCallSiteEnumAttribute(inst.0, index, kind),
                    Kind::Type => {}
                }
            }
        }
    }
}

enum Kind {
    /// Its bytes, which live as long as the context.
    Text(&'static [u8]),
    Number(u32),
    Type,
}

/// # Safety
/// The attribute must be alive, and the result be used no longer.
unsafe fn kind(attribute: LLVMAttributeRef) -> Kind {
    // SAFETY: see above; the name comes with its length.
    unsafe {
        if LLVMIsStringAttribute(attribute) != 0 {
            let mut len = 0;
            let name = LLVMGetStringAttributeKind(attribute, &mut len);
            Kind::Text(std::slice::from_raw_parts(name.cast(), len as usize))
        } else if LLVMIsTypeAttribute(attribute) != 0 {
            Kind::Type
        } else {
            Kind::Number(LLVMGetEnumAttributeKind(attribute))
        }
    }
}

fn indices(params: u32) -> impl Iterator<Item = LLVMAttributeIndex> {
    [LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex].into_iter().chain(1..=params)
}

/// Freezes the result of an instruction that is poison for some operands (conversion of a float that is out of range, a
/// shift by too much, an index beyond a vector's components), so that it is the same arbitrary value in all uses.
pub fn freeze_result(inst: Inst) {
    use LLVMOpcode::*;
    let operands = inst.operands();
    // SAFETY: alive.
    let is_variable = |i: usize| unsafe { LLVMIsAConstant(operands[i]).is_null() };
    let may_be_poison = match inst.opcode() {
        LLVMFPToSI | LLVMFPToUI => true,
        LLVMShl | LLVMLShr | LLVMAShr | LLVMExtractElement => is_variable(1),
        LLVMInsertElement => is_variable(2),
        _ => false,
    };
    if !may_be_poison {
        return;
    }
    // SAFETY: alive; the new instruction stands behind the old one, whose uses it takes over but for its own.
    unsafe {
        let next = LLVMGetNextInstruction(inst.0);
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(inst.0)));
        LLVMPositionBuilderBefore(builder, next);
        let frozen = LLVMBuildFreeze(builder, inst.0, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        LLVMReplaceAllUsesWith(inst.0, frozen);
        LLVMSetOperand(frozen, 0, inst.0);
    }
}

/// Removes flags that produce poison, and all metadata, from an instruction.
pub fn strip_instruction(inst: Inst) {
    inst.drop_poison_flags();
    if inst.opcode() == LLVMOpcode::LLVMCall {
        // SAFETY: alive and a call.
        unsafe { LLVMSetTailCall(inst.0, 0) };
    }
    inst.drop_metadata();
}
