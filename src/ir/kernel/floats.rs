//! Converts floating-point numbers to and from their bit patterns.

use half::f16;

/// The bits of the nearest float of that width (16, 32 or 64), ties to even.
pub fn bits(x: f64, width: u32) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    match width {
        16 => half_bits(x).into(),
        32 => (x as f32).to_bits().into(),
        _ => x.to_bits(),
    }
}

/// The value of the float of that width that has these bits.
pub fn number(bits: u64, width: u32) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "the width says how many bits count")]
    match width {
        16 => f16::from_bits(bits as u16).into(),
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// Rounds to half precision once: an inexact intermediate `f32` is first made odd (round to odd), so that the second
/// rounding sees the bits that the first one lost.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn half_bits(x: f64) -> u16 {
    let near = x as f32;
    let mut bits = near.to_bits();
    if f64::from(near) != x && !x.is_nan() && bits & 1 == 0 {
        bits = if f64::from(near).abs() > x.abs() { bits - 1 } else { bits + 1 };
    }
    f16::from_f32(f32::from_bits(bits)).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        // Just above the midpoint of 1 and the next half: two roundings would round down to the even neighbour.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(bits(above, 16), 0x3c01);
        assert_eq!(bits(1.0 + 2f64.powi(-11), 16), 0x3c00);
        assert_eq!(bits(1.0 + 3.0 * 2f64.powi(-11), 16), 0x3c02);
        assert_eq!(bits(65_519.999_999_999, 16), 0x7bff);
        assert_eq!(bits(-65520.0, 16), 0xfc00);
        assert_eq!(bits(1e300, 16), 0x7c00);
        assert_eq!(bits(2f64.powi(-25), 16), 0);
        assert_eq!(bits(2f64.powi(-25) + 2f64.powi(-60), 16), 1);
        assert_eq!(bits(-0.0, 16), 0x8000);
        assert!(number(bits(f64::NAN, 16), 16).is_nan());
    }

    #[test]
    fn every_half_is_itself() {
        for half in 0..=u64::from(u16::MAX) {
            let x = number(half, 16);
            assert!(x.is_nan() || bits(x, 16) == half, "{half:#x}");
        }
    }
}
