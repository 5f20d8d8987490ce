//! Checks that evaluation, the interpreter's arithmetic and the solver give operations the same meaning.

use kassay_ir::kernel::floats;
use kassay_prove::program::{Kind, arithmetic};
use kassay_prove::solve::evaluation::evaluate;
use kassay_prove::solve::expression::{Operation, Rounding, Sort, Term, Terms};
use kassay_prove::solve::query::{Answer, Limits, solve};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LIMITS: Limits = Limits { rlimit: 0, end: None };

fn width(sort: Sort) -> u32 {
    match sort {
        Sort::Bits(width) | Sort::Float(width) => width,
        Sort::Other => unreachable!(),
    }
}

fn masked(bits: u64, sort: Sort) -> u64 {
    if width(sort) == 64 { bits } else { bits & ((1 << width(sort)) - 1) }
}

/// Returns a number at which operations tend to go wrong.
fn arbitrary(random: &mut ChaCha8Rng, sort: Sort) -> u64 {
    let wide = width(sort);
    let bits = match sort {
        Sort::Float(_) => match random.random_range(0..8) {
            0 => random.random::<u64>(),
            1 => floats::bits(f64::from(random.random_range(-9i32..9)), wide),
            2 => floats::bits(f64::from(random.random::<i32>()) * 0.37, wide),
            3 => floats::bits([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0][random.random_range(0..4)], wide),
            4 => random.random_range(0..5),
            5 => floats::bits(2f64.powi(random.random_range(-150..130)), wide),
            _ => floats::bits(random.random_range(-40.0..40.0), wide),
        },
        _ => match random.random_range(0..6) {
            0 => random.random_range(0..4),
            1 => u64::MAX - random.random_range(0..4),
            2 => (1u64 << (wide - 1)).wrapping_add(random.random_range(0..3)).wrapping_sub(1),
            3 => random.random_range(0..u64::from(wide) + 2),
            _ => random.random(),
        },
    };
    masked(bits, sort)
}

fn bits_of(terms: &mut Terms, term: Term) -> Term {
    match terms.sort(term) {
        Sort::Float(width) => terms.apply(Operation::ToBits, vec![term], Sort::Bits(width)),
        _ => term,
    }
}

fn is_nan(bits: u64, sort: Sort) -> bool {
    matches!(sort, Sort::Float(width) if floats::number(bits, width).is_nan())
}

/// Returns the operations with the sorts of their operands and results.
fn signatures() -> Vec<(Operation, Vec<Sort>, Sort)> {
    use Operation::*;
    let mut all = Vec::new();
    for width in [1, 8, 13, 16, 32, 64] {
        let sort = Sort::Bits(width);
        for operation in [Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr] {
            all.push((operation, vec![sort; 2], sort));
        }
        for operation in [Eq, Ult, Ule, Slt, Sle] {
            all.push((operation, vec![sort; 2], Sort::Bits(1)));
        }
        all.push((Select, vec![Sort::Bits(1), sort, sort], sort));
        for other in [1, 8, 16, 32, 64] {
            if other > width {
                all.extend([ZExt, SExt].map(|op| (op, vec![sort], Sort::Bits(other))));
            } else if other < width {
                all.extend([Trunc, Extract((width - other) / 2)].map(|op| (op, vec![sort], Sort::Bits(other))));
            }
            if width + other <= 64 {
                all.push((Concat, vec![sort, Sort::Bits(other)], Sort::Bits(width + other)));
            }
        }
    }
    for width in [16, 32, 64] {
        let (sort, bits) = (Sort::Float(width), Sort::Bits(width));
        for operation in [FAdd, FSub, FMul, FDiv] {
            all.push((operation, vec![sort; 2], sort));
        }
        for operation in [FEq, FLt, FLe] {
            all.push((operation, vec![sort; 2], Sort::Bits(1)));
        }
        all.push((IsNan, vec![sort], Sort::Bits(1)));
        all.push((Select, vec![Sort::Bits(1), sort, sort], sort));
        all.extend([FNeg, FAbs, FSqrt].map(|op| (op, vec![sort], sort)));
        if width > 16 {
            all.push((FFma, vec![sort; 3], sort));
        }
        for rounding in [Rounding::Even, Rounding::Away, Rounding::Up, Rounding::Down, Rounding::Zero] {
            all.push((FRound(rounding), vec![sort], sort));
        }
        all.push((FromBits, vec![bits], sort));
        all.push((ToBits, vec![sort], bits));
        for other in [8, 16, 32, 64] {
            all.extend([FToSI, FToUI].map(|op| (op, vec![sort], Sort::Bits(other))));
            all.extend([SIToF, UIToF].map(|op| (op, vec![Sort::Bits(other)], sort)));
            if other >= 16 && other != width {
                all.push((FToF, vec![sort], Sort::Float(other)));
            }
        }
    }
    all
}

