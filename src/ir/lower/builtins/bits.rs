//! Fields of bits and their order (`cl_khr_extended_bit_ops`).

use super::call::{Call, Replacement};
use crate::llvm::{IntPredicate, Value};

/// `bitfield_insert(base, insert, offset, count)`.
pub(super) fn insert<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [base, insert, offset, count] = call.args[..] else { return None };
    let builder = call.builder;
    let offset = shift(call, offset);
    let field = builder.shl(low_bits(call, count)?, offset, "");
    let inserted = builder.and(builder.shl(insert, offset, ""), field, "");
    let kept = builder.and(base, builder.not(field, ""), "");
    Some(Replacement::Value(builder.or(inserted, kept, "")))
}

/// `bitfield_extract_unsigned(base, offset, count)`.
pub(super) fn extract_unsigned<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [base, offset, count] = call.args[..] else { return None };
    let field = call.builder.lshr(base, shift(call, offset), "");
    Some(Replacement::Value(call.builder.and(field, low_bits(call, count)?, "")))
}

/// `bitfield_extract_signed(base, offset, count)`.
pub(super) fn extract_signed<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [base, offset, count] = call.args[..] else { return None };
    let (builder, ty) = (call.builder, call.result);
    let width = call.word(ty.scalar().int_width()?);
    let beyond = builder.sub(width, count, "");
    let at_top = builder.shl(base, shift(call, builder.sub(beyond, offset, "")), "");
    let field = builder.ashr(at_top, shift(call, beyond), "");
    let is_empty = builder.icmp(IntPredicate::LLVMIntEQ, count, count.ty().null(), "");
    Some(Replacement::Value(builder.select(is_empty, ty.null(), field, "")))
}

/// `bit_reverse(base)`: changes places of neighbours, of neighbouring pairs and so on.
pub(super) fn reverse<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [base] = call.args[..] else { return None };
    Some(Replacement::Value(reversed(call, base)?))
}

fn reversed<'m>(call: &Call<'_, 'm>, base: Value<'m>) -> Option<Value<'m>> {
    let (builder, ty) = (call.builder, base.ty());
    let mut value = base;
    let mut step = ty.scalar().int_width()? / 2;
    while step > 0 {
        // Of each pair of groups of `step` bits, the lower one.
        let mut lower = (1_u128 << step) - 1;
        for wider in (0..).map(|n| step << n).skip(1).take_while(|wider| *wider < 64) {
            lower |= lower << wider;
        }
        let (lower, step_bits) = (ty.wide_int(lower), ty.int(step.into()));
        let up = builder.shl(builder.and(value, lower, ""), step_bits, "");
        let down = builder.and(builder.lshr(value, step_bits, ""), lower, "");
        value = builder.or(up, down, "");
        step /= 2;
    }
    Some(value)
}

/// Returns so many low bits in each lane of the result.
fn low_bits<'m>(call: &Call<'_, 'm>, count: Value<'m>) -> Option<Value<'m>> {
    let (builder, ty) = (call.builder, call.result);
    let width = call.word(ty.scalar().int_width()?);
    let all = builder.lshr(ty.all_ones(), shift(call, builder.sub(width, count, "")), "");
    let is_empty = builder.icmp(IntPredicate::LLVMIntEQ, count, count.ty().null(), "");
    Some(builder.select(is_empty, ty.null(), all, ""))
}

/// Returns a number of bits in each lane of the result, less than its width: whole widths are shifted only where no bit
/// is asked for.
fn shift<'m>(call: &Call<'_, 'm>, bits: Value<'m>) -> Value<'m> {
    let (builder, ty) = (call.builder, call.result);
    let most = u64::from(ty.scalar().int_width().unwrap_or(1)) - 1;
    let bits = builder.and(bits, bits.ty().int(most), "");
    builder.splat(builder.int_cast(bits, ty.scalar(), false, ""), ty)
}
