//! Interprets instructions: always on bits, and on terms if an operand is symbolic.

use super::interpreter::Interpreter;
use super::item::Item;
use super::value::{self, Value};
use crate::program::machine::evaluate::{Evaluated, evaluate};
use crate::program::{Instruction, Kind, Op, Shape, ValueId, arithmetic, math, signed};
use crate::solve::concrete::Valuation;
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::solve::query::Model;
use crate::symbolic::transfer;

impl Interpreter<'_> {
    /// Interprets an instruction that neither accesses memory nor calls.
    pub(super) fn computed(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        let Evaluated { value, is_undefined } = evaluate(self.setup.program, instruction, &item.values);
        // Lanes are moved together with their terms, unless a symbolic index or condition decides which.
        let decisive = match instruction.op {
            Op::Copy | Op::Member(_) | Op::Shuffle(_) => return value,
            Op::Select => Some(0),
            Op::Extract => Some(1),
            Op::Insert => Some(2),
            _ => None,
        };
        let value = match decisive {
            Some(i) if !item.values[instruction.operands[i] as usize].is_symbolic() => return value,
            // Otherwise only the bits of this run are certain.
            Some(_) => value.map(|bits| bits),
            None => value,
        };
        if is_undefined {
            self.fault(item);
        }
        if instruction.no_signed_wrap && !self.run.overflowed {
            self.run.overflowed = self.overflows(item, instruction, shape);
        }
        self.with_terms(item, instruction, value, shape)
    }

    /// Returns whether signed arithmetic overflows in some lane.
    fn overflows(&self, item: &Item, instruction: &Instruction, shape: Shape) -> bool {
        let Op::Binary(opcode) = instruction.op else { return false };
        let width = arithmetic::width(shape.kind);
        let [a, b] = [0, 1].map(|i| item.values[instruction.operands[i] as usize].lanes());
        a.iter().zip(b).any(|(a, b)| arithmetic::overflows(opcode, width, a.bits, b.bits))
    }

    /// Interprets a builtin that depends on its operands alone.
    pub(super) fn computed_call(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        let lanes = |o: &ValueId| item.values[*o as usize].lanes().iter().map(|l| l.bits).collect();
        let args: Vec<Vec<u64>> = instruction.operands.iter().map(lanes).collect();
        let value = self.builtin_bits(instruction, &args, shape);
        self.with_terms(item, instruction, value, shape)
    }

    /// Adds the terms of a result, whose bits are `bits`, if an operand is symbolic.
    fn with_terms(&mut self, item: &mut Item, instruction: &Instruction, bits: Value, shape: Shape) -> Value {
        let operands = &instruction.operands;
        let is_symbolic = operands.iter().any(|o| item.values[*o as usize].is_symbolic());
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
        if !instruction.op.is_integer_division() {
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

    /// Evaluates a builtin on bits: exactly if it has a definition on terms, otherwise with the host's mathematics.
    fn builtin_bits(&mut self, instruction: &Instruction, args: &[Vec<u64>], shape: Shape) -> Value {
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
