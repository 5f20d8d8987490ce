//! Checks that the table of builtins on bits, which the dry run and concolic execution share, gives the
//! simulator's results.

use std::collections::BTreeSet;
use std::sync::Arc;

use kassay_ir::llvm::Context;
use kassay_model::options::KernelOptions;
use kassay_prove::program::{Definition, Op, Program, math, promoted, reader};
use kassay_prove::solve::expression::Terms;
use kassay_prove::symbolic::transfer;
use kassay_run::exec::{Executor, Simulator, Target};
use kassay_suite::launch::{ArgValue, Launch};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::devices::once;
use crate::common::kernels::{open_bare, source_file};
use crate::common::launches::line;

/// Launches of each kernel.
const LAUNCHES: usize = 48;

/// Expressions of integers a, b, c of type T; U is its unsigned counterpart.
const OF_INTEGERS: &[&str] = &[
    "min(a, b)",
    "max(a, b)",
    "abs(a)",
    "abs_diff(a, b)",
    "add_sat(a, b)",
    "sub_sat(a, b)",
    "hadd(a, b)",
    "rhadd(a, b)",
    "mul_hi(a, b)",
    "mad_hi(a, b, c)",
    "mad_sat(a, b, c)",
    "clamp(a, min(b, c), max(b, c))",
    "rotate(a, b)",
    "popcount(a)",
    "clz(a)",
    "bitselect(a, b, c)",
    "select(a, b, (U)c)",
    "select((T2)(a, b), (T2)(b, c), (T2)(c, a) > (T2)(a, b)).y",
    "select((T2)(a, b), (T2)(b, c), (U2)(c, a)).y",
    "max((T4)(a, b, c, a), b).z",
    "mad_hi((T4)(a, b, c, a), (T4)(b, c, a, a), (T4)(c, c, b, b)).w",
    "as_uint(convert_float(a))",
    "as_uint(convert_float_rtz(a))",
    "as_uint(convert_float_rtp(a))",
    "as_uint(convert_float_rtn(a))",
    "as_ulong(convert_double(a))",
    "convert_long(a)",
    "convert_uchar(a)",
];

/// Expressions of integers with a sign.
const OF_SIGNED: &[&str] = &["any(a)", "all((T2)(a, b))", "any((T4)(a, b, c, a) < b)", "all((T2)(a, b) < (T2)(b, c))"];

/// Expressions of integers of 32 bits that fit into 24.
const OF_24: &[&str] = &["mul24((a << 8) >> 8, (b << 8) >> 8)", "mad24((a << 8) >> 8, (b << 8) >> 8, c)"];

