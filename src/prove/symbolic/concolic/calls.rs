//! Interprets calls: marks, ids, and builtins that access memory.

use kassay_ir::instrument::marks::MARK;
use kassay_ir::kernel::builtins::Operation::{Clear, CompareExchangeBool, Store, TestAndSet};

use super::inputs;
use super::interpreter::Interpreter;
use super::item::{Item, Mode};
use super::trace::PathStep;
use super::value::{self, Lane, Value};
use crate::program::ids::Part;
use crate::program::machine::Domain;
use crate::program::machine::call::Atomic;
use crate::program::math::atomics;
use crate::program::{Instruction, Kind, Op, Shape, arithmetic, masked};
use crate::solve::expression::{Operation, Sort, Term};

impl Interpreter<'_> {
    /// Interprets a call that neither asks for ids nor accesses buffers.
    pub(super) fn other_call(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        let Op::Call(name, base) = &instruction.op else { return Value::of(Vec::new(), shape) };
        if name == MARK {
            let operand =
                |i: usize| instruction.operands.get(i).map_or(Lane::known(0), |o| item.values[*o as usize].first());
            let (goal, holds) = (operand(0).bits as u32, operand(1));
            self.mark(item, goal, holds);
            return Value::of(Vec::new(), shape);
        }
        if base.starts_with("write_image") {
            return Value::of(Vec::new(), shape);
        }
        self.computed_call(item, instruction, shape)
    }

    fn mark(&mut self, item: &mut Item, goal: u32, holds: Lane) {
        if holds.bits & 1 != 0 {
            self.run.marks.insert(goal);
        } else if let Some(holds) = holds.term {
            item.own.step(PathStep::Mark { goal, holds });
        }
    }

    /// Returns the symbol of an id or size, zero-extended to 64 bits, if it is symbolic for this work-item.
    pub(super) fn symbol(&mut self, item: &Item, name: &str, d: usize, bits: u64) -> Option<Term> {
        let ranges = &self.setup.inputs.ranges;
        let is_fixed = match name {
            inputs::LOCAL_SIZE => ranges.fixed || ranges.local.is_some(),
            inputs::GROUPS => ranges.fixed,
            inputs::OFFSET => ranges.fixed || !self.setup.inputs.asks_offset,
            inputs::DIMS => ranges.fixed,
            _ => false,
        };
        let is_used = d < self.setup.launch.range.dims as usize || self.setup.inputs.asks_dims && !ranges.fixed;
        let width = inputs::range_bits(name);
        if item.own.mode != Mode::Full || is_fixed || !is_used || bits.checked_shr(width).unwrap_or(0) != 0 {
            return None;
        }
        let symbol = self.terms.symbol(inputs::range_symbol(name, d), Sort::Bits(width));
        Some(value::resized(self.terms, symbol, 64))
    }

    /// Computes with 64 bits.
    pub(super) fn wide(&mut self, operation: Operation, a: Lane, b: Lane) -> Lane {
        let bits = match operation {
            Operation::Mul => a.bits.wrapping_mul(b.bits),
            Operation::Sub => a.bits.wrapping_sub(b.bits),
            _ => a.bits.wrapping_add(b.bits),
        };
        if a.term.is_none() && b.term.is_none() {
            return Lane::known(bits);
        }
        let args = [a, b].map(|lane| value::term(self.terms, lane, Kind::Int(64)));
        let term = self.terms.apply(operation, args.to_vec(), Sort::Bits(64));
        value::lane(self.terms, term, bits)
    }

    /// Returns the global size. Work-groups are complete where it is symbolic.
    pub(super) fn global_size(&mut self, item: &Item, d: usize) -> Lane {
        let (groups, size) = (self.part(item, Part::Groups, d), self.part(item, Part::LocalSize, d));
        if groups.term.is_none() && size.term.is_none() {
            return Lane::known(self.setup.launch.range.global[d]);
        }
        self.wide(Operation::Mul, groups, size)
    }

    /// Interprets an atomic builtin.
    pub(super) fn atomic_builtin(
        &mut self,
        item: &mut Item,
        instruction: &Instruction,
        atomic: Atomic,
        shape: Shape,
    ) -> Value {
        let operand =
            |i: usize| instruction.operands.get(i).map_or(Lane::known(0), |o| item.values[*o as usize].first());
        let [at, by, more] = [0, 1, 2].map(operand);
        let Atomic { operation, kind, is_signed } = atomic;
        let of = Shape { kind, lanes: 0 };
        let updated = |old, by| atomics::updated(operation, kind, is_signed, old, [by, more.bits]);
        if operation == CompareExchangeBool {
            // The expected value is in memory, and is replaced by the old value.
            let expected = self.load_lanes(item, by, of).first().bits;
            let old = self.exchange(item, at, of, |old| updated(old, expected));
            self.store_lanes(item, by, &Value::known(old), of);
            return Value::known((old == expected).into());
        }
        let old = self.exchange(item, at, of, |old| updated(old, by.bits));
        match operation {
            Store | Clear => Value::of(Vec::new(), shape),
            TestAndSet => Value::known((old != 0).into()),
            _ => Value::known(masked(old, arithmetic::width(kind))),
        }
    }
}
