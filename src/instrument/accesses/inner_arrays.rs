//! Checks indices into arrays that lie inside other objects: members of structs, rows of arrays of arrays. In C, an
//! index beyond such an array is undefined even if the access stays within the object, so the bounds of objects do not
//! reveal it.

use llvm_sys::LLVMIntPredicate::LLVMIntUGE;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::emit::Emitter;
use super::memory_instructions::Access;
use crate::kernel::ir::Inst;
use crate::lower::host::abi::hook;

/// An index and the number of elements of its array.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    value: LLVMValueRef,
    length: u64,
}

/// Returns the indices into inner arrays that an access through `pointer` depends on, as far as the address is computed
/// by a chain of `getelementptr`s and casts. Arrays of at most one element are left out: as last members of structs
/// they stand for arrays of any length.
pub fn indices(pointer: LLVMValueRef) -> Vec<Index> {
    let mut all = Vec::new();
    let mut at = pointer;
    // SAFETY: alive; each question is asked of the values and types that have an answer.
    unsafe {
        while !LLVMIsAInstruction(at).is_null() {
            let inst = Inst(at);
            match inst.opcode() {
                LLVMOpcode::LLVMGetElementPtr => {
                    let base = LLVMGetOperand(at, 0);
                    let mut ty = LLVMGetGEPSourceElementType(at);
                    // The first index counts objects; the outermost array of a variable is the object itself.
                    let mut outermost = is_variable(base);
                    for number in 2..LLVMGetNumOperands(at) as u32 {
                        let value = LLVMGetOperand(at, number);
                        match LLVMGetTypeKind(ty) {
                            LLVMTypeKind::LLVMArrayTypeKind => {
                                let length = LLVMGetArrayLength2(ty);
                                if length > 1 && !outermost && is_integer(value) {
                                    all.push(Index { value, length });
                                }
                                ty = LLVMGetElementType(ty);
                            }
                            LLVMTypeKind::LLVMStructTypeKind => {
                                ty = LLVMStructGetTypeAtIndex(ty, LLVMConstIntGetZExtValue(value) as u32);
                            }
                            _ => break,
                        }
                        outermost = false;
                    }
                    at = base;
                }
                LLVMOpcode::LLVMAddrSpaceCast => at = LLVMGetOperand(at, 0),
                _ => break,
            }
        }
    }
    all.retain(|index| !is_within(index));
    all
}

/// Returns whether the value is a variable of the kernel or of the program.
unsafe fn is_variable(value: LLVMValueRef) -> bool {
    // SAFETY: alive.
    unsafe { !LLVMIsAAllocaInst(value).is_null() || !LLVMIsAGlobalVariable(value).is_null() }
}

unsafe fn is_integer(value: LLVMValueRef) -> bool {
    // SAFETY: alive.
    unsafe {
        let ty = LLVMTypeOf(value);
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) <= 64
    }
}

/// Returns whether the index is a constant within its array.
fn is_within(index: &Index) -> bool {
    // SAFETY: alive; asked of a constant.
    unsafe {
        let constant = LLVMIsAConstantInt(index.value);
        !constant.is_null() && LLVMConstIntGetZExtValue(constant) < index.length
    }
}

/// Builds the calls that report an index beyond its array to the simulator before the access.
pub fn weave(e: &Emitter<'_, '_>, access: &Access) {
    for Index { value, length } in &access.inner {
        e.before(access.inst);
        // SAFETY: alive; the index is an integer of at most 64 bits.
        unsafe {
            let wide = LLVMBuildIntCast2(e.builder, *value, e.long, 1, c"".as_ptr());
            let beyond = e.compare(LLVMIntUGE, wide, e.const_i64(*length));
            e.emit_if(access.inst, beyond, || {
                e.hook(hook::INNER, e.void(), &[e.const_i32(access.site), wide, e.const_i64(*length)]);
            });
        }
    }
}
