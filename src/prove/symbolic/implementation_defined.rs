//! Abstract semantics of instructions and builtins that hold on every conforming device: the result is the exact value
//! of `transfer`, one of several values that OpenCL C allows, or arbitrary.
//!
//! [`CASES`] is the single list of what OpenCL C leaves to the device; the result of an operation that has no rule in
//! `transfer` is arbitrary. Proofs use this module; interpreters, whose results are only proposals to be run, do not.

use std::collections::HashMap;

use kassay_ir::kernel::{builtins, floats};
use kassay_ir::llvm::Opcode;

use super::transfer;
use crate::program::{Instruction, Kind, Op, Program};
use crate::solve::expression::{Node, Operation, Rounding, Sort, Term, Terms};

/// A case in which the standard says "may", "should", "undefined" or "implementation-defined", or bounds an error.
#[derive(Debug)]
#[expect(missing_docs, reason = "the type of each says what it is")]
pub struct Case {
    /// Names of instructions (as in LLVM) and of builtins (as in OpenCL C); `*` stands for any characters.
    pub names: &'static [&'static str],
    pub operands: Operands,
    pub condition: Condition,
    pub latitude: Latitude,
    /// Section of the OpenCL C 1.2 specification, unless another document is named.
    pub section: &'static str,
}

/// Restricts a case to some types of the first operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of types")]
pub enum Operands {
    Any,
    Integers,
    Floats,
    /// Single and half precision.
    NarrowFloats,
}

/// States when a case applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// For all operands.
    Always,
    /// The second operand is 0.
    ByZero,
    /// The second operand is 0, or the least integer is divided by -1.
    ByZeroOrOverflowing,
    /// The second operand is at least the width of the first.
    ShiftTooFar,
    /// The float is a NaN or, unless the conversion saturates, lies outside the integer type after rounding.
    DoesNotFit,
    /// Some operand is a NaN.
    NotANumber,
    /// Some operand is infinite or a NaN.
    NotFinite,
    /// The second of three operands is not less than or equal to the third.
    Disordered,
    /// Some factor does not fit into 24 bits.
    Exceeds24Bits,
    /// Some lane is neither 0 nor all ones.
    NotBoolean,
    /// The operand is the least integer (or 0 when zeros are counted), and the second operand says that the result is
    /// then poison.
    PoisonFlagged,
    /// The result is 0.
    ZeroResult,
    /// An operand or the result is subnormal.
    Subnormal,
    /// An operand of the sum is a product.
    SumOfProduct,
}

/// The results that a device may give where a case applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latitude {
    /// Any value.
    Anything,
    /// 0 of either sign.
    EitherZero,
    /// As if the subnormal number were 0 of either sign.
    Flushed,
    /// Rounded once or twice.
    Fused,
}

use Operands::{Any, Floats, Integers, NarrowFloats};

const fn case(
    names: &'static [&'static str],
    operands: Operands,
    condition: Condition,
    latitude: Latitude,
    section: &'static str,
) -> Case {
    Case { names, operands, condition, latitude, section }
}

