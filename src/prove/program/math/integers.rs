//! Evaluates integer builtins (OpenCL C 1.2, 6.12.3).

use crate::program::{masked, signed};

/// The result for one lane of `width` bits, signed or not; `to` is the width of the result. `None` if `base` is not
/// an integer builtin.
pub fn integer(base: &str, width: u32, is_signed: bool, args: &[u64], to: u32) -> Option<u64> {
    let number = |bits: u64| if is_signed { i128::from(signed(bits, width)) } else { i128::from(masked(bits, width)) };
    let numbers: Vec<i128> = args.iter().map(|bits| number(*bits)).collect();
    let range =
        if is_signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
    let saturated = |n: i128| n.clamp(range.0, range.1);
    // Products of two unsigned 64-bit numbers need all 128 bits.
    let high = |x: i128, y: i128| match is_signed {
        true => (x * y) >> width,
        false => ((x.cast_unsigned() * y.cast_unsigned()) >> width).cast_signed(),
    };
    let a = masked(*args.first()?, width);
    let result = match (base, &numbers[..]) {
        ("min", [x, y]) => *x.min(y),
        ("max", [x, y]) => *x.max(y),
        ("clamp", [x, low, high]) => *x.max(low).min(high),
        ("abs", [x]) => x.abs(),
        ("abs_diff", [x, y]) => (x - y).abs(),
        ("mul24", [x, y]) => x.wrapping_mul(*y),
        ("mad24", [x, y, z]) => x.wrapping_mul(*y).wrapping_add(*z),
        ("mul_hi", [x, y]) => high(*x, *y),
        ("mad_hi", [x, y, z]) => high(*x, *y) + z,
        ("mad_sat", [x, y, z]) if is_signed => saturated(x * y + z),
        ("mad_sat", [x, y, z]) => {
            let sum = x.cast_unsigned() * y.cast_unsigned() + z.cast_unsigned();
            sum.min(range.1.cast_unsigned()).cast_signed()
        }
        ("add_sat", [x, y]) => saturated(x + y),
        ("sub_sat", [x, y]) => saturated(x - y),
        ("hadd", [x, y]) => (x + y) >> 1,
        ("rhadd", [x, y]) => (x + y + 1) >> 1,
        ("popcount", [_]) => a.count_ones().into(),
        ("clz", [_]) => i128::from(a.leading_zeros()) - i128::from(64 - width),
        ("ctz", [_]) => a.trailing_zeros().min(width).into(),
        ("rotate", [_, _]) => funnel(a, a, args[1], width).into(),
        ("fshl", [_, _, _]) => funnel(a, args[1], args[2], width).into(),
        ("fshr", [_, _, _]) => {
            let by = args[2] % u64::from(width);
            if by == 0 {
                masked(args[1], width).into()
            } else {
                funnel(a, args[1], u64::from(width) - by, width).into()
            }
        }
        ("bswap", [_]) => (a.swap_bytes() >> (64 - width)).into(),
        ("bit_reverse", [_]) => (a.reverse_bits() >> (64 - width)).into(),
        // The low half is unsigned; the high half determines the sign of the result.
        ("upsample", [_, _]) if to == 2 * width => i128::from((a << width) | masked(args[1], width)),
        _ => return None,
    };
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "wraps as the type does")]
    Some(masked(result as u64, to))
}

/// The high half of two concatenated words shifted left by `by` modulo their width.
fn funnel(high: u64, low: u64, by: u64, width: u32) -> u64 {
    let by = (masked(by, width) % u64::from(width)) as u32;
    if by == 0 {
        return masked(high, width);
    }
    masked((high << by) | (masked(low, width) >> (width - by)), width)
}
