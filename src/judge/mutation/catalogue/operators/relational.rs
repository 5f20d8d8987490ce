//! CBR, ROR, NCR: replace relational operators.
//!
//! LIU's table 6.1 (CBR, NCR), PENG's table 4.2 (ROR). Floating-point comparisons follow C: only `!=` is true for NaN.

use kassay_ir::instrument::mutants::{Edit, Expr};

use super::super::level::{self, Concept};
use super::super::source_ops::{CompareOp, Implementation, Operation, OperationKind};
use super::super::subject::{Operator, OperatorOutput, Preset, Subject};
use super::replacing::{add, change_folded, for_each_instance, predicate, select_operations};

/// Includes or excludes the boundary of a comparison (LIU).
pub const CBR: Operator = Operator {
    id: "CBR",
    name: "conditional boundary replacement",
    class: "condition",
    description: "`<` by `<=`, `>` by `>=`, and the other way round",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Relations,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "CBR", &|op, _| vec![boundary(op)], found),
};

/// Replaces each relational operator by every other (PENG).
pub const ROR: Operator = Operator {
    id: "ROR",
    name: "relational operator replacement",
    class: "condition",
    description: "each of `< <= > >= == !=` by every other",
    origin: "PENG",
    peng: true,
    liu: false,
    concept: Concept::Relations,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "ROR", &others, found),
};

/// Negates comparisons (LIU).
pub const NCR: Operator = Operator {
    id: "NCR",
    name: "negate conditional replacement",
    class: "condition",
    description: "each of `< <= > >= == !=` by its opposite",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::Relations,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "NCR", &|op, _| vec![Some(opposite(op))], found),
};

type Replacements = dyn Fn(CompareOp, Preset) -> Vec<Option<CompareOp>>;

fn boundary(op: CompareOp) -> Option<CompareOp> {
    match op {
        CompareOp::Lt => Some(CompareOp::Le),
        CompareOp::Le => Some(CompareOp::Lt),
        CompareOp::Gt => Some(CompareOp::Ge),
        CompareOp::Ge => Some(CompareOp::Gt),
        CompareOp::Eq | CompareOp::Ne => None,
    }
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

/// Returns the replacements of a relational operator. According to PENG's counts, the four orderings are replaced by
/// one another, and so are `==` and `!=`.
fn others(op: CompareOp, preset: Preset) -> Vec<Option<CompareOp>> {
    let is_equality = |op| matches!(op, CompareOp::Eq | CompareOp::Ne);
    let all = CompareOp::ALL.into_iter().filter(|other| *other != op);
    all.filter(|other| preset != Preset::Peng || is_equality(*other) == is_equality(op)).map(Some).collect()
}

fn enumerate(subject: &Subject<'_>, id: &'static str, replacements: &Replacements, found: &mut OperatorOutput) {
    for operation in select_operations(subject, id, &|kind| matches!(kind, OperationKind::Compare(_)), found).list {
        let OperationKind::Compare(op) = operation.kind else { continue };
        for by in replacements(op, subject.preset).into_iter().flatten() {
            add(id, &operation, by.spelling(), edit(subject, &operation, by), found);
        }
    }
}

fn edit(subject: &Subject<'_>, operation: &Operation<'_>, by: CompareOp) -> Result<Edit, &'static str> {
    match &operation.implementation {
        Implementation::Computed(instances) => for_each_instance(instances, &|i| {
            Ok(Expr::Compare(predicate(by, i.ty), Box::new(i.left.clone()), Box::new(i.right.clone())))
        }),
        Implementation::Folded(folded) => {
            change_folded(subject, operation, folded, &|node| node.opcode = Some(by.spelling().into()))
        }
        _ => Err("it has no comparison"),
    }
}
