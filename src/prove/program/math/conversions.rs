//! Evaluates explicit conversions, `convert_T[_sat][_rte|_rtz|_rtp|_rtn]` (OpenCL C 1.2, 6.2.3), on one lane.

use std::cmp::Ordering;

use crate::program::{Kind, arithmetic, masked, signed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    Zero,
    Up,
    Down,
}

/// The bits that a conversion yields; `signed_from` says whether a source integer is signed. OpenCL leaves open what a
/// conversion without saturation makes of out-of-range values: here integers wrap and floats saturate.
pub fn converted(base: &str, signed_from: bool, bits: u64, from: Kind, to: Kind) -> Option<u64> {
    let rounding = match base.rsplit('_').next() {
        Some("rte") => Some(Rounding::Nearest),
        Some("rtz") => Some(Rounding::Zero),
        Some("rtp") => Some(Rounding::Up),
        Some("rtn") => Some(Rounding::Down),
        _ => None,
    };
    let signed_to = !base.starts_with("convert_u");
    let range = |width: u32| match signed_to {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    };
    match (from, to) {
        (Kind::Int(width), Kind::Int(to)) => {
            let n = if signed_from { i128::from(signed(bits, width)) } else { i128::from(masked(bits, width)) };
            let (least, greatest) = range(to);
            let n = if base.contains("_sat") { n.clamp(least, greatest) } else { n };
            Some(wrap(n, to))
        }
        (Kind::Int(width), Kind::Float(to)) => {
            let n = if signed_from { i128::from(signed(bits, width)) } else { i128::from(masked(bits, width)) };
            Some(from_integer(n, to, rounding.unwrap_or(Rounding::Nearest)))
        }
        (Kind::Float(width), Kind::Int(to)) => {
            let x = arithmetic::float(bits, width);
            let rounded = match rounding.unwrap_or(Rounding::Zero) {
                Rounding::Nearest => x.round_ties_even(),
                Rounding::Zero => x.trunc(),
                Rounding::Up => x.ceil(),
                Rounding::Down => x.floor(),
            };
            let (least, greatest) = range(to);
            // Saturates; NaN becomes 0.
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let n = (rounded as i128).clamp(least, greatest);
            Some(wrap(n, to))
        }
        (Kind::Float(width), Kind::Float(to)) => {
            let x = arithmetic::float(bits, width);
            let nearest = arithmetic::float_bits(x, to);
            let back = arithmetic::float(nearest, to);
            let order = back.partial_cmp(&x).unwrap_or(Ordering::Equal);
            Some(directed(nearest, to, order, x < 0.0, rounding.unwrap_or(Rounding::Nearest)))
        }
        _ => None,
    }
}

/// Wraps to the low `width` bits.
fn wrap(n: i128, width: u32) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "wraps as the type does")]
    masked(n as u64, width)
}

fn from_integer(n: i128, width: u32, rounding: Rounding) -> u64 {
    // In one step: going through 64 bits would round twice. 16 bits are rounded once by `float_bits`, after clamping to
    // a range beyond that of half.
    #[expect(clippy::cast_precision_loss, reason = "conversions round")]
    let nearest = match width {
        32 => u64::from((n as f32).to_bits()),
        64 => (n as f64).to_bits(),
        _ => {
            arithmetic::float_bits(if n.unsigned_abs() > 1 << 20 { (n as f64).signum() * 1e6 } else { n as f64 }, width)
        }
    };
    let back = arithmetic::float(nearest, width);
    #[expect(clippy::cast_possible_truncation, reason = "of integers, and infinity saturates")]
    let order = (back as i128).cmp(&n);
    directed(nearest, width, order, n < 0, rounding)
}

/// Moves the nearest float by one step if it lies on the wrong side of the exact value. `order` compares the nearest
/// float with the exact value.
fn directed(nearest: u64, width: u32, order: Ordering, is_negative: bool, rounding: Rounding) -> u64 {
    let down = match rounding {
        Rounding::Nearest => return nearest,
        Rounding::Zero => !is_negative,
        Rounding::Up => false,
        Rounding::Down => true,
    };
    match (order, down) {
        (Ordering::Greater, true) => step(nearest, width, false),
        (Ordering::Less, false) => step(nearest, width, true),
        _ => nearest,
    }
}

/// The next float upwards or downwards.
pub fn step(bits: u64, width: u32, up: bool) -> u64 {
    let sign = 1u64 << (width - 1);
    let (is_negative, magnitude) = (bits & sign != 0, bits & !sign);
    if magnitude == 0 {
        return if up { 1 } else { sign | 1 };
    }
    if is_negative == up { bits - 1 } else { bits + 1 }
}
