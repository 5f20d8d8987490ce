//! Functions and instructions without what licences an optimiser to assume that something does not happen: attributes that promise
//! values, progress or the absence of effects, flags that make poison, metadata.
//!
//! The simulator is there to see what a kernel does wrong. What it does must not depend on what an optimiser makes of the wrong.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMAttributeReturnIndex, LLVMOpcode};

use crate::kernel::ir::{Block, Function, Inst};

/// Attributes that say how things are passed, or what else is kept.
const KEPT: [&str; 3] = ["nounwind", "zeroext", "signext"];

fn kind_of(name: &str) -> u32 {
    // SAFETY: a pointer with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// Takes all attributes from a function and its calls but those that say how arguments are passed; the calling convention is C's.
pub fn function(f: Function) {
    if f.name().starts_with("llvm.") {
        return;
    }
    let kept = KEPT.map(kind_of);
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
        call(inst, &kept, align);
    }
}

fn call(inst: Inst, kept: &[u32], align: u32) {
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

/// Gives an instruction whose result is poison for some operands (a float out of an integer's range, a shift by too much, a component
/// that a vector has not) some value there, which stays the same wherever it is used.
pub fn steady(inst: Inst) {
    use LLVMOpcode::*;
    let operands = inst.operands();
    // SAFETY: alive.
    let varies = |i: usize| unsafe { LLVMIsAConstant(operands[i]).is_null() };
    let may_be_poison = match inst.opcode() {
        LLVMFPToSI | LLVMFPToUI => true,
        LLVMShl | LLVMLShr | LLVMAShr | LLVMExtractElement => varies(1),
        LLVMInsertElement => varies(2),
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

/// Takes flags that make poison, and all metadata, from an instruction.
pub fn instruction(inst: Inst) {
    inst.drop_poison_flags();
    if inst.opcode() == LLVMOpcode::LLVMCall {
        // SAFETY: alive and a call.
        unsafe { LLVMSetTailCall(inst.0, 0) };
    }
    inst.drop_metadata();
}
