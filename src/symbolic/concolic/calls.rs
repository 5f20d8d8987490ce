//! Interprets calls: marks, ids, and builtins that access memory.

use super::inputs;
use super::interpreter::Interpreter;
use super::item::{Item, Mode};
use super::trace::PathStep;
use super::value::{self, Lane, Value};
use crate::instrument::marks::MARK;
use crate::kernel::builtins::Operation as Atomic;
use crate::program::ids::Part;
use crate::program::machine::call::{AsyncCopy, Atomic as AtomicCall};
use crate::program::{Instruction, Kind, Op, Shape, arithmetic, masked, signed};
use crate::solve::expression::{Operation, Sort, Term};
use crate::suite::launch::{ArgValue, ImageShape};

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
    fn symbol(&mut self, item: &Item, name: &str, d: usize, bits: u64) -> Option<Term> {
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

    /// Returns an id or a size in one dimension.
    pub(super) fn id_part(&mut self, item: &Item, part: Part, d: usize) -> Lane {
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let (name, bits) = match part {
            Part::Groups => (inputs::GROUPS, range.with_local(local).group_counts()[d]),
            Part::LocalSize => (inputs::LOCAL_SIZE, local[d]),
            Part::Offset => (inputs::OFFSET, range.offset[d]),
            Part::Dimensions => (inputs::DIMS, range.dims.into()),
            Part::GroupId => (inputs::GROUP_ID, item.group_id[d]),
            Part::LocalId => (inputs::LOCAL_ID, item.local_id[d]),
            Part::GlobalSize => return self.global_size(item, d),
        };
        let term = self.symbol(item, name, d, bits);
        match part {
            Part::Dimensions => Lane { bits, term: term.map(|t| value::resized(self.terms, t, 32)) },
            _ => Lane { bits, term },
        }
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
    fn global_size(&mut self, item: &Item, d: usize) -> Lane {
        let (groups, size) = (self.id_part(item, Part::Groups, d), self.id_part(item, Part::LocalSize, d));
        if groups.term.is_none() && size.term.is_none() {
            return Lane::known(self.setup.launch.range.global[d]);
        }
        self.wide(Operation::Mul, groups, size)
    }

    /// Returns the sides of the image that an argument holds.
    pub(super) fn sides(&self, position: usize) -> Option<[u64; 3]> {
        let Some(ArgValue::Image { shape, .. }) = self.setup.launch.args.get(position) else { return None };
        Some(match *shape {
            ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [width, 1, 1],
            ImageShape::D1Array { width, layers } => [width, layers, layers],
            ImageShape::D2 { width, height } => [width, height, 1],
            ImageShape::D2Array { width, height, layers } => [width, height, layers],
            ImageShape::D3 { width, height, depth } => [width, height, depth],
        })
    }

    /// Returns floats in another width.
    pub(super) fn floats_in(&mut self, value: &Value, from: Shape, to: Shape) -> Value {
        let (before, after) = (arithmetic::width(from.kind), arithmetic::width(to.kind));
        let mut lanes = Vec::new();
        for lane in value.lanes() {
            let bits = arithmetic::float_bits(arithmetic::float(lane.bits, before), after);
            let term = lane.term.map(|t| self.terms.apply(Operation::FToF, vec![t], Sort::Float(after)));
            lanes.push(Lane { bits, term });
        }
        Value::of(lanes, to)
    }

    /// The first work-item of the group copies for all.
    pub(super) fn async_copy(&mut self, item: &mut Item, copy: AsyncCopy, operands: &[Value]) {
        let [to, from, count, ..] = operands else { return };
        let (Some(element), true) = (copy.element.map(u64::from), item.local_id == [0; 3]) else { return };
        let (to, from, count) = (to.first(), from.first(), count.first().bits);
        if !copy.is_strided {
            return self.copy_bytes(item, to, from, count.saturating_mul(element));
        }
        let (to_stride, from_stride) = copy.strides(operands.get(3).map_or(1, |stride| stride.first().bits));
        for i in 0..count.min(1 << 16) {
            let target = self.wide(Operation::Add, to, Lane::known(i.wrapping_mul(to_stride * element)));
            let source = self.wide(Operation::Add, from, Lane::known(i.wrapping_mul(from_stride * element)));
            self.copy_bytes(item, target, source, element);
        }
    }

    /// Interprets an atomic builtin.
    pub(super) fn atomic_builtin(
        &mut self,
        item: &mut Item,
        instruction: &Instruction,
        atomic: AtomicCall,
        shape: Shape,
    ) -> Value {
        let operand =
            |i: usize| instruction.operands.get(i).map_or(Lane::known(0), |o| item.values[*o as usize].first());
        let [at, by, more] = [0, 1, 2].map(operand);
        let AtomicCall { operation, kind, is_signed } = atomic;
        let (is_float, width) = (matches!(kind, Kind::Float(_)), arithmetic::width(kind));
        let of = Shape { kind, lanes: 0 };
        let sum = |a: u64, b: u64, sign: f64| {
            if is_float {
                arithmetic::float_bits(arithmetic::float(a, width) + sign * arithmetic::float(b, width), width)
            } else if sign > 0.0 {
                a.wrapping_add(b)
            } else {
                a.wrapping_sub(b)
            }
        };
        let less = |a: u64, b: u64| match (is_float, is_signed) {
            (true, _) => arithmetic::float(a, width) < arithmetic::float(b, width),
            (_, true) => signed(a, width) < signed(b, width),
            _ => a < b,
        };
        if operation == Atomic::CompareExchangeBool {
            let more = more.bits;
            // The expected value is in memory, and is replaced by the old value.
            let expected = self.load_lanes(item, by, of).first().bits;
            let old = self.exchange(item, at, of, |old| if old == expected { more } else { old });
            self.store_lanes(item, by, &Value::known(old), of);
            return Value::known((old == expected).into());
        }
        let (by, more) = (by.bits, more.bits);
        let old = self.exchange(item, at, of, |old| match operation {
            Atomic::Add => sum(old, by, 1.0),
            Atomic::Sub => sum(old, by, -1.0),
            Atomic::Min => {
                if less(by, old) {
                    by
                } else {
                    old
                }
            }
            Atomic::Max => {
                if less(old, by) {
                    by
                } else {
                    old
                }
            }
            Atomic::And => old & by,
            Atomic::Or => old | by,
            Atomic::Xor => old ^ by,
            Atomic::Inc => old.wrapping_add(1),
            Atomic::Dec => old.wrapping_sub(1),
            Atomic::Exchange | Atomic::Store => by,
            Atomic::CompareExchange if old == by => more,
            Atomic::TestAndSet => 1,
            Atomic::Clear => 0,
            Atomic::CompareExchange | Atomic::CompareExchangeBool | Atomic::Load => old,
        });
        match operation {
            Atomic::Store | Atomic::Clear => Value::of(Vec::new(), shape),
            Atomic::TestAndSet => Value::known((old != 0).into()),
            _ => Value::known(masked(old, width)),
        }
    }
}
