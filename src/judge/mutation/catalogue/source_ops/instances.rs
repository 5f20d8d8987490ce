//! Maps an operator's kind to instructions: which opcodes implement it, and which operands they take it from.

use kassay_ir::instrument::mutants::{Binary, Expr, Predicate, Slot, Unary};
use kassay_ir::llvm::Opcode as Op;

use super::instructions::{Class, Code, Constant, Instruction, Ty};
use super::kinds::{BinaryOp, CompareOp, OperationKind};
use super::operation::{Addend, Instance};

/// An instruction that may implement an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub instruction: usize,
    pub kind: OperationKind,
    /// Whether it moves a pointer.
    pub is_offset: bool,
}

/// What is known about an operator besides its kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    pub moves_pointer: bool,
    /// Values of constant operands.
    pub left: Option<i128>,
    pub right: Option<i128>,
}

/// Returns the instructions among `here` that may implement the operator.
pub fn candidates(code: &Code, kind: OperationKind, hints: &Hints, here: &[usize]) -> Vec<Candidate> {
    let is_offset = hints.moves_pointer;
    let fits = |i: &usize| match is_offset {
        true => code.instructions[*i].opcode == Op::LLVMGetElementPtr && code.instructions[*i].operands.len() == 2,
        false => implements(code, *i, kind, hints),
    };
    here.iter().copied().filter(fits).map(|instruction| Candidate { instruction, kind, is_offset }).collect()
}

/// Returns whether an instruction is a fused multiply-add (`llvm.fmuladd`).
pub fn is_fused(own: &Instruction) -> bool {
    own.callee.as_deref().is_some_and(|callee| callee.starts_with("llvm.fmuladd."))
}

fn implements(code: &Code, i: usize, kind: OperationKind, hints: &Hints) -> bool {
    let own = &code.instructions[i];
    let constant = |operand| code.constant(i, operand);
    let is_zero = |operand| matches!(constant(operand), Some(c) if c.is_integer(0));
    let is_bool = own.ty.is_some_and(|ty| ty.bits == 1);
    match kind {
        OperationKind::Binary(op) | OperationKind::CompoundAssign(op) => match op {
            BinaryOp::Add => matches!(own.opcode, Op::LLVMAdd | Op::LLVMFAdd) || is_fused(own),
            BinaryOp::Sub => {
                let is_minus = own.opcode == Op::LLVMSub && is_zero(0) && hints.left != Some(0);
                !is_minus && (matches!(own.opcode, Op::LLVMSub | Op::LLVMFSub) || is_fused(own))
            }
            BinaryOp::Mul => matches!(own.opcode, Op::LLVMMul | Op::LLVMFMul),
            BinaryOp::Div => matches!(own.opcode, Op::LLVMSDiv | Op::LLVMUDiv | Op::LLVMFDiv),
            BinaryOp::Rem => matches!(own.opcode, Op::LLVMSRem | Op::LLVMURem),
            BinaryOp::And => own.opcode == Op::LLVMAnd && !code.is_shift_mask(i),
            BinaryOp::Or => own.opcode == Op::LLVMOr,
            BinaryOp::Xor => own.opcode == Op::LLVMXor && !is_bool,
            BinaryOp::Shl => own.opcode == Op::LLVMShl,
            BinaryOp::Shr => matches!(own.opcode, Op::LLVMLShr | Op::LLVMAShr),
        },
        OperationKind::Compare(op) => {
            let is_truth_test = op == CompareOp::Ne && hints.right.is_some_and(|right| right != 0) && is_zero(1);
            own.predicate.and_then(compare_op) == Some(op) && !is_truth_test
        }
        OperationKind::Assign => own.opcode == Op::LLVMStore,
        OperationKind::Increment { .. } => adds(code, i, 1),
        OperationKind::Decrement { .. } => adds(code, i, -1),
        OperationKind::Minus => own.opcode == Op::LLVMFNeg || (own.opcode == Op::LLVMSub && is_zero(0)),
        OperationKind::BitNot => {
            own.opcode == Op::LLVMXor && matches!(constant(1), Some(Constant::Integer(-1, b)) if b > 1)
        }
        OperationKind::LogicalNot => {
            let negates = own.opcode == Op::LLVMXor && is_bool && matches!(constant(1), Some(Constant::Integer(-1, 1)));
            let is_vector = own.ty.is_some_and(|ty| ty.lanes > 1);
            let compares = matches!(own.predicate, Some(Predicate::Eq | Predicate::FOeq)) && is_vector;
            negates || compares
        }
    }
}

/// Returns whether an instruction adds the constant `by`.
fn adds(code: &Code, i: usize, by: i128) -> bool {
    match (code.instructions[i].opcode, code.constant(i, 1)) {
        (Op::LLVMAdd, Some(Constant::Integer(value, _))) => value == by,
        (Op::LLVMFAdd, Some(Constant::Float(value))) => value == by as f64,
        _ => false,
    }
}

