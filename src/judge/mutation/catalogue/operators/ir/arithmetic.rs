//! Binary operators: `IAO` replaces those of arithmetic, `IBO` those of bits and shifts.

use kassay_ir::instrument::mutants::{Binary, Expr};
use kassay_ir::llvm::{Opcode, Type};

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{Site, is_number, sites, word};

/// Replaces arithmetic opcodes.
pub const IAO: Operator = Operator {
    id: "IAO",
    name: "arithmetic opcode replacement",
    class: "arithmetic",
    description: "each of `add sub mul udiv sdiv urem srem` by every other, each of `fadd fsub fmul fdiv` by every other and \
                  `frem` by these; without flags",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Arithmetic,
    levels: level::IR,
    enumerate: arithmetic,
};

/// Replaces opcodes of bits and shifts.
pub const IBO: Operator = Operator {
    id: "IBO",
    name: "bitwise opcode replacement",
    class: "bitwise",
    description: "each of `and or xor shl lshr ashr` by every other, of booleans `and or xor`; shift amounts modulo the width",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Bits,
    levels: level::IR,
    enumerate: bitwise,
};

const INTEGER: [(Opcode, Binary); 7] = [
    (Opcode::LLVMAdd, Binary::Add),
    (Opcode::LLVMSub, Binary::Sub),
    (Opcode::LLVMMul, Binary::Mul),
    (Opcode::LLVMUDiv, Binary::UDiv),
    (Opcode::LLVMSDiv, Binary::SDiv),
    (Opcode::LLVMURem, Binary::URem),
    (Opcode::LLVMSRem, Binary::SRem),
];

const FLOAT: [(Opcode, Binary); 4] = [
    (Opcode::LLVMFAdd, Binary::FAdd),
    (Opcode::LLVMFSub, Binary::FSub),
    (Opcode::LLVMFMul, Binary::FMul),
    (Opcode::LLVMFDiv, Binary::FDiv),
];

const BITS: [(Opcode, Binary); 3] =
    [(Opcode::LLVMAnd, Binary::And), (Opcode::LLVMOr, Binary::Or), (Opcode::LLVMXor, Binary::Xor)];

const SHIFTS: [(Opcode, Binary); 3] =
    [(Opcode::LLVMShl, Binary::Shl), (Opcode::LLVMLShr, Binary::LShr), (Opcode::LLVMAShr, Binary::AShr)];

/// Returns the edit's operator for an opcode that edits can build.
pub fn binary(opcode: Opcode) -> Option<Binary> {
    let all = INTEGER.into_iter().chain(FLOAT).chain(BITS).chain(SHIFTS);
    all.into_iter().find(|(own, _)| *own == opcode).map(|(_, binary)| binary)
}

/// Returns whether an opcode is one of arithmetic.
pub fn is_arithmetic(opcode: Opcode) -> bool {
    opcode == Opcode::LLVMFRem || INTEGER.into_iter().chain(FLOAT).any(|(own, _)| own == opcode)
}

/// Returns whether an opcode is one of bits or shifts.
pub fn is_bitwise(opcode: Opcode) -> bool {
    BITS.into_iter().chain(SHIFTS).any(|(own, _)| own == opcode)
}

/// Adds a mutant for each of `others` but the instruction's own opcode.
fn replace(site: &Site<'_>, id: &'static str, others: &[(Opcode, Binary)], found: &mut OperatorOutput) {
    for (opcode, binary) in others.iter().filter(|(opcode, _)| *opcode != site.inst.opcode()) {
        let by = Expr::Binary(*binary, Box::new(Expr::Operand(0)), Box::new(Expr::Operand(1)));
        site.replace(id, site.result(), by, word(*opcode), found);
    }
}

/// Returns whether booleans are computed.
fn is_truth(ty: Type<'_>) -> bool {
    ty.scalar().is_bool()
}

fn arithmetic(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| is_arithmetic(inst.opcode()) && is_number(inst.ty())) {
        // For booleans, most of these are the same.
        if is_truth(site.inst.ty()) {
            site.exclude(IAO.id, "it computes booleans", found);
            continue;
        }
        let others: &[_] = if site.inst.ty().scalar().is_float() { &FLOAT } else { &INTEGER };
        replace(&site, IAO.id, others, found);
    }
}

fn bitwise(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| is_bitwise(inst.opcode()) && is_number(inst.ty())) {
        replace(&site, IBO.id, &BITS, found);
        if !is_truth(site.inst.ty()) {
            replace(&site, IBO.id, &SHIFTS, found);
        }
    }
}
