//! Checks results of functions on floats: exact where OpenCL C requires it, else within its bounds (OpenCL C 3.0, 7.4).

use kassay_ir::lower::native::emit::Effort;

use super::support::{Arg, Loaded, Range, code, run};

/// Returns floats of every magnitude, and special values.
fn floats() -> Vec<f32> {
    let mut all =
        vec![0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.5, 0.49999997, 8388607.5, 16777216.0, 1e10, -1e10];
    all.extend([f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-42, -1e-45, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
    let mut state = 12345u32;
    for _ in 0..3000 {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let unit = (state >> 8) as f32 / (1 << 24) as f32;
        all.extend([unit, 20.0 * unit - 10.0, f32::from_bits(state)]);
    }
    all
}

fn bytes<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

/// Evaluates `expressions` of `x`, `y` and `z` for every triple of consecutive inputs (`y` and `z` are the next two).
fn values(ty: &str, expressions: &[&str], inputs: &[u8], size: usize, out: usize, out_type: &str) -> Vec<Vec<u8>> {
    let count = inputs.len() / size;
    let statements: String =
        expressions.iter().enumerate().map(|(i, e)| format!("out[{i} * (ulong)n + i] = {e};")).collect();
    let source = format!(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable
        #pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(global {out_type} *out, global const {ty} *in, uint n) {{
            for (uint i = 0; i < n; i++) {{ {ty} x = in[i], y = in[(i + 1) % n], z = in[(i + 2) % n]; {statements} }}
        }}"
    );
    let loaded = Loaded::new(&code(&source, "CL1.2", Effort::Full).unwrap_or_else(|e| panic!("{e}")));
    let mut results = vec![0; expressions.len() * count * out];
    let mut inputs = inputs.to_vec();
    let n = (count as u32).to_le_bytes();
    run(&loaded, Range::linear(1, 1), &mut [Arg::Buffer(&mut results), Arg::Buffer(&mut inputs), Arg::Value(&n)]);
    results.chunks_exact(count * out).map(<[u8]>::to_vec).collect()
}

fn as_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn as_doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// Returns the distance in units of the last place of the exact result's binade.
fn ulps(seen: f64, exact: f64, digits: i32, least: i32) -> f64 {
    if seen.is_nan() && exact.is_nan() || seen == exact {
        return 0.0;
    }
    if !seen.is_finite() || !exact.is_finite() {
        return f64::INFINITY;
    }
    let exponent = if exact == 0.0 { least } else { (exact.abs().log2().floor() as i32).max(least) };
    (seen - exact).abs() / 2f64.powi(exponent - digits + 1)
}

