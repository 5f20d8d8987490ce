//! `convert_*` (OpenCL C 3.0, 6.4.3) of integers, and of floats to floats.
//!
//! The backend chooses OpSConvert and OpUConvert by the type that it converts to, where the one that it converts from
//! decides, converts to the type that a value has already, and imports conversions to `double` and `half`. It has
//! conversions of floats to integers right.

use super::call::{Call, Replacement};
use crate::kernel::builtins::{is_signed, types};
use crate::llvm::{IntPredicate, Opcode, Type, Value};

pub(super) fn convert<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [value] = call.args[..] else { return None };
    let is_float = |ty: Type<'_>| ty.scalar().is_floating_point();
    let value = match (is_float(value.ty()), is_float(call.result)) {
        (false, false) => {
            let from = call.is_signed(0)?;
            let (to, saturates) = destination(call.name)?;
            let value = if saturates { clamped(call, value, from, to)? } else { value };
            call.builder.int_cast(value, call.result, from, "")
        }
        (false, true) if call.is_signed(0)? => rounded(call, value, Opcode::LLVMSIToFP, "ConvertSToF"),
        (false, true) => rounded(call, value, Opcode::LLVMUIToFP, "ConvertUToF"),
        (true, true) if value.ty() == call.result => value,
        (true, true) if value.ty().scalar().bits() < call.result.scalar().bits() => {
            call.builder.fp_ext(value, call.result, "")
        }
        (true, true) => rounded(call, value, Opcode::LLVMFPTrunc, "FConvert"),
        (true, false) => return None,
    };
    Some(Replacement::Value(value))
}

/// Builds a conversion to a float: LLVM's instruction rounds to the nearest even number, as OpenCL does by default;
/// SPIR-V's in the direction that the name says.
fn rounded<'m>(call: &Call<'_, 'm>, value: Value<'m>, opcode: Opcode, instruction: &str) -> Value<'m> {
    let words: Vec<&str> = call.name.split('_').collect();
    match words[..] {
        [_, ty, mode @ ("rtz" | "rtp" | "rtn")] => {
            let name = format!("{instruction}_R{ty}_{mode}");
            call.spirv(&name, call.result, &[value], &types::print(call.types)).value()
        }
        _ => call.builder.cast(opcode, value, call.result, ""),
    }
}

/// Returns whether the type of a conversion's result is signed, and whether the conversion saturates; `None` unless it
/// is an integer. Rounding modes do not matter: integers are not rounded.
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
