//! ICP: replaces the predicates of comparisons.

use kassay_ir::instrument::mutants::{Expr, Predicate};
use kassay_ir::llvm::Opcode;

use super::super::super::level::{self, Concept};
use super::super::super::subject::{Operator, OperatorOutput, Subject};
use super::site::{is_number, sites};

/// Replaces predicates.
pub const ICP: Operator = Operator {
    id: "ICP",
    name: "comparison predicate replacement",
    class: "condition",
    description: "each predicate of `icmp` by every other, signed and unsigned; each of `fcmp` by every other, ordered and \
                  unordered, but `true` and `false`",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Relations,
    levels: level::IR,
    enumerate,
};

const INTEGER: [(&str, Predicate); 10] = [
    ("eq", Predicate::Eq),
    ("ne", Predicate::Ne),
    ("ugt", Predicate::Ugt),
    ("uge", Predicate::Uge),
    ("ult", Predicate::Ult),
    ("ule", Predicate::Ule),
    ("sgt", Predicate::Sgt),
    ("sge", Predicate::Sge),
    ("slt", Predicate::Slt),
    ("sle", Predicate::Sle),
];

const FLOAT: [(&str, Predicate); 14] = [
    ("oeq", Predicate::FOeq),
    ("ogt", Predicate::FOgt),
    ("oge", Predicate::FOge),
    ("olt", Predicate::FOlt),
    ("ole", Predicate::FOle),
    ("one", Predicate::FOne),
    ("ord", Predicate::FOrd),
    ("ueq", Predicate::FUeq),
    ("ugt", Predicate::FUgt),
    ("uge", Predicate::FUge),
    ("ult", Predicate::FUlt),
    ("ule", Predicate::FUle),
    ("une", Predicate::FUne),
    ("uno", Predicate::FUno),
];

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let compares = |inst: kassay_ir::llvm::Inst<'_>| matches!(inst.opcode(), Opcode::LLVMICmp | Opcode::LLVMFCmp);
    for site in sites(subject, compares) {
        let compared = site.inst.operand(0).ty();
        if !is_number(compared) && !compared.is_pointer() {
            site.exclude(ICP.id, "it compares values of a type that edits cannot compare", found);
            continue;
        }
        let all: &[(&str, Predicate)] = if site.inst.is(Opcode::LLVMFCmp) { &FLOAT } else { &INTEGER };
        let own = site.inst.int_predicate().map(super::site::int_word);
        let own = own.or_else(|| site.inst.real_predicate().map(super::site::real_word));
        for (name, predicate) in all.iter().filter(|(name, _)| Some(*name) != own) {
            let by = Expr::Compare(*predicate, Box::new(Expr::Operand(0)), Box::new(Expr::Operand(1)));
            site.replace(ICP.id, site.result(), by, *name, found);
        }
    }
}
