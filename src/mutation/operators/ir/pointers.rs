//! IGP: moves addresses by an element.

use super::site::{shown, shown_with, sites};
use crate::instrument::mutants::{Binary, Expr};
use crate::llvm::{Inst, Opcode};
use crate::mutation::level::{self, Concept};
use crate::mutation::subject::{Operator, OperatorOutput, Subject};

/// Changes indices of addresses.
pub const IGP: Operator = Operator {
    id: "IGP",
    name: "address index",
    class: "index",
    description: "an index of a `getelementptr` plus 1, minus 1, but not the number of a field",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::IrAlone,
    levels: level::IR,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for site in sites(subject, |inst| inst.is(Opcode::LLVMGetElementPtr)) {
        for i in indices(site.inst) {
            let index = site.inst.operand(i);
            for (sign, by) in [('+', 1), ('-', -1)] {
                let by = Expr::Binary(Binary::Add, Box::new(Expr::Original), Box::new(Expr::Integer(by)));
                let moved = match index.as_i64() {
                    Some(n) => (n + if sign == '+' { 1 } else { -1 }).to_string(),
                    None => format!("{} {sign} 1", shown(index)),
                };
                let text = shown_with(site.inst, &|at| (at == i).then(|| moved.clone()));
                site.replace(IGP.id, site.operand(i), by, text, found);
            }
        }
    }
}

/// Returns the operands of a `getelementptr` that count elements.
fn indices(gep: Inst<'_>) -> Vec<u32> {
    let mut inner = gep.value().gep_source();
    let mut all = Vec::new();
    for i in 1..gep.operand_count() {
        let index = gep.operand(i);
        // The first index steps over whole elements of the source type.
        if i > 1 {
            let Some(ty) = inner else { return all };
            if ty.is_struct() {
                inner = index.as_u64().and_then(|field| ty.fields().get(field as usize).copied());
                continue;
            }
            inner = ty.elements().map(|(element, _)| element);
        }
        if index.ty().is_integer() {
            all.push(i);
        }
    }
    all
}