/// Every case in which OpenCL C leaves the result open. The bits of a NaN are open too (IEEE 754, 6.2.3), but need no
/// case: `solve` assigns no particular bits to a NaN.
pub const CASES: &[Case] = &[
    case(&["UDiv", "URem"], Any, Condition::ByZero, Latitude::Anything, "6.3.b"),
    case(&["SDiv", "SRem"], Any, Condition::ByZeroOrOverflowing, Latitude::Anything, "6.3.b"),
    // OpenCL C takes the amount modulo the width (6.3.j), which clang emits explicitly.
    case(&["Shl", "LShr", "AShr"], Any, Condition::ShiftTooFar, Latitude::Anything, "LLVM's reference"),
    case(
        &["llvm.abs", "llvm.ctlz", "llvm.cttz"],
        Integers,
        Condition::PoisonFlagged,
        Latitude::Anything,
        "LLVM's reference",
    ),
    case(&["FPToSI", "FPToUI", "convert_*"], Floats, Condition::DoesNotFit, Latitude::Anything, "6.2.3.3"),
    // The SPIR-V that LLVM emits does not say whether the source is signed, and devices assume the wrong signedness.
    case(&["convert_*_sat*"], Integers, Condition::Always, Latitude::Anything, "SPIR-V, conversion instructions"),
    case(&["mul24", "mad24"], Integers, Condition::Exceeds24Bits, Latitude::Anything, "6.12.3"),
    case(&["clamp"], Any, Condition::Disordered, Latitude::Anything, "6.12.3, 6.12.4"),
    case(&["clamp"], Floats, Condition::NotANumber, Latitude::Anything, "6.12.4"),
    case(&["min", "max"], Floats, Condition::NotFinite, Latitude::Anything, "6.12.4"),
    case(
        &["min", "max", "clamp", "fmin", "fmax", "llvm.minnum", "llvm.maxnum"],
        Floats,
        Condition::ZeroResult,
        Latitude::EitherZero,
        "6.12.2 (C99, F.9.9)",
    ),
    // Devices differ: some test the highest bit, as 6.12.6 says, others test any bit.
    case(&["any", "all"], Integers, Condition::NotBoolean, Latitude::Anything, "6.12.6"),
    case(&["FDiv", "sqrt", "llvm.sqrt"], NarrowFloats, Condition::Always, Latitude::Anything, "7.4"),
    case(&["divide", "recip", "native_*", "half_*"], Floats, Condition::Always, Latitude::Anything, "6.12.2, 7.4"),
    case(&["mad", "mix", "dot"], Floats, Condition::Always, Latitude::Anything, "6.12.2, 6.12.4, 6.12.5"),
    case(&["FAdd", "FSub", "llvm.fmuladd"], Floats, Condition::SumOfProduct, Latitude::Fused, "6.12.2.1 (FP_CONTRACT)"),
    case(
        &[
            "FAdd",
            "FSub",
            "FMul",
            "FRem",
            "FPTrunc",
            "FPExt",
            "FCompare",
            "llvm.f*",
            "llvm.m*",
            "llvm.r*",
            "llvm.ceil",
            "llvm.trunc",
            "fmin",
            "fmax",
            "min",
            "max",
            "clamp",
            "sign",
            "step",
            "fdim",
            "floor",
            "ceil",
            "rint",
            "round",
            "trunc",
            "fmod",
            "fma",
            "isequal",
            "isnotequal",
            "isless*",
            "isgreater*",
            "convert_*",
        ],
        NarrowFloats,
        Condition::Subnormal,
        Latitude::Flushed,
        "7.5.3",
    ),
    // The result of a conversion to single or half precision may be subnormal whatever the operand's type.
    case(&["FPTrunc", "convert_float*", "convert_half*"], Any, Condition::Subnormal, Latitude::Flushed, "7.5.3"),
];

/// Floating-point builtins that only move bits.
const BIT_MOVES: [&str; 4] = ["llvm.fabs", "llvm.copysign", "fabs", "copysign"];

impl Case {
    fn applies_to(&self, name: &str, kind: Kind) -> bool {
        let fits = match self.operands {
            Operands::Any => true,
            Operands::Integers => matches!(kind, Kind::Int(_)),
            Operands::Floats => matches!(kind, Kind::Float(_)),
            Operands::NarrowFloats => matches!(kind, Kind::Float(16 | 32)),
        };
        fits && self.names.iter().any(|pattern| matches(pattern, name))
    }
}

