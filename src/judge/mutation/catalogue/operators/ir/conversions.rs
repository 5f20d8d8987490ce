//! ICX: takes signed values for unsigned ones.

use kassay_ir::instrument::mutants::{Binary, Conversion, Expr};
use kassay_ir::llvm::Opcode;

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{is_number, sites, word};

/// Exchanges instructions for signed and unsigned values.
pub const ICX: Operator = Operator {
    id: "ICX",
    name: "signedness",
    class: "arithmetic",
    description: "`sext` and `zext`, `sitofp` and `uitofp`, `ashr` and `lshr` by one another",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let convert = |conversion| Expr::Convert(conversion, Box::new(Expr::Operand(0)));
    let shift = |shift| Expr::Binary(shift, Box::new(Expr::Operand(0)), Box::new(Expr::Operand(1)));
    let other = |opcode| {
        Some(match opcode {
            Opcode::LLVMSExt => (Opcode::LLVMZExt, convert(Conversion::Unsigned)),
            Opcode::LLVMZExt => (Opcode::LLVMSExt, convert(Conversion::Signed)),
            Opcode::LLVMSIToFP => (Opcode::LLVMUIToFP, convert(Conversion::Unsigned)),
            Opcode::LLVMUIToFP => (Opcode::LLVMSIToFP, convert(Conversion::Signed)),
            Opcode::LLVMAShr => (Opcode::LLVMLShr, shift(Binary::LShr)),
            Opcode::LLVMLShr => (Opcode::LLVMAShr, shift(Binary::AShr)),
            _ => return None,
        })
    };
    for site in sites(subject, |inst| is_number(inst.ty()) && other(inst.opcode()).is_some()) {
        let Some((opcode, by)) = other(site.inst.opcode()) else { continue };
        match is_number(site.inst.operand(0).ty()) {
            true => site.replace(ICX.id, site.result(), by, word(opcode), found),
            false => site.exclude(ICX.id, "its operand is too wide", found),
        }
    }
}
