//! Inspects values of the kernel: constants, base pointers, and the size of the frame.

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::instrument::guard::pointers::{self, Distance};
use crate::kernel::ir::{Block, Function, Inst, users};

/// Returns the kernel's instructions, in order.
pub fn instructions(kernel: Function) -> Vec<Inst> {
    kernel.blocks().into_iter().flat_map(Block::instructions).collect()
}

/// Returns the integer that a value always has: a constant, or a load from a private variable that only ever
/// holds that constant.
pub fn constant(value: LLVMValueRef) -> Option<u64> {
    // SAFETY: alive; the number is asked of constants of at most 64 bits.
    unsafe {
        let value = resolve(value);
        let small = !LLVMIsAConstantInt(value).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64;
        small.then(|| LLVMConstIntGetZExtValue(value))
    }
}

/// Looks through private variables with a single store, and through casts of the stored value.
pub fn resolve(mut value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: alive; operand numbers are those of the opcodes.
    unsafe {
        for _ in 0..64 {
            let next = match pointers::opcode(value) {
                Some(LLVMOpcode::LLVMLoad) => only_stored(LLVMGetOperand(value, 0)),
                Some(LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMTrunc) => {
                    let inner = resolve(LLVMGetOperand(value, 0));
                    match LLVMIsAConstantInt(inner).is_null() {
                        true => None,
                        false => return cast(value, inner),
                    }
                }
                Some(LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMBitCast) => Some(LLVMGetOperand(value, 0)),
                _ => None,
            };
            match next {
                Some(inner) => value = inner,
                None => break,
            }
        }
        value
    }
}

/// Applies the cast instruction `cast` to a constant integer.
unsafe fn cast(cast: LLVMValueRef, inner: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: both alive; at most 64 bits are asked for.
    unsafe {
        let ty = LLVMTypeOf(cast);
        if LLVMGetIntTypeWidth(LLVMTypeOf(inner)) > 64 || LLVMGetIntTypeWidth(ty) > 64 {
            return cast;
        }
        match pointers::opcode(cast) {
            Some(LLVMOpcode::LLVMSExt) => LLVMConstInt(ty, LLVMConstIntGetSExtValue(inner).cast_unsigned(), 1),
            _ => {
                let bits = LLVMGetIntTypeWidth(ty);
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                LLVMConstInt(ty, LLVMConstIntGetZExtValue(inner) & mask, 0)
            }
        }
    }
}

/// Returns the value of the only store to a private variable, if all other uses are loads.
unsafe fn only_stored(variable: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: alive; users of an alloca are instructions.
    unsafe {
        if pointers::opcode(variable) != Some(LLVMOpcode::LLVMAlloca) {
            return None;
        }
        let mut stored = None;
        for user in users(variable) {
            match LLVMGetInstructionOpcode(user) {
                LLVMOpcode::LLVMLoad => {}
                LLVMOpcode::LLVMStore if stored.is_none() && LLVMGetOperand(user, 0) != variable => {
                    stored = Some(LLVMGetOperand(user, 0));
                }
                _ => return None,
            }
        }
        stored
    }
}

/// Returns the value that a pointer is computed from and, if constant, the distance in bytes.
pub fn base_and_offset(layout: LLVMTargetDataRef, pointer: LLVMValueRef) -> (LLVMValueRef, Option<i64>) {
    let (mut at, mut distance) = (pointer, Some(Distance::default()));
    loop {
        match pointers::opcode(at) {
            Some(LLVMOpcode::LLVMGetElementPtr) => {
                distance = distance.and_then(|d| pointers::add_gep_offset(layout, at, d))
            }
            Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMFreeze) => {}
            _ => break,
        }
        // SAFETY: alive; all of these have an operand.
        at = unsafe { LLVMGetOperand(at, 0) };
    }
    (at, distance.filter(|d| d.terms.is_empty()).map(|d| d.constant))
}

/// Returns whether a type is a fixed-length vector.
pub fn is_vector(ty: LLVMTypeRef) -> bool {
    // SAFETY: alive.
    unsafe { LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind }
}

/// Upper bound of the kernel's frame in bytes: all variables and all computed values, none sharing memory.
pub fn stack_bytes(module: &Module<'_>, kernel: Function) -> u64 {
    // SAFETY: alive; sizes are asked of sized types only.
    unsafe {
        let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
        let size = |ty| pointers::size_of(ty, layout).unwrap_or(0);
        let of = |inst: Inst| match inst.opcode() {
            LLVMOpcode::LLVMAlloca => {
                let count = constant(LLVMGetOperand(inst.0, 0)).unwrap_or(1);
                let align = u64::from(LLVMGetAlignment(inst.0)).max(8);
                size(LLVMGetAllocatedType(inst.0)).saturating_mul(count).next_multiple_of(align)
            }
            _ => match LLVMGetTypeKind(LLVMTypeOf(inst.0)) {
                LLVMTypeKind::LLVMVoidTypeKind => 0,
                _ => size(LLVMTypeOf(inst.0)).next_multiple_of(8),
            },
        };
        instructions(kernel).into_iter().map(of).fold(0, u64::saturating_add)
    }
}
