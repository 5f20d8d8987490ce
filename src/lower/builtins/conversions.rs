//! `convert_*` (OpenCL C 3.0, 6.4.3) between integers, and between floats of one type.
//!
//! The backend chooses OpSConvert and OpUConvert by the type that it converts to, where the one that it converts from decides, and
//! converts to the type that a value has already. It has conversions between integers and floats right, and those of floats.

use super::call::{Call, Replacement};
use crate::kernel::builtins::is_signed;
use crate::llvm::{IntPredicate, Value};

pub(super) fn convert<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [value] = call.args[..] else { return None };
    if value.ty() == call.result && value.ty().scalar().is_floating_point() {
        return Some(Replacement::Value(value));
    }
    let from = call.is_signed(0)?;
    let (to, saturates) = destination(call.name)?;
    if !call.result.scalar().is_integer() {
        return None;
    }
    let value = if saturates { clamped(call, value, from, to)? } else { value };
    Some(Replacement::Value(call.builder.int_cast(value, call.result, from, "")))
}

/// Returns whether the type of a conversion's result is signed, and whether the conversion saturates; `None` unless it is an
/// integer. Rounding modes do not matter: integers are not rounded.
fn destination(name: &str) -> Option<(bool, bool)> {
    let rest = name.strip_prefix("convert_")?;
    let mut words = rest.split('_');
    let ty = words.next()?.trim_end_matches(|c: char| c.is_ascii_digit());
    let letter = match ty {
        "char" => 'c',
        "uchar" => 'h',
        "short" => 's',
        "ushort" => 't',
        "int" => 'i',
        "uint" => 'j',
        "long" => 'l',
        "ulong" => 'm',
        _ => return None,
    };
    Some((is_signed(letter), words.next() == Some("sat")))
}

/// Returns the least and the greatest value of an integer type.
fn range(bits: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

/// Returns the nearest value that the result's type has, in the operand's type.
fn clamped<'m>(call: &Call<'_, 'm>, value: Value<'m>, from: bool, to: bool) -> Option<Value<'m>> {
    let ty = value.ty();
    let (least, greatest) = range(ty.scalar().int_width()?, from);
    let (lowest, highest) = range(call.result.scalar().int_width()?, to);
    let (less, more) = match from {
        true => (IntPredicate::LLVMIntSLT, IntPredicate::LLVMIntSGT),
        false => (IntPredicate::LLVMIntULT, IntPredicate::LLVMIntUGT),
    };
    let mut value = value;
    let mut limit = |limit: i128, beyond: IntPredicate| {
        let limit = ty.wide_int(limit.cast_unsigned());
        let is_beyond = call.builder.icmp(beyond, value, limit, "");
        value = call.builder.select(is_beyond, limit, value, "");
    };
    if lowest > least {
        limit(lowest, less);
    }
    if highest < greatest {
        limit(highest, more);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_converted_to() {
        assert_eq!(destination("convert_uint4_sat_rte"), Some((false, true)));
        assert_eq!(destination("convert_char16_rtz"), Some((true, false)));
        assert_eq!(destination("convert_float4"), None);
        assert_eq!(range(8, true), (-128, 127));
        assert_eq!(range(64, false), (0, u64::MAX.into()));
    }
}
