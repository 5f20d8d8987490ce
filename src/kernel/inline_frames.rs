//! Finds an instruction's source location together with the chain of inlined calls that leads to it.

use std::collections::HashMap;

use llvm_sys::LLVMDbgRecordKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::canonical::BODY_PREFIX;
use super::ir::{Block, DebugLocation, Function, Inst, scope_file};

/// A source location and the function that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    pub function: String,
    pub location: DebugLocation,
}

/// The frames of an instruction, innermost first; empty without debug information.
pub fn frames(inst: Inst) -> Vec<Frame> {
    // SAFETY: alive; null is checked by `unwind`.
    unsafe { unwind(LLVMInstructionGetDebugLoc(inst.0), context_of(inst)) }
}

/// The frames of the loop that a terminator closes: those of the first location in its `llvm.loop` metadata, which is
/// the position of the loop's keyword, or else those of the terminator. `kind` is LLVM's number for `llvm.loop`.
pub fn loop_frames(terminator: Inst, kind: u32) -> Vec<Frame> {
    // SAFETY: alive; operands are copied into a vector of the right length, nulls are checked.
    unsafe {
        let node = LLVMGetMetadata(terminator.0, kind);
        if !node.is_null() {
            for operand in operands(node).into_iter().skip(1).filter(|o| !o.is_null() && !LLVMIsAMDNode(*o).is_null()) {
                let metadata = LLVMValueAsMetadata(operand);
                if matches!(LLVMGetMetadataKind(metadata), LLVMMetadataKind::LLVMDILocationMetadataKind) {
                    return unwind(metadata, context_of(terminator));
                }
            }
        }
    }
    frames(terminator)
}

fn context_of(inst: Inst) -> LLVMContextRef {
    // SAFETY: alive.
    unsafe { LLVMGetTypeContext(LLVMTypeOf(inst.0)) }
}

/// # Safety
/// `location` is null or a DILocation of a living module.
unsafe fn unwind(mut location: LLVMMetadataRef, context: LLVMContextRef) -> Vec<Frame> {
    let mut all = Vec::new();
    // SAFETY: see above; an inlined location's scope and caller are set.
    unsafe {
        while !location.is_null() {
            let scope = LLVMDILocationGetScope(location);
            let (line, column) = (LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location));
            let location_here = DebugLocation { file: scope_file(scope), line, column };
            all.push(Frame { function: function_of(scope, context), location: location_here });
            location = LLVMDILocationGetInlinedAt(location);
        }
    }
    all
}

/// The name of the function that contains a scope.
///
/// # Safety
/// `scope` is null or a local scope of a living module.
unsafe fn function_of(mut scope: LLVMMetadataRef, context: LLVMContextRef) -> String {
    // SAFETY: see above. LLVM's C interface does not tell scopes of scopes; as nodes, blocks have theirs as operand 1, and
    // subprograms their name as operand 2 (LLVM 22, DebugInfoMetadata.h).
    unsafe {
        while !scope.is_null() {
            let is_function = matches!(LLVMGetMetadataKind(scope), LLVMMetadataKind::LLVMDISubprogramMetadataKind);
            let all = operands(LLVMMetadataAsValue(context, scope));
            let Some(next) = all.get(if is_function { 2 } else { 1 }).copied().filter(|v| !v.is_null()) else { break };
            if is_function {
                let Some(name) = string(next) else { break };
                return name.strip_prefix(BODY_PREFIX).map(str::to_owned).unwrap_or(name);
            }
            scope = LLVMValueAsMetadata(next);
        }
    }
    String::new()
}

/// # Safety
/// `node` is a metadata node of a living module.
unsafe fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: see above; the vector has room for all.
    unsafe {
        let mut all: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, all.as_mut_ptr());
        all
    }
}

/// The source names of a function's variables that live in memory, by their `alloca`.
pub fn variable_names(function: Function) -> HashMap<LLVMValueRef, String> {
    let mut names = HashMap::new();
    for inst in function.blocks().into_iter().flat_map(Block::instructions) {
        // SAFETY: alive; the list of records ends with null; a local variable's name is operand 1 of its node (LLVM 22,
        // DebugInfoMetadata.h).
        unsafe {
            let mut record = LLVMGetFirstDbgRecord(inst.0);
            while !record.is_null() {
                if matches!(LLVMDbgRecordGetKind(record), LLVMDbgRecordKind::LLVMDbgRecordDeclare) {
                    let variable = LLVMDbgVariableRecordGetVariable(record);
                    let all = operands(LLVMMetadataAsValue(context_of(inst), variable));
                    let name = all.get(1).copied().filter(|n| !n.is_null()).and_then(|n| string(n));
                    if let Some(name) = name {
                        names.entry(LLVMDbgVariableRecordGetValue(record, 0)).or_insert(name);
                    }
                }
                record = LLVMGetNextDbgRecord(record);
            }
        }
    }
    names
}

/// The text of a metadata string, or `None` for other metadata.
///
/// # Safety
/// `value` is metadata of a living module.
unsafe fn string(value: LLVMValueRef) -> Option<String> {
    let mut len = 0;
    // SAFETY: see above; null for what is no string.
    unsafe {
        let data = LLVMGetMDString(value, &mut len);
        let bytes = (!data.is_null()).then(|| std::slice::from_raw_parts(data.cast::<u8>(), len as usize))?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The string that is the only operand of an instruction's metadata of that kind.
pub fn note(inst: Inst, kind: u32) -> Option<String> {
    // SAFETY: alive; null is checked.
    unsafe {
        let node = LLVMGetMetadata(inst.0, kind);
        if node.is_null() {
            return None;
        }
        operands(node).first().copied().filter(|o| !o.is_null()).and_then(|o| string(o))
    }
}
