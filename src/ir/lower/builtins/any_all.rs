//! `any` and `all` (OpenCL C 3.0, 6.15.6): whether the most significant bit is set in some lane, or in all.

use super::call::{Call, Replacement};
use crate::llvm::{Builder, IntPredicate, Value};

pub(super) fn any<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    sign_of(call, |builder, x, y| builder.or(x, y, ""))
}

pub(super) fn all<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    sign_of(call, |builder, x, y| builder.and(x, y, ""))
}

/// Returns 1 if the most significant bit of all lanes together is set.
fn sign_of<'m>(
    call: &Call<'_, 'm>,
    together: impl Fn(&Builder<'m>, Value<'m>, Value<'m>) -> Value<'m>,
) -> Option<Replacement<'m>> {
    let [value] = call.args[..] else { return None };
    value.ty().scalar().int_width()?;
    let lanes: Vec<Value<'m>> = match value.ty().lanes() {
        Some(lanes) => (0..lanes).map(|lane| call.builder.lane(value, lane)).collect(),
        None => vec![value],
    };
    let bits = lanes.into_iter().reduce(|x, y| together(call.builder, x, y))?;
    let is_set = call.builder.icmp(IntPredicate::LLVMIntSLT, bits, bits.ty().null(), "");
    Some(Replacement::Value(call.builder.zext(is_set, call.result, "")))
}
