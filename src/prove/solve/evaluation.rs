//! Computes operations on the bits of their operands.

use kassay_ir::kernel::floats;

use super::operation::{Operation, Rounding, Sort, mask};

fn signed(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

fn width(sort: Sort) -> u32 {
    match sort {
        Sort::Bits(width) | Sort::Float(width) => width,
        Sort::Other => 64,
    }
}

/// Computes an operation exactly, on the bits of its arguments.
pub fn evaluate(operation: Operation, v: &[u64], from: &[Sort], to: Sort) -> u64 {
    use Operation::*;
    let wide = width(from[0]);
    let s = |i: usize| signed(v[i], wide);
    let f = |i: usize| floats::number(v[i], width(from[i]));
    let shift = |i: usize| u32::try_from(v[i]).unwrap_or(u32::MAX);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "conversions round")]
    #[expect(clippy::cast_sign_loss, reason = "conversions saturate")]
    let bits = match operation {
        Add => v[0].wrapping_add(v[1]),
        Sub => v[0].wrapping_sub(v[1]),
        Mul => v[0].wrapping_mul(v[1]),
        UDiv => v[0].checked_div(v[1]).unwrap_or(u64::MAX),
        SDiv if s(1) == 0 => {
            if s(0) < 0 {
                1
            } else {
                u64::MAX
            }
        }
        SDiv => s(0).wrapping_div(s(1)).cast_unsigned(),
        URem => v[0].checked_rem(v[1]).unwrap_or(v[0]),
        SRem if s(1) == 0 => v[0],
        SRem => s(0).wrapping_rem(s(1)).cast_unsigned(),
        And => v[0] & v[1],
        Or => v[0] | v[1],
        Xor => v[0] ^ v[1],
        Shl => v[0].checked_shl(shift(1)).unwrap_or(0),
        LShr => v[0].checked_shr(shift(1)).unwrap_or(0),
        AShr => (s(0) >> shift(1).min(63)).cast_unsigned(),
        ZExt | Trunc | FromBits | ToBits => v[0],
        SExt => s(0).cast_unsigned(),
        Concat => v[0] << width(from[1]) | v[1],
        Extract(low) => v[0] >> low,
        Eq => u64::from(v[0] == v[1]),
        Ult => u64::from(v[0] < v[1]),
        Ule => u64::from(v[0] <= v[1]),
        Slt => u64::from(s(0) < s(1)),
        Sle => u64::from(s(0) <= s(1)),
        FEq => u64::from(f(0) == f(1)),
        FLt => u64::from(f(0) < f(1)),
        FLe => u64::from(f(0) <= f(1)),
        IsNan => u64::from(f(0).is_nan()),
        FNeg => v[0] ^ (1 << (wide - 1)),
        FAbs => v[0] & mask(wide - 1),
        // For narrower floats, a 64-bit result is precise enough that rounding it again is harmless.
        FAdd => floats::bits(f(0) + f(1), wide),
        FSub => floats::bits(f(0) - f(1), wide),
        FMul => floats::bits(f(0) * f(1), wide),
        FDiv => floats::bits(f(0) / f(1), wide),
        FRem => floats::bits(f(0) % f(1), wide),
        FSqrt => floats::bits(f(0).sqrt(), wide),
        FFma if wide == 32 => (f(0) as f32).mul_add(f(1) as f32, f(2) as f32).to_bits().into(),
        FFma => floats::bits(f(0).mul_add(f(1), f(2)), wide),
        FRound(Rounding::Even) => floats::bits(f(0).round_ties_even(), wide),
        FRound(Rounding::Away) => floats::bits(f(0).round(), wide),
        FRound(Rounding::Up) => floats::bits(f(0).ceil(), wide),
        FRound(Rounding::Down) => floats::bits(f(0).floor(), wide),
        FRound(Rounding::Zero) => floats::bits(f(0).trunc(), wide),
        FToF => floats::bits(f(0), width(to)),
        FToSI => {
            let max = i64::MAX >> (64 - width(to).clamp(1, 64));
            (f(0) as i64).clamp(-max - 1, max).cast_unsigned()
        }
        FToUI => (f(0) as u64).min(mask(width(to))),
        // In one step: going through 64 bits would round twice.
        SIToF if to == Sort::Float(32) => (s(0) as f32).to_bits().into(),
        UIToF if to == Sort::Float(32) => (v[0] as f32).to_bits().into(),
        SIToF => floats::bits(s(0) as f64, width(to)),
        UIToF => floats::bits(v[0] as f64, width(to)),
        Select => v[if v[0] & 1 == 1 { 1 } else { 2 }],
    };
    match to {
        Sort::Bits(width) => bits & mask(width),
        _ => bits,
    }
}
