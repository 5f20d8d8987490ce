//! AOR and MR: arithmetic operators.
//!
//! PENG's table 4.2 (AOR) and LIU's table 6.1 (MR, which covers bitwise operators and shifts too).

use super::super::level::{self, Concept};
use super::super::source_ops::{BinaryOp, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::replacing::{add, replace_operator, select_operations};

/// Replaces each arithmetic operator by every other (PENG, table 4.2).
pub const AOR: Operator = Operator {
    id: "AOR",
    name: "arithmetic operator replacement",
    class: "arithmetic",
    description: "each of `+ - * / %` by every other",
    origin: "PENG",
    peng: true,
    liu: false,
    concept: Concept::Arithmetic,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "AOR", &others, found),
};

/// Replaces each operator by its counterpart (LIU, table 6.1).
pub const MR: Operator = Operator {
    id: "MR",
    name: "math replacement",
    class: "arithmetic",
    description: "`+` and `-`, `*` and `/`, `&` and `|`, `<<` and `>>` by one another; `%` by `*`; `^` by `&`",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Arithmetic,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "MR", &|op, _| vec![counterpart(op)], found),
};

/// Returns an operator's counterpart in LIU's pairs.
pub fn counterpart(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Add => BinaryOp::Sub,
        BinaryOp::Sub => BinaryOp::Add,
        BinaryOp::Mul => BinaryOp::Div,
        BinaryOp::Div | BinaryOp::Rem => BinaryOp::Mul,
        BinaryOp::And => BinaryOp::Or,
        BinaryOp::Or | BinaryOp::Xor => BinaryOp::And,
        BinaryOp::Shl => BinaryOp::Shr,
        BinaryOp::Shr => BinaryOp::Shl,
    }
}

/// Returns the replacements of an arithmetic operator; none for others. According to PENG's counts, `+ - * /` are
/// replaced by one another, and `%` by these four.
pub fn others(op: BinaryOp, preset: Preset) -> Vec<BinaryOp> {
    let all = BinaryOp::ARITHMETIC.into_iter().filter(|other| BinaryOp::ARITHMETIC.contains(&op) && *other != op);
    all.filter(|other| preset != Preset::Peng || *other != BinaryOp::Rem).collect()
}

fn enumerate(
    subject: &Subject<'_>,
    id: &'static str,
    replacements: &dyn Fn(BinaryOp, Preset) -> Vec<BinaryOp>,
    found: &mut OperatorOutput,
) {
    let wants = |kind| matches!(kind, OperationKind::Binary(op) if !replacements(op, subject.preset).is_empty());
    for operation in select_operations(subject, id, &wants, found).list {
        let OperationKind::Binary(op) = operation.kind else { continue };
        for by in replacements(op, subject.preset) {
            add(id, &operation, by.spelling(), replace_operator(subject, &operation, by), found);
        }
    }
}
