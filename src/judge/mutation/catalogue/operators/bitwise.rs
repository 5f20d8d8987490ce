//! BOR: replaces bitwise operators and shifts (PENG's table 4.2).

use kassay_ir::instrument::mutants::{Edit, Expr, Unary};
use kassay_ir::kernel::ast::Node;

use super::super::level::{self, Concept};
use super::super::source_ops::{BinaryOp, Class, Implementation, Operation, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::arithmetic::counterpart;
use super::replacing::{add, change_folded, for_each_instance, replace_operator, select_operations};

/// Replaces bitwise operators and shifts.
pub const BOR: Operator = Operator {
    id: "BOR",
    name: "bitwise operator replacement",
    class: "bitwise",
    description: "each of `& | ^ << >>` by every other; `~` inserted before the operation",
    origin: "PENG",
    peng: true,
    liu: false,
    concept: Concept::Bits,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let wants = |kind| matches!(kind, OperationKind::Binary(op) if BinaryOp::BITWISE.contains(&op));
    for operation in select_operations(subject, "BOR", &wants, found).list {
        let OperationKind::Binary(op) = operation.kind else { continue };
        if subject.preset == Preset::Peng {
            let by = counterpart(op);
            add("BOR", &operation, by.spelling(), replace_operator(subject, &operation, by), found);
            continue;
        }
        for by in BinaryOp::BITWISE.into_iter().filter(|by| *by != op) {
            add("BOR", &operation, by.spelling(), replace_operator(subject, &operation, by), found);
        }
        let replacement = format!("~({})", operation.text());
        add("BOR", &operation, &replacement, complement(subject, &operation), found);
    }
}

/// Complements every bit of the operation's value.
fn complement(subject: &Subject<'_>, operation: &Operation<'_>) -> Result<Edit, &'static str> {
    match &operation.implementation {
        Implementation::Computed(instances) if operation.ty.class != Class::Float => {
            for_each_instance(instances, &|_| Ok(Expr::Unary(Unary::Not, Box::new(Expr::Original))))
        }
        Implementation::Folded(folded) => change_folded(subject, operation, folded, &|node| {
            let inner = Node { ..node.clone() };
            node.kind = "UnaryOperator".into();
            node.opcode = Some("~".into());
            node.children = vec![inner];
        }),
        _ => Err("it is not computed by one instruction"),
    }
}