// Functions of the C library without preconditions; Rust's own are less exact.
unsafe extern "C" {
    safe fn remainderf(x: f32, y: f32) -> f32;
    safe fn acosh(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
}

type Reference = fn(f64, f64) -> f64;

/// Expressions of one and two arguments, with their bounds in units of the last place for floats.
const BOUNDED: &[(&str, f64, Reference)] = &[
    ("acos(x)", 4.0, |x, _| x.acos()),
    ("acosh(x)", 4.0, |x, _| acosh(x)),
    ("acospi(x)", 5.0, |x, _| x.acos() / std::f64::consts::PI),
    ("asin(x)", 4.0, |x, _| x.asin()),
    ("asinh(x)", 4.0, |x, _| asinh(x)),
    ("atan(x)", 5.0, |x, _| x.atan()),
    ("atan2(x, y)", 6.0, f64::atan2),
    ("atanh(x)", 5.0, |x, _| atanh(x)),
    ("cbrt(x)", 2.0, |x, _| x.cbrt()),
    ("cos(x)", 4.0, |x, _| x.cos()),
    ("cosh(x)", 4.0, |x, _| x.cosh()),
    ("exp(x)", 3.0, |x, _| x.exp()),
    ("exp2(x)", 3.0, |x, _| x.exp2()),
    ("exp10(x)", 3.0, |x, _| 10f64.powf(x)),
    ("expm1(x)", 3.0, |x, _| x.exp_m1()),
    ("hypot(x, y)", 4.0, f64::hypot),
    ("log(x)", 3.0, |x, _| x.ln()),
    ("log10(x)", 3.0, |x, _| x.log10()),
    ("log1p(x)", 2.0, |x, _| x.ln_1p()),
    ("log2(x)", 3.0, |x, _| x.log2()),
    ("pow(fabs(x), y)", 16.0, |x, y| x.abs().powf(y)),
    ("powr(fabs(x), 1.25f)", 16.0, |x, _| x.abs().powf(1.25)),
    ("pown(x, 3)", 16.0, |x, _| x.powi(3)),
    ("rsqrt(x)", 2.0, |x, _| 1.0 / x.sqrt()),
    ("sin(x)", 4.0, |x, _| x.sin()),
    ("sinh(x)", 4.0, |x, _| x.sinh()),
    ("tan(x)", 5.0, |x, _| x.tan()),
    ("tanh(x)", 5.0, |x, _| x.tanh()),
];

#[test]
fn functions_of_floats_are_within_bounds() {
    let inputs = floats();
    let expressions: Vec<&str> = BOUNDED.iter().map(|(e, ..)| *e).collect();
    let results = values("float", &expressions, &bytes(&inputs, f32::to_le_bytes), 4, 4, "float");
    let mut worst = Vec::new();
    for ((expression, bound, reference), seen) in BOUNDED.iter().zip(&results) {
        for (i, seen) in as_floats(seen).into_iter().enumerate() {
            let (x, y) = (inputs[i], inputs[(i + 1) % inputs.len()]);
            let exact = reference(f64::from(x), f64::from(y));
            // A result beyond the greatest float may be infinite.
            let exact = if exact.abs() > f64::from(f32::MAX) { f64::from(exact as f32) } else { exact };
            let off = ulps(f64::from(seen), exact, 24, -126);
            // Subnormal results may be flushed to zero (7.5.3).
            let flushed = seen == 0.0 && exact.abs() < f64::from(f32::MIN_POSITIVE);
            if off > *bound && !flushed {
                worst.push(format!("{expression}: x = {x:e}, y = {y:e}: {seen:e}, not {exact:e}: {off} ulp"));
            }
        }
    }
    assert!(worst.is_empty(), "{}\n{}", worst.len(), worst[..worst.len().min(20)].join("\n"));
}

#[test]
fn functions_of_doubles_are_within_bounds() {
    let inputs: Vec<f64> = floats().into_iter().map(|x| f64::from(x) * 1.0000000001234).collect();
    let double = |e: &str| e.replace("1.25f", "1.25");
    let expressions: Vec<String> = BOUNDED.iter().map(|(e, ..)| double(e)).collect();
    let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
    let results = values("double", &expressions, &bytes(&inputs, f64::to_le_bytes), 8, 8, "double");
    let mut worst = Vec::new();
    for ((expression, bound, reference), seen) in BOUNDED.iter().zip(&results) {
        for (i, seen) in as_doubles(seen).into_iter().enumerate() {
            let (x, y) = (inputs[i], inputs[(i + 1) % inputs.len()]);
            let exact = reference(x, y);
            // The reference itself is off by a unit, and by more where several functions compute it.
            if ulps(seen, exact, 53, -1022) > bound + 4.0 && !(seen == 0.0 && exact.abs() < f64::MIN_POSITIVE) {
                worst.push(format!("{expression}: x = {x:e}, y = {y:e}: {seen:e}, not {exact:e}"));
            }
        }
    }
    assert!(worst.is_empty(), "{}\n{}", worst.len(), worst[..worst.len().min(20)].join("\n"));
}

type Exact = fn(f32, f32, f32) -> f32;

const EXACT: &[(&str, Exact)] = &[
    ("x + y", |x, y, _| x + y),
    ("x * y", |x, y, _| x * y),
    ("x / y", |x, y, _| x / y),
    ("x * y + z", |x, y, z| x * y + z),
    ("fma(x, y, z)", f32::mul_add),
    ("sqrt(x)", |x, _, _| x.sqrt()),
    ("ceil(x)", |x, _, _| x.ceil()),
    ("floor(x)", |x, _, _| x.floor()),
    ("trunc(x)", |x, _, _| x.trunc()),
    ("round(x)", |x, _, _| x.round()),
    ("rint(x)", |x, _, _| x.round_ties_even()),
    ("fmod(x, y)", |x, y, _| x % y),
    ("remainder(x, y)", |x, y, _| remainderf(x, y)),
    ("fabs(x)", |x, _, _| x.abs()),
    ("copysign(x, y)", |x, y, _| x.copysign(y)),
    ("nextafter(x, INFINITY)", |x, _, _| x.next_up()),
    ("ldexp(x, 3)", |x, _, _| x * 8.0),
    ("fdim(x, y)", |x, y, _| {
        if x.is_nan() || y.is_nan() {
            f32::NAN
        } else if x > y {
            x - y
        } else {
            0.0
        }
    }),
    ("(float)isnan(x)", |x, _, _| f32::from(u8::from(x.is_nan()))),
    ("(float)isnormal(x)", |x, _, _| f32::from(u8::from(x.is_normal()))),
    ("(float)(int)signbit(x)", |x, _, _| f32::from(u8::from(x.is_sign_negative()))),
    ("(float)(x < y ? 2 : 3)", |x, y, _| if x < y { 2.0 } else { 3.0 }),
];

#[test]
fn what_is_exactly_rounded_is_exact() {
    let inputs = floats();
    let expressions: Vec<&str> = EXACT.iter().map(|(e, _)| *e).collect();
    let results = values("float", &expressions, &bytes(&inputs, f32::to_le_bytes), 4, 4, "float");
    let mut wrong = Vec::new();
    for ((expression, reference), seen) in EXACT.iter().zip(&results) {
        for (i, seen) in as_floats(seen).into_iter().enumerate() {
            let [x, y, z] = [0, 1, 2].map(|by| inputs[(i + by) % inputs.len()]);
            let exact = reference(x, y, z);
            let same = seen.to_bits() == exact.to_bits() || seen.is_nan() && exact.is_nan();
            if !same {
                wrong.push(format!("{expression}: {x:e}, {y:e}, {z:e}: {seen:e}, not {exact:e}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rounds a value to an integer: to even, towards zero, up, or down.
fn rounded(x: f64, mode: &str) -> f64 {
    match mode {
        "_rte" => x.round_ties_even(),
        "_rtp" => x.ceil(),
        "_rtn" => x.floor(),
        _ => x.trunc(),
    }
}

const MODES: [&str; 5] = ["", "_rte", "_rtz", "_rtp", "_rtn"];

const INTEGERS: [(&str, i128, i128); 8] = [
    ("char", i8::MIN as i128, i8::MAX as i128),
    ("uchar", 0, u8::MAX as i128),
    ("short", i16::MIN as i128, i16::MAX as i128),
    ("ushort", 0, u16::MAX as i128),
    ("int", i32::MIN as i128, i32::MAX as i128),
    ("uint", 0, u32::MAX as i128),
    ("long", i64::MIN as i128, i64::MAX as i128),
    ("ulong", 0, u64::MAX as i128),
];

#[test]
fn conversions_to_integers_round_and_saturate() {
    let mut inputs = floats();
    inputs.extend([127.0, 127.5, 128.5, 255.5, 256.0, -128.5, -129.0, 32767.5, 65535.5, 2147483648.0, 4294967296.0]);
    inputs.extend([9.223372e18, 1.8446744e19, -9.223372e18, -0.75]);
    let mut expressions = Vec::new();
    for (ty, ..) in INTEGERS {
        for mode in MODES {
            // Each conversion is also made through a vector, and from double.
            expressions.push((format!("(long)convert_{ty}_sat{mode}(x)"), ty, mode));
            expressions.push((format!("(long)convert_{ty}3_sat{mode}((float3)(0, x, 1)).y"), ty, mode));
            expressions.push((format!("(long)convert_{ty}_sat{mode}((double)x)"), ty, mode));
        }
    }
    let texts: Vec<&str> = expressions.iter().map(|(e, ..)| e.as_str()).collect();
    let results = values("float", &texts, &bytes(&inputs, f32::to_le_bytes), 4, 8, "long");
    for ((expression, ty, mode), seen) in expressions.iter().zip(&results) {
        let (_, least, greatest) = INTEGERS.iter().find(|(name, ..)| name == ty).unwrap();
        for (x, seen) in inputs.iter().zip(seen.chunks_exact(8)) {
            let seen = i64::from_le_bytes(seen.try_into().unwrap());
            // NaN becomes 0 (6.4.3.3: should).
            let exact = if x.is_nan() { 0 } else { (rounded(f64::from(*x), mode) as i128).clamp(*least, *greatest) };
            assert_eq!(seen, exact as i64, "{expression}: {x:e}");
        }
    }
}

#[test]
fn conversions_of_integers_round() {
    let mut inputs: Vec<i64> =
        vec![0, 1, -1, 16777217, -16777217, 33554435, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1];
    inputs.extend((0..500u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64 >> (i % 60)));
    let expressions: Vec<String> =
        MODES.iter().flat_map(|m| [format!("convert_float{m}(x)"), format!("convert_float{m}((ulong)x)")]).collect();
    let texts: Vec<&str> = expressions.iter().map(String::as_str).collect();
    let results = values("long", &texts, &bytes(&inputs, i64::to_le_bytes), 8, 4, "float");
    for (i, (expression, seen)) in expressions.iter().zip(&results).enumerate() {
        for (x, seen) in inputs.iter().zip(as_floats(seen)) {
            let x = if i % 2 == 0 { i128::from(*x) } else { i128::from(*x as u64) };
            let nearest = x as f32;
            let exact = match MODES[i / 2] {
                "_rtp" if (nearest as i128) < x => nearest.next_up(),
                "_rtn" if nearest as i128 > x => nearest.next_down(),
                "_rtz" if (nearest as i128).abs() > x.abs() => {
                    if x < 0 {
                        nearest.next_up()
                    } else {
                        nearest.next_down()
                    }
                }
                _ => nearest,
            };
            assert_eq!(seen, exact, "{expression}: {x}");
        }
    }
}

/// Converts a float to a half, in a rounding mode.
fn to_half(x: f32, mode: &str) -> half::f16 {
    let nearest = half::f16::from_f32(x);
    let step = |h: half::f16, up: bool| {
        let bits = h.to_bits();
        let bits = match (h.to_f32() == 0.0, h.is_sign_negative() == up) {
            (true, _) => {
                if up {
                    1
                } else {
                    0x8001
                }
            }
            (false, true) => bits - 1,
            (false, false) => bits + 1,
        };
        half::f16::from_bits(bits)
    };
    let value = nearest.to_f32();
    match mode {
        _ if x.is_nan() => nearest,
        "_rtp" if value < x => step(nearest, true),
        "_rtn" if value > x => step(nearest, false),
        "_rtz" if value.abs() > x.abs() => step(nearest, x < 0.0),
        _ => nearest,
    }
}

#[test]
fn floats_become_halves_in_every_mode() {
    let mut inputs = floats();
    inputs.extend((0..40000u32).map(|i| f32::from_bits(i.wrapping_mul(0x1234_567b) % 0x1200_0000 + 0x3200_0000)));
    inputs.extend([65504.0, 65519.996, 65520.0, -65520.0, 65536.0, 5.9604645e-8, 2.9802322e-8, 2.9802326e-8, -1e-9]);
    let mut source = String::from(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(global ushort *out, global const float *in, uint n) {
            for (uint i = 0; i < n; i++) {
                float x = in[i];",
    );
    for (m, mode) in MODES.iter().enumerate() {
        source += &format!(
            "vstore_half{mode}(x, {m} * n + i, (global half *)out);
            out[{} * n + i] = as_ushort(convert_half{mode}(x));
            out[{} * n + i] = as_ushort(convert_half3{mode}((double3)(0, 1, x)).z);",
            m + 5,
            m + 10
        );
    }
    source += "out[15 * n + i] = as_ushort((half)x); out[16 * n + i] = as_ushort((half)(double)x); } }";
    let loaded = Loaded::new(&code(&source, "CL1.2", Effort::Full).unwrap_or_else(|e| panic!("{e}")));
    let n = inputs.len();
    let (mut out, mut input) = (vec![0; 17 * n * 2], bytes(&inputs, f32::to_le_bytes));
    let count = (n as u32).to_le_bytes();
    run(&loaded, Range::linear(1, 1), &mut [Arg::Buffer(&mut out), Arg::Buffer(&mut input), Arg::Value(&count)]);
    let seen: Vec<half::f16> = out.chunks_exact(2).map(|b| half::f16::from_le_bytes(b.try_into().unwrap())).collect();
    for (row, seen) in seen.chunks_exact(n).enumerate() {
        let mode = if row < 15 { MODES[row % 5] } else { "" };
        for (x, seen) in inputs.iter().zip(seen) {
            let exact = to_half(*x, mode);
            let same = seen.to_bits() == exact.to_bits() || seen.is_nan() && exact.is_nan();
            assert!(same, "{row} {mode}: {x:e}: {seen:?}, not {exact:?}");
        }
    }
}

#[test]
fn every_half_is_read_and_computed_with_correctly() {
    let inputs: Vec<u16> = (0..=u16::MAX).collect();
    let expressions = [
        "vload_half(i, (global const half *)in)",
        "convert_float(as_half(x))",
        "(float)(as_half(x) + as_half(y))",
        "(float)(as_half(x) * (half)3)",
        "(float)sqrt(as_half(x))",
        "(float)fma(as_half(x), as_half((ushort)(x * 7)), as_half((ushort)(x * 13)))",
        "(float)floor(as_half(x))",
        "(float)nextafter(as_half(x), (half)INFINITY)",
        "(float)isnormal(as_half(x))",
        "(float)convert_int_sat(as_half(x))",
        "(float)fract(as_half(x), (half *)&y)",
    ];
    let results = values("ushort", &expressions, &bytes(&inputs, u16::to_le_bytes), 2, 4, "float");
    let h = half::f16::from_bits;
    let rounded = |x: f64| {
        // First rounds to odd, in the last bit of a float.
        let near = x as f32;
        let odd = if f64::from(near) == x || x.is_nan() {
            near
        } else {
            let below = if f64::from(near).abs() > x.abs() { near.to_bits() - 1 } else { near.to_bits() };
            f32::from_bits(below | 1)
        };
        half::f16::from_f32(odd).to_f32()
    };
    for (e, seen) in expressions.iter().zip(&results) {
        for (x, seen) in inputs.iter().zip(as_floats(seen)) {
            let (value, next) = (h(*x).to_f32(), h(x.wrapping_add(1)).to_f32());
            let exact = match expressions.iter().position(|known| known == e).unwrap() {
                0 | 1 => value,
                2 => half::f16::from_f32(value + next).to_f32(),
                3 => half::f16::from_f32(value * 3.0).to_f32(),
                4 => half::f16::from_f32(value.sqrt()).to_f32(),
                5 => {
                    let (a, b) = (h(x.wrapping_mul(7)).to_f64(), h(x.wrapping_mul(13)).to_f64());
                    let product = f64::from(value) * a;
                    let sum = product + b;
                    // The sum is exact if the double is; otherwise it is rounded to odd.
                    let part = sum - product;
                    let error = (product - (sum - part)) + (b - part);
                    let bits = sum.to_bits();
                    let odd = if error == 0.0 || error.is_nan() || bits & 1 == 1 {
                        sum
                    } else if (error > 0.0) == (sum > 0.0) {
                        f64::from_bits(bits + 1)
                    } else {
                        f64::from_bits(bits - 1)
                    };
                    rounded(odd)
                }
                6 => value.floor(),
                7 => match *x {
                    0x7c00 => f32::INFINITY,
                    0x8000 => h(1).to_f32(),
                    x if value.is_nan() => h(x).to_f32(),
                    x if x & 0x8000 != 0 => h(x - 1).to_f32(),
                    x => h(x + 1).to_f32(),
                },
                8 => f32::from(u8::from(h(*x).is_normal())),
                9 => value as i32 as f32,
                _ => match value {
                    v if v.is_infinite() => 0f32.copysign(v),
                    v => half::f16::from_f32(v - v.floor()).to_f32().min(h(0x3bff).to_f32()),
                },
            };
            assert!(
                seen == exact || seen.is_nan() && (exact.is_nan() || value.is_nan()),
                "{e}: {x:#x} ({value}): {seen}, not {exact}"
            );
        }
    }
}
