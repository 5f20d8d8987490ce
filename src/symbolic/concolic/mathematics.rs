//! Builtins that the solver does not know, on bits: as a host's mathematics have them.

use crate::kernel::builtins;
use crate::program::{Instruction, Kind, Op, Program, Shape, arithmetic};

/// What a call of a builtin on floats gives, by lane; `None` if it is another.
pub fn builtin(program: &Program, instruction: &Instruction, args: &[Vec<u64>], shape: Shape) -> Option<Vec<u64>> {
    let Op::Call(name, base) = &instruction.op else { return None };
    let (Kind::Float(from), Kind::Float(to)) = (program.shape(*instruction.operands.first()?).kind, shape.kind) else {
        return None;
    };
    let params = builtins::demangle(name).map_or("", |(_, params)| params);
    let numbers: Vec<Vec<f64>> = args
        .iter()
        .zip(&instruction.operands)
        .map(|(lanes, operand)| match program.shape(*operand).kind {
            Kind::Float(width) => lanes.iter().map(|bits| arithmetic::float(*bits, width)).collect(),
            Kind::Int(width) if !params.ends_with(['j', 't', 'h', 'm']) => {
                lanes.iter().map(|bits| crate::program::signed(*bits, width) as f64).collect()
            }
            _ => lanes.iter().map(|bits| *bits as f64).collect(),
        })
        .collect();
    if from != to && base != "nan" {
        return None;
    }
    let plain = base.trim_start_matches("native_").trim_start_matches("half_").trim_start_matches("fast_");
    if let Some(found) = geometric(plain, &numbers) {
        return Some(found.into_iter().map(|x| arithmetic::float_bits(x, to)).collect());
    }
    let lane = |i: usize| {
        let args: Vec<f64> = numbers.iter().filter_map(|n| n.get(i).or(n.first()).copied()).collect();
        common(plain, &args).map(|x| arithmetic::float_bits(x, to))
    };
    (0..shape.lanes.max(1) as usize).map(lane).collect()
}

fn geometric(base: &str, args: &[Vec<f64>]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    match (base, args) {
        ("dot", [a, b]) => Some(vec![dot(a, b)]),
        ("length", [a]) => Some(vec![dot(a, a).sqrt()]),
        ("distance", [a, b]) => {
            let apart: Vec<f64> = a.iter().zip(b).map(|(x, y)| x - y).collect();
            Some(vec![dot(&apart, &apart).sqrt()])
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

fn common(base: &str, args: &[f64]) -> Option<f64> {
    let found = match (base, args) {
        ("sqrt", [x]) => x.sqrt(),
        ("rsqrt", [x]) => 1.0 / x.sqrt(),
        ("cbrt", [x]) => x.cbrt(),
        ("recip", [x]) => 1.0 / x,
        ("exp", [x]) => x.exp(),
        ("exp2", [x]) => x.exp2(),
        ("exp10", [x]) => 10f64.powf(*x),
        ("expm1", [x]) => x.exp_m1(),
        ("log", [x]) => x.ln(),
        ("log2", [x]) => x.log2(),
        ("log10", [x]) => x.log10(),
        ("log1p", [x]) => x.ln_1p(),
        ("logb", [x]) => x.abs().log2().floor(),
        ("sin", [x]) => x.sin(),
        ("cos", [x]) => x.cos(),
        ("tan", [x]) => x.tan(),
        ("sinpi", [x]) => (x * std::f64::consts::PI).sin(),
        ("cospi", [x]) => (x * std::f64::consts::PI).cos(),
        ("tanpi", [x]) => (x * std::f64::consts::PI).tan(),
        ("asin", [x]) => x.asin(),
        ("acos", [x]) => x.acos(),
        ("atan", [x]) => x.atan(),
        ("sinh", [x]) => x.sinh(),
        ("cosh", [x]) => x.cosh(),
        ("tanh", [x]) => x.tanh(),
        ("asinh", [x]) => x.asinh(),
        ("acosh", [x]) => x.acosh(),
        ("atanh", [x]) => x.atanh(),
        ("atan2", [y, x]) => y.atan2(*x),
        ("degrees", [x]) => x.to_degrees(),
        ("radians", [x]) => x.to_radians(),
        ("fabs", [x]) => x.abs(),
        ("floor", [x]) => x.floor(),
        ("ceil", [x]) => x.ceil(),
        ("round", [x]) => x.round(),
        ("rint", [x]) => x.round_ties_even(),
        ("trunc", [x]) => x.trunc(),
        ("sign", [x]) if *x == 0.0 || x.is_nan() => {
            if x.is_nan() {
                0.0
            } else {
                *x
            }
        }
        ("sign", [x]) => x.signum(),
        ("hypot", [x, y]) => x.hypot(*y),
        ("pow" | "powr" | "pown", [x, y]) => x.powf(*y),
        ("rootn", [x, n]) if n % 2.0 != 0.0 => x.signum() * x.abs().powf(1.0 / n),
        ("rootn", [x, n]) => x.powf(1.0 / n),
        ("fmod", [x, y]) => x % y,
        ("remainder", [x, y]) => x - y * (x / y).round_ties_even(),
        ("fdim", [x, y]) => (x - y).max(0.0),
        ("divide", [x, y]) => x / y,
        ("ldexp", [x, n]) => x * n.exp2(),
        ("maxmag", [x, y]) if x.abs() != y.abs() => {
            if x.abs() > y.abs() {
                *x
            } else {
                *y
            }
        }
        ("minmag", [x, y]) if x.abs() != y.abs() => {
            if x.abs() < y.abs() {
                *x
            } else {
                *y
            }
        }
        ("max" | "fmax" | "maxmag", [x, y]) => x.max(*y),
        ("min" | "fmin" | "minmag", [x, y]) => x.min(*y),
        ("mix", [x, y, a]) => x + (y - x) * a,
        ("fma" | "mad", [x, y, z]) => x.mul_add(*y, *z),
        ("clamp", [x, low, high]) => x.max(*low).min(*high),
        ("step", [edge, x]) => f64::from(u8::from(x >= edge)),
        ("smoothstep", [low, high, x]) => {
            let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }
        _ => return None,
    };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_name_and_number_of_arguments() {
        assert_eq!(common("exp", &[0.0]), Some(1.0));
        assert_eq!(common("pow", &[2.0, 3.0]), Some(8.0));
        assert_eq!(common("sign", &[-3.0]), Some(-1.0));
        assert_eq!(common("exp", &[]), None);
        assert_eq!(common("unheard_of", &[1.0]), None);
        assert_eq!(geometric("dot", &[vec![1.0, 2.0], vec![3.0, 4.0]]), Some(vec![11.0]));
        assert_eq!(geometric("cross", &[vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]]), Some(vec![0.0, 0.0, 1.0]));
    }
}