/// Returns whether a name matches a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(begin) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, between)) = parts.split_last() else { return true };
    for part in between {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

/// Returns the name of an instruction in [`CASES`].
fn name_of(op: &Op) -> String {
    match op {
        Op::Binary(opcode) | Op::Cast(opcode) => format!("{opcode:?}").trim_start_matches("LLVM").to_owned(),
        Op::FCompare(_) => "FCompare".to_owned(),
        Op::Call(name, base) => match name.strip_prefix("llvm.") {
            // Such as `llvm.ctlz.i32`.
            Some(rest) => format!("llvm.{}", rest.split('.').next().unwrap_or_default()),
            None => base.clone(),
        },
        _ => String::new(),
    }
}

/// The choices that the device has made so far.
#[derive(Debug, Default)]
pub struct Choices {
    count: usize,
    /// Maps a term that may have been flushed to the original term.
    unflushed: HashMap<Term, Term>,
}

impl Choices {
    /// Returns a number that no other choice has.
    pub fn fresh_number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Returns a fresh symbol of the same sort as `like`: a value that the device chooses.
    pub fn any(&mut self, terms: &mut Terms, like: Term) -> Term {
        let sort = terms.sort(like);
        let number = self.fresh_number();
        terms.symbol(format!("open {number}"), sort)
    }
}

/// Returns the lanes of an instruction's result on any conforming device; what is open is expressed by symbols. `None`
/// if the result is arbitrary.
pub fn apply(
    terms: &mut Terms,
    choices: &mut Choices,
    program: &Program,
    instruction: &Instruction,
    operands: &[Vec<Term>],
) -> Option<Vec<Term>> {
    let name = name_of(&instruction.op);
    let kind = instruction.operands.first().map_or(Kind::Void, |o| program.shape(*o).kind);
    let cases: Vec<&Case> = match BIT_MOVES.contains(&name.as_str()) {
        true => Vec::new(),
        false => CASES.iter().filter(|case| case.applies_to(&name, kind)).collect(),
    };
    if cases.iter().any(|case| case.condition == Condition::Always && case.latitude == Latitude::Anything) {
        return None;
    }
    let is_flushed = cases.iter().any(|case| case.latitude == Latitude::Flushed);
    let mut device = Device { terms, choices, name: &name, is_signed: is_signed(&instruction.op) };
    let operands = match is_flushed {
        true => device.flushed_operands(operands),
        false => operands.to_vec(),
    };
    let exact = transfer::apply(device.terms, program, instruction, &operands)?;
    let mut lanes = Vec::with_capacity(exact.len());
    for (i, mut result) in exact.into_iter().enumerate() {
        let lane_operands: Vec<Term> = operands.iter().map(|lanes| *lanes.get(i).unwrap_or(&lanes[0])).collect();
        let all = operands.first().map_or(&[][..], Vec::as_slice);
        for case in &cases {
            result = device.relaxed(case, &lane_operands, all, result)?;
        }
        let sort = device.terms.sort(result);
        lanes.push(if is_flushed {
            device.flushed(result, &format!("{name} {lane_operands:?} {sort:?}"))
        } else {
            result
        });
    }
    Some(lanes)
}

/// Returns whether the integers that an instruction takes or returns are signed.
fn is_signed(op: &Op) -> bool {
    match op {
        Op::Cast(opcode) => *opcode == Opcode::LLVMFPToSI,
        Op::Call(_, base) if base.starts_with("convert_") => !base.starts_with("convert_u"),
        Op::Call(name, _) => {
            let params = builtins::demangle(name).map_or("", |(_, params)| params);
            builtins::first_scalar(params).is_some_and(builtins::is_signed)
        }
        _ => false,
    }
}

/// Relaxes the exact result of one instruction to what a device may give.
struct Device<'t> {
    terms: &'t mut Terms,
    choices: &'t mut Choices,
    name: &'t str,
    is_signed: bool,
}

