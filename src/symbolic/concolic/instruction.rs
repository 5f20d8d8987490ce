//! Interprets instructions: always on bits, and on terms if an operand is symbolic.

use llvm_sys::LLVMOpcode;

use super::item::Item;
use super::machine::Machine;
use super::memory::{self, MemoryBlock};
use super::value::{self, Lane, Value};
use crate::program::{Instruction, Kind, Op, Shape, arithmetic, math, signed};
use crate::solve::concrete::Valuation;
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::solve::query::Model;
use crate::symbolic::transfer;

impl Machine<'_> {
    /// Interprets an instruction; returns its result.
    pub(super) fn instruction(&mut self, item: &mut Item, instruction: &Instruction) -> Value {
        let program = self.setup.program;
        let shape = program.shape(instruction.result);
        let operand = |i: usize| &item.values[instruction.operands[i] as usize];
        match &instruction.op {
            Op::Load => {
                let at = operand(0).clone();
                self.load(item, at.first(), shape)
            }
            Op::Store => {
                let (what, at) = (operand(0).clone(), operand(1).first());
                let of = program.shape(instruction.operands[0]);
                self.store(item, at, &what, of);
                Value::known(0)
            }
            Op::Call(name, base) => self.call(item, instruction, name, base, shape),
            Op::Alloca(bytes) => {
                let region = memory::PRIVATE + u64::from(instruction.result);
                let fresh = || MemoryBlock::fixed(vec![0; (*bytes).min(memory::MAX_BUFFER_BYTES) as usize]);
                item.private_memory.entry(region).or_insert_with(fresh);
                Value::known(memory::pointer(region, 0))
            }
            Op::AtomicRmw(operation) => {
                let (at, by) = (operand(0).first(), operand(1).bits());
                let of = program.shape(instruction.operands[1]);
                self.read_modify_write(item, at, by, of, *operation)
            }
            Op::CompareExchange => {
                let (at, expected, new) = (operand(0).first(), operand(1).bits(), operand(2).bits());
                let of = program.shape(instruction.operands[1]);
                let old = self.atomic(item, at, of, |old| if old == expected { new } else { old });
                Value::Many([Lane::known(old), Lane::known((old == expected).into())].into())
            }
            Op::Member(i) => Value::One(operand(0).lanes().get(*i).copied().unwrap_or(Lane::known(0))),
            Op::Phi(_) => Value::of(Vec::new(), shape),
            _ => match self.moved(item, instruction, shape) {
                Some(moved) => moved,
                None => self.computed(item, instruction, shape),
            },
        }
    }

    /// Interprets instructions that only move lanes.
    fn moved(&mut self, item: &Item, instruction: &Instruction, shape: Shape) -> Option<Value> {
        let operand = |i: usize| &item.values[instruction.operands[i] as usize];
        let known = |i: usize| {
            let lane = operand(i).first();
            lane.term.is_none().then(|| usize::try_from(lane.bits).unwrap_or(usize::MAX))
        };
        match &instruction.op {
            Op::Copy => Some(operand(0).clone()),
            Op::Extract => Some(Value::One(operand(0).lanes().get(known(1)?).copied().unwrap_or(Lane::known(0)))),
            Op::Insert => {
                let to = known(2)?;
                let mut lanes = operand(0).lanes().to_vec();
                lanes.resize(shape.lanes.max(1) as usize, Lane::known(0));
                if let Some(lane) = lanes.get_mut(to) {
                    *lane = operand(1).first();
                }
                Some(Value::Many(lanes.into()))
            }
            Op::Shuffle(mask) => {
                let (a, b) = (operand(0).lanes(), operand(1).lanes());
                let lane = |m: &i32| match usize::try_from(*m) {
                    Ok(m) if m < a.len() => a[m],
                    Ok(m) => b.get(m - a.len()).copied().unwrap_or(Lane::known(0)),
                    Err(_) => Lane::known(0),
                };
                Some(Value::Many(mask.iter().map(lane).collect()))
            }
            Op::Select if !operand(0).is_symbolic() => match operand(0) {
                Value::One(condition) => Some(operand(if condition.bits & 1 != 0 { 1 } else { 2 }).clone()),
                Value::Many(conditions) => {
                    let (a, b) = (operand(1).lanes(), operand(2).lanes());
                    let lane = |(i, c): (usize, &Lane)| if c.bits & 1 != 0 { a.get(i) } else { b.get(i) }.copied();
                    let lanes = conditions.iter().enumerate().map(|x| lane(x).unwrap_or(Lane::known(0)));
                    Some(Value::Many(lanes.collect()))
                }
            },
            _ => None,
        }
    }

    /// Interprets all other instructions that access neither memory nor ids.
    pub(super) fn computed(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        let operands = &instruction.operands;
        let is_symbolic = operands.iter().any(|o| item.values[*o as usize].is_symbolic());
        let bits = self.bits(item, instruction, shape);
        if !is_symbolic || shape.kind == Kind::Void || shape.kind == Kind::Other {
            return bits;
        }
        let found = match &instruction.op {
            Op::Address { .. } => self.address(item, instruction).map(|a| vec![a]),
            _ => {
                self.divisor(item, instruction);
                let program = self.setup.program;
                let mut args = Vec::with_capacity(operands.len());
                for operand in operands {
                    let kind = program.shape(*operand).kind;
                    let lanes = item.values[*operand as usize].lanes();
                    args.push(lanes.iter().map(|l| value::term(self.terms, *l, kind)).collect::<Vec<Term>>());
                }
                transfer::apply(self.terms, program, instruction, &args)
            }
        };
        let Some(found) = found.filter(|f| f.len() == bits.lanes().len()) else { return bits };
        let lanes = found.iter().zip(bits.lanes()).map(|(term, lane)| value::lane(self.terms, *term, lane.bits));
        Value::of(lanes.collect(), shape)
    }

    /// Requires symbolic divisors to differ from 0.
    fn divisor(&mut self, item: &mut Item, instruction: &Instruction) {
        use LLVMOpcode::{LLVMSDiv, LLVMSRem, LLVMUDiv, LLVMURem};
        if !matches!(instruction.op, Op::Binary(LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem)) {
            return;
        }
        let divisors = item.values[instruction.operands[1] as usize].clone();
        for lane in divisors.lanes() {
            let Some(divisor) = lane.term else { continue };
            let of = self.terms.sort(divisor);
            let zero = self.terms.constant(0, of);
            let same = self.terms.compare(Operation::Eq, divisor, zero);
            let other = self.terms.not(same);
            if !self.setup.inputs.allows_faults {
                self.require_no_fault(item, other, lane.bits != 0);
            }
        }
    }

    fn address(&mut self, item: &Item, instruction: &Instruction) -> Option<Term> {
        let Op::Address { steps, offset } = &instruction.op else { return None };
        let program = self.setup.program;
        let operand = |i: usize| item.values[instruction.operands[i] as usize].first();
        let terms = &mut *self.terms;
        let mut fixed = offset.cast_unsigned();
        let mut sum: Option<Term> = None;
        let base = operand(0);
        match base.term {
            Some(term) => sum = Some(term),
            None => fixed = fixed.wrapping_add(base.bits),
        }
        for step in steps {
            let index = operand(step.operand);
            let width = arithmetic::width(program.shape(instruction.operands[step.operand]).kind);
            match index.term {
                None => {
                    let bytes = signed(index.bits, width).wrapping_mul(step.scale);
                    fixed = fixed.wrapping_add(bytes.cast_unsigned());
                }
                Some(term) => {
                    let scaled = scaled(terms, term, width, step.scale);
                    sum = Some(added(terms, sum, scaled));
                }
            }
        }
        Some(match sum {
            Some(sum) => value::plus(terms, sum, fixed),
            None => terms.constant(fixed, Sort::Bits(64)),
        })
    }

    /// Computes the bits of the result, and records a fault if there is one.
    fn bits(&mut self, item: &Item, instruction: &Instruction, shape: Shape) -> Value {
        let program = self.setup.program;
        let operand = |i: usize| &item.values[instruction.operands[i] as usize];
        let kind_of = |i: usize| program.shape(instruction.operands[i]).kind;
        let mut faulty = false;
        let result = match &instruction.op {
            Op::Binary(opcode) => zipped(operand(0), operand(1), |a, b| {
                arithmetic::binary(*opcode, shape.kind, a, b).unwrap_or_else(|| {
                    faulty = true;
                    0
                })
            }),
            Op::FNeg => {
                let width = arithmetic::width(shape.kind);
                mapped(operand(0), |x| x ^ (1 << (width - 1)))
            }
            Op::Compare(predicate) => {
                let width = arithmetic::width(kind_of(0));
                zipped(operand(0), operand(1), |a, b| arithmetic::compare(*predicate, width, a, b).into())
            }
            Op::FCompare(predicate) => {
                let width = arithmetic::width(kind_of(0));
                zipped(operand(0), operand(1), |a, b| arithmetic::compare_floats(*predicate, width, a, b).into())
            }
            Op::Cast(LLVMOpcode::LLVMBitCast) => {
                let from = program.shape(instruction.operands[0]);
                let bytes = bytes(operand(0), from);
                let size = shape.lane_bytes().max(1) as usize;
                let lanes = bytes.chunks(size).map(|chunk| value::from_bytes(chunk, shape.kind));
                Value::of_bits(lanes, shape)
            }
            Op::Cast(opcode) => mapped(operand(0), |x| arithmetic::cast(*opcode, kind_of(0), shape.kind, x)),
            Op::Address { steps, offset } => {
                let mut at = operand(0).bits().wrapping_add(offset.cast_unsigned());
                for step in steps {
                    let index = signed(operand(step.operand).bits(), arithmetic::width(kind_of(step.operand)));
                    at = at.wrapping_add(index.wrapping_mul(step.scale).cast_unsigned());
                }
                Value::known(at)
            }
            Op::Select => {
                let conditions = operand(0).lanes();
                let (a, b) = (operand(1).lanes(), operand(2).lanes());
                let lane = |i: usize| {
                    let condition = conditions.get(i).or(conditions.first()).is_some_and(|c| c.bits & 1 != 0);
                    if condition { a.get(i) } else { b.get(i) }.map_or(0, |l| l.bits)
                };
                Value::of_bits((0..a.len()).map(lane), shape)
            }
            Op::Extract => {
                let lane = operand(0).lanes().get(operand(1).bits() as usize);
                Value::known(lane.map_or(0, |l| l.bits))
            }
            Op::Insert => {
                let mut lanes: Vec<u64> = operand(0).lanes().iter().map(|l| l.bits).collect();
                if let Some(lane) = lanes.get_mut(operand(2).bits() as usize) {
                    *lane = operand(1).bits();
                }
                Value::of_bits(lanes, shape)
            }
            Op::Call(..) => {
                let lanes = |i: usize| operand(i).lanes().iter().map(|l| l.bits).collect();
                let args: Vec<Vec<u64>> = (0..instruction.operands.len()).map(lanes).collect();
                return self.builtin(instruction, &args, shape);
            }
            _ => Value::of(Vec::new(), shape),
        };
        if faulty {
            self.fault(item);
        }
        result
    }

    /// Evaluates a builtin on bits: exactly if it has a definition on terms, otherwise with the host's mathematics.
    fn builtin(&mut self, instruction: &Instruction, args: &[Vec<u64>], shape: Shape) -> Value {
        const MANY: usize = 1 << 16;
        let program = self.setup.program;
        if self.scratch.len() > MANY {
            self.scratch = Terms::default();
        }
        let mut terms = Vec::with_capacity(args.len());
        for (lanes, operand) in args.iter().zip(&instruction.operands) {
            let sort = value::sort(program.shape(*operand).kind);
            terms.push(lanes.iter().map(|bits| self.scratch.constant(*bits, sort)).collect::<Vec<Term>>());
        }
        if let Some(found) = transfer::apply(&mut self.scratch, program, instruction, &terms) {
            let mut trial = Valuation::of(&self.scratch, Model::default());
            return Value::of_bits(found.iter().map(|t| trial.value(*t)), shape);
        }
        match math::builtin(program, instruction, args, shape) {
            Some(bits) => Value::of_bits(bits, shape),
            None => Value::of(Vec::new(), shape),
        }
    }
}