/// Expressions of floats, with the units in the last place by which mathematics may differ. `B`: as bits.
const OF_FLOATS: &[(&str, u64)] = &[
    ("B(fabs(a))", 0),
    ("B(floor(a))", 0),
    ("B(ceil(a))", 0),
    ("B(trunc(a))", 0),
    ("B(rint(a))", 0),
    ("B(round(a))", 0),
    ("B(copysign(a, b))", 0),
    ("B(sign(a))", 0),
    ("B(step(a, b))", 0),
    ("B(fdim(a, b))", 0),
    ("B(fma(a, b, c))", 0),
    ("B(fma(a, b, -a * b))", 0),
    ("B(fma((F2)(a, b), (F2)(b, c), (F2)(c, a)).y)", 0),
    ("B(fmax(a, b))", 0),
    ("B(fmin(a, b))", 0),
    ("B(maxmag(a, b))", 0),
    ("B(minmag(a, b))", 0),
    ("B(fmod(a, b))", 0),
    ("B(remainder(a, b))", 0),
    ("B(nextafter(a, b))", 0),
    ("B(ldexp(a, 7))", 0),
    ("B(ldexp(a, -9))", 0),
    ("B(logb(a))", 0),
    ("ilogb(a)", 0),
    ("B(a + b)", 0),
    ("B(a * b - c)", 0),
    ("B(bitselect(a, b, c))", 0),
    ("B(clamp(c, fmin(a, b), fmax(a, b)))", 0),
    ("B(select(a, b, a < b))", 0),
    ("B(sqrt(fabs(a)))", 3),
    ("B(rsqrt(fabs(a)))", 4),
    ("B(cbrt(a))", 4),
    ("B(exp(a * 0.1f))", 8),
    ("B(exp2(a * 0.1f))", 8),
    ("B(exp10(a * 0.1f))", 16),
    ("B(log(fabs(a)))", 8),
    ("B(log2(fabs(a)))", 8),
    ("B(log10(fabs(a)))", 8),
    ("B(atan(a))", 8),
    ("B(atan2(a, b))", 8),
    ("B(tanh(a * 0.01f))", 16),
    ("B(hypot(a, b))", 8),
    ("B(pow(fabs(a), 2.5f))", 32),
    ("B(pown(a, 3))", 32),
    ("B(rootn(fabs(a), 3))", 32),
    ("B(degrees(a))", 4),
    ("B(radians(a))", 4),
    ("isequal(a, b)", 0),
    ("isnotequal(a, b)", 0),
    ("isless(a, b)", 0),
    ("islessequal(a, b)", 0),
    ("isgreater(a, b)", 0),
    ("isgreaterequal(a, b)", 0),
    ("islessgreater(a, b)", 0),
    ("isordered(a, b)", 0),
    ("isunordered(a, b)", 0),
    ("isnan(a)", 0),
    ("isinf(a)", 0),
    ("isfinite(a)", 0),
    ("isnormal(a)", 0),
    ("signbit(a)", 0),
    ("isless((F2)(a, b), (F2)(b, a)).y", 0),
    ("all(isless((F2)(a, b), (F2)(b, c)))", 0),
    ("convert_uchar_sat_rte(clamp(a, -1e9f, 1e9f))", 0),
    ("convert_short_sat_rtp(clamp(a, -1e9f, 1e9f))", 0),
    ("convert_char_sat_rtn(clamp(a, -1e9f, 1e9f))", 0),
    ("convert_int_rte(clamp(a, -1e9f, 1e9f))", 0),
    ("convert_int(clamp(a, -1e9f, 1e9f))", 0),
];

fn source(ty: &str, unsigned: &str, expressions: &[&str]) -> String {
    let stores: String =
        expressions.iter().enumerate().map(|(i, e)| format!("    out[{i}] = (ulong)({e});\n")).collect();
    format!(
        "#define T {ty}\n#define T2 {ty}2\n#define T4 {ty}4\n#define F2 {ty}2\n#define U {unsigned}\n#define U2 {unsigned}2\n\
         #define B as_{unsigned}\n\
         __kernel void k(__global ulong *out, T a, T b, T c) {{\n{stores}}}\n"
    )
}

/// Returns what the program stores, by offset, if its arguments after the first have these bits.
fn interpreted(program: &Program, arguments: &[u64]) -> Vec<(u64, Option<u64>)> {
    let mut values: Vec<Option<Vec<u64>>> = program
        .values
        .iter()
        .map(|definition| match definition {
            Definition::Param(0) => Some(vec![0]),
            Definition::Param(p) => Some(vec![arguments[*p as usize - 1]]),
            Definition::Constant(lanes) => Some(lanes.clone()),
            _ => None,
        })
        .collect();
    let mut stored = Vec::new();
    assert_eq!(program.blocks.len(), 1, "the expressions are without branches");
    for instruction in &program.blocks[0].instructions {
        let operands: Option<Vec<Vec<u64>>> =
            instruction.operands.iter().map(|o| values[*o as usize].clone()).collect();
        if let Op::Store = instruction.op {
            let at = values[instruction.operands[1] as usize].as_ref().unwrap()[0];
            stored.push((at, values[instruction.operands[0] as usize].as_ref().map(|lanes| lanes[0])));
            continue;
        }
        let shape = program.shape(instruction.result);
        values[instruction.result as usize] = operands.and_then(|operands| match instruction.op {
            Op::Call(..) => math::builtin(program, instruction, &operands, shape),
            _ => {
                let mut terms = Terms::default();
                let lanes: Vec<_> = operands
                    .iter()
                    .zip(&instruction.operands)
                    .map(|(lanes, o)| {
                        let sort = transfer::sort(program.shape(*o).kind);
                        lanes.iter().map(|bits| terms.constant(*bits, sort)).collect()
                    })
                    .collect();
                let found = transfer::apply(&mut terms, program, instruction, &lanes)?;
                found.into_iter().map(|lane| terms.as_constant(lane)).collect()
            }
        });
    }
    stored
}

