//! Finds the instructions to guard; reads the kernel before anything changes.

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::builtin_accesses::{self, Reach};
use super::pointers::{Address, Object, Objects};
use crate::kernel::ir::{Function, Inst};

/// An instruction with memory accesses that are not proven to be in bounds.
pub struct Access {
    pub inst: Inst,
    pub ranges: Vec<Range>,
    /// For asynchronous copies: the operand with the number of elements. All items have to take part in the copy, so
    /// one that is out of bounds is executed with no elements.
    pub count: Option<u32>,
}

/// A range of memory that is accessed.
pub struct Range {
    pub address: Address,
    pub length: Length,
}

/// The length of a range.
pub enum Length {
    /// A number of bytes.
    Fixed(u64),
    /// Third field: number of bytes. They start at the first field (a value) times the second (a constant), in bytes
    /// from the address.
    At(LLVMValueRef, u64, u64),
    /// `count` elements of `size` bytes; the stride is in elements.
    Elements { count: LLVMValueRef, stride: Option<LLVMValueRef>, size: u64 },
}

/// A division whose divisor may be zero, or which may overflow.
pub struct Division {
    pub inst: Inst,
    pub signed: bool,
}

/// Finds the accesses that are not proven to be in bounds.
pub fn accesses(kernel: Function, objects: &Objects) -> Vec<Access> {
    let instructions = kernel.blocks().into_iter().flat_map(|b| b.instructions());
    let unproven = |mut access: Access| {
        access.ranges.retain(|r| !r.is_within());
        (!access.ranges.is_empty()).then_some(access)
    };
    instructions.filter_map(|i| access(i, objects)).filter_map(unproven).collect()
}

fn access(inst: Inst, objects: &Objects) -> Option<Access> {
    let operands = inst.operands();
    let at_pointer = |value: LLVMValueRef, pointer: LLVMValueRef| {
        // SAFETY: alive.
        let size = objects.stored_size(unsafe { LLVMTypeOf(value) })?;
        let range = Range { address: objects.trace(pointer)?, length: Length::Fixed(size) };
        Some(Access { inst, ranges: vec![range], count: None })
    };
    match inst.opcode() {
        LLVMOpcode::LLVMLoad => at_pointer(inst.0, operands[0]),
        LLVMOpcode::LLVMStore => at_pointer(operands[0], operands[1]),
        LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => at_pointer(operands[1], operands[0]),
        LLVMOpcode::LLVMCall => {
            let callee = inst.callee()?;
            let moved = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().position(|p| callee.starts_with(p));
            match moved {
                Some(which) => {
                    let pointers = if which == 2 { &operands[..1] } else { &operands[..2] };
                    let ranges = pointers
                        .iter()
                        .filter_map(|p| Some(Range { address: objects.trace(*p)?, length: bytes(operands[2]) }));
                    Some(Access { inst, ranges: ranges.collect(), count: None })
                }
                None => builtin(inst, &callee, &operands, objects),
            }
        }
        _ => None,
    }
}

fn bytes(count: LLVMValueRef) -> Length {
    // SAFETY: alive; the value is asked of a constant.
    unsafe {
        match LLVMIsAConstantInt(count).is_null() {
            true => Length::Elements { count, stride: None, size: 1 },
            false => Length::Fixed(LLVMConstIntGetZExtValue(count)),
        }
    }
}

fn builtin(inst: Inst, callee: &str, operands: &[LLVMValueRef], objects: &Objects) -> Option<Access> {
    let mut count = None;
    let mut ranges = Vec::new();
    // The callee is the last operand.
    let arguments = &operands[..operands.len() - 1];
    for parameter in builtin_accesses::accesses(callee) {
        let Some(pointer) = arguments.get(parameter.index as usize) else { continue };
        let length = match parameter.reach {
            Reach::Bytes(Some(size)) => Length::Fixed(size),
            // SAFETY: alive.
            Reach::Bytes(None) => Length::Fixed(objects.stored_size(unsafe { LLVMTypeOf(inst.0) }).unwrap_or(1)),
            Reach::Indexed { offset, step, size } => Length::At(*arguments.get(offset as usize)?, step, size),
            Reach::Elements { size, strided } => {
                count = Some(2);
                let stride = if strided { arguments.get(3).copied() } else { None };
                Length::Elements { count: *arguments.get(2)?, stride, size }
            }
        };
        if let Some(address) = objects.trace(*pointer) {
            ranges.push(Range { address, length });
        }
    }
    Some(Access { inst, ranges, count })
}

impl Range {
    /// Returns whether the range is provably in bounds: at a constant distance in a variable.
    fn is_within(&self) -> bool {
        let [Object::Variable(_, extent)] = self.address.objects[..] else { return false };
        let Some(distance) = self.address.distance.as_ref().filter(|d| d.terms.is_empty()) else { return false };
        let Length::Fixed(size) = self.length else { return false };
        u64::try_from(distance.constant).is_ok_and(|from| from.checked_add(size).is_some_and(|end| end <= extent))
    }
}

/// Finds the integer divisions that may be undefined.
pub fn divisions(kernel: Function) -> Vec<Division> {
    let instructions = kernel.blocks().into_iter().flat_map(|b| b.instructions());
    instructions
        .filter_map(|inst| {
            let signed = match inst.opcode() {
                LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMSRem => true,
                LLVMOpcode::LLVMUDiv | LLVMOpcode::LLVMURem => false,
                _ => return None,
            };
            (!is_harmless(inst.operands()[1], signed)).then_some(Division { inst, signed })
        })
        .collect()
}

/// Returns whether dividing by this value is always defined: it is a constant with no lane equal to zero or
/// (if signed) −1.
fn is_harmless(divisor: LLVMValueRef, signed: bool) -> bool {
    // SAFETY: alive; lanes are below the count; the value is asked of constants of at most 64 bits.
    unsafe {
        let number = |value: LLVMValueRef| {
            !value.is_null()
                && !LLVMIsAConstantInt(value).is_null()
                && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64
                && LLVMConstIntGetZExtValue(value) != 0
                && !(signed && LLVMConstIntGetSExtValue(value) == -1)
        };
        let ty = LLVMTypeOf(divisor);
        match LLVMGetTypeKind(ty) {
            llvm_sys::LLVMTypeKind::LLVMVectorTypeKind if !LLVMIsAConstant(divisor).is_null() => {
                (0..LLVMGetVectorSize(ty)).all(|lane| number(LLVMGetAggregateElement(divisor, lane)))
            }
            llvm_sys::LLVMTypeKind::LLVMVectorTypeKind => false,
            _ => number(divisor),
        }
    }
}
