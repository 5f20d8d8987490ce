//! Concolic execution as a domain of the machine that executes programs: lanes are bits with the terms of which they are
//! instances.

use super::interpreter::Interpreter;
use super::item::{Item, ItemData};
use super::memory::{MAX_BUFFER_BYTES, MemoryBlock};
use super::value::{Lane, Value};
use crate::program::ids::Part;
use crate::program::machine::call::{AsyncCopy, Atomic};
use crate::program::machine::{Cut, Domain};
use crate::program::{End, Instruction, Op, Shape, ValueId, arithmetic};
use crate::solve::expression::Operation;

impl Domain for Interpreter<'_> {
    type Lane = Lane;
    type Item = ItemData;

    fn param(&mut self, position: usize, shape: Shape) -> Value {
        self.argument(position, shape)
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

    fn copy_async(&mut self, item: &mut Item, copy: AsyncCopy, operands: &[Value]) {
        self.async_copy(item, copy, operands);
    }

    fn image_sides(&self, position: usize) -> Option<[u64; 3]> {
        self.sides(position)
    }

    fn builtin(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        self.other_call(item, instruction, shape)
    }

    fn compute(&mut self, item: &mut Item, instruction: &Instruction, shape: Shape) -> Value {
        self.computed(item, instruction, shape)
    }

    fn part(&mut self, item: &Item, part: Part, dimension: usize) -> Lane {
        self.id_part(item, part, dimension)
    }

    fn sum(&mut self, a: Lane, b: Lane) -> Lane {
        self.wide(Operation::Add, a, b)
    }

    fn product(&mut self, a: Lane, b: Lane) -> Lane {
        self.wide(Operation::Mul, a, b)
    }

    fn convert_floats(&mut self, value: &Value, from: Shape, to: Shape) -> Value {
        self.floats_in(value, from, to)
    }

    /// Not needed: no condition is unknown.
    fn guess(&mut self) -> bool {
        false
    }

    fn is_full(&self, item: &Item) -> bool {
        self.has_no_room(item)
    }

    fn cut(&mut self, why: Cut) {
        self.run.exhausted |= why == Cut::Limit;
    }

    fn at_end(&mut self, item: &mut Item) {
        self.locate(item);
    }

    fn branched(&mut self, item: &mut Item, condition: ValueId, taken: bool) {
        self.note_branch(item, condition, taken);
    }

    fn switched(&mut self, item: &mut Item, value: ValueId, successor: u32) {
        self.note_switch(item, value, successor);
    }

    fn leaves(&mut self, item: &mut Item, end: &End, successor: u32) {
        self.note_edge(item, end, successor);
    }

    fn meet(&mut self, items: &[Item]) -> bool {
        self.note_barrier(items);
        !self.run.exhausted
    }
}
