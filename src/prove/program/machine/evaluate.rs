//! Evaluates instructions that neither access memory nor call builtins, lane by lane.

use crate::program::value::{Lane, Value};
use crate::program::{Instruction, Op, Program, arithmetic, signed};

/// The result of an instruction.
pub struct Evaluated<L> {
    /// What it computes.
    pub value: Value<L>,
    /// An integer division has no result in some lane, which is 0 in `value`.
    pub is_undefined: bool,
}

/// Evaluates an instruction on the values of a work-item. Instructions that move lanes move all that is known of them;
/// of the results of all others, only the bits are known.
pub fn evaluate<L: Lane>(program: &Program, instruction: &Instruction, values: &[Value<L>]) -> Evaluated<L> {
    let shape = program.shape(instruction.result);
    let operand = |i: usize| &values[instruction.operands[i] as usize];
    let kind_of = |i: usize| program.shape(instruction.operands[i]).kind;
    let mut is_undefined = false;
    let value = match &instruction.op {
        Op::Binary(opcode) => operand(0).zip(operand(1), |a, b| {
            arithmetic::binary(*opcode, shape.kind, a, b).unwrap_or_else(|| {
                is_undefined = true;
                0
            })
        }),
        Op::FNeg => {
            let width = arithmetic::width(shape.kind);
            operand(0).map(|x| x ^ (1 << (width - 1)))
        }
        Op::Compare(predicate) => {
            let width = arithmetic::width(kind_of(0));
            operand(0).zip(operand(1), |a, b| arithmetic::compare(*predicate, width, a, b).into())
        }
        Op::FCompare(predicate) => {
            let width = arithmetic::width(kind_of(0));
            operand(0).zip(operand(1), |a, b| arithmetic::compare_floats(*predicate, width, a, b).into())
        }
        op @ Op::Cast(_) if op.is_bit_cast() => {
            let from = program.shape(instruction.operands[0]);
            match operand(0) {
                Value::Unknown => Value::Unknown,
                known if from.bytes() == shape.bytes() => Value::from_bytes(&known.to_bytes(from), shape),
                _ => L::undetermined(shape),
            }
        }
        Op::Cast(opcode) => operand(0).map(|x| arithmetic::cast(*opcode, kind_of(0), shape.kind, x)),
        Op::Address { .. } => {
            address(program, instruction, values).map_or_else(|| L::undetermined(shape), Value::known)
        }
        _ => moved(program, instruction, values),
    };
    Evaluated { value, is_undefined }
}

/// Returns the bits of an instruction's result, if it computes a scalar from known scalars and needs no more than their
/// bits. Instructions for which it returns `None` are for [`evaluate`], which agrees with it on all others.
///
/// Most instructions that an interpreter executes are of this kind, and bits travel in registers where values do not.
pub fn evaluate_scalar<L: Lane>(program: &Program, instruction: &Instruction, values: &[Value<L>]) -> Option<u64> {
    let scalar = |i: usize| match &values[instruction.operands[i] as usize] {
        Value::One(lane) => Some(lane.bits()),
        _ => None,
    };
    let kind_of = |i: usize| program.shape(instruction.operands[i]).kind;
    let kind = program.shape(instruction.result).kind;
    match &instruction.op {
        Op::Binary(opcode) => arithmetic::binary(*opcode, kind, scalar(0)?, scalar(1)?),
        Op::Compare(predicate) => {
            Some(arithmetic::compare(*predicate, arithmetic::width(kind_of(0)), scalar(0)?, scalar(1)?).into())
        }
        Op::Cast(_) if instruction.op.is_bit_cast() => None,
        Op::Cast(opcode) => Some(arithmetic::cast(*opcode, kind_of(0), kind, scalar(0)?)),
        Op::Address { .. } => address(program, instruction, values),
        _ => None,
    }
}

/// Returns the address that an instruction computes; `None` if an operand is unknown.
fn address<L: Lane>(program: &Program, instruction: &Instruction, values: &[Value<L>]) -> Option<u64> {
    let Op::Address { steps, offset } = &instruction.op else { return None };
    let operand = |i: usize| &values[instruction.operands[i] as usize];
    let Value::One(base) = operand(0) else { return None };
    let mut at = base.bits().wrapping_add(offset.cast_unsigned());
    for step in steps {
        let kind = program.shape(instruction.operands[step.operand]).kind;
        let index = signed(operand(step.operand).bits()?, arithmetic::width(kind));
        at = at.wrapping_add(index.wrapping_mul(step.scale).cast_unsigned());
    }
    Some(at)
}

/// Evaluates an instruction that moves lanes.
fn moved<L: Lane>(program: &Program, instruction: &Instruction, values: &[Value<L>]) -> Value<L> {
    let shape = program.shape(instruction.result);
    let operand = |i: usize| &values[instruction.operands[i] as usize];
    let index = |i: usize| operand(i).bits().and_then(|bits| usize::try_from(bits).ok());
    let lane = |of: &[L], i: usize| of.get(i).copied().unwrap_or(L::new(0));
    let one = |lane: Option<&L>| lane.map_or_else(|| L::undetermined(shape), |lane| Value::One(*lane));
    match &instruction.op {
        Op::Copy => operand(0).clone(),
        Op::Extract => one(index(1).and_then(|i| operand(0).lanes().get(i))),
        Op::Member(i) => one(operand(0).lanes().get(*i)),
        Op::Insert => {
            let mut lanes = operand(0).lanes().to_vec();
            lanes.resize(shape.lanes.max(1) as usize, L::new(0));
            if let (Some(to), Some(new)) = (index(2).and_then(|i| lanes.get_mut(i)), operand(1).lanes().first()) {
                *to = *new;
            }
            Value::Many(lanes.into())
        }
        Op::Shuffle(mask) => {
            let (a, b) = (operand(0).lanes(), operand(1).lanes());
            let width = program.shape(instruction.operands[0]).lanes as usize;
            let picked = |m: &i32| match usize::try_from(*m) {
                Ok(m) if m < width => lane(a, m),
                Ok(m) => lane(b, m - width),
                Err(_) => L::new(0),
            };
            Value::Many(mask.iter().map(picked).collect())
        }
        Op::Select => match operand(0) {
            Value::One(condition) => operand(if condition.bits() & 1 != 0 { 1 } else { 2 }).clone(),
            Value::Many(conditions) => {
                let (a, b) = (operand(1).lanes(), operand(2).lanes());
                let picked = |(i, c): (usize, &L)| lane(if c.bits() & 1 != 0 { a } else { b }, i);
                Value::Many(conditions.iter().enumerate().map(picked).collect())
            }
            Value::Unknown => Value::Unknown,
        },
        _ => L::undetermined(shape),
    }
}
