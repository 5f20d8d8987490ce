//! Marks instructions in builtins (see [`mark`](super::abi::mark)): those that represent the call in the kernel's
//! source, and those that need no check.

use std::collections::HashSet;

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::abi::{self, mark};
use crate::kernel::ir::{self, Block, Function, Inst};

/// Marks the accesses and placeholders of a builtin in which everything is inlined.
pub fn builtin(module: &Module<'_>, f: Function, name: &str) {
    let builtin = ir::metadata_kind(module, mark::BUILTIN);
    let trusted = ir::metadata_kind(module, mark::TRUSTED);
    for inst in f.blocks().into_iter().flat_map(Block::instructions) {
        let pointers = pointers(inst);
        let is_placeholder = inst.callee().is_some_and(|callee| callee.starts_with("__kassay_at_"));
        if pointers.is_empty() && !is_placeholder {
            continue;
        }
        let kind = match !is_placeholder && pointers.iter().all(|p| is_trusted(*p, &mut HashSet::new())) {
            true => trusted,
            false => builtin,
        };
        // SAFETY: alive; the node belongs to the module's context.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let mut text = LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len());
            let node = LLVMMDNodeInContext2(context, &mut text, 1);
            LLVMSetMetadata(inst.0, kind, LLVMMetadataAsValue(context, node));
        }
    }
}

/// Returns the pointers through which an instruction accesses memory.
fn pointers(inst: Inst) -> Vec<LLVMValueRef> {
    use LLVMOpcode::*;
    let operands = inst.operands();
    match inst.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => operands.into_iter().take(1).collect(),
        LLVMStore => operands.into_iter().skip(1).collect(),
        LLVMCall if inst.callee().is_some_and(|n| n.starts_with("llvm.mem")) => {
            let is_copy = inst.callee().is_some_and(|n| !n.starts_with("llvm.memset"));
            operands.into_iter().take(if is_copy { 2 } else { 1 }).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether a pointer comes from a variable of the builtin, from the item's context, or from an exchange.
fn is_trusted(pointer: LLVMValueRef, seen: &mut HashSet<LLVMValueRef>) -> bool {
    use LLVMOpcode::*;
    if !seen.insert(pointer) {
        return true;
    }
    // SAFETY: alive.
    unsafe {
        if !LLVMIsAGlobalVariable(pointer).is_null() {
            return true;
        }
        if !LLVMIsAConstantExpr(pointer).is_null() {
            let opcode = LLVMGetConstOpcode(pointer);
            return matches!(opcode, LLVMGetElementPtr | LLVMAddrSpaceCast)
                && is_trusted(LLVMGetOperand(pointer, 0), seen);
        }
    }
    let Some(inst) = ir::as_instruction(pointer) else { return false };
    let operands = inst.operands();
    match inst.opcode() {
        LLVMAlloca => true,
        LLVMGetElementPtr | LLVMAddrSpaceCast | LLVMLoad => is_trusted(operands[0], seen),
        LLVMSelect => is_trusted(operands[1], seen) && is_trusted(operands[2], seen),
        LLVMPHI => operands.into_iter().all(|p| is_trusted(p, seen)),
        LLVMCall => inst.callee().is_some_and(|name| name == abi::ITEM || name == abi::placeholder::EXCHANGE),
        _ => false,
    }
}
