//! Static local variables live where the group's memory is: a place that is known when the code runs.

use std::collections::HashMap;

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::{Emitter, Prepared};
use super::objects::Objects;
use super::values::instructions;
use crate::error::{Error, Result};
use crate::kernel::ir::{Inst, users};

/// Replaces all static local variables by their places in the group's local memory.
///
/// # Errors
/// `Internal` if the address of one is part of a constant that no instruction can compute.
pub fn replace(e: &Emitter<'_, '_>, objects: &mut Objects) -> Result<()> {
    let locals = objects.locals();
    if locals.is_empty() {
        return Ok(());
    }
    let mut moved: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
    for (object, variable, offset) in &locals {
        let base = e.local_base();
        let place = e.prepare(Prepared::Local(*object), || {
            let place = e.place(base, *offset);
            e.cast_like(place, *variable)
        });
        objects.move_to(*object, place);
        moved.insert(*variable, place);
    }
    for inst in instructions(e.kernel) {
        // Of phis: several ways may come from one block, and must bring the same.
        let mut built: HashMap<(LLVMBasicBlockRef, LLVMValueRef), LLVMValueRef> = HashMap::new();
        for (i, operand) in (0..).zip(inst.operands()) {
            // SAFETY: alive; a phi has a block for each operand.
            unsafe {
                if LLVMIsAConstant(operand).is_null() || !leads_to(operand, &moved) {
                    continue;
                }
                let at = match inst.opcode() {
                    LLVMOpcode::LLVMPHI => Inst(LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(inst.0, i))),
                    _ => inst,
                };
                let key = (at.block().0, operand);
                let value = match built.get(&key) {
                    Some(value) => *value,
                    None => spell_out(e, operand, at, &moved)?,
                };
                built.insert(key, value);
                LLVMSetOperand(inst.0, i, value);
            }
        }
    }
    for (_, variable, _) in locals {
        // SAFETY: alive; it goes when nothing uses it.
        unsafe {
            if users(variable).iter().all(|user| users(*user).is_empty() && LLVMIsAInstruction(*user).is_null()) {
                LLVMReplaceAllUsesWith(variable, LLVMGetPoison(LLVMTypeOf(variable)));
                LLVMDeleteGlobal(variable);
            }
        }
    }
    Ok(())
}

/// Whether a constant is one of the variables, or computed from one.
unsafe fn leads_to(constant: LLVMValueRef, moved: &HashMap<LLVMValueRef, LLVMValueRef>) -> bool {
    // SAFETY: alive; operands are below the count. Functions and variables lead nowhere.
    unsafe {
        if moved.contains_key(&constant) {
            return true;
        }
        if LLVMIsAUser(constant).is_null() || !LLVMIsAGlobalValue(constant).is_null() {
            return false;
        }
        (0..LLVMGetNumOperands(constant).max(0) as u32).any(|i| leads_to(LLVMGetOperand(constant, i), moved))
    }
}

/// Computes a constant that leads to a variable by instructions before `at`.
unsafe fn spell_out(
    e: &Emitter<'_, '_>,
    constant: LLVMValueRef,
    at: Inst,
    moved: &HashMap<LLVMValueRef, LLVMValueRef>,
) -> Result<LLVMValueRef> {
    // SAFETY: alive; operand numbers are those of the opcode.
    unsafe {
        if let Some(place) = moved.get(&constant) {
            return Ok(*place);
        }
        if !leads_to(constant, moved) {
            return Ok(constant);
        }
        let unknown = || Error::internal("a constant holds the address of a local variable");
        if LLVMIsAConstantExpr(constant).is_null() {
            return Err(unknown());
        }
        let mut operands = Vec::new();
        for i in 0..LLVMGetNumOperands(constant) as u32 {
            operands.push(spell_out(e, LLVMGetOperand(constant, i), at, moved)?);
        }
        e.before(at);
        let (b, ty) = (e.builder, LLVMTypeOf(constant));
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
            _ => Err(unknown()),
        }
    }
}