/// Returns the C operator of a predicate.
pub fn compare_op(predicate: Predicate) -> Option<CompareOp> {
    Some(match predicate {
        Predicate::Eq | Predicate::FOeq => CompareOp::Eq,
        Predicate::Ne | Predicate::FUne => CompareOp::Ne,
        Predicate::Slt | Predicate::Ult | Predicate::FOlt => CompareOp::Lt,
        Predicate::Sle | Predicate::Ule | Predicate::FOle => CompareOp::Le,
        Predicate::Sgt | Predicate::Ugt | Predicate::FOgt => CompareOp::Gt,
        Predicate::Sge | Predicate::Uge | Predicate::FOge => CompareOp::Ge,
        _ => return None,
    })
}

/// Returns the operator's value and operands in one of its instructions.
///
/// # Errors
/// The reason, if it has none that can be replaced.
pub fn instance(code: &Code, candidate: &Candidate, ty: Ty) -> Result<Instance, &'static str> {
    let i = candidate.instruction;
    let own = &code.instructions[i];
    let plain = |left: Expr, right: Expr| Instance {
        place: own.place,
        slot: Slot::Result(own.place),
        left,
        right,
        addend: None,
        ty,
    };
    match candidate.kind {
        OperationKind::Assign => store_instance(code, i, ty),
        OperationKind::Minus if own.opcode == Op::LLVMFNeg => Ok(plain(Expr::Operand(0), Expr::Operand(0))),
        OperationKind::Minus => Ok(plain(Expr::Operand(1), Expr::Operand(1))),
        _ if is_fused(own) => {
            let product = || Expr::Binary(Binary::FMul, Box::new(Expr::Operand(0)), Box::new(Expr::Operand(1)));
            let negated = |e: Expr| Expr::Unary(Unary::FNeg, Box::new(e));
            let is_difference = matches!(
                candidate.kind,
                OperationKind::Binary(BinaryOp::Sub) | OperationKind::CompoundAssign(BinaryOp::Sub)
            );
            // clang negates the subtrahend: the addend, or one factor.
            Ok(match is_difference {
                true if is_negation(code, i, 2) => plain(product(), negated(Expr::Operand(2))),
                true => plain(Expr::Operand(2), negated(product())),
                false => plain(product(), Expr::Operand(2)),
            })
        }
        _ => Ok(plain(Expr::Operand(0), Expr::Operand(1))),
    }
}

/// Returns whether an operand is a negation that clang placed at the instruction's own location.
fn is_negation(code: &Code, i: usize, operand: usize) -> bool {
    code.definition(i, operand).is_some_and(|definition| {
        let negation = &code.instructions[definition];
        negation.opcode == Op::LLVMFNeg && negation.location == code.instructions[i].location
    })
}

/// Returns the multiplication in a `llvm.fmuladd`.
pub fn product(code: &Code, i: usize) -> Option<Instance> {
    let own = &code.instructions[i];
    let negates_product = is_negation(code, i, 0);
    let left = match negates_product {
        true => Expr::Unary(Unary::FNeg, Box::new(Expr::Operand(0))),
        false => Expr::Operand(0),
    };
    let addend = Some(Addend { value: Expr::Operand(2), negates_product });
    let slot = Slot::Result(own.place);
    Some(Instance { place: own.place, slot, left, right: Expr::Operand(1), addend, ty: own.ty? })
}

/// Returns a store by `=`: the value before and the value stored. For a component of a vector, that is the lane.
fn store_instance(code: &Code, i: usize, ty: Ty) -> Result<Instance, &'static str> {
    let own = &code.instructions[i];
    let whole = Instance {
        place: own.place,
        slot: Slot::Operand(own.place, 0),
        left: Expr::Current,
        right: Expr::Original,
        addend: None,
        ty,
    };
    if ty.class == Class::Pointer {
        return Err("a pointer is set");
    }
    let Some(definition) = code.definition(i, 0) else { return Ok(whole) };
    let built = &code.instructions[definition];
    let is_here = built.location == own.location;
    match built.opcode {
        Op::LLVMInsertElement if is_here => {
            let Some(Constant::Integer(lane, _)) = code.constant(definition, 2) else { return Ok(whole) };
            let element = Ty { lanes: 1, ..ty };
            let current = Expr::Lane(Box::new(Expr::Operand(0)), lane as u32);
            Ok(Instance {
                place: built.place,
                slot: Slot::Operand(built.place, 1),
                left: current,
                right: Expr::Original,
                addend: None,
                ty: element,
            })
        }
        Op::LLVMShuffleVector if is_here => Err("several components of a vector are set"),
        _ => Ok(whole),
    }
}
