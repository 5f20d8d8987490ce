//! Checks that the device's results are among those that terms allow: the only value where OpenCL specifies it, else
//! any of those that it allows (`symbolic::implementation_defined`). This holds on every processor.

use std::sync::Arc;

use kassay_ir::llvm::Context;
use kassay_model::options::KernelOptions;
use kassay_prove::program::{Definition, Op, Program, promoted, reader};
use kassay_prove::solve::expression::{Operation, Sort, Term, Terms};
use kassay_prove::solve::query::{Answer, Limits, solve};
use kassay_prove::symbolic::implementation_defined::{self, Choices};
use kassay_prove::symbolic::transfer;
use kassay_run::exec::{Executor, Target};
use kassay_suite::launch::{ArgValue, Launch};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::devices::{once, opencl};
use crate::common::kernels::{open_bare, source_file};
use crate::common::launches::line;

/// Expressions of integers a, b, c of type T; U is its unsigned counterpart. Saturating conversions between integers
/// are left out: LLVM's SPIR-V has no place for the sign of the operand, so that devices take the wrong one.
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
    "rotate(a, b)",
    "popcount(a)",
    "clz(a)",
    "bitselect(a, b, c)",
    "select(a, b, (U)c)",
    "as_uint(convert_float(a))",
    "(T)(a << b)",
    "(T)(a >> b)",
    "a / (T)(b | 1)",
    "a % (T)(b | 1)",
    "any((T2)(a, b) < (T2)(b, c))",
    "select((T2)(a, b), (T2)(b, c), (T2)(c, a) > (T2)(a, b)).y",
    "max((T4)(a, b, c, a), b).z",
    "clamp(a, b, c)",
    "a / b",
    "a % b",
];

/// Expressions of floats.
const OF_FLOATS: &[&str] = &[
    "as_uint(fabs(a))",
    "as_uint(floor(a))",
    "as_uint(ceil(a))",
    "as_uint(trunc(a))",
    "as_uint(rint(a))",
    "as_uint(round(a))",
    "as_uint(copysign(a, b))",
    "as_uint(sign(a))",
    "as_uint(step(a, b))",
    "as_uint(fdim(a, b))",
    "as_uint(fma(a, b, c))",
    "as_uint(a + b)",
    "as_uint(a - b)",
    "as_uint(a * b)",
    "as_uint(-a)",
    "isequal(a, b)",
    "isnotequal(a, b)",
    "isless(a, b)",
    "isgreaterequal(a, b)",
    "islessgreater(a, b)",
    "isordered(a, b)",
    "isunordered(a, b)",
    "isnan(a)",
    "isinf(a)",
    "isfinite(a)",
    "isnormal(a)",
    "signbit(a)",
    "isless((float2)(a, b), (float2)(b, a)).y",
    "all(isless((float2)(a, b), (float2)(b, c)))",
    "convert_int_sat(a)",
    "convert_uint_sat(a)",
    "convert_uchar_sat_rte(a)",
    "convert_short_sat_rtp(a)",
    "convert_char_sat_rtn(a)",
    "a == b",
    "a != b",
    "a <= b",
    "as_uint(bitselect(a, b, c))",
    "as_uint(fmax(a, 1.5f))",
    "as_uint(fmin(a, 1.5f))",
    "as_ulong(convert_double(a))",
    "as_ushort2(a).y",
    "as_uint(fmax(a, b))",
    "as_uint(fmin(a, b))",
    "as_uint(max(a, b))",
    "as_uint(min(a, b))",
    "as_uint(clamp(a, b, c))",
    "as_uint(fmod(a, b))",
    "as_uint(a * b + c)",
    "as_uint(a - b * c)",
    "as_uint(a * a + b * c)",
    "convert_int_rtp(a)",
    "convert_uint(a)",
    "convert_uchar_rte(a)",
    "(int)a",
    "(ulong)b",
    "as_uint(convert_float(convert_double(a) * 0.3))",
    "as_uint((float)(convert_double(a) * 1e-30))",
    "isgreater(a - b, 0.0f)",
    "a - b == 0.0f",
    "a < 1e-40f",
];

/// Expressions whose value is entirely open.
const OPEN: &[&str] = &["as_uint(a / b)", "as_uint(sqrt(a))", "as_uint(native_recip(a))", "as_uint(mad(a, b, c))"];

fn source(ty: &str, unsigned: &str, expressions: &[&str]) -> String {
    let stores: String =
        expressions.iter().enumerate().map(|(i, e)| format!("    out[{i}] = (ulong)({e});\n")).collect();
    format!(
        "#define T {ty}\n#define T2 {ty}2\n#define T4 {ty}4\n#define U {unsigned}\n\
         __kernel void k(__global ulong *out, T a, T b, T c) {{\n{stores}}}\n"
    )
}