/// Compares many operations on values in one query with their evaluation on constants.
#[test]
fn the_solver_and_evaluation_agree() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for (operation, from, to) in signatures() {
        let mut terms = Terms::default();
        let (mut conditions, mut expected) = (Vec::new(), Vec::new());
        for round in 0..6 {
            let values: Vec<u64> = from.iter().map(|sort| arbitrary(&mut random, *sort)).collect();
            let mut args = Vec::new();
            for (i, (sort, bits)) in from.iter().zip(&values).enumerate() {
                let symbol = terms.symbol(format!("x{round}.{i}"), *sort);
                let shown = bits_of(&mut terms, symbol);
                let bits = terms.constant(*bits, Sort::Bits(width(*sort)));
                conditions.push(terms.compare(Operation::Eq, shown, bits));
                args.push(symbol);
            }
            let result = terms.apply(operation, args, to);
            let result = bits_of(&mut terms, result);
            let name = format!("r{round}");
            let symbol = terms.symbol(name.clone(), Sort::Bits(width(to)));
            conditions.push(terms.compare(Operation::Eq, symbol, result));
            expected.push((name, evaluate(operation, &values, &from, to), values));
        }
        let Answer::Sat(model) = solve(&terms, &conditions, &LIMITS) else {
            panic!("{operation:?} {from:?} {to:?} has no solution")
        };
        for (name, bits, values) in expected {
            let found = model.symbol(&name).unwrap();
            assert!(
                found == bits || is_nan(found, to) && is_nan(bits, to),
                "{operation:?} {from:?} -> {to:?} of {values:x?}: {found:#x} by the solver, {bits:#x} by evaluation"
            );
        }
    }
}

#[test]
fn the_interpreter_and_evaluation_agree() {
    use LLVMOpcode::*;
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let pairs = [
        (LLVMAdd, Operation::Add),
        (LLVMSub, Operation::Sub),
        (LLVMMul, Operation::Mul),
        (LLVMUDiv, Operation::UDiv),
        (LLVMSDiv, Operation::SDiv),
        (LLVMURem, Operation::URem),
        (LLVMSRem, Operation::SRem),
        (LLVMAnd, Operation::And),
        (LLVMOr, Operation::Or),
        (LLVMXor, Operation::Xor),
        (LLVMFAdd, Operation::FAdd),
        (LLVMFSub, Operation::FSub),
        (LLVMFMul, Operation::FMul),
        (LLVMFDiv, Operation::FDiv),
        (LLVMFRem, Operation::FRem),
    ];
    for _ in 0..4000 {
        let (opcode, operation) = pairs[random.random_range(0..pairs.len())];
        let is_float = matches!(opcode, LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem);
        let (kind, sort) = if is_float {
            let width = [16, 32, 64][random.random_range(0..3)];
            (Kind::Float(width), Sort::Float(width))
        } else {
            let width = [1, 8, 16, 32, 64][random.random_range(0..5)];
            (Kind::Int(width), Sort::Bits(width))
        };
        let (a, b) = (arbitrary(&mut random, sort), arbitrary(&mut random, sort));
        let mine = evaluate(operation, &[a, b], &[sort, sort], sort);
        if let Some(bits) = arithmetic::binary(opcode, kind, a, b) {
            assert!(bits == mine || is_nan(bits, sort) && is_nan(mine, sort), "{opcode:?} {kind:?} {a:#x} {b:#x}");
        }
        if !is_float {
            let less = evaluate(Operation::Slt, &[a, b], &[sort, sort], Sort::Bits(1));
            assert_eq!(arithmetic::compare(LLVMIntPredicate::LLVMIntSLT, width(sort), a, b), less == 1);
        }
    }
    let conversions = [
        (LLVMFPToSI, Operation::FToSI),
        (LLVMFPToUI, Operation::FToUI),
        (LLVMSIToFP, Operation::SIToF),
        (LLVMUIToFP, Operation::UIToF),
    ];
    for _ in 0..4000 {
        let (opcode, operation) = conversions[random.random_range(0..4)];
        let (float, int) = ([16, 32, 64][random.random_range(0..3)], [8, 16, 32, 64][random.random_range(0..4)]);
        let (float, int) = ((Kind::Float(float), Sort::Float(float)), (Kind::Int(int), Sort::Bits(int)));
        let (from, to) = if matches!(opcode, LLVMFPToSI | LLVMFPToUI) { (float, int) } else { (int, float) };
        let bits = arbitrary(&mut random, from.1);
        let mine = evaluate(operation, &[bits], &[from.1], to.1);
        assert_eq!(arithmetic::cast(opcode, from.0, to.0, bits), mine, "{opcode:?} {from:?} {to:?} {bits:#x}");
    }
}

/// Arithmetic of narrow floats by way of 64 bits equals that of the type itself.
#[test]
fn single_precision_is_that_of_the_machine() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let sort = Sort::Float(32);
    for _ in 0..20_000 {
        let (a, b) = (arbitrary(&mut random, sort), arbitrary(&mut random, sort));
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let cases = [
            (Operation::FAdd, x + y),
            (Operation::FSub, x - y),
            (Operation::FMul, x * y),
            (Operation::FDiv, x / y),
            (Operation::FRem, x % y),
            (Operation::FSqrt, x.sqrt()),
        ];
        for (operation, expected) in cases {
            let found = f32::from_bits(evaluate(operation, &[a, b], &[sort, sort], sort) as u32);
            assert!(
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                "{operation:?} {x} {y}"
            );
        }
    }
}
