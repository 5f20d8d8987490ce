//! Inspects values of the kernel: constants, base pointers, and the size of the frame.

use crate::llvm::{DataLayout, Function, Inst, Opcode, Value};

/// Returns the integer that a value always has: a constant, or a load from a private variable that only ever
/// holds that constant.
pub fn constant(value: Value<'_>) -> Option<u64> {
    resolve(value).as_u64()
}

/// Returns the number of elements of a variable that is part of the function's fixed frame. `None` for one that is made
/// when the program comes to it, of which there may be several at a time.
pub fn fixed_count(variable: Inst<'_>) -> Option<u64> {
    let is_fixed = variable.is(Opcode::LLVMAlloca) && variable.block() == variable.function().entry();
    is_fixed.then(|| variable.operand(0).as_u64()).flatten()
}

/// Looks through private variables with a single store, and through casts of the stored value.
pub fn resolve(mut value: Value<'_>) -> Value<'_> {
    for _ in 0..64 {
        let inner = value.operand(0);
        let next = match value.opcode() {
            Some(Opcode::LLVMLoad) => inner.and_then(only_stored),
            Some(Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc) => {
                match inner.map(resolve).filter(|inner| inner.is_constant_int()) {
                    Some(inner) => return cast(value, inner),
                    None => None,
                }
            }
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => inner,
            _ => None,
        };
        match next {
            Some(inner) => value = inner,
            None => break,
        }
    }
    value
}

/// Applies the cast instruction `cast` to a constant integer; returns the cast itself where one of both has more than
/// 64 bits.
fn cast<'m>(cast: Value<'m>, inner: Value<'m>) -> Value<'m> {
    let ty = cast.ty();
    let is_small = ty.int_width().is_some_and(|bits| bits <= 64);
    match (inner.as_u64(), inner.as_i64()) {
        (Some(_), Some(signed)) if is_small && cast.opcode() == Some(Opcode::LLVMSExt) => ty.signed_int(signed),
        (Some(unsigned), Some(_)) if is_small => ty.int(unsigned),
        _ => cast,
    }
}

/// Returns the value of the only store to a private variable, if all other uses are loads.
fn only_stored(variable: Value<'_>) -> Option<Value<'_>> {
    variable.as_opcode(Opcode::LLVMAlloca)?;
    let mut stored = None;
    for user in variable.users() {
        let user = user.as_instruction()?;
        match user.opcode() {
            Opcode::LLVMLoad => {}
            Opcode::LLVMStore if stored.is_none() && user.operand(0) != variable => stored = Some(user.operand(0)),
            _ => return None,
        }
    }
    stored
}

/// Returns the value that a pointer is computed from and, if constant, the distance in bytes.
pub fn base_and_offset<'m>(layout: DataLayout<'m>, pointer: Value<'m>) -> (Value<'m>, Option<i64>) {
    let (mut at, mut distance) = (pointer, Some(0i64));
    loop {
        match at.opcode() {
            Some(Opcode::LLVMGetElementPtr) => {
                distance = distance.and_then(|d| d.checked_add(layout.constant_offset(at)?));
            }
            Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze) => {}
            _ => break,
        }
        let Some(base) = at.operand(0) else { break };
        at = base;
    }
    (at, distance)
}

/// Upper bound of the kernel's frame in bytes: all variables and all computed values, none sharing memory.
pub fn stack_bytes<'m>(layout: DataLayout<'m>, kernel: Function<'m>) -> u64 {
    let of = |inst: Inst<'m>| match inst.allocated_type() {
        // Those that are placed lie elsewhere.
        Some(_) if !inst.is_used() => 0,
        Some(ty) => {
            let count = inst.operand(0).as_u64().unwrap_or(1);
            let align = u64::from(inst.alignment().unwrap_or(0)).max(8);
            layout.element_size(ty).unwrap_or(0).saturating_mul(count).next_multiple_of(align)
        }
        None => layout.element_size(inst.ty()).unwrap_or(0).next_multiple_of(8),
    };
    kernel.instructions().into_iter().map(of).fold(0, u64::saturating_add)
}