fn interesting(random: &mut ChaCha8Rng, ty: &str) -> u64 {
    if matches!(ty, "float" | "double") {
        let x: f64 = match random.random_range(0..7) {
            0 => [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN][random.random_range(0..7)],
            1 => random.random_range(-4i16..4).into(),
            2 => f64::from(random.random_range(-9i16..9)) + 0.5,
            3 => f32::from_bits(random.random()).into(),
            4 => random.random_range(-3e9..3e9),
            _ => random.random_range(-300.0..300.0),
        };
        // The treatment of subnormal numbers is the device's choice.
        let x = if (x as f32).is_subnormal() { 0.0 } else { x };
        return if ty == "float" { (x as f32).to_bits().into() } else { x.to_bits() };
    }
    match random.random_range(0..5) {
        0 => random.random_range(0..5),
        1 => u64::MAX - random.random_range(0..5),
        2 => [0x7f, 0x80, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, i64::MAX as u64, i64::MIN as u64]
            [random.random_range(0..8)],
        _ => random.random(),
    }
}

/// Returns how many floats of that type lie between two; none if they are equal, both NaN, or zeros of either sign.
fn float_distance(ty: &str, a: u64, b: u64) -> u64 {
    let (x, y, sign) = match ty {
        "float" => (f32::from_bits(a as u32).into(), f32::from_bits(b as u32).into(), 31),
        _ => (f64::from_bits(a), f64::from_bits(b), 63),
    };
    if x == y || x.is_nan() && y.is_nan() {
        return 0;
    }
    let place = |bits: u64| {
        let magnitude = (bits & !(1 << sign)).cast_signed();
        if bits >> sign & 1 == 1 { -magnitude } else { magnitude }
    };
    if x.is_nan() || y.is_nan() { u64::MAX } else { place(a).abs_diff(place(b)) }
}