impl Device<'_> {
    fn number(&mut self, bits: u64, like: Term) -> Term {
        let sort = self.terms.sort(like);
        self.terms.constant(bits, sort)
    }

    fn float(&mut self, x: f64, like: Term) -> Term {
        let (Sort::Bits(width) | Sort::Float(width)) = self.terms.sort(like) else { return like };
        self.number(floats::bits(x, width), like)
    }

    /// Relaxes the result of one lane by a case. `None` if the result is arbitrary.
    fn relaxed(&mut self, case: &Case, operands: &[Term], all: &[Term], result: Term) -> Option<Term> {
        match case.latitude {
            Latitude::Flushed => Some(result),
            Latitude::Fused => self.fused(operands, result),
            Latitude::EitherZero => {
                let zero = self.float(0.0, result);
                let is_zero = self.terms.compare(Operation::FEq, result, zero);
                let minus = self.float(-0.0, result);
                let bit = self.terms.truth(false);
                let sign = self.choices.any(self.terms, bit);
                let either = self.terms.select(sign, minus, zero);
                Some(self.terms.select(is_zero, either, result))
            }
            Latitude::Anything => {
                let open = self.condition_bit(case.condition, operands, all, result)?;
                if self.terms.as_constant(open) == Some(0) {
                    return Some(result);
                }
                let any = self.choices.any(self.terms, result);
                Some(self.terms.select(open, any, result))
            }
        }
    }

    /// Returns the condition under which a case applies. `None` if it always does.
    fn condition_bit(&mut self, condition: Condition, operands: &[Term], all: &[Term], result: Term) -> Option<Term> {
        let width = match operands.first().map(|x| self.terms.sort(*x)) {
            Some(Sort::Bits(width) | Sort::Float(width)) => width,
            _ => return None,
        };
        Some(match (condition, operands) {
            (Condition::ByZero, [_, by]) => {
                let zero = self.number(0, *by);
                self.terms.compare(Operation::Eq, *by, zero)
            }
            (Condition::ByZeroOrOverflowing, [x, by]) => {
                let (zero, minus, least) =
                    (self.number(0, *by), self.number(u64::MAX, *by), self.number(1 << (width - 1), *x));
                let none = self.terms.compare(Operation::Eq, *by, zero);
                let by_minus = self.terms.compare(Operation::Eq, *by, minus);
                let of_least = self.terms.compare(Operation::Eq, *x, least);
                let wraps = self.terms.and(by_minus, of_least);
                self.terms.or(none, wraps)
            }
            (Condition::ShiftTooFar, [_, by]) => {
                let most = self.number(u64::from(width), *by);
                let within = self.terms.compare(Operation::Ult, *by, most);
                self.terms.not(within)
            }
            (Condition::DoesNotFit, [x]) => match self.terms.sort(result) {
                Sort::Bits(into) => self.does_not_fit(*x, width, into),
                // Every float fits into a floating-point type.
                _ => self.terms.truth(false),
            },
            (Condition::NotANumber, _) => self.any_of(operands, Self::is_nan),
            (Condition::NotFinite, _) => self.any_of(operands, |device, x| {
                let size = device.terms.apply(Operation::FAbs, vec![x], Sort::Float(width));
                let infinite = device.float(f64::INFINITY, x);
                let is = device.terms.compare(Operation::FLt, size, infinite);
                device.terms.not(is)
            }),
            (Condition::Disordered, [x, low, high]) => {
                let less = match (self.terms.sort(*x), self.is_signed) {
                    (Sort::Float(_), _) => Operation::FLe,
                    (_, true) => Operation::Sle,
                    (_, false) => Operation::Ule,
                };
                let ordered = self.terms.compare(less, *low, *high);
                self.terms.not(ordered)
            }
            (Condition::Exceeds24Bits, _) => self.any_of(&operands[..2.min(operands.len())], Self::exceeds_24_bits),
            (Condition::NotBoolean, _) => self.any_of(all, |device, x| {
                let (zero, ones) = (device.number(0, x), device.number(u64::MAX, x));
                let is_zero = device.terms.compare(Operation::Eq, x, zero);
                let is_ones = device.terms.compare(Operation::Eq, x, ones);
                let is_truth = device.terms.or(is_zero, is_ones);
                device.terms.not(is_truth)
            }),
            (Condition::PoisonFlagged, [x, flag]) => {
                let bits = if self.name == "llvm.abs" { 1 << (width - 1) } else { 0 };
                let end = self.number(bits, *x);
                let is = self.terms.compare(Operation::Eq, *x, end);
                self.terms.and(is, *flag)
            }
            // Operands in a form that no rule expects: the case always applies.
            _ => return None,
        })
    }

    fn any_of(&mut self, operands: &[Term], is: impl Fn(&mut Self, Term) -> Term) -> Term {
        let mut any = self.terms.truth(false);
        for x in operands {
            let one = is(self, *x);
            any = self.terms.or(any, one);
        }
        any
    }

    fn is_nan(&mut self, x: Term) -> Term {
        self.terms.apply(Operation::IsNan, vec![x], Sort::Bits(1))
    }

    fn exceeds_24_bits(&mut self, x: Term) -> Term {
        let Sort::Bits(width) = self.terms.sort(x) else { return self.terms.truth(true) };
        let low = self.terms.apply(Operation::Trunc, vec![x], Sort::Bits(24.min(width)));
        let extend = if self.is_signed { Operation::SExt } else { Operation::ZExt };
        let back = self.terms.apply(extend, vec![low], Sort::Bits(width));
        let same = self.terms.compare(Operation::Eq, x, back);
        self.terms.not(same)
    }

    fn does_not_fit(&mut self, x: Term, from: u32, into: u32) -> Term {
        let is_nan = self.is_nan(x);
        let mut words = self.name.split('_').skip(2);
        if words.clone().any(|word| word == "sat") {
            return is_nan;
        }
        let mode = words.find_map(|word| match word {
            "rte" => Some(Rounding::Even),
            "rtp" => Some(Rounding::Up),
            "rtn" => Some(Rounding::Down),
            _ => None,
        });
        let mode = mode.unwrap_or(Rounding::Zero);
        let whole = self.terms.apply(Operation::FRound(mode), vec![x], Sort::Float(from));
        let end = 2f64.powi(if self.is_signed { into - 1 } else { into }.cast_signed());
        let (begin, end) = (self.float(if self.is_signed { -end } else { 0.0 }, x), self.float(end, x));
        let below = self.terms.compare(Operation::FLt, whole, end);
        let above = self.terms.compare(Operation::FLe, begin, whole);
        let fits = self.terms.and(below, above);
        self.terms.not(fits)
    }

    /// Relaxes a sum with a product, which may be rounded once or twice. `None` for halves, as no wider machine type
    /// holds the exact sum.
    fn fused(&mut self, operands: &[Term], exact: Term) -> Option<Term> {
        let sort = self.terms.sort(exact);
        if let [a, b, c] = operands {
            return (sort != Sort::Float(16)).then(|| self.perhaps_fused([*a, *b, *c], exact));
        }
        let [left, right] = operands else { return Some(exact) };
        let is_difference = self.name == "FSub";
        let (of_left, of_right) = (self.factors(*left), self.factors(*right));
        if of_left.is_none() && of_right.is_none() {
            return Some(exact);
        }
        if sort == Sort::Float(16) {
            return None;
        }
        let mut result = exact;
        let negated = |device: &mut Self, x| device.terms.apply(Operation::FNeg, vec![x], sort);
        if let Some((a, b)) = of_left {
            let other = if is_difference { negated(self, *right) } else { *right };
            result = self.perhaps_fused([a, b, other], result);
        }
        if let Some((a, b)) = of_right {
            let a = if is_difference { negated(self, a) } else { a };
            result = self.perhaps_fused([a, b, *left], result);
        }
        Some(result)
    }

    fn factors(&self, mut term: Term) -> Option<(Term, Term)> {
        while let Some(inner) = self.choices.unflushed.get(&term) {
            term = *inner;
        }
        match self.terms.node(term) {
            Node::Apply(Operation::FMul, args) => Some((args[0], args[1])),
            _ => None,
        }
    }

    fn perhaps_fused(&mut self, operands: [Term; 3], otherwise: Term) -> Term {
        let sort = self.terms.sort(otherwise);
        let fused = self.terms.apply(Operation::FFma, operands.to_vec(), sort);
        let bit = self.terms.truth(false);
        let choice = self.choices.any(self.terms, bit);
        self.terms.select(choice, fused, otherwise)
    }

    /// Returns the operands as the device sees them. Whether one is flushed is a function of the operation and its
    /// operands, so that repeating a computation gives the same result.
    fn flushed_operands(&mut self, operands: &[Vec<Term>]) -> Vec<Vec<Term>> {
        let lanes = operands.iter().map(Vec::len).max().unwrap_or(0);
        let mut taken: Vec<Vec<Term>> = vec![Vec::new(); operands.len()];
        for i in 0..lanes {
            let lane_operands: Vec<Term> =
                operands.iter().filter_map(|all| all.get(i).or(all.first()).copied()).collect();
            // Compared with a normal number, a subnormal one behaves like 0.
            let is_far = self.name == "FCompare" && lane_operands.iter().any(|x| self.is_normal_constant(*x));
            // A comparison and its mirrored form flush alike.
            let is_comparison = self.name == "FCompare" || self.name.starts_with("is");
            let mut sorted = lane_operands.clone();
            sorted.sort_unstable();
            for (o, all) in operands.iter().enumerate() {
                let Some(lane) = all.get(i) else { continue };
                let key = match is_comparison {
                    true => format!("compared {sorted:?} {lane:?}"),
                    false => format!("{} {lane_operands:?} {o}", self.name),
                };
                taken[o].push(if is_far { *lane } else { self.flushed(*lane, &key) });
            }
        }
        taken
    }

    fn is_normal_constant(&self, x: Term) -> bool {
        let Sort::Float(width) = self.terms.sort(x) else { return false };
        self.terms.as_constant(x).is_some_and(|bits| floats::number(bits, width).abs() >= least_normal(width))
    }

    fn may_be_subnormal(&self, x: Term) -> bool {
        let Sort::Float(width @ (16 | 32)) = self.terms.sort(x) else { return false };
        match self.terms.node(x) {
            Node::Constant(bits) => {
                let x = floats::number(*bits, width).abs();
                0.0 < x && x < least_normal(width)
            }
            // No integer but 0 has a magnitude below 1, so none is subnormal.
            Node::Apply(Operation::SIToF | Operation::UIToF | Operation::FRound(_), _) => false,
            Node::Apply(Operation::FNeg | Operation::FAbs, args) => self.may_be_subnormal(args[0]),
            _ => true,
        }
    }

    /// Returns the number, or 0 if it is subnormal and the device flushes it.
    fn flushed(&mut self, x: Term, key: &str) -> Term {
        let Sort::Float(width) = self.terms.sort(x) else { return x };
        if !self.may_be_subnormal(x) {
            return x;
        }
        let (zero, minus, least) = (self.float(0.0, x), self.float(-0.0, x), self.float(least_normal(width), x));
        let size = self.terms.apply(Operation::FAbs, vec![x], Sort::Float(width));
        let (above, below) =
            (self.terms.compare(Operation::FLt, zero, size), self.terms.compare(Operation::FLt, size, least));
        let is_subnormal = self.terms.and(above, below);
        let is_flushed = self.terms.symbol(format!("flushed {key}"), Sort::Bits(1));
        let sign = self.terms.symbol(format!("sign of {key}"), Sort::Bits(1));
        let flushed = self.terms.select(sign, minus, zero);
        let is_flushed = self.terms.and(is_subnormal, is_flushed);
        let result = self.terms.select(is_flushed, flushed, x);
        if result != x {
            self.choices.unflushed.insert(result, x);
        }
        result
    }
}

/// Returns the least positive normal number (IEEE 754, table 3.5).
fn least_normal(width: u32) -> f64 {
    match width {
        16 => 2f64.powi(-14),
        32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        assert!(matches("convert_*_sat*", "convert_uchar4_sat_rte") && matches("convert_*_sat*", "convert_int_sat"));
        assert!(!matches("convert_*_sat*", "convert_int_rte") && !matches("min", "fmin"));
        assert!(matches("isless*", "islessequal") && matches("native_*", "native_sin") && matches("sqrt", "sqrt"));
    }

    #[test]
    fn every_case_names_its_operations_and_section() {
        for case in CASES {
            assert!(!case.names.is_empty() && !case.section.is_empty(), "{case:?}");
            let fits = match case.latitude {
                Latitude::Flushed => case.condition == Condition::Subnormal,
                Latitude::Fused => case.condition == Condition::SumOfProduct,
                Latitude::EitherZero => case.condition == Condition::ZeroResult,
                Latitude::Anything => true,
            };
            assert!(fits, "{case:?}");
        }
    }
}
