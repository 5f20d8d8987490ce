//! INE: puts negations and complements in, and takes them out.

use kassay_ir::instrument::mutants::{Expr, Unary};
use kassay_ir::llvm::{Inst, Opcode, Value};

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::arithmetic::{is_arithmetic, is_bitwise};
use super::site::{Site, is_number, shown, shown_with, sites};

/// Puts in and takes out negations and complements.
pub const INE: Operator = Operator {
    id: "INE",
    name: "negation",
    class: "arithmetic",
    description: "an operand of arithmetic or a stored number negated, one of bits or shifts complemented, unless it is constant; \
                  `sub 0, x`, `fneg x` and `xor x, -1` by `x`",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Unary,
    levels: level::IR,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let wants = |inst: Inst<'_>| {
        is_arithmetic(inst.opcode())
            || is_bitwise(inst.opcode())
            || matches!(inst.opcode(), Opcode::LLVMFNeg | Opcode::LLVMStore)
    };
    for site in sites(subject, wants) {
        if let Some(operand) = negated(site.inst) {
            let text = shown(site.inst.operand(operand));
            site.replace(INE.id, site.result(), Expr::Operand(operand), text, found);
            continue;
        }
        let operands = if site.inst.is(Opcode::LLVMStore) { 0..1 } else { 0..site.inst.operand_count() };
        operands.for_each(|operand| put_in(&site, operand, found));
    }
}

/// Returns the operand of which an instruction computes the negation or complement, if it does that.
fn negated(inst: Inst<'_>) -> Option<u32> {
    let every = |operand: u32, n: i64| in_every_lane(inst.operand(operand), n);
    match inst.opcode() {
        Opcode::LLVMFNeg => Some(0),
        Opcode::LLVMSub if every(0, 0) => Some(1),
        Opcode::LLVMXor if every(1, -1) => Some(0),
        Opcode::LLVMXor if every(0, -1) => Some(1),
        _ => None,
    }
}

/// Returns whether a value is this integer, in every lane of a vector.
fn in_every_lane(value: Value<'_>, n: i64) -> bool {
    match value.ty().lanes().filter(|_| value.is_constant_vector()) {
        Some(lanes) => (0..lanes).all(|i| value.element(i).and_then(Value::as_i64) == Some(n)),
        None => value.as_i64() == Some(n),
    }
}

fn put_in(site: &Site<'_>, operand: u32, found: &mut OperatorOutput) {
    let value = site.inst.operand(operand);
    let ty = value.ty();
    if value.is_constant() || !is_number(ty) {
        return;
    }
    let complements = is_bitwise(site.inst.opcode());
    let (unary, sign) = match () {
        () if complements => (Unary::Not, "~"),
        () if ty.scalar().is_float() => (Unary::FNeg, "-"),
        // The negation of a boolean is the boolean.
        () if ty.scalar().is_bool() => return,
        () => (Unary::Neg, "-"),
    };
    let text = shown_with(site.inst, &|at| (at == operand).then(|| format!("{sign}{}", shown(value))));
    site.replace(INE.id, site.operand(operand), Expr::Unary(unary, Box::new(Expr::Original)), text, found);
}
