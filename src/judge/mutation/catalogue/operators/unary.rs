//! AIU, AOD, COD: insert and delete unary operators (LIU's table 6.1; the deletions also PENG's table 4.2).

use kassay_ir::instrument::mutants::{Edit, Expr, Slot, Unary};
use kassay_ir::kernel::ast::Node;
use kassay_ir::kernel::folding;

use super::super::level::{self, Concept};
use super::super::mutant::{Mutant, SourceRange};
use super::super::source_ops::{self, BinaryOp, Class, Implementation, Instance, Operation, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::replacing::{add, change_folded, for_each_instance, select_operations};

/// Negates operands and stored values (LIU).
pub const AIU: Operator = Operator {
    id: "AIU",
    name: "arithmetic operator insertion",
    class: "arithmetic",
    description: "an operand of binary arithmetic or a stored value negated",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Unary,
    levels: level::SOURCE,
    enumerate: insert,
};

/// Deletes `~` and unary `-` (LIU, PENG).
pub const AOD: Operator = Operator {
    id: "AOD",
    name: "arithmetic operator deletion",
    class: "arithmetic",
    description: "`~` or unary `-` deleted",
    origin: "LIU",
    peng: true,
    liu: true,
    concept: Concept::Unary,
    levels: level::SOURCE,
    enumerate: |subject, found| {
        delete(subject, "AOD", &|kind| matches!(kind, OperationKind::BitNot | OperationKind::Minus), found);
    },
};

/// Deletes `!` (LIU, PENG).
pub const COD: Operator = Operator {
    id: "COD",
    name: "conditional operator deletion",
    class: "condition",
    description: "`!` deleted",
    origin: "LIU",
    peng: true,
    liu: true,
    concept: Concept::Logic,
    levels: level::SOURCE,
    enumerate: |subject, found| delete(subject, "COD", &|kind| kind == OperationKind::LogicalNot, found),
};

fn delete(subject: &Subject<'_>, id: &'static str, wants: &dyn Fn(OperationKind) -> bool, found: &mut OperatorOutput) {
    for operation in select_operations(subject, id, wants, found).list {
        add(id, &operation, "", deletion(subject, &operation), found);
    }
}

fn deletion(subject: &Subject<'_>, operation: &Operation<'_>) -> Result<Edit, &'static str> {
    let not = || Expr::Unary(Unary::Not, Box::new(Expr::Original));
    match &operation.implementation {
        // A `!` yields 0 or 1 (for vectors 0 or -1): deleting it leaves the truth value of its operand.
        Implementation::Computed(instances) if operation.kind == OperationKind::LogicalNot => {
            for_each_instance(instances, &|_| Ok(not()))
        }
        Implementation::Computed(instances) => for_each_instance(instances, &|i| Ok(i.left.clone())),
        Implementation::Truth(slots) => Ok(Edit::Value { at: slots.clone(), by: not() }),
        Implementation::Edges(edges) => Ok(Edit::Redirect { edges: edges.clone() }),
        Implementation::Folded(folded) => change_folded(subject, operation, folded, &|node| {
            node.kind = "ParenExpr".into();
            node.opcode = None;
        }),
        Implementation::Offset(_) => Err("it is no unary operator"),
    }
}

/// Negates the operands of `+ - * / %` and the stored values of `=`. Constant operands are excluded: the operator is
/// defined for "variables".
fn insert(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let wants = |kind| match kind {
        OperationKind::Binary(op) => BinaryOp::ARITHMETIC.contains(&op),
        kind => kind == OperationKind::Assign,
    };
    for operation in select_operations(subject, "AIU", &wants, found).list {
        let Implementation::Computed(instances) = &operation.implementation else { continue };
        if operation.ty.class == Class::Pointer {
            continue;
        }
        let sides: &[u32] = if operation.kind == OperationKind::Assign { &[1] } else { &[0, 1] };
        for side in sides {
            let slots: Vec<Slot> = instances.iter().filter_map(|i| operand(i, *side)).collect();
            let operand = operation.node.and_then(|node| node.children.get(*side as usize));
            let is_constant = operand.zip(subject.ast).is_some_and(|(o, ast)| folding::constant(ast, o).is_some());
            if slots.is_empty() || is_constant {
                continue;
            }
            let negation = if operation.ty.class == Class::Float { Unary::FNeg } else { Unary::Neg };
            let by = Expr::Unary(negation, Box::new(Expr::Original));
            found.mutants.push(inserted(subject, &operation, *side, operand, Edit::Value { at: slots, by }));
        }
    }
}

/// Returns the slot from which an instruction takes the left (0) or right (1) operand of an operator.
fn operand(instance: &Instance, side: u32) -> Option<Slot> {
    match if side == 0 { &instance.left } else { &instance.right } {
        Expr::Operand(operand) => Some(Slot::Operand(instance.place, *operand)),
        Expr::Original => Some(instance.slot),
        _ => None,
    }
}

fn inserted(subject: &Subject<'_>, operation: &Operation<'_>, side: u32, operand: Option<&Node>, edit: Edit) -> Mutant {
    let written = operand.filter(|_| !operation.in_macro).and_then(|node| text(subject, operation, node));
    let (original, range) = match written {
        Some((text, range)) => (text, Some(range)),
        None => (["left of ", "right of "][side as usize].to_owned() + operation.text(), operation.range.clone()),
    };
    Mutant {
        id: String::new(),
        operator: "AIU",
        function: operation.function_name.clone(),
        replacement: format!("-({original})"),
        original,
        range,
        spelling: operation.spelling.clone(),
        edit,
        is_structural: false,
    }
}

/// Returns an operand's source text, if it stands on one line and outside macros.
fn text(subject: &Subject<'_>, operation: &Operation<'_>, node: &Node) -> Option<(String, SourceRange)> {
    let own = node.range.as_ref()?;
    if own.begin.spelling.is_some() || own.end.spelling.is_some() {
        return None;
    }
    let range = source_ops::extent(subject, operation, node)?;
    let line = subject.sources.at(&range.file, range.start.line, range.start.column)?;
    let length = range.end.column.checked_sub(range.start.column).filter(|_| range.start.line == range.end.line)?;
    Some((line.get(..length as usize)?.to_owned(), range))
}