/// Returns what the program stores, by offset, if its arguments after the first have these bits; `None`: any value.
fn interpreted(terms: &mut Terms, program: &Program, arguments: &[u64]) -> Vec<(u64, Option<Term>)> {
    let mut choices = Choices::default();
    let mut values: Vec<Option<Vec<Term>>> = vec![None; program.values.len()];
    for (i, definition) in program.values.iter().enumerate() {
        values[i] = match definition {
            Definition::Param(0) => Some(vec![terms.constant(0, Sort::Bits(64))]),
            Definition::Param(p) => {
                let sort = transfer::sort(program.shapes[i].kind);
                Some(vec![terms.constant(arguments[*p as usize - 1], sort)])
            }
            Definition::Constant(_) => transfer::constant(terms, program, i as u32),
            _ => None,
        };
    }
    let mut stored = Vec::new();
    assert_eq!(program.blocks.len(), 1, "the expressions are without branches");
    for instruction in &program.blocks[0].instructions {
        let operands: Option<Vec<Vec<Term>>> =
            instruction.operands.iter().map(|o| values[*o as usize].clone()).collect();
        if let Op::Store = instruction.op {
            let at = values[instruction.operands[1] as usize].as_ref().unwrap()[0];
            let bits = values[instruction.operands[0] as usize].as_ref().map(|lanes| lanes[0]);
            stored.push((terms.as_constant(at).unwrap(), bits));
            continue;
        }
        values[instruction.result as usize] = operands
            .and_then(|operands| implementation_defined::apply(terms, &mut choices, program, instruction, &operands));
    }
    stored
}

/// Returns whether the terms allow a value.
fn allow(terms: &mut Terms, stored: Term, bits: u64) -> bool {
    if let Some(exact) = terms.as_constant(stored) {
        return exact == bits;
    }
    let wanted = terms.constant(bits, terms.sort(stored));
    let same = terms.compare(Operation::Eq, stored, wanted);
    match solve(terms, &[same], &Limits { rlimit: 20_000_000, end: None }) {
        Answer::Sat(_) => true,
        Answer::Unsat => false,
        Answer::Unknown(why) => panic!("the solver gave up: {why}"),
    }
}

fn interesting(random: &mut ChaCha8Rng, ty: &str) -> u64 {
    if ty == "float" {
        let x: f32 = match random.random_range(0..8) {
            0 => [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN][random.random_range(0..7)],
            1 => random.random_range(-4i16..4).into(),
            2 => f32::from(random.random_range(-9i16..9)) + 0.5,
            3 => f32::from_bits(random.random()),
            4 => random.random_range(-3e9..3e9),
            5 => f32::from_bits(random.random_range(0..0x0100_0000)),
            _ => random.random_range(-300.0..300.0),
        };
        return x.to_bits().into();
    }
    match random.random_range(0..5) {
        0 => random.random_range(0..5),
        1 => u64::MAX - random.random_range(0..5),
        2 => [0x7f, 0x80, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, i64::MAX as u64, i64::MIN as u64]
            [random.random_range(0..8)],
        _ => random.random(),
    }
}

#[test]
fn what_the_device_gives_is_what_terms_allow() {
    let mut executor = opencl().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut wrong, mut exact) = (Vec::new(), 0);
    let types = [
        ("int", "uint", 4),
        ("uint", "uint", 4),
        ("char", "uchar", 1),
        ("uchar", "uchar", 1),
        ("short", "ushort", 2),
        ("long", "ulong", 8),
        ("ulong", "ulong", 8),
        ("float", "uint", 4),
    ];
    for (ty, unsigned, size) in types {
        let expressions = if ty == "float" { [OF_FLOATS, OPEN].concat() } else { OF_INTEGERS.to_vec() };
        let (_folder, path) = source_file(&source(ty, unsigned, &expressions));
        let context = Context::create();
        let under_test = open_bare(&context, &path, Some("k"), &KernelOptions::default()).unwrap().under_test;
        let promoted = promoted::promote(&under_test.module, "k", &under_test.machine).unwrap();
        let program = reader::read(&promoted, "k").unwrap();
        let code = executor.load(&under_test.plain(Target::SpirV).unwrap()).unwrap();
        for _ in 0..16 {
            let arguments: Vec<u64> = (0..3).map(|_| interesting(&mut random, ty)).collect();
            let kept: Vec<u64> =
                arguments.iter().map(|a| if size == 8 { *a } else { a & ((1 << (8 * size)) - 1) }).collect();
            let mut args = vec![ArgValue::Buffer(Arc::new(vec![0; 8 * expressions.len()]))];
            args.extend(kept.iter().map(|a| ArgValue::Value(a.to_le_bytes()[..size].to_vec())));
            let seen = executor.run(code, &Launch::new(line(1, 1), args), &once()).unwrap().unwrap();
            let (_, bytes) = seen.outputs.iter().find(|(p, _)| *p == 0).unwrap();
            let mut terms = Terms::default();
            for (at, stored) in interpreted(&mut terms, &program, &kept) {
                let expression = expressions[at as usize / 8];
                let device = u64::from_le_bytes(bytes[at as usize..at as usize + 8].try_into().unwrap());
                if stored.is_none() != OPEN.contains(&expression) {
                    wrong.push(format!("{ty}: `{expression}`: {stored:?}"));
                    continue;
                }
                let Some(stored) = stored else { continue };
                exact += usize::from(terms.as_constant(stored).is_some());
                if !allow(&mut terms, stored, device) {
                    let on_terms = terms.as_constant(stored);
                    wrong.push(format!("{ty}: `{expression}` of {kept:x?}: {device:#x}, not {on_terms:x?}"));
                }
            }
        }
    }
    // Few values are open.
    assert!(exact > 3000, "{exact}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
