//! Builtins of OpenCL C that the dry run supports: ids, memory, and the arithmetic that indices and decisions
//! depend on.

use std::hash::Hash;

use super::super::polynomial::{Id, id_of};
use super::memory::Mode;
use super::value::Value;
use super::{DryRun, DryRunArg, State, WorkItem};
use crate::hash;
use crate::kernel::builtins;
use crate::program::{Instruction, Kind, Shape, arithmetic, masked, math, signed};

/// Returns the bytes of the type that a mangled pointer points to, and of its scalar: `PU3AS1KDv4_f` gives `(16, 4)`.
pub fn pointee(params: &str) -> Option<(u64, u64)> {
    let (lanes, scalar) = builtins::pointed(params)?;
    Some((scalar * if lanes == 3 { 4 } else { lanes }, scalar))
}

fn is_barrier(base: &str) -> bool {
    matches!(base, "barrier" | "work_group_barrier" | "wait_group_events")
}

/// Returns a deterministic number derived from the inputs, in place of data that the dry run does not have.
fn arbitrary(of: impl Hash) -> u64 {
    hash::of(of)
}

impl<'a> DryRun<'a> {
    /// Executes a call.
    pub(super) fn call(
        &mut self,
        item: &mut WorkItem<'a>,
        instruction: &Instruction,
        name: &str,
        base: &str,
        shape: Shape,
    ) -> Value {
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        let operands: Vec<Value> = instruction.operands.iter().map(|o| item.values[*o as usize].clone()).collect();
        let dimension = operands.first().and_then(Value::bits).unwrap_or(3);
        if let Some(id) = id_of(base) {
            return Value::Bits(self.id(item, id, dimension));
        }
        if is_barrier(base) {
            item.state = State::Waiting;
            return Value::Unknown;
        }
        if base.starts_with("vload") || base.starts_with("vstore") {
            return self.vector(item, base, params, instruction, &operands, shape);
        }
        if base.starts_with("async_work_group") {
            self.copy_async(item, base, params, &operands);
            return Value::Unknown;
        }
        if let Some(operation) = builtins::operation(base) {
            let shape = if shape.kind == Kind::Void || shape.kind == Kind::Int(1) {
                instruction.operands.last().map_or(shape, |o| self.program.shape(*o))
            } else {
                shape
            };
            let by = match operation {
                builtins::Operation::Inc => Value::Bits(1),
                builtins::Operation::Load => Value::Bits(0),
                _ => operands.get(1).cloned().unwrap_or(Value::Bits(1)),
            };
            let Some(at) = operands.first().cloned() else { return Value::Unknown };
            return self.atomic(item, &at, &by, shape);
        }
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            self.copy(item, &operands);
            return Value::Unknown;
        }
        // Out-of-bounds reads through a sampler are defined.
        if base.starts_with("write_image") || (base.starts_with("read_image") && operands.len() == 2) {
            self.note_texel(base, instruction, &operands);
        }
        if base.starts_with("read_image") {
            let of: Vec<&[u64]> = operands.iter().map(Value::lanes).collect();
            let lane = |i: u64| match shape.kind {
                Kind::Float(width) => arithmetic::float_bits((arbitrary((&of, i)) % 256) as f64 / 255.0, width),
                kind => masked(arbitrary((&of, i)) % 256, arithmetic::width(kind)),
            };
            return Value::from_lanes((0..u64::from(shape.lanes.max(1))).map(lane).collect(), shape);
        }
        match base {
            "get_work_dim" => Value::Bits(self.setup.range.dims.into()),
            "get_global_linear_id" | "get_local_linear_id" => Value::Bits(self.linear(item, base)),
            "get_sub_group_size" | "get_max_sub_group_size" | "get_num_sub_groups" => Value::Bits(1),
            "get_sub_group_id" | "get_sub_group_local_id" => Value::Bits(0),
            "get_image_width" => self.image(instruction, 0),
            "get_image_height" => self.image(instruction, 1),
            "get_image_depth" | "get_image_array_size" => self.image(instruction, 2),
            "get_image_dim" => {
                let side = |d| self.image(instruction, d).bits().unwrap_or(0);
                Value::Lanes((0..u64::from(shape.lanes)).map(|d| if d < 3 { side(d as usize) } else { 0 }).collect())
            }
            _ => self.compute(instruction, &operands, shape),
        }
    }

    /// Records where an image is accessed, if the coordinates are integers: they are the last operand, or in writes the
    /// one before the colour.
    fn note_texel(&mut self, base: &str, instruction: &Instruction, operands: &[Value]) {
        let Some(super::Definition::Param(position)) =
            instruction.operands.first().map(|o| self.program.values[*o as usize].clone())
        else {
            return;
        };
        let last = operands.len() - usize::from(base.starts_with("write_image"));
        let is_int = |i: &usize| matches!(self.program.shape(instruction.operands[*i]).kind, Kind::Int(_));
        let Some(at) = (1..last).rev().find(is_int) else { return };
        let entry = self.texels.entry(position).or_insert([0; 3]);
        for (side, lane) in entry.iter_mut().zip(operands[at].lanes()) {
            if let Ok(at) = u64::try_from(signed(*lane, 32)) {
                *side = (*side).max(at + 1);
            }
        }
    }

    fn id(&self, item: &WorkItem<'_>, id: Id, dimension: u64) -> u64 {
        let Ok(d @ 0..3) = usize::try_from(dimension) else {
            return u64::from(matches!(id, Id::GlobalSize | Id::LocalSize | Id::Groups));
        };
        let range = &self.setup.range;
        let local = range.local[d];
        match id {
            Id::Global => range.offset[d] + item.group_id[d] * local + item.local_id[d],
            Id::Local => item.local_id[d],
            Id::Group => item.group_id[d],
            Id::GlobalSize => range.global[d],
            Id::LocalSize => local,
            Id::Groups => range.group_counts()[d],
            Id::Offset => range.offset[d],
        }
    }

    fn linear(&self, item: &WorkItem<'_>, base: &str) -> u64 {
        let local = self.setup.range.local;
        let global = self.setup.range.global;
        let at: [u64; 3] = std::array::from_fn(|d| item.group_id[d] * local[d] + item.local_id[d]);
        let (id, size) = if base == "get_local_linear_id" { (item.local_id, local) } else { (at, global) };
        (id[2] * size[1] + id[1]) * size[0] + id[0]
    }

    fn image(&self, instruction: &Instruction, side: usize) -> Value {
        let param = instruction.operands.first().map(|o| self.program.values[*o as usize].clone());
        match param {
            Some(super::Definition::Param(position)) => match self.setup.args.get(position as usize) {
                Some(DryRunArg::Image(sides)) => Value::Bits(sides[side]),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Executes `vload` or `vstore`: the offset counts elements of the vector's length.
    fn vector(
        &mut self,
        item: &mut WorkItem<'a>,
        base: &str,
        params: &str,
        instruction: &Instruction,
        operands: &[Value],
        shape: Shape,
    ) -> Value {
        let Some((_, scalar)) = pointee(params) else { return Value::Unknown };
        let is_load = base.starts_with("vload");
        let (number, at) = if is_load { (0, 1) } else { (1, 2) };
        let (Some(number), Some(at)) = (operands.get(number).and_then(Value::bits), operands.get(at)) else {
            return Value::Unknown;
        };
        let of = if is_load { shape } else { self.program.shape(instruction.operands[0]) };
        let lanes = u64::from(of.lanes.max(1));
        // `vloada_half3` has a stride of four.
        let stride = if lanes == 3 && base.contains("a_half") { 4 } else { lanes };
        let Value::Bits(at) = at else { return Value::Unknown };
        let at = Value::Bits(at.wrapping_add(number.wrapping_mul(stride * scalar)));
        let in_memory = if base.contains("half") { Shape { kind: Kind::Float(16), ..of } } else { of };
        if is_load {
            let loaded = self.load(item, &at, in_memory, Mode::Read);
            return if in_memory == of {
                loaded
            } else {
                loaded.map(|x| arithmetic::float_bits(arithmetic::float(x, 16), 32))
            };
        }
        let from = arithmetic::width(of.kind);
        let value = if in_memory == of {
            operands[0].clone()
        } else {
            operands[0].map(|x| arithmetic::float_bits(arithmetic::float(x, from), 16))
        };
        self.store(item, &at, &value, in_memory);
        Value::Unknown
    }

    /// Executes an asynchronous copy: the first work-item of the group copies for all.
    fn copy_async(&mut self, item: &mut WorkItem<'a>, base: &str, params: &str, operands: &[Value]) {
        let [Value::Bits(to), Value::Bits(from), Value::Bits(count), ..] = operands else {
            self.wild += u64::from(base.contains("copy"));
            return;
        };
        if item.local_id != [0; 3] {
            return;
        }
        let (element, _) = pointee(params).unwrap_or((4, 4));
        let stride = match operands.get(3) {
            Some(Value::Bits(stride)) if base.contains("strided") => *stride,
            _ => 1,
        };
        let to_global = params.starts_with("PU3AS1");
        let (to_stride, from_stride) = if to_global { (stride, 1) } else { (1, stride) };
        for i in 0..(*count).min(1 << 16) {
            let source = from.wrapping_add(i.wrapping_mul(from_stride * element));
            let target = to.wrapping_add(i.wrapping_mul(to_stride * element));
            self.move_bytes(item, target, source, element);
        }
    }

    fn copy(&mut self, item: &mut WorkItem<'a>, operands: &[Value]) {
        if let [Value::Bits(to), Value::Bits(from), Value::Bits(count), ..] = operands {
            self.move_bytes(item, *to, *from, (*count).min(1 << 20));
        }
    }

    fn move_bytes(&mut self, item: &mut WorkItem<'a>, to: u64, from: u64, size: u64) {
        let read = self.touch(item, from, size, Mode::Read);
        let bytes = read.and_then(|(allocation, at)| allocation.bytes.get(at..at + size as usize).map(<[u8]>::to_vec));
        if let Some((allocation, at)) = self.touch(item, to, size, Mode::Write)
            && let (Some(into), Some(bytes)) = (allocation.bytes.get_mut(at..at + size as usize), bytes)
        {
            into.copy_from_slice(&bytes);
        }
    }

    /// Evaluates builtins that do not access memory.
    fn compute(&self, instruction: &Instruction, operands: &[Value], shape: Shape) -> Value {
        let lanes: Vec<Vec<u64>> = operands.iter().map(|o| o.lanes().to_vec()).collect();
        match math::builtin(self.program, instruction, &lanes, shape) {
            Some(lanes) => Value::from_lanes(lanes, shape),
            None => Value::Unknown,
        }
    }
}
