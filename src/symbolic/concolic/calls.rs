//! Interprets calls: marks, ids, barriers, and builtins that access memory.

use super::inputs;
use super::item::{Item, Mode, State};
use super::machine::Machine;
use super::trace::PathStep;
use super::value::{self, Lane, Value};
use crate::instrument::marks::MARK;
use crate::kernel::builtins::{self, Operation as Atomic};
use crate::program::{Definition, Instruction, Kind, Shape, arithmetic, masked, signed};
use crate::solve::expression::{Operation, Sort, Term};
use crate::suite::launch::{ArgValue, ImageShape};

/// Calls without effect on values.
const IDLE: [&str; 5] = ["mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence", "prefetch"];

/// Returns the size of the scalars that a builtin accesses through its pointer, in bytes.
pub fn scalar_bytes(name: &str) -> Option<u64> {
    Some(builtins::pointed(builtins::demangle(name)?.1)?.1)
}

impl Machine<'_> {
    /// Interprets a call; `base` is its demangled name. At a barrier, the work-item starts to wait.
    pub(super) fn call(
        &mut self,
        item: &mut Item,
        instruction: &Instruction,
        name: &str,
        base: &str,
        shape: Shape,
    ) -> Value {
        let operands: Vec<Value> = instruction.operands.iter().map(|o| item.values[*o as usize].clone()).collect();
        let first = |i: usize| operands.get(i).map_or(Lane::known(0), Value::first);
        let nothing = || Value::of(Vec::new(), shape);
        if name == MARK {
            self.mark(item, first(0).bits as u32, first(1));
            return nothing();
        }
        if let Some(id) = self.id(item, base, operands.first().map_or(0, Value::bits)) {
            return Value::One(id);
        }
        if matches!(base, "barrier" | "work_group_barrier" | "wait_group_events") {
            item.state = State::Waiting(item.block, item.index);
            return nothing();
        }
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        if base.starts_with("vload") || base.starts_with("vstore") {
            return self.vector(item, base, params, instruction, shape);
        }
        if base.starts_with("async_work_group") {
            self.copy_async(item, base, params, &operands);
            return nothing();
        }
        if let Some(operation) = builtins::operation(base) {
            return self.atomic_call(item, instruction, operation, params, shape);
        }
        if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") {
            self.copy(item, first(0), first(1), first(2).bits);
            return nothing();
        }
        if name.starts_with("llvm.memset") {
            self.fill(item, first(0), first(1).bits as u8, first(2).bits);
            return nothing();
        }
        if shape.kind == Kind::Void && (name.starts_with("llvm.") || IDLE.contains(&base)) || base == "printf" {
            return nothing();
        }
        if base.starts_with("get_image_") {
            let lanes = self.image(instruction, base).into_iter().map(Lane::known).collect();
            return Value::of(lanes, shape);
        }
        if base.starts_with("write_image") {
            return nothing();
        }
        self.computed(item, instruction, shape)
    }

    fn mark(&mut self, item: &mut Item, goal: u32, holds: Lane) {
        if holds.bits & 1 != 0 {
            self.run.marks.insert(goal);
        } else if let Some(holds) = holds.term {
            item.step(PathStep::Mark { goal, holds });
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
        if item.mode != Mode::Full || is_fixed || !is_used || bits.checked_shr(width).unwrap_or(0) != 0 {
            return None;
        }
        let symbol = self.terms.symbol(inputs::range_symbol(name, d), Sort::Bits(width));
        Some(value::resized(self.terms, symbol, 64))
    }

    fn part(&mut self, item: &Item, name: &str, d: usize) -> Lane {
        let (range, local) = (&self.setup.launch.range, self.setup.local);
        let bits = match name {
            inputs::GROUPS => range.with_local(local).group_counts()[d],
            inputs::LOCAL_SIZE => local[d],
            inputs::OFFSET => range.offset[d],
            inputs::DIMS => range.dims.into(),
            inputs::GROUP_ID => item.group_id[d],
            _ => item.local_id[d],
        };
        Lane { bits, term: self.symbol(item, name, d, bits) }
    }

    fn wide(&mut self, operation: Operation, a: Lane, b: Lane) -> Lane {
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

    /// Evaluates a work-item builtin; `None` if it is another one.
    fn id(&mut self, item: &Item, base: &str, dimension: u64) -> Option<Lane> {
        let is_size =
            matches!(base, "get_global_size" | "get_local_size" | "get_enqueued_local_size" | "get_num_groups");
        let d = usize::try_from(dimension).unwrap_or(3);
        let of_dimension =
            is_size || matches!(base, "get_global_id" | "get_local_id" | "get_group_id" | "get_global_offset");
        if of_dimension && d > 2 {
            return Some(Lane::known(is_size.into()));
        }
        Some(match base {
            "get_global_id" => {
                let offset = self.part(item, inputs::OFFSET, d);
                let inside = self.inside(item, d);
                self.wide(Operation::Add, inside, offset)
            }
            "get_local_id" => self.part(item, inputs::LOCAL_ID, d),
            "get_group_id" => self.part(item, inputs::GROUP_ID, d),
            "get_global_size" => self.global_size(item, d),
            "get_local_size" | "get_enqueued_local_size" => self.part(item, inputs::LOCAL_SIZE, d),
            "get_num_groups" => self.part(item, inputs::GROUPS, d),
            "get_global_offset" => self.part(item, inputs::OFFSET, d),
            "get_work_dim" => {
                let dims = self.part(item, inputs::DIMS, 0);
                let term = dims.term.map(|t| value::resized(self.terms, t, 32));
                Lane { term, ..dims }
            }
            "get_global_linear_id" => {
                let ids: [Lane; 3] = std::array::from_fn(|d| self.inside(item, d));
                let sizes: [Lane; 2] = std::array::from_fn(|d| self.global_size(item, d));
                self.linear(ids, sizes)
            }
            "get_local_linear_id" => {
                let ids: [Lane; 3] = std::array::from_fn(|d| self.part(item, inputs::LOCAL_ID, d));
                let sizes: [Lane; 2] = std::array::from_fn(|d| self.part(item, inputs::LOCAL_SIZE, d));
                self.linear(ids, sizes)
            }
            "get_sub_group_size" | "get_max_sub_group_size" | "get_num_sub_groups" => Lane::known(1),
            "get_sub_group_id" | "get_sub_group_local_id" => Lane::known(0),
            _ => return None,
        })
    }

    /// Returns the global id without the offset.
    fn inside(&mut self, item: &Item, d: usize) -> Lane {
        let (group, size) = (self.part(item, inputs::GROUP_ID, d), self.part(item, inputs::LOCAL_SIZE, d));
        let begin = self.wide(Operation::Mul, group, size);
        let local = self.part(item, inputs::LOCAL_ID, d);
        self.wide(Operation::Add, begin, local)
    }

    /// Returns the global size. Work-groups are complete where it is symbolic.
    fn global_size(&mut self, item: &Item, d: usize) -> Lane {
        let (groups, size) = (self.part(item, inputs::GROUPS, d), self.part(item, inputs::LOCAL_SIZE, d));
        if groups.term.is_none() && size.term.is_none() {
            return Lane::known(self.setup.launch.range.global[d]);
        }
        self.wide(Operation::Mul, groups, size)
    }

    fn linear(&mut self, ids: [Lane; 3], sizes: [Lane; 2]) -> Lane {
        let planes = self.wide(Operation::Mul, ids[2], sizes[1]);
        let rows = self.wide(Operation::Add, planes, ids[1]);
        let before = self.wide(Operation::Mul, rows, sizes[0]);
        self.wide(Operation::Add, before, ids[0])
    }

    /// Returns the sides of an image that a query asks for.
    fn image(&self, instruction: &Instruction, base: &str) -> Vec<u64> {
        let program = self.setup.program;
        let position = instruction.operands.first().map(|o| &program.values[*o as usize]);
        let Some(Definition::Param(position)) = position else { return Vec::new() };
        let Some(ArgValue::Image { shape, .. }) = self.setup.launch.args.get(*position as usize) else {
            return Vec::new();
        };
        let sides = match *shape {
            ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [width, 1, 1],
            ImageShape::D1Array { width, layers } => [width, layers, layers],
            ImageShape::D2 { width, height } => [width, height, 1],
            ImageShape::D2Array { width, height, layers } => [width, height, layers],
            ImageShape::D3 { width, height, depth } => [width, height, depth],
        };
        match base {
            "get_image_width" => vec![sides[0]],
            "get_image_height" => vec![sides[1]],
            "get_image_depth" | "get_image_array_size" => vec![sides[2]],
            "get_image_dim" => vec![sides[0], sides[1], sides[2], 0],
            _ => Vec::new(),
        }
    }

    /// `vload` and `vstore`: `number` counts vectors, and memory holds scalars. The half variants convert: memory holds
    /// halves, values are wider floats.
    fn vector(&mut self, item: &mut Item, base: &str, params: &str, instruction: &Instruction, shape: Shape) -> Value {
        let operand = |i: usize| instruction.operands.get(i).map(|o| item.values[*o as usize].clone());
        let is_load = base.starts_with("vload");
        let (number, at) = if is_load { (0, 1) } else { (1, 2) };
        let (Some((_, scalar)), Some(number), Some(at)) = (builtins::pointed(params), operand(number), operand(at))
        else {
            return Value::of(Vec::new(), shape);
        };
        let of = if is_load { shape } else { self.setup.program.shape(instruction.operands[0]) };
        let lanes = u64::from(of.lanes.max(1));
        // The stride of `vloada_half3` is four.
        let stride = if lanes == 3 && base.contains("a_half") { 4 } else { lanes };
        let bytes = self.wide(Operation::Mul, number.first(), Lane::known(stride * scalar));
        let at = self.wide(Operation::Add, bytes, at.first());
        let half = Shape { kind: Kind::Float(16), ..of };
        let is_half = base.contains("half");
        if is_load {
            let found = self.load(item, at, if is_half { half } else { of });
            return if is_half { self.float_to(&found, half, of) } else { found };
        }
        let what = operand(0).unwrap_or(Value::known(0));
        if is_half {
            let narrow = self.float_to(&what, of, half);
            self.store(item, at, &narrow, half);
        } else {
            self.store(item, at, &what, of);
        }
        Value::of(Vec::new(), shape)
    }

    /// Converts floats to another width.
    fn float_to(&mut self, value: &Value, from: Shape, to: Shape) -> Value {
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
    fn copy_async(&mut self, item: &mut Item, base: &str, params: &str, operands: &[Value]) {
        let [to, from, count, ..] = operands else { return };
        let (Some((lanes, scalar)), true) = (builtins::pointed(params), item.local_id == [0; 3]) else { return };
        let element = scalar * if lanes == 3 { 4 } else { lanes };
        let is_strided = base.contains("strided");
        let stride = if is_strided { operands.get(3).map_or(1, Value::bits) } else { 1 };
        let to_global = params.starts_with("PU3AS1");
        let (to_stride, from_stride) = if to_global { (stride, 1) } else { (1, stride) };
        if !is_strided {
            return self.copy(item, to.first(), from.first(), count.bits().saturating_mul(element));
        }
        for i in 0..count.bits().min(1 << 16) {
            let target = self.wide(Operation::Add, to.first(), Lane::known(i.wrapping_mul(to_stride * element)));
            let source = self.wide(Operation::Add, from.first(), Lane::known(i.wrapping_mul(from_stride * element)));
            self.copy(item, target, source, element);
        }
    }

    fn atomic_call(
        &mut self,
        item: &mut Item,
        instruction: &Instruction,
        operation: Atomic,
        params: &str,
        shape: Shape,
    ) -> Value {
        let operand =
            |i: usize| instruction.operands.get(i).map_or(Lane::known(0), |o| item.values[*o as usize].first());
        let [at, by, more] = [0, 1, 2].map(operand);
        let scalar = builtins::pointee(params);
        let is_float = scalar.is_some_and(builtins::is_float);
        let is_signed = scalar.is_some_and(builtins::is_signed);
        let width = 8 * builtins::pointed(params).map_or(4, |(_, bytes)| bytes) as u32;
        let of = Shape { kind: if is_float { Kind::Float(width) } else { Kind::Int(width) }, lanes: 0 };
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
            let expected = self.load(item, by, of).bits();
            let old = self.atomic(item, at, of, |old| if old == expected { more } else { old });
            self.store(item, by, &Value::known(old), of);
            return Value::known((old == expected).into());
        }
        let (by, more) = (by.bits, more.bits);
        let old = self.atomic(item, at, of, |old| match operation {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_parameters_give_the_size_of_scalars() {
        assert_eq!(scalar_bytes("_Z6vload4jPU3AS1Kf"), Some(4));
        assert_eq!(scalar_bytes("_Z3minii"), None);
    }
}
