//! Encodes instructions as far as every device agrees on them: a result that OpenCL leaves open
//! (`symbolic::implementation_defined`) is a fresh symbol.

use super::encode::Encoder;
use super::memory::{self, Cell};
use crate::program::{Definition, Instruction, Kind, Op, Region, ValueId, masked};
use crate::solve::expression::{Operation, Sort, Term};
use crate::symbolic::{implementation_defined, transfer};

/// Largest number of elements for which a lookup at a symbolic index is encoded.
const MAX_TABLE_ELEMENTS: u64 = 64;

impl Encoder<'_> {
    /// Returns fresh symbols for the lanes of `value`.
    pub(super) fn fresh(&mut self, value: ValueId, what: &str) -> Vec<Term> {
        let shape = self.program.shape(value);
        let sort = transfer::sort(shape.kind);
        let count = self.choices.fresh_number();
        let terms = &mut self.terms;
        (0..shape.lanes.max(1)).map(|lane| terms.symbol(format!("{what} {count}.{lane}"), sort)).collect()
    }

    /// Returns the lanes of a value at the encoder's current position.
    pub(super) fn value(&mut self, value: ValueId) -> Vec<Term> {
        if let Some(lanes) = &self.values[value as usize] {
            return lanes.clone();
        }
        let lanes = match &self.program.values[value as usize] {
            Definition::Param(position) => self.parameter(*position, value),
            Definition::Variable(index, offset) => {
                let base = self.terms.symbol(format!("@{index}"), Sort::Bits(64));
                let offset = self.terms.constant(offset.cast_unsigned(), Sort::Bits(64));
                vec![self.terms.apply(Operation::Add, vec![base, offset], Sort::Bits(64))]
            }
            Definition::Constant(_) if !self.program.undefined.contains(&value) => {
                match transfer::constant(&mut self.terms, self.program, value) {
                    Some(lanes) => lanes,
                    None => self.fresh(value, "constant"),
                }
            }
            // Each use of an undefined value may observe a different one.
            Definition::Constant(_) => return self.fresh(value, "undefined"),
            Definition::Inst { .. } => return self.fresh(value, "skipped"),
        };
        self.values[value as usize] = Some(lanes.clone());
        lanes
    }

    fn parameter(&mut self, position: u32, value: ValueId) -> Vec<Term> {
        let shape = self.program.shape(value);
        let sort = transfer::sort(shape.kind);
        let terms = &mut self.terms;
        if shape.kind == Kind::Pointer {
            return vec![terms.symbol(pointer_to(position), sort)];
        }
        let place = |lane: u32| u64::from(lane) * shape.lane_bytes();
        (0..shape.lanes.max(1)).map(|lane| terms.symbol(argument(position, place(lane)), sort)).collect()
    }

    /// Encodes an instruction other than a `phi`.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Vec<Term> {
        let found = match &instruction.op {
            Op::Load => self.load(instruction),
            Op::Store => {
                self.store(instruction);
                return Vec::new();
            }
            Op::Alloca(_) => Some(vec![self.terms.symbol(format!("private {}", instruction.result), Sort::Bits(64))]),
            Op::Call(_, base) => self.call(instruction, base),
            Op::Shuffle(mask) if mask.iter().any(|m| *m < 0) => self.shuffled(instruction, mask),
            Op::AtomicRmw(_) | Op::CompareExchange | Op::Other | Op::Phi(_) | Op::Member(_) => None,
            _ => self.evaluated(instruction),
        };
        match found {
            Some(lanes) => lanes,
            None => self.fresh(instruction.result, "anything"),
        }
    }

    fn operands(&mut self, instruction: &Instruction) -> Vec<Vec<Term>> {
        instruction.operands.iter().map(|o| self.value(*o)).collect()
    }

    /// Encodes a result that depends on the operands alone, including the device's choices.
    fn evaluated(&mut self, instruction: &Instruction) -> Option<Vec<Term>> {
        let operands = self.operands(instruction);
        implementation_defined::apply(&mut self.terms, &mut self.choices, self.program, instruction, &operands)
    }

    fn shuffled(&mut self, instruction: &Instruction, mask: &[i32]) -> Option<Vec<Term>> {
        let operands = self.operands(instruction);
        let mut lanes = transfer::apply(&mut self.terms, self.program, instruction, &operands)?;
        for (lane, m) in lanes.iter_mut().zip(mask) {
            if *m < 0 {
                *lane = self.choices.any(&mut self.terms, *lane);
            }
        }
        Some(lanes)
    }

    fn load(&mut self, instruction: &Instruction) -> Option<Vec<Term>> {
        let pointer = *instruction.operands.first()?;
        let shape = self.program.shape(instruction.result);
        let sort = transfer::sort(shape.kind);
        if self.program.volatile.contains(&instruction.result) || sort == Sort::Other {
            return None;
        }
        let address = *self.value(pointer).first()?;
        let region = memory::region(self.program, pointer)?;
        match region {
            Region::Private(variable) if self.memory.is_tracked(variable) => {
                let base = self.terms.symbol(format!("private {variable}"), Sort::Bits(64));
                let offset = memory::offset_from(&mut self.terms, address, base)?;
                let offset = self.terms.as_constant(offset)?;
                let cell = self.cells.at(variable, offset)?;
                let same = cell.bytes == shape.bytes() && cell.lanes.len() == shape.lanes.max(1) as usize;
                (same && cell.lanes.iter().all(|l| self.terms.sort(*l) == sort)).then(|| cell.lanes.clone())
            }
            Region::Variable(index) if self.program.variables[index].is_constant => {
                let base = self.terms.symbol(format!("@{index}"), Sort::Bits(64));
                let offset = memory::offset_from(&mut self.terms, address, base)?;
                self.lookup_constant(index, offset, instruction)
            }
            Region::Argument(position) => self.load_of_argument(position, address, instruction),
            _ => None,
        }
    }

    /// Returns the content of a `__constant` variable at `offset`. At a symbolic offset, the result is a chain of
    /// selects over the elements, and a fresh symbol outside the variable.
    fn lookup_constant(&mut self, index: usize, offset: Term, instruction: &Instruction) -> Option<Vec<Term>> {
        let shape = self.program.shape(instruction.result);
        let (sort, size, lane) = (transfer::sort(shape.kind), shape.bytes(), shape.lane_bytes());
        let variable = &self.program.variables[index];
        let content = |at: u64, i: u64| -> Option<u64> {
            let begin = usize::try_from(at + i * lane).ok()?;
            let bytes = variable.initial.get(begin..begin + lane as usize)?;
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            Some(u64::from_le_bytes(word))
        };
        let width = match sort {
            Sort::Bits(width) | Sort::Float(width) => width,
            Sort::Other => return None,
        };
        // Pointers and booleans are represented differently in memory and in terms.
        if !matches!(shape.kind, Kind::Int(8 | 16 | 32 | 64) | Kind::Float(_)) || size == 0 {
            return None;
        }
        let count = u64::from(shape.lanes.max(1));
        if let Some(at) = self.terms.as_constant(offset) {
            let lanes: Option<Vec<u64>> = (0..count).map(|i| content(at, i)).collect();
            return Some(lanes?.into_iter().map(|bits| self.terms.constant(masked(bits, width), sort)).collect());
        }
        let elements = variable.bytes / size;
        if elements > MAX_TABLE_ELEMENTS || count > 1 {
            return None;
        }
        let mut found = *self.fresh(instruction.result, "outside").first()?;
        for i in 0..elements {
            let bits = content(i * size, 0)?;
            let (place, bits) = (self.terms.constant(i * size, Sort::Bits(64)), self.terms.constant(bits, sort));
            let is = self.terms.compare(Operation::Eq, offset, place);
            found = self.terms.select(is, bits, found);
        }
        Some(vec![found])
    }

    /// A struct passed by value is private to the work-item. A buffer that the kernel does not write keeps its
    /// contents unless it overlaps a buffer that the kernel does write; a proof that relies on this says so in
    /// its preconditions.
    fn load_of_argument(&mut self, position: u32, address: Term, instruction: &Instruction) -> Option<Vec<Term>> {
        let shape = self.program.shape(instruction.result);
        let sort = transfer::sort(shape.kind);
        let is_by_value = self.program.by_value.get(position as usize).copied().flatten().is_some();
        let lanes = u64::from(shape.lanes.max(1));
        if is_by_value {
            if self.memory.writes(position) {
                return None;
            }
            let base = self.terms.symbol(pointer_to(position), Sort::Bits(64));
            let offset = memory::offset_from(&mut self.terms, address, base)?;
            let offset = self.terms.as_constant(offset)?;
            let terms = &mut self.terms;
            let lane = |i: u64| terms.symbol(argument(position, offset + i * shape.lane_bytes()), sort);
            return Some((0..lanes).map(lane).collect());
        }
        if self.memory.writes(position) {
            return None;
        }
        let terms = &mut self.terms;
        let name = |i: u64| format!("memory of arg{position} {:?} {i} of {lanes}", shape.kind);
        let found: Vec<Term> = (0..lanes).map(|i| terms.unknown(name(i), vec![address], sort)).collect();
        for lane in &found {
            *self.loads.entry(*lane).or_default() += 1;
        }
        Some(found)
    }

    fn store(&mut self, instruction: &Instruction) {
        let [value, pointer] = instruction.operands[..] else { return };
        let known = match memory::region(self.program, pointer) {
            Some(Region::Private(variable)) if self.memory.is_tracked(variable) => {
                let base = self.terms.symbol(format!("private {variable}"), Sort::Bits(64));
                let address = self.value(pointer).first().copied();
                let offset = address.and_then(|a| memory::offset_from(&mut self.terms, a, base));
                offset.and_then(|o| self.terms.as_constant(o)).map(|o| (variable, o))
            }
            _ => None,
        };
        let shape = self.program.shape(value);
        match known {
            Some((variable, offset)) if transfer::sort(shape.kind) != Sort::Other => {
                let lanes = self.value(value);
                self.cells.put(variable, offset, Cell { lanes, bytes: shape.bytes() });
            }
            _ => self.memory.clobber(self.program, pointer, &mut self.cells),
        }
    }

    fn call(&mut self, instruction: &Instruction, base: &str) -> Option<Vec<Term>> {
        let shape = self.program.shape(instruction.result);
        let dimension = || instruction.operands.first().and_then(|o| self.program.constant(*o));
        match base {
            "get_global_id"
            | "get_local_id"
            | "get_group_id"
            | "get_global_size"
            | "get_local_size"
            | "get_num_groups"
            | "get_global_offset"
            | "get_enqueued_local_size" => {
                let d = usize::try_from(dimension()?).ok()?;
                if transfer::sort(shape.kind) != Sort::Bits(64) {
                    return None;
                }
                if d < 3 {
                    return Some(vec![self.launch.query(&mut self.terms, base, d)]);
                }
                let outside = u64::from(base.ends_with("size") || base.ends_with("groups"));
                return Some(vec![self.terms.constant(outside, Sort::Bits(64))]);
            }
            "get_work_dim" if shape.kind == Kind::Int(32) => return Some(vec![self.launch.work_dim(&mut self.terms)]),
            "get_local_linear_id" | "get_global_linear_id" if shape.kind == Kind::Int(64) => {
                return Some(vec![self.linear(base == "get_global_linear_id")]);
            }
            "get_image_width" | "get_image_height" | "get_image_depth" | "get_image_dim" | "get_image_array_size" => {
                let Definition::Param(position) = self.program.values[*instruction.operands.first()? as usize] else {
                    return None;
                };
                // The fourth lane of `get_image_dim` for a 3D image is 0.
                let lanes = shape.lanes.max(1);
                let sides = if lanes == 4 { 3 } else { lanes };
                let sort = transfer::sort(shape.kind);
                if !matches!(shape.kind, Kind::Int(32 | 64)) {
                    return None;
                }
                let mut found: Vec<Term> =
                    (0..sides).map(|i| self.launch.image_side(&mut self.terms, base, position, i, sort)).collect();
                if lanes == 4 {
                    found.push(self.terms.constant(0, sort));
                }
                return Some(found);
            }
            _ => {}
        }
        self.evaluated(instruction)
    }

    fn linear(&mut self, is_global: bool) -> Term {
        let mut at = None;
        for d in (0..3).rev() {
            let id = if is_global {
                let (id, offset) = (
                    self.launch.query(&mut self.terms, "get_global_id", d),
                    self.launch.query(&mut self.terms, "get_global_offset", d),
                );
                self.terms.apply(Operation::Sub, vec![id, offset], Sort::Bits(64))
            } else {
                self.launch.query(&mut self.terms, "get_local_id", d)
            };
            at = Some(match at {
                None => id,
                Some(before) => {
                    let size = if is_global { "get_global_size" } else { "get_local_size" };
                    let size = self.launch.query(&mut self.terms, size, d);
                    let product = self.terms.apply(Operation::Mul, vec![before, size], Sort::Bits(64));
                    self.terms.apply(Operation::Add, vec![product, id], Sort::Bits(64))
                }
            });
        }
        at.unwrap_or_else(|| self.terms.constant(0, Sort::Bits(64)))
    }
}

/// Returns the symbol of one scalar of an argument passed by value; `offset` is in bytes.
pub fn argument(position: u32, offset: u64) -> String {
    format!("arg{position}+{offset}")
}

/// Returns the symbol of the address that an argument holds.
pub fn pointer_to(position: u32) -> String {
    format!("&arg{position}")
}