/// Describes the differences between the table and the simulator.
fn differences(
    ty: &str,
    unsigned: &str,
    size: usize,
    expressions: &[(&str, u64)],
    random: &mut ChaCha8Rng,
) -> Vec<String> {
    let mut simulator = Simulator::new(1).unwrap();
    let texts: Vec<&str> = expressions.iter().map(|(text, _)| *text).collect();
    let (_folder, path) = source_file(&source(ty, unsigned, &texts));
    let context = Context::create();
    let under_test = open_bare(&context, &path, Some("k"), &KernelOptions::default()).unwrap().under_test;
    let promoted = promoted::promote(&under_test.module, "k", &under_test.machine).unwrap();
    let program = reader::read(&promoted, "k").unwrap();
    let code = simulator.load(&under_test.plain(Target::Native).unwrap()).unwrap();
    let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
    for _ in 0..LAUNCHES {
        let arguments: Vec<u64> = (0..3).map(|_| interesting(random, ty)).collect();
        let kept: Vec<u64> =
            arguments.iter().map(|a| if size == 8 { *a } else { a & ((1 << (8 * size)) - 1) }).collect();
        let mut args = vec![ArgValue::Buffer(Arc::new(vec![0; 8 * expressions.len()]))];
        args.extend(kept.iter().map(|a| ArgValue::Value(a.to_le_bytes()[..size].to_vec())));
        let seen = simulator.run(code, &Launch::new(line(1, 1), args), &once()).unwrap().unwrap();
        let (_, bytes) = seen.outputs.iter().find(|(p, _)| *p == 0).unwrap();
        for (at, bits) in interpreted(&program, &kept) {
            let (expression, ulps) = expressions[at as usize / 8];
            let simulated = u64::from_le_bytes(bytes[at as usize..at as usize + 8].try_into().unwrap());
            let Some(bits) = bits else {
                // Bits of a NaN, signs of zeros and numbers that may be flushed are left to devices (OpenCL C 3.0,
                // sections 6.2.2 and 7.5.3).
                let is_open = kept.iter().chain([&simulated]).any(|bits| !is_normal(ty, *bits));
                if !is_open {
                    wrong.push(format!("{ty}: `{expression}` of {kept:x?} is not known"));
                }
                continue;
            };
            known.insert(expression);
            let is_same = match expression.starts_with("B(") {
                true => float_distance(ty, bits, simulated) <= ulps,
                false => bits == simulated,
            };
            if !is_same {
                wrong.push(format!(
                    "{ty}: `{expression}` of {kept:x?}: {simulated:#x} on the simulator, {bits:#x} by the table"
                ));
            }
        }
    }
    let never = texts.iter().filter(|text| !known.contains(*text));
    wrong.extend(never.map(|text| format!("{ty}: `{text}` is never known")));
    wrong.sort();
    wrong.dedup_by_key(|w| w.split(" of [").next().map(str::to_owned));
    wrong
}

/// Returns whether bits are those of a normal number: neither a NaN, infinite, zero nor subnormal. All integers are.
fn is_normal(ty: &str, bits: u64) -> bool {
    match ty {
        "float" => f32::from_bits(bits as u32).is_normal(),
        "double" => f64::from_bits(bits).is_normal(),
        _ => true,
    }
}

#[test]
fn builtins_of_integers_are_those_of_the_simulator() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut wrong = Vec::new();
    let types = [
        ("int", "uint", 4),
        ("uint", "uint", 4),
        ("char", "uchar", 1),
        ("uchar", "uchar", 1),
        ("short", "ushort", 2),
        ("ushort", "ushort", 2),
        ("long", "ulong", 8),
        ("ulong", "ulong", 8),
    ];
    for (ty, unsigned, size) in types {
        let mut all = OF_INTEGERS.to_vec();
        if ty != unsigned {
            all.extend(OF_SIGNED);
        }
        if matches!(ty, "int" | "uint") {
            all.extend(OF_24);
        }
        // libclc saturates every product whose high half is not zero, such as that of 1 and the smallest long.
        let is_right = |e: &&str| ty != "long" || !e.starts_with("mad_sat");
        let all: Vec<(&str, u64)> = all.into_iter().filter(is_right).map(|e| (e, 0)).collect();
        wrong.extend(differences(ty, unsigned, size, &all, &mut random));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn builtins_of_floats_are_those_of_the_simulator() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut wrong = differences("float", "uint", 4, OF_FLOATS, &mut random);
    let plain =
        |text: &str| ["0.1", "0.01", "1e9", "2.5"].iter().fold(text.to_owned(), |t, n| t.replace(&format!("{n}f"), n));
    let of_doubles: Vec<(String, u64)> = OF_FLOATS.iter().map(|(e, ulps)| (plain(e), *ulps)).collect();
    // A comparison of doubles selects by a long.
    let of_doubles: Vec<(&str, u64)> =
        of_doubles.iter().filter(|(e, _)| !e.starts_with("B(select")).map(|(e, ulps)| (e.as_str(), *ulps)).collect();
    wrong.extend(differences("double", "ulong", 8, &of_doubles, &mut random));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
