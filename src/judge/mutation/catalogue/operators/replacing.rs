//! Functions shared by families of operators: from a source operation and its replacement to a mutant.

use kassay_ir::instrument::mutants::{Binary, Edit, Expr, Predicate, Slot};
use kassay_ir::kernel::ast::Node;

use super::super::mutant::{Excluded, Mutant};
use super::super::source_ops::{
    self, BinaryOp, Class, CompareOp, Folded, Implementation, Instance, Operation, OperationKind, Operations, Ty,
};
use super::super::subject::{OperatorOutput, Preset, Subject};

/// Returns the operations of a kernel that an operator may mutate; those it must not are added to `found` as excluded.
pub fn select_operations<'a>(
    subject: &Subject<'a>,
    id: &'static str,
    wants: &dyn Fn(OperationKind) -> bool,
    found: &mut OperatorOutput,
) -> Operations<'a> {
    let all = subject.cache.operations.get_or_init(|| source_ops::find(subject));
    let mut operations = Operations {
        list: all.list.iter().filter(|o| wants(o.kind)).cloned().collect(),
        unmutable: all.unmutable.iter().filter(|unmutable| wants(unmutable.kind)).cloned().collect(),
        by_opcode: all.by_opcode,
    };
    let excluded = |o: &Operation<'_>, reason: &str| Excluded {
        operator: id,
        function: o.function_name.clone(),
        range: o.range.clone(),
        reason: reason.to_owned(),
    };
    found.excluded.extend(operations.unmutable.iter().map(|unmutable| unmutable.excluded(id)));
    operations.list.retain(|o| {
        let reason = match subject.preset {
            _ if o.in_barrier_argument => Some("a barrier's flags are another operator's"),
            Preset::Peng if o.in_macro => Some("PENG leaves operators in macros alone"),
            _ => None,
        };
        found.excluded.extend(reason.map(|reason| excluded(o, reason)));
        reason.is_none()
    });
    operations
}

/// Adds the mutant that turns `operation` into `replacement`, or the reason why there is none.
pub fn add(
    id: &'static str,
    operation: &Operation<'_>,
    replacement: &str,
    edit: Result<Edit, &'static str>,
    found: &mut OperatorOutput,
) {
    match edit {
        Ok(edit) => found.mutants.push(Mutant {
            id: String::new(),
            operator: id,
            function: operation.function_name.clone(),
            original: operation.text().to_owned(),
            replacement: replacement.to_owned(),
            range: operation.range.clone(),
            spelling: operation.spelling.clone(),
            edit,
            is_structural: false,
        }),
        Err(reason) => found.excluded.push(Excluded {
            operator: id,
            function: operation.function_name.clone(),
            range: operation.range.clone(),
            reason: format!("`{}` to `{replacement}`: {reason}", operation.text()),
        }),
    }
}

/// Builds the edit that sets the value of each of an operation's instructions. Equal values share one edit.
pub fn for_each_instance(
    instances: &[Instance],
    value: &dyn Fn(&Instance) -> Result<Expr, &'static str>,
) -> Result<Edit, &'static str> {
    let mut edits: Vec<(Vec<Slot>, Expr)> = Vec::new();
    for instance in instances {
        let by = instance.holding(value(instance)?);
        match edits.iter_mut().find(|(_, known)| *known == by) {
            Some((slots, _)) => slots.push(instance.slot),
            None => edits.push((vec![instance.slot], by)),
        }
    }
    Ok(values(edits))
}

fn values(edits: Vec<(Vec<Slot>, Expr)>) -> Edit {
    let mut edits: Vec<Edit> = edits.into_iter().map(|(at, by)| Edit::Value { at, by }).collect();
    if edits.len() == 1 { edits.remove(0) } else { Edit::All(edits) }
}

/// Builds the edit that changes a part of a folded constant.
pub fn change_folded(
    subject: &Subject<'_>,
    operation: &Operation<'_>,
    folded: &Folded<'_>,
    change: &dyn Fn(&mut Node),
) -> Result<Edit, &'static str> {
    let (Some(ast), Some(node)) = (subject.ast, operation.node) else { return Err("the syntax tree is not known") };
    let by = folded.changed(ast, node, change).ok_or("the constant has the same value or none")?;
    Ok(Edit::Value { at: folded.slots.clone(), by })
}

