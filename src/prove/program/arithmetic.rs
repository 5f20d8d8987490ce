//! Evaluates instructions that do not access memory on the bits of scalars.

pub use kassay_ir::kernel::floats::{bits as float_bits, number as float};
use kassay_ir::llvm::{AtomicRmwOperation, IntPredicate, Opcode, RealPredicate};

use super::{Kind, masked, signed};

/// The width of a scalar, in bits.
pub fn width(kind: Kind) -> u32 {
    match kind {
        Kind::Int(width) | Kind::Float(width) => width,
        _ => 64,
    }
}

/// Integer and floating-point arithmetic; `None` for an integer division without a result.
pub fn binary(opcode: Opcode, kind: Kind, a: u64, b: u64) -> Option<u64> {
    use Opcode::*;
    let width = width(kind);
    if matches!(kind, Kind::Float(_)) {
        let (x, y) = (float(a, width), float(b, width));
        // For operands of at most half its width, a 64-bit result is precise enough that rounding it again is harmless.
        let z = match opcode {
            LLVMFAdd => x + y,
            LLVMFSub => x - y,
            LLVMFMul => x * y,
            LLVMFDiv => x / y,
            _ => x % y,
        };
        return Some(float_bits(z, width));
    }
    let (x, y) = (signed(a, width), signed(b, width));
    // Not computed before it is needed: it takes a division.
    let shift = || (b % u64::from(width.max(1))) as u32;
    let result = match opcode {
        LLVMAdd => a.wrapping_add(b),
        LLVMSub => a.wrapping_sub(b),
        LLVMMul => a.wrapping_mul(b),
        LLVMUDiv => a.checked_div(b)?,
        LLVMURem => a.checked_rem(b)?,
        LLVMSDiv if y == 0 => return None,
        LLVMSRem if y == 0 => return None,
        LLVMSDiv => x.wrapping_div(y).cast_unsigned(),
        LLVMSRem => x.wrapping_rem(y).cast_unsigned(),
        LLVMShl => a << shift(),
        LLVMLShr => a >> shift(),
        LLVMAShr => (x >> shift()).cast_unsigned(),
        LLVMAnd => a & b,
        LLVMOr => a | b,
        _ => a ^ b,
    };
    Some(masked(result, width))
}

/// Returns whether the mathematical result of an addition, subtraction, multiplication or left shift of signed integers
/// has no room in their width.
pub fn overflows(opcode: Opcode, width: u32, a: u64, b: u64) -> bool {
    use Opcode::{LLVMAdd, LLVMMul, LLVMShl, LLVMSub};
    let (x, y) = (i128::from(signed(a, width)), i128::from(signed(b, width)));
    let exact = match opcode {
        LLVMAdd => x + y,
        LLVMSub => x - y,
        LLVMMul => x * y,
        LLVMShl => x << (b % u64::from(width.max(1))),
        _ => return false,
    };
    binary(opcode, Kind::Int(width), a, b).is_some_and(|bits| i128::from(signed(bits, width)) != exact)
}

/// The value that an `atomicrmw` instruction leaves where `old` was. Operations that are not known leave it unchanged.
pub fn read_modify_write(operation: AtomicRmwOperation, kind: Kind, old: u64, by: u64) -> u64 {
    use AtomicRmwOperation::*;
    use Opcode::{LLVMAdd, LLVMAnd, LLVMFAdd, LLVMFSub, LLVMOr, LLVMSub, LLVMXor};
    let width = width(kind);
    let compute = |opcode| binary(opcode, kind, old, by).unwrap_or(0);
    match operation {
        LLVMAtomicRMWBinOpXchg => by,
        LLVMAtomicRMWBinOpAdd => compute(LLVMAdd),
        LLVMAtomicRMWBinOpSub => compute(LLVMSub),
        LLVMAtomicRMWBinOpAnd => compute(LLVMAnd),
        LLVMAtomicRMWBinOpOr => compute(LLVMOr),
        LLVMAtomicRMWBinOpXor => compute(LLVMXor),
        LLVMAtomicRMWBinOpFAdd => compute(LLVMFAdd),
        LLVMAtomicRMWBinOpFSub => compute(LLVMFSub),
        LLVMAtomicRMWBinOpNand => !compute(LLVMAnd),
        LLVMAtomicRMWBinOpUMax => old.max(by),
        LLVMAtomicRMWBinOpUMin => old.min(by),
        LLVMAtomicRMWBinOpMax if signed(by, width) > signed(old, width) => by,
        LLVMAtomicRMWBinOpMin if signed(by, width) < signed(old, width) => by,
        _ => old,
    }
}

