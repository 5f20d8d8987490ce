//! Evaluates the math, common, geometric and relational builtins on floats (OpenCL C 1.2, 6.12.2, 6.12.4 to 6.12.6).

use std::f64::consts::PI;

use super::conversions::step;
use crate::program::arithmetic;

/// Whether a function is geometric: it combines the lanes of a vector.
pub fn is_geometric(base: &str) -> bool {
    matches!(base, "dot" | "length" | "distance" | "normalize" | "cross")
}

/// Geometric functions, which combine the lanes of a vector (a scalar has one).
pub fn geometric(base: &str, args: &[Vec<f64>]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    match (base, args) {
        ("dot", [a, b]) => Some(vec![dot(a, b)]),
        ("length", [a]) => Some(vec![dot(a, a).sqrt()]),
        ("distance", [a, b]) => {
            let difference: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
            Some(vec![dot(&difference, &difference).sqrt()])
        }
        ("normalize", [a]) => {
            let length = dot(a, a).sqrt();
            Some(a.iter().map(|x| if length == 0.0 { *x } else { x / length }).collect())
        }
        ("cross", [a, b]) if a.len() >= 3 && b.len() >= 3 => {
            let mut product = vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            product.resize(a.len(), 0.0);
            Some(product)
        }
        _ => None,
    }
}

/// Whether a relation holds; `None` if `base` is not a relational builtin.
pub fn relation(base: &str, args: &[f64], width: u32) -> Option<bool> {
    let least_normal = match width {
        16 => 2f64.powi(-14),
        32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    Some(match (base, args) {
        ("isequal", [x, y]) => x == y,
        ("isnotequal", [x, y]) => x != y,
        ("isless", [x, y]) => x < y,
        ("islessequal", [x, y]) => x <= y,
        ("isgreater", [x, y]) => x > y,
        ("isgreaterequal", [x, y]) => x >= y,
        ("islessgreater", [x, y]) => x.partial_cmp(y).is_some_and(std::cmp::Ordering::is_ne),
        ("isordered", [x, y]) => !x.is_nan() && !y.is_nan(),
        ("isunordered", [x, y]) => x.is_nan() || y.is_nan(),
        ("isnan", [x]) => x.is_nan(),
        ("isinf", [x]) => x.is_infinite(),
        ("isfinite", [x]) => x.is_finite(),
        ("isnormal", [x]) => x.is_finite() && x.abs() >= least_normal,
        ("signbit", [x]) => x.is_sign_negative(),
        _ => return None,
    })
}

/// The binary exponent of a number, as `ilogb` returns it.
pub fn exponent(x: f64) -> i32 {
    let bits = x.abs().to_bits();
    match bits >> 52 {
        _ if x.is_nan() || x.is_infinite() => i32::MAX,
        0 if bits == 0 => i32::MIN,
        // Subnormal: the highest set bit decides.
        0 => -1011 - bits.leading_zeros() as i32,
        biased => biased as i32 - 1023,
    }
}

/// A function on floats of that width, given the bits and the values of its arguments.
pub fn float(base: &str, width: u32, bits: &[u64], args: &[f64]) -> Option<u64> {
    let exact = match (base, args) {
        // Sign changes and steps operate on bits, which keeps NaN payloads and unchanged operands exact.
        ("fabs", [_]) => Some(bits[0] & !(1 << (width - 1))),
        ("copysign", [_, _]) => {
            let sign = 1 << (width - 1);
            Some((bits[0] & !sign) | (bits[1] & sign))
        }
        ("nextafter", [x, y]) => match x.partial_cmp(y) {
            None => Some(arithmetic::float_bits(f64::NAN, width)),
            Some(std::cmp::Ordering::Equal) => Some(bits[1]),
            Some(order) => Some(step(bits[0], width, order.is_lt())),
        },
        ("fma" | "mad" | "fmuladd", [x, y, z]) => Some(fused(width, *x, *y, *z)),
        _ => None,
    };
    exact.or_else(|| number(base, args).map(|x| arithmetic::float_bits(x, width)))
}

/// Computes `x * y + z`, rounded once.
fn fused(width: u32, x: f64, y: f64, z: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "these are floats of that width")]
    match width {
        64 => x.mul_add(y, z).to_bits(),
        32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
        _ => {
            // The product of two halves is exact. What the sum loses is kept as an odd last bit (round to odd), so that
            // the second rounding sees it.
            let product = x * y;
            let sum = product + z;
            let rest = (product - (sum - (sum - product))) + (z - (sum - product));
            let mut bits = sum.to_bits();
            if rest != 0.0 && sum.is_finite() && bits & 1 == 0 {
                bits = step(bits, 64, rest > 0.0);
            }
            arithmetic::float_bits(f64::from_bits(bits), width)
        }
    }
}

fn number(base: &str, args: &[f64]) -> Option<f64> {
    match args {
        [x] => unary(base, *x),
        [x, y] => binary(base, *x, *y),
        [x, y, z] => ternary(base, *x, *y, *z),
        _ => None,
    }
}

