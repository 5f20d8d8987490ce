//! Builtins of OpenCL C that the dry run executes by itself: images, and what depends on its operands alone.

use std::hash::Hash;

use kassay_base::hash;
use kassay_prove::program::{Definition, Instruction, Kind, Op, Shape, ValueId, arithmetic, masked, math, signed};

use super::memory::Mode;
use super::{DryRun, Value, WorkItem};

/// The function that makes a sampler of the bits of a literal.
const SAMPLER_OF_LITERAL: &str = "__translate_sampler_initializer";
/// The bits in which `CLK_ADDRESS_NONE` differs from other addressing modes (opencl-c-base.h).
const ADDRESSING: i64 = 0xE;

/// Returns a deterministic number derived from the inputs, in place of data that the dry run does not have.
fn arbitrary(of: impl Hash) -> u64 {
    hash::of(of)
}

impl<'a> DryRun<'a> {
    /// Executes a call that neither asks for ids nor accesses buffers.
    pub(super) fn call(&mut self, item: &WorkItem<'a>, instruction: &Instruction, shape: Shape) -> Value {
        let Op::Call(_, base) = &instruction.op else { return Value::Unknown };
        let operands: Vec<&Value> = instruction.operands.iter().map(|o| &item.values[*o as usize]).collect();
        // Out-of-bounds reads through a sampler are defined, unless it leaves coordinates as they are.
        let is_checked = || operands.len() > 2 && !self.leaves_coordinates(instruction.operands[1]);
        if base.starts_with("write_image") || (base.starts_with("read_image") && !is_checked()) {
            self.note_texel(base, instruction, &operands);
        }
        if base.starts_with("read_image") {
            let of: Vec<&[u64]> = operands.iter().map(|o| o.lanes()).collect();
            let lane = |i: u64| match shape.kind {
                Kind::Float(width) => arithmetic::float_bits((arbitrary((&of, i)) % 256) as f64 / 255.0, width),
                kind => masked(arbitrary((&of, i)) % 256, arithmetic::width(kind)),
            };
            return Value::of_bits((0..u64::from(shape.lanes.max(1))).map(lane), shape);
        }
        let lanes: Vec<Vec<u64>> = operands.iter().map(|o| o.lanes().to_vec()).collect();
        math::builtin(self.program, instruction, &lanes, shape)
            .map_or(Value::Unknown, |lanes| Value::of_bits(lanes, shape))
    }

    /// Whether a sampler has no addressing mode, in a kernel that does not know how large its images are: they have
    /// what it reads. Otherwise it is for the kernel to stay inside.
    fn leaves_coordinates(&self, sampler: ValueId) -> bool {
        let literal = self.program.instruction(sampler).and_then(|i| match &i.op {
            Op::Call(_, base) if base == SAMPLER_OF_LITERAL => self.program.constant(*i.operands.first()?),
            _ => None,
        });
        !self.setup.asks_sizes && literal.is_some_and(|bits| bits & ADDRESSING == 0)
    }

    /// Records where an image is accessed, if the coordinates are integers: they are the last operand, or in writes the
    /// one before the colour.
    fn note_texel(&mut self, base: &str, instruction: &Instruction, operands: &[&Value]) {
        let definition = instruction.operands.first().map(|o| &self.program.values[*o as usize]);
        let Some(Definition::Param(position)) = definition else { return };
        let last = operands.len() - usize::from(base.starts_with("write_image"));
        let is_int = |i: &usize| matches!(self.program.shape(instruction.operands[*i]).kind, Kind::Int(_));
        let Some(at) = (1..last).rev().find(is_int) else { return };
        let entry = self.texels.entry(*position).or_insert([0; 3]);
        for (side, lane) in entry.iter_mut().zip(operands[at].lanes()) {
            if let Ok(at) = u64::try_from(signed(*lane, 32)) {
                *side = (*side).max(at + 1);
            }
        }
    }

    /// Copies bytes.
    pub(super) fn move_bytes(&mut self, item: &mut WorkItem<'a>, to: u64, from: u64, size: u64) {
        let read = self.touch(item, from, size, Mode::Read);
        let bytes = read.map(|(allocation, at)| allocation.read(at, size as usize));
        if let (Some((allocation, at)), Some(bytes)) = (self.touch(item, to, size, Mode::Write), bytes) {
            allocation.write(at, &bytes);
        }
    }
}