/// Compares integers of `width` bits.
pub fn compare(predicate: IntPredicate, width: u32, a: u64, b: u64) -> bool {
    use IntPredicate::*;
    let (x, y) = (signed(a, width), signed(b, width));
    match predicate {
        LLVMIntEQ => a == b,
        LLVMIntNE => a != b,
        LLVMIntUGT => a > b,
        LLVMIntUGE => a >= b,
        LLVMIntULT => a < b,
        LLVMIntULE => a <= b,
        LLVMIntSGT => x > y,
        LLVMIntSGE => x >= y,
        LLVMIntSLT => x < y,
        LLVMIntSLE => x <= y,
    }
}

/// Compares floating-point numbers of `width` bits.
pub fn compare_floats(predicate: RealPredicate, width: u32, a: u64, b: u64) -> bool {
    use RealPredicate::*;
    let (x, y) = (float(a, width), float(b, width));
    let unordered = x.is_nan() || y.is_nan();
    match predicate {
        LLVMRealPredicateFalse => false,
        LLVMRealOEQ => x == y,
        LLVMRealOGT => x > y,
        LLVMRealOGE => x >= y,
        LLVMRealOLT => x < y,
        LLVMRealOLE => x <= y,
        LLVMRealONE => x != y && !unordered,
        LLVMRealORD => !unordered,
        LLVMRealUNO => unordered,
        LLVMRealUEQ => x == y || unordered,
        LLVMRealUGT => x > y || unordered,
        LLVMRealUGE => x >= y || unordered,
        LLVMRealULT => x < y || unordered,
        LLVMRealULE => x <= y || unordered,
        LLVMRealUNE => x != y,
        LLVMRealPredicateTrue => true,
    }
}

/// Converts one lane from kind `from` to kind `to`. Conversions that reinterpret bits return them unchanged.
pub fn cast(opcode: Opcode, from: Kind, to: Kind, bits: u64) -> u64 {
    use Opcode::*;
    let (before, after) = (width(from), width(to));
    #[expect(clippy::cast_precision_loss, reason = "conversions round")]
    match opcode {
        LLVMTrunc => masked(bits, after),
        LLVMSExt => masked(signed(bits, before).cast_unsigned(), after),
        LLVMFPToUI => to_unsigned(float(bits, before), after),
        LLVMFPToSI => to_signed(float(bits, before), after),
        // In one step: going through 64 bits would round twice.
        LLVMUIToFP if after == 32 => (bits as f32).to_bits().into(),
        LLVMSIToFP if after == 32 => (signed(bits, before) as f32).to_bits().into(),
        LLVMUIToFP => float_bits(bits as f64, after),
        LLVMSIToFP => float_bits(signed(bits, before) as f64, after),
        LLVMFPTrunc | LLVMFPExt => float_bits(float(bits, before), after),
        _ => bits,
    }
}

/// Truncates towards 0 to a signed integer of that width; saturates, and maps NaN to 0.
#[expect(clippy::cast_possible_truncation, reason = "conversions saturate")]
fn to_signed(x: f64, width: u32) -> u64 {
    let max = i64::MAX >> (64 - width.clamp(1, 64));
    masked((x as i64).clamp(-max - 1, max).cast_unsigned(), width)
}

/// Like [`to_signed`], for unsigned integers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "conversions saturate")]
fn to_unsigned(x: f64, width: u32) -> u64 {
    (x as u64).min(masked(u64::MAX, width))
}
