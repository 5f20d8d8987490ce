//! ASR: replaces assignment operators (PENG's table 4.2, LIU's table 6.1).
//!
//! `a op= b` computes in the type of `a op b`. As a mutant of `a = b`, where `b` has already been converted to the type
//! of `a`, it computes in the type of `a`; mutants for which that conversion would be visible are excluded.

use kassay_ir::instrument::mutants::{Edit, Expr, Predicate};
use kassay_ir::kernel::ast::Node;

use super::super::level::{self, Concept};
use super::super::mutant::Excluded;
use super::super::source_ops::{BinaryOp, Class, Implementation, Operation, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::arithmetic::{counterpart, others};
use super::logical::is_boolean;
use super::replacing::{add, binary, for_each_instance, replace_operator, select_operations};

/// Replaces assignment operators.
pub const ASR: Operator = Operator {
    id: "ASR",
    name: "assignment short-cut operator replacement",
    class: "assignment",
    description: "each of `= += -= *= /= %= <<= >>= &= |= ^=` by every other",
    origin: "PENG",
    peng: true,
    liu: true,
    concept: Concept::Arithmetic,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let wants = |kind| match kind {
        OperationKind::Assign => subject.preset == Preset::Full,
        OperationKind::CompoundAssign(op) => !replacements(Some(op), subject.preset).is_empty(),
        _ => false,
    };
    let operations = select_operations(subject, "ASR", &wants, found);
    if operations.by_opcode {
        found.excluded.push(needs_source("ASR", subject));
    }
    for operation in operations.list {
        let own = match operation.kind {
            OperationKind::CompoundAssign(op) => Some(op),
            _ => None,
        };
        for by in replacements(own, subject.preset) {
            let spelling = by.map_or("=", BinaryOp::assigning);
            let edit = match by {
                None => plain(&operation),
                Some(by) if own.is_none() => compound(&operation, by),
                Some(by) => replace_operator(subject, &operation, by),
            };
            add("ASR", &operation, spelling, edit, found);
        }
    }
}

/// Returns the exclusion that an operator that needs the source reports where there is none.
pub fn needs_source(operator: &'static str, subject: &Subject<'_>) -> Excluded {
    let reason = "without the source, opcodes do not tell `++`, `op=` and `=` from other operators".to_owned();
    Excluded { operator, function: subject.entry.to_owned(), range: None, reason }
}

/// Returns the replacements of an assignment operator; `None` stands for `=`.
fn replacements(op: Option<BinaryOp>, preset: Preset) -> Vec<Option<BinaryOp>> {
    let is_arithmetic = |op| BinaryOp::ARITHMETIC.contains(&op);
    match (op, preset) {
        (Some(op), Preset::Peng) if is_arithmetic(op) => others(op, preset).into_iter().map(Some).collect(),
        (Some(op), Preset::Peng) => vec![Some(counterpart(op))],
        // LIU's pairs. The table replaces `%=` by itself; as for `%` in LIU's MR, `*=` is used.
        (Some(op), Preset::Liu | Preset::MutGpu) if is_arithmetic(op) => vec![Some(counterpart(op))],
        (_, Preset::Liu | Preset::MutGpu) | (None, Preset::Peng) => Vec::new(),
        (op, Preset::Full) => {
            let all = BinaryOp::ARITHMETIC.into_iter().chain(BinaryOp::BITWISE).map(Some).chain([None]);
            all.filter(|other| *other != op).collect()
        }
    }
}

/// Replaces `op=` by `=`.
fn plain(operation: &Operation<'_>) -> Result<Edit, &'static str> {
    match &operation.implementation {
        Implementation::Computed(instances) => for_each_instance(instances, &|i| Ok(i.right.clone())),
        _ => Err("the right operand is no pointer"),
    }
}

/// Replaces `=` by `op=`.
fn compound(operation: &Operation<'_>, by: BinaryOp) -> Result<Edit, &'static str> {
    let Implementation::Computed(instances) = &operation.implementation else { return Err("it is no store") };
    let sides = operation.node.map(|node| &node.children[..]);
    let is_wrapping = |by| !matches!(by, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr);
    if let Some([_, right]) = sides {
        let conversion = right.cast_kind.as_deref().filter(|_| right.is("ImplicitCastExpr"));
        match conversion {
            Some("IntegralCast") if !is_wrapping(by) => return Err("the right operand is converted before"),
            Some("FloatingCast" | "IntegralToFloating" | "FloatingToIntegral")
                if operation.ty.class != Class::Float =>
            {
                return Err("the right operand is converted before");
            }
            Some("IntegralToBoolean" | "FloatingToBoolean") if !right.children.first().is_some_and(is_boolean) => {
                return Err("the right operand is converted before");
            }
            _ => {}
        }
    }
    let is_truth_value = sides.and_then(|sides| sides.first()).is_some_and(is_bool);
    for_each_instance(instances, &|i| {
        let computed = binary(by, i.ty, &i.left, &i.right)?;
        Ok(if is_truth_value { as_truth_value(computed) } else { computed })
    })
}

/// Returns whether an expression has the type `bool`, in whatever address space.
fn is_bool(node: &Node) -> bool {
    node.canonical_type().and_then(|ty| ty.split_whitespace().last()) == Some("bool")
}

/// Converts a number to `bool` (C11, 6.3.1.2).
fn as_truth_value(number: Expr) -> Expr {
    let is_set = Expr::Compare(Predicate::Ne, Box::new(number), Box::new(Expr::Integer(0)));
    Expr::Select(Box::new(is_set), Box::new(Expr::Integer(1)), Box::new(Expr::Integer(0)))
}