fn unary(base: &str, x: f64) -> Option<f64> {
    Some(match base {
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "cbrt" => x.cbrt(),
        "recip" => 1.0 / x,
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "exp10" => 10f64.powf(x),
        "expm1" => x.exp_m1(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "logb" if x == 0.0 => f64::NEG_INFINITY,
        "logb" if !x.is_finite() => x.abs(),
        "logb" => exponent(x).into(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "sinpi" => sinpi(x),
        "cospi" => cospi(x),
        "tanpi" => sinpi(x) / cospi(x),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "asinpi" => x.asin() / PI,
        "acospi" => x.acos() / PI,
        "atanpi" => x.atan() / PI,
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "asinh" => x.asinh(),
        "acosh" => x.acosh(),
        "atanh" => x.atanh(),
        "degrees" => x.to_degrees(),
        "radians" => x.to_radians(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round" => x.round(),
        "rint" => x.round_ties_even(),
        "trunc" => x.trunc(),
        "sign" if x.is_nan() => 0.0,
        "sign" if x == 0.0 => x,
        "sign" => x.signum(),
        _ => return None,
    })
}

fn binary(base: &str, x: f64, y: f64) -> Option<f64> {
    let is_nan = x.is_nan() || y.is_nan();
    Some(match base {
        "atan2" => x.atan2(y),
        "atan2pi" => x.atan2(y) / PI,
        "hypot" => x.hypot(y),
        "pow" | "pown" => x.powf(y),
        "powr" if x < 0.0 => f64::NAN,
        "powr" => x.powf(y),
        "rootn" if y % 2.0 != 0.0 => x.signum() * x.abs().powf(1.0 / y),
        "rootn" => x.powf(1.0 / y),
        "fmod" => x % y,
        "remainder" => remainder(x, y),
        "fdim" if is_nan => f64::NAN,
        "fdim" => {
            if x > y {
                x - y
            } else {
                0.0
            }
        }
        "divide" => x / y,
        "ldexp" => scaled(x, y),
        "maxmag" if x.abs() > y.abs() => x,
        "maxmag" if x.abs() < y.abs() => y,
        "minmag" if x.abs() < y.abs() => x,
        "minmag" if x.abs() > y.abs() => y,
        "fmax" | "maxmag" => x.max(y),
        "fmin" | "minmag" => x.min(y),
        "max" => {
            if x < y {
                y
            } else {
                x
            }
        }
        "min" => {
            if y < x {
                y
            } else {
                x
            }
        }
        "step" => {
            if y < x {
                0.0
            } else {
                1.0
            }
        }
        _ => return None,
    })
}

fn ternary(base: &str, x: f64, y: f64, z: f64) -> Option<f64> {
    Some(match base {
        "mix" => x + (y - x) * z,
        "clamp" => x.max(y).min(z),
        "smoothstep" => {
            let t = ((z - x) / (y - x)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }
        _ => return None,
    })
}

/// Computes `x * 2^n` in steps that do not overflow and of which only the last one rounds.
fn scaled(mut x: f64, mut n: f64) -> f64 {
    for _ in 0..2 {
        if n > 1023.0 {
            x *= 2f64.powi(1023);
            n -= 1023.0;
        } else if n < -1022.0 {
            x *= 2f64.powi(53 - 1022);
            n += 1022.0 - 53.0;
        }
    }
    x * n.clamp(-1022.0, 1023.0).exp2()
}

/// Computes `sin(πx)`.
fn sinpi(x: f64) -> f64 {
    let turn = x % 2.0;
    let part = match turn {
        t if t > 1.5 => t - 2.0,
        t if t > 0.5 => 1.0 - t,
        t if t < -1.5 => t + 2.0,
        t if t < -0.5 => -1.0 - t,
        t => t,
    };
    (part * PI).sin()
}

fn cospi(x: f64) -> f64 {
    sinpi(0.5 - (x % 2.0).abs())
}

/// The remainder of `x` after the multiple of `y` nearest to it, ties to even (IEEE 754, 5.3.1).
fn remainder(x: f64, y: f64) -> f64 {
    if x.is_infinite() || y == 0.0 || x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let y = y.abs();
    let mut rest = x.abs();
    if y <= f64::MAX / 2.0 {
        rest %= 2.0 * y;
    }
    if y < f64::MIN_POSITIVE * 2.0 {
        if 2.0 * rest > y {
            rest -= y;
            if 2.0 * rest >= y {
                rest -= y;
            }
        }
    } else if rest > y / 2.0 {
        rest -= y;
        if rest >= y / 2.0 {
            rest -= y;
        }
    }
    if x.is_sign_negative() { -rest } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fused_product_is_rounded_once() {
        // 2^-70 below the midpoint of 1 + 2^-23 and the next float, from which 64 bits cannot distinguish it.
        let [above, below] = [1.0, -1.0].map(|sign| 2f64.powi(-12) * (1.0 + sign * 2f64.powi(-23)));
        assert_eq!(fused(32, above, below, 1.0 + 2f64.powi(-23)), u64::from((1.0f32 + f32::EPSILON).to_bits()));
        // 2^-48 above the midpoint of 1024 and the next half.
        let small = 2f64.powi(-24);
        assert_eq!(fused(16, small, small, 1024.5), 0x6400 + 1);
        assert_eq!(fused(16, 1.0, 0.5, 1024.0), 0x6400);
    }

    #[test]
    fn remainders_and_exponents_are_exact() {
        assert_eq!(remainder(5.0, 2.0), 1.0);
        assert_eq!(remainder(7.0, 2.0), -1.0);
        assert_eq!(remainder(-5.5, 2.0), 0.5);
        assert_eq!(remainder(1e300, 3.0), (1e300 % 3.0) - if 1e300 % 3.0 > 1.5 { 3.0 } else { 0.0 });
        assert_eq!([exponent(8.0), exponent(7.9), exponent(0.1), exponent(5e-324)], [3, 2, -4, -1074]);
        assert_eq!([sinpi(1.0), sinpi(0.5), sinpi(-2.5), cospi(0.5), cospi(3.0)], [0.0, 1.0, -1.0, 0.0, -1.0]);
    }
}
