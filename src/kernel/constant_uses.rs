//! Replaces variables of a module within one function: constant expressions over their addresses become instructions.

use std::collections::HashMap;

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use llvm_sys::prelude::*;

use super::ir::{Block, Function, Inst};
use crate::error::{Error, Result};

/// Replaces every use of a variable in `function`, directly or in a constant expression, by the value that
/// `replacements` maps it to. That value must dominate every such use.
///
/// # Errors
/// `Internal` if the address is part of a constant that no instruction can compute.
pub fn replace(function: Function, replacements: &HashMap<LLVMValueRef, LLVMValueRef>) -> Result<()> {
    // SAFETY: alive; the builder is disposed of.
    let builder = unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function.0))) };
    let instructions: Vec<Inst> = function.blocks().into_iter().flat_map(Block::instructions).collect();
    let done = instructions.into_iter().try_for_each(|inst| replace_in_instruction(builder, inst, replacements));
    // SAFETY: made above.
    unsafe { LLVMDisposeBuilder(builder) };
    done
}

fn replace_in_instruction(
    builder: LLVMBuilderRef,
    inst: Inst,
    replacements: &HashMap<LLVMValueRef, LLVMValueRef>,
) -> Result<()> {
    // For phis: several edges may come from one block, and must then have the same value.
    let mut built: HashMap<(LLVMBasicBlockRef, LLVMValueRef), LLVMValueRef> = HashMap::new();
    for (i, operand) in (0..).zip(inst.operands()) {
        // SAFETY: alive; a phi has a block for each operand.
        unsafe {
            if !depends_on(operand, replacements) {
                continue;
            }
            let at = match inst.opcode() {
                LLVMOpcode::LLVMPHI => Inst(LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(inst.0, i))),
                _ => inst,
            };
            let key = (at.block().0, operand);
            let value = match built.get(&key) {
                Some(value) => *value,
                None => materialise(builder, operand, at, replacements)?,
            };
            built.insert(key, value);
            LLVMSetOperand(inst.0, i, value);
        }
    }
    Ok(())
}

/// Returns whether a value is one of the variables or a constant that is computed from one.
pub(crate) fn depends_on(value: LLVMValueRef, replacements: &HashMap<LLVMValueRef, LLVMValueRef>) -> bool {
    // SAFETY: alive; operands are below the count. Functions and variables lead nowhere.
    unsafe {
        if LLVMIsAConstant(value).is_null() {
            return false;
        }
        if replacements.contains_key(&value) {
            return true;
        }
        if LLVMIsAUser(value).is_null() || !LLVMIsAGlobalValue(value).is_null() {
            return false;
        }
        (0..LLVMGetNumOperands(value).max(0) as u32).any(|i| depends_on(LLVMGetOperand(value, i), replacements))
    }
}

/// Emits instructions before `at` that compute a constant which depends on a variable.
unsafe fn materialise(
    builder: LLVMBuilderRef,
    constant: LLVMValueRef,
    at: Inst,
    replacements: &HashMap<LLVMValueRef, LLVMValueRef>,
) -> Result<LLVMValueRef> {
    // SAFETY: alive; operand numbers are those of the opcode.
    unsafe {
        if let Some(place) = replacements.get(&constant) {
            return Ok(*place);
        }
        if !depends_on(constant, replacements) {
            return Ok(constant);
        }
        let not_computable = || Error::internal("a constant holds the address of a variable");
        if LLVMIsAConstantExpr(constant).is_null() {
            return Err(not_computable());
        }
        let mut operands = Vec::new();
        for i in 0..LLVMGetNumOperands(constant) as u32 {
            operands.push(materialise(builder, LLVMGetOperand(constant, i), at, replacements)?);
        }
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, at.0);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(at.0));
        let (b, ty) = (builder, LLVMTypeOf(constant));
        match LLVMGetConstOpcode(constant) {
            LLVMOpcode::LLVMGetElementPtr => {
                let (element, rest) = (LLVMGetGEPSourceElementType(constant), &mut operands[1..]);
                let (first, count) = (rest.as_mut_ptr(), rest.len() as u32);
                Ok(LLVMBuildGEP2(b, element, operands[0], first, count, c"".as_ptr()))
            }
            opcode @ (LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMPtrToInt
            | LLVMOpcode::LLVMIntToPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMTrunc) => Ok(LLVMBuildCast(b, opcode, operands[0], ty, c"".as_ptr())),
            opcode @ (LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMXor) => {
                Ok(LLVMBuildBinOp(b, opcode, operands[0], operands[1], c"".as_ptr()))
            }
            _ => Err(not_computable()),
        }
    }
}
