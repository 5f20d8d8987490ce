//! ARS: exchanges `++` and `--` (LIU's table 6.1, PENG's table 4.2).

use kassay_ir::instrument::mutants::Edit;

use super::super::level::{self, Concept};
use super::super::source_ops::{BinaryOp, Implementation, Operation, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::assignment::needs_source;
use super::replacing::{add, binary, for_each_instance, negated_index, select_operations};

/// Exchanges `++` and `--`.
pub const ARS: Operator = Operator {
    id: "ARS",
    name: "arithmetic operator replacement (short-cut)",
    class: "arithmetic",
    description: "`++` by `--`, `--` by `++`",
    origin: "LIU",
    peng: true,
    liu: true,
    concept: Concept::Arithmetic,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let wants = |kind| matches!(kind, OperationKind::Increment { .. } | OperationKind::Decrement { .. });
    let operations = select_operations(subject, "ARS", &wants, found);
    if operations.by_opcode {
        found.excluded.push(needs_source("ARS", subject));
    }
    for operation in operations.list {
        let replacement = match operation.kind {
            OperationKind::Increment { .. } => "--",
            _ => "++",
        };
        add("ARS", &operation, replacement, edit(&operation), found);
    }
}

/// Subtracts what was added: for `--` clang adds -1.
fn edit(operation: &Operation<'_>) -> Result<Edit, &'static str> {
    match &operation.implementation {
        Implementation::Computed(instances) => {
            for_each_instance(instances, &|i| binary(BinaryOp::Sub, i.ty, &i.left, &i.right))
        }
        Implementation::Offset(slots) => Ok(negated_index(slots)),
        _ => Err("it has no instruction"),
    }
}
