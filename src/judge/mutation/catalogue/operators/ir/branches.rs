//! Choices: `IBR` changes conditional branches, `ISL` selects.

use kassay_ir::instrument::mutants::{Expr, Unary};
use kassay_ir::llvm::Opcode;

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{shown, shown_with, sites};

/// Negates and forces conditional branches.
pub const IBR: Operator = Operator {
    id: "IBR",
    name: "branch condition",
    class: "condition",
    description: "the condition of a `br` negated, made `true`, made `false`",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Logic,
    levels: level::IR,
    enumerate: branches,
};

/// Exchanges and forces the values of selects.
pub const ISL: Operator = Operator {
    id: "ISL",
    name: "select",
    class: "condition",
    description: "the values of a `select` exchanged; either of them taken always",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Logic,
    levels: level::IR,
    enumerate: selects,
};

fn branches(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| inst.branch_condition().is_some()) {
        let Some(condition) = site.inst.branch_condition() else { continue };
        let successors = site.inst.successors();
        // What is said to be impossible is undefined.
        if successors.iter().any(|block| block.terminator().is(Opcode::LLVMUnreachable)) {
            site.exclude(IBR.id, "it may lead to what is `unreachable`", found);
            continue;
        }
        if successors.first() == successors.last() {
            site.exclude(IBR.id, "it leads to one block either way", found);
            continue;
        }
        let not = Expr::Unary(Unary::Not, Box::new(Expr::Original));
        let texts = [(not, format!("br not {}", shown(condition)))];
        let forced = [(1, "br true"), (0, "br false")].map(|(value, text)| (Expr::Integer(value), text.to_owned()));
        for (by, text) in texts.into_iter().chain(forced) {
            site.replace(IBR.id, site.operand(0), by, text, found);
        }
    }
}

fn selects(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| inst.is(Opcode::LLVMSelect)) {
        let operand = |i| Box::new(Expr::Operand(i));
        let (yes, no) = (site.inst.operand(1), site.inst.operand(2));
        if yes == no {
            site.exclude(ISL.id, "its values are the same", found);
            continue;
        }
        if [yes, no].into_iter().any(|value| value.is_undef() || value.is_poison()) {
            site.exclude(ISL.id, "one of its values is undefined", found);
            continue;
        }
        let exchanged = shown_with(site.inst, &|i| match i {
            1 => Some(shown(no)),
            2 => Some(shown(yes)),
            _ => None,
        });
        site.replace(ISL.id, site.result(), Expr::Select(operand(0), operand(2), operand(1)), exchanged, found);
        for (i, text) in [(1, "true"), (2, "false")] {
            let forced = shown_with(site.inst, &|at| (at == 0).then(|| text.to_owned()));
            site.replace(ISL.id, site.result(), Expr::Operand(i), forced, found);
        }
    }
}
