//! Dot products of integers (`cl_khr_integer_dot_product`): `dot`, and with saturating addition, of vectors of four
//! bytes and of bytes packed in a word.

use super::call::{Call, Replacement};
use crate::llvm::{IntPredicate, Value};

/// `dot(x, y)` of four bytes each. That of floats is left as it is.
pub(super) fn dot<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [x, y] = call.args[..] else { return None };
    let signs = (call.is_signed(0)?, call.is_signed(1)?);
    Some(Replacement::Value(product(call, (x, y), signs)?))
}

/// `dot_acc_sat(x, y, sum)`.
pub(super) fn accumulated<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [x, y, sum] = call.args[..] else { return None };
    let signs = (call.is_signed(0)?, call.is_signed(1)?);
    let is_signed = call.is_signed(2)?;
    added(call, product(call, (x, y), signs)?, sum, is_signed)
}

/// `dot_4x8packed_su_int(x, y)`: the letters say which operand's bytes are signed.
pub(super) fn packed<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [x, y] = call.args[..] else { return None };
    let (signs, _) = signs_in_name(call.name.strip_prefix("dot_4x8packed_")?)?;
    Some(Replacement::Value(product(call, (bytes(call, x), bytes(call, y)), signs)?))
}

/// `dot_acc_sat_4x8packed_su_int(x, y, sum)`.
pub(super) fn packed_accumulated<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [x, y, sum] = call.args[..] else { return None };
    let (signs, is_signed) = signs_in_name(call.name.strip_prefix("dot_acc_sat_4x8packed_")?)?;
    added(call, product(call, (bytes(call, x), bytes(call, y)), signs)?, sum, is_signed)
}

/// Reads `su_int`: whether the operands' bytes are signed, and whether the result is.
fn signs_in_name(suffix: &str) -> Option<((bool, bool), bool)> {
    let (operands, result) = suffix.split_once('_')?;
    let mut signs = operands.chars().map(|letter| letter == 's');
    let signs = (signs.next()?, signs.next()?);
    Some((signs, result == "int"))
}

fn bytes<'m>(call: &Call<'_, 'm>, word: Value<'m>) -> Value<'m> {
    call.builder.bit_cast(word, call.type_of().int(8).vector(4), "")
}

/// The sum of the products of the lanes, which 32 bits hold.
fn product<'m>(call: &Call<'_, 'm>, (x, y): (Value<'m>, Value<'m>), signs: (bool, bool)) -> Option<Value<'m>> {
    let lanes = x.ty().lanes().filter(|lanes| y.ty().lanes() == Some(*lanes))?;
    let (wide, builder) = (call.result.vector(lanes), call.builder);
    let (x, y) = (builder.int_cast(x, wide, signs.0, ""), builder.int_cast(y, wide, signs.1, ""));
    let products = builder.mul(x, y, "");
    (0..lanes).map(|lane| builder.lane(products, lane)).reduce(|x, y| builder.add(x, y, ""))
}

/// The sum, or the nearest number that there is.
fn added<'m>(call: &Call<'_, 'm>, product: Value<'m>, sum: Value<'m>, is_signed: bool) -> Option<Replacement<'m>> {
    let (builder, wide) = (call.builder, call.type_of().int(64));
    let (product, sum) = (builder.int_cast(product, wide, is_signed, ""), builder.int_cast(sum, wide, is_signed, ""));
    let mut exact = builder.add(product, sum, "");
    let mut limit = |limit: i64, beyond: IntPredicate| {
        let limit = wide.signed_int(limit);
        let is_beyond = builder.icmp(beyond, exact, limit, "");
        exact = builder.select(is_beyond, limit, exact, "");
    };
    if is_signed {
        limit(i32::MIN.into(), IntPredicate::LLVMIntSLT);
        limit(i32::MAX.into(), IntPredicate::LLVMIntSGT);
    } else {
        limit(u32::MAX.into(), IntPredicate::LLVMIntUGT);
    }
    Some(Replacement::Value(builder.trunc(exact, call.result, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_bytes_are_signed() {
        assert_eq!(signs_in_name("su_int"), Some(((true, false), true)));
        assert_eq!(signs_in_name("uu_uint"), Some(((false, false), false)));
        assert_eq!(signs_in_name("x"), None);
    }
}