/// Builds the edit that replaces a binary operator.
pub fn replace_operator(subject: &Subject<'_>, operation: &Operation<'_>, by: BinaryOp) -> Result<Edit, &'static str> {
    match &operation.implementation {
        Implementation::Computed(instances) => for_each_instance(instances, &|i| binary(by, i.ty, &i.left, &i.right)),
        Implementation::Offset(slots) => match by {
            BinaryOp::Add | BinaryOp::Sub => Ok(negated_index(slots)),
            _ => Err("pointers have only `+` and `-`"),
        },
        Implementation::Folded(folded) => {
            change_folded(subject, operation, folded, &|node| node.opcode = Some(by.spelling().into()))
        }
        Implementation::Truth(_) | Implementation::Edges(_) => Err("it is no operator of two operands"),
    }
}

/// Builds the edit that reverses the direction in which a pointer moves.
pub fn negated_index(slots: &[Slot]) -> Edit {
    let by = Expr::Unary(kassay_ir::instrument::mutants::Unary::Neg, Box::new(Expr::Original));
    Edit::Value { at: slots.to_vec(), by }
}

/// Builds `left op right` in the IR.
///
/// # Errors
/// The reason, if C has no such operator for the type.
pub fn binary(op: BinaryOp, ty: Ty, left: &Expr, right: &Expr) -> Result<Expr, &'static str> {
    let (is_float, is_signed) = (ty.class == Class::Float, ty.class == Class::Signed);
    if ty.class == Class::Pointer {
        return Err("pointers have no such operator");
    }
    let op = match op {
        BinaryOp::Add if is_float => Binary::FAdd,
        BinaryOp::Sub if is_float => Binary::FSub,
        BinaryOp::Mul if is_float => Binary::FMul,
        BinaryOp::Div if is_float => Binary::FDiv,
        _ if is_float => return Err("floating-point numbers have no such operator"),
        BinaryOp::Add => Binary::Add,
        BinaryOp::Sub => Binary::Sub,
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::Div if is_signed => Binary::SDiv,
        BinaryOp::Div => Binary::UDiv,
        BinaryOp::Rem if is_signed => Binary::SRem,
        BinaryOp::Rem => Binary::URem,
        BinaryOp::And => Binary::And,
        BinaryOp::Or => Binary::Or,
        BinaryOp::Xor => Binary::Xor,
        BinaryOp::Shl => Binary::Shl,
        BinaryOp::Shr if is_signed => Binary::AShr,
        BinaryOp::Shr => Binary::LShr,
    };
    Ok(Expr::Binary(op, Box::new(left.clone()), Box::new(right.clone())))
}

/// Returns the predicate of C's comparison for operands of a type.
pub fn predicate(op: CompareOp, ty: Ty) -> Predicate {
    match (op, ty.class) {
        (CompareOp::Lt, Class::Float) => Predicate::FOlt,
        (CompareOp::Le, Class::Float) => Predicate::FOle,
        (CompareOp::Gt, Class::Float) => Predicate::FOgt,
        (CompareOp::Ge, Class::Float) => Predicate::FOge,
        (CompareOp::Eq, Class::Float) => Predicate::FOeq,
        (CompareOp::Ne, Class::Float) => Predicate::FUne,
        (CompareOp::Eq, _) => Predicate::Eq,
        (CompareOp::Ne, _) => Predicate::Ne,
        (CompareOp::Lt, Class::Signed) => Predicate::Slt,
        (CompareOp::Le, Class::Signed) => Predicate::Sle,
        (CompareOp::Gt, Class::Signed) => Predicate::Sgt,
        (CompareOp::Ge, Class::Signed) => Predicate::Sge,
        (CompareOp::Lt, _) => Predicate::Ult,
        (CompareOp::Le, _) => Predicate::Ule,
        (CompareOp::Gt, _) => Predicate::Ugt,
        (CompareOp::Ge, _) => Predicate::Uge,
    }
}