fn scaled(terms: &mut Terms, index: Term, width: u32, scale: i64) -> Term {
    let wide = match width {
        64 => index,
        _ if width > 64 => value::resized(terms, index, 64),
        _ => terms.apply(Operation::SExt, vec![index], Sort::Bits(64)),
    };
    if scale == 1 {
        return wide;
    }
    let scale = terms.constant(scale.cast_unsigned(), Sort::Bits(64));
    terms.apply(Operation::Mul, vec![wide, scale], Sort::Bits(64))
}

fn added(terms: &mut Terms, sum: Option<Term>, more: Term) -> Term {
    match sum {
        Some(sum) => terms.apply(Operation::Add, vec![sum, more], Sort::Bits(64)),
        None => more,
    }
}

fn mapped(a: &Value, f: impl Fn(u64) -> u64) -> Value {
    match a {
        Value::One(a) => Value::known(f(a.bits)),
        Value::Many(lanes) => Value::Many(lanes.iter().map(|l| Lane::known(f(l.bits))).collect()),
    }
}

/// Applies `f` lane by lane; a scalar is used for every lane.
fn zipped(a: &Value, b: &Value, mut f: impl FnMut(u64, u64) -> u64) -> Value {
    match (a, b) {
        (Value::One(a), Value::One(b)) => Value::known(f(a.bits, b.bits)),
        (Value::Many(a), Value::Many(b)) => {
            Value::Many(a.iter().zip(b.iter()).map(|(a, b)| Lane::known(f(a.bits, b.bits))).collect())
        }
        (Value::Many(a), Value::One(b)) => Value::Many(a.iter().map(|a| Lane::known(f(a.bits, b.bits))).collect()),
        (Value::One(a), Value::Many(b)) => Value::Many(b.iter().map(|b| Lane::known(f(a.bits, b.bits))).collect()),
    }
}

/// Returns the bytes of a value in memory.
pub fn bytes(value: &Value, shape: Shape) -> Vec<u8> {
    let size = shape.lane_bytes() as usize;
    let mut bytes = Vec::with_capacity(size * value.lanes().len());
    for lane in value.lanes() {
        let word = lane.bits.to_le_bytes();
        bytes.extend((0..size).map(|i| word.get(i).copied().unwrap_or(0)));
    }
    bytes
}
