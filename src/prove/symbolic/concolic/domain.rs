//! Concolic execution as a domain of the machine that executes programs: lanes are bits with the terms of which they
//! are instances.

use kassay_suite::launch::{ArgValue, ImageShape};

use super::inputs;
use super::interpreter::{Interpreter, extended_hash};
use super::item::{Item, ItemData, Mode};
use super::memory::{MAX_BUFFER_BYTES, MemoryBlock};
use super::trace::PathStep;
use super::value::{self, Lane, Value};
use crate::program::ids::Part;
use crate::program::machine::call::{AsyncCopy, Atomic};
use crate::program::machine::{Cut, Domain, State};
use crate::program::value::lane_from_bytes;
use crate::program::{End, Instruction, Kind, Op, Shape, ValueId, arithmetic, pointer};
use crate::solve::expression::{Operation, Sort};

/// Largest number of steps of a path; a longer one is abandoned.
const LONGEST_PATH: usize = 20_000;
/// Largest number of terms of a trace; with more, it is abandoned.
const MAX_TERMS: usize = 400_000;

impl Domain for Interpreter<'_> {
    type Lane = Lane;
    type Item = ItemData;

    fn param(&mut self, position: usize, shape: Shape) -> Value {
        let setup = self.setup;
        match setup.launch.args.get(position) {
            Some(ArgValue::Value(bytes)) if setup.program.by_value[position].is_none() => {
                let size = shape.lane_bytes().max(1) as usize;
                let is_free = self.is_symbolic && setup.inputs.args.get(position).is_some_and(|i| i.is_free);
                let mut lanes = Vec::new();
                for (offset, chunk) in (0u64..).step_by(size).zip(bytes.chunks(size)) {
                    let bits = lane_from_bytes(chunk, shape.kind);
                    let term = (is_free && shape.kind != Kind::Other).then(|| {
                        let symbol = inputs::scalar_symbol(position, offset);
                        let stored = self.terms.symbol(symbol, Sort::Bits(8 * size as u32));
                        value::loaded(self.terms, stored, shape.kind)
                    });
                    lanes.push(Lane { bits, term });
                }
                Value::of(lanes, shape)
            }
            Some(ArgValue::Value(_) | ArgValue::Local(_)) => Value::known(pointer::encode(position as u64, 0)),
            Some(ArgValue::Buffer(_) | ArgValue::Same(_)) => {
                let number = position as u32;
                let owner = setup.launch.owner(number);
                match setup.launch.args.get(owner as usize) {
                    Some(ArgValue::Buffer(bytes)) if bytes.is_empty() => Value::known(0),
                    _ => Value::known(pointer::encode(owner.into(), setup.launch.view(number).offset as i64)),
                }
            }
            _ => Value::of(Vec::new(), shape),
        }
    }

    fn load(&mut self, item: &mut Item, pointer: &Value, shape: Shape) -> Value {
        self.load_lanes(item, pointer.first(), shape)
    }

    fn store(&mut self, item: &mut Item, pointer: &Value, value: &Value, shape: Shape) {
        self.store_lanes(item, pointer.first(), value, shape);
    }

    fn allocate(&mut self, item: &mut Item, region: u64, bytes: u64) {
        let fresh = || MemoryBlock::fixed(vec![0; bytes.min(MAX_BUFFER_BYTES) as usize]);
        item.own.private_memory.entry(region).or_insert_with(fresh);
    }

    fn atomic_instruction(&mut self, item: &mut Item, instruction: &Instruction) -> Value {
        let operand = |i: usize| item.values[instruction.operands[i] as usize].first();
        let of = self.setup.program.shape(instruction.operands[1]);
        let (at, by) = (operand(0), operand(1).bits);
        match instruction.op {
            Op::AtomicRmw(operation) => {
                let new = |old| arithmetic::read_modify_write(operation, of.kind, old, by);
                Value::known(self.exchange(item, at, of, new))
            }
            _ => {
                let new = operand(2).bits;
                let old = self.exchange(item, at, of, |old| if old == by { new } else { old });
                Value::Many([Lane::known(old), Lane::known((old == by).into())].into())
            }
        }
    }

    fn atomic_call(&mut self, item: &mut Item, instruction: &Instruction, atomic: Atomic, shape: Shape) -> Value {
        self.atomic_builtin(item, instruction, atomic, shape)
    }

    fn copy(&mut self, item: &mut Item, operands: &[Value]) {
        if let [to, from, size, ..] = operands {
            self.copy_bytes(item, to.first(), from.first(), size.first().bits);
        }
    }

    fn fill(&mut self, item: &mut Item, operands: &[Value]) {
        if let [to, byte, size, ..] = operands {
            self.fill_bytes(item, to.first(), byte.first().bits as u8, size.first().bits);
        }
    }

    /// The first work-item of the group copies for all.
    fn copy_async(&mut self, item: &mut Item, copy: AsyncCopy, operands: &[Value]) {
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

    fn image_sides(&self, position: usize) -> Option<[u64; 3]> {
        let Some(ArgValue::Image { shape, .. }) = self.setup.launch.args.get(position) else { return None };
        Some(match *shape {
            ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [width, 1, 1],
            ImageShape::D1Array { width, layers } => [width, layers, layers],
            ImageShape::D2 { width, height } => [width, height, 1],
            ImageShape::D2Array { width, height, layers } => [width, height, layers],
            ImageShape::D3 { width, height, depth } => [width, height, depth],
        })
    }

    fn builtin(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        self.other_call(item, instruction, shape)
    }

    fn compute(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        self.computed(item, instruction, shape)
    }

    fn part(&mut self, item: &Item, part: Part, d: usize) -> Lane {
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

    fn sum(&mut self, a: Lane, b: Lane) -> Lane {
        self.wide(Operation::Add, a, b)
    }

    fn product(&mut self, a: Lane, b: Lane) -> Lane {
        self.wide(Operation::Mul, a, b)
    }

    fn convert_floats(&mut self, value: &Value, from: Shape, to: Shape) -> Value {
        let (before, after) = (arithmetic::width(from.kind), arithmetic::width(to.kind));
        let mut lanes = Vec::new();
        for lane in value.lanes() {
            let bits = arithmetic::float_bits(arithmetic::float(lane.bits, before), after);
            let term = lane.term.map(|t| self.terms.apply(Operation::FToF, vec![t], Sort::Float(after)));
            lanes.push(Lane { bits, term });
        }
        Value::of(lanes, to)
    }

    /// Not needed: no condition is unknown.
    fn guess(&mut self) -> bool {
        false
    }

    fn is_full(&self, item: &Item) -> bool {
        item.own.path.len() > LONGEST_PATH || self.terms.len() - self.first_term > MAX_TERMS
    }

    fn cut(&mut self, why: Cut) {
        self.run.exhausted |= why == Cut::Limit;
    }

    fn at_end(&mut self, item: &mut Item) {
        self.locate(item);
    }

    fn branched(&mut self, item: &mut Item, condition: ValueId, taken: bool) {
        match item.values[condition as usize].first().term {
            Some(condition) => {
                self.note_choices(item);
                let block = item.block.0 as u32;
                item.own.step(PathStep::Branch { block, condition, taken });
            }
            None if item.own.mode == Mode::Concrete => self.note_gap(item, condition, u32::from(taken)),
            None => {}
        }
    }

    fn switched(&mut self, item: &mut Item, value: ValueId, taken: u32) {
        if let Some(value) = item.values[value as usize].first().term {
            self.note_choices(item);
            let block = item.block.0 as u32;
            item.own.step(PathStep::Switch { block, value, taken });
        }
    }

    fn leaves(&mut self, item: &mut Item, end: &End, successor: u32) {
        if let Some(taken) = self.taken.get_mut(self.setup.graph.edge(item.own.graph_state, successor) as usize) {
            *taken = true;
        }
        if !matches!(end, End::Goto(_)) {
            item.own.hash = extended_hash(item.own.hash, item.block.0 as u32, successor);
            self.run.arrived |= self.setup.expected == Some(item.own.hash);
        }
        item.own.successor_taken = successor;
    }

    fn meet(&mut self, items: &[Item]) -> bool {
        let place = |item: &Item| (item.state == State::Waiting).then_some((item.block, item.index));
        let first = items.iter().find_map(place);
        // A barrier is executed by all work-items of a group or by none (OpenCL C 1.2, 6.12.8); in CUDA, by all that
        // have not returned.
        let is_missed = |item: &&Item| !(self.setup.program.skips_returned && item.state == State::Done);
        self.run.faulty |= items.iter().filter(is_missed).any(|item| place(item) != first);
        !self.run.exhausted
    }
}
