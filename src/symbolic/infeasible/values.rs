//! Instructions, as far as they are the same on every device: where OpenCL leaves a result open, it is anything.

use llvm_sys::LLVMOpcode;

use super::encode::Encoder;
use super::memory::{self, Cell};
use crate::kernel::builtins;
use crate::program::{Definition, Instruction, Kind, Op, Region, ValueId, masked};
use crate::solve::expression::{Node, Operation, Rounding, Sort, Term, Terms};
use crate::symbolic::transfer;

/// Tables with more elements are not looked up.
const TABLE: u64 = 64;

fn power(width: u32, exponent: u32) -> u64 {
    crate::kernel::floats::bits(2f64.powi(exponent.cast_signed()), width)
}

impl Encoder<'_> {
    /// A value of no known content.
    pub(super) fn fresh(&mut self, value: ValueId, what: &str) -> Vec<Term> {
        let shape = self.program.shape(value);
        let sort = transfer::sort(shape.kind);
        self.count += 1;
        let count = self.count;
        let terms = &mut self.terms;
        (0..shape.lanes.max(1)).map(|lane| terms.symbol(format!("{what} {count}.{lane}"), sort)).collect()
    }

    pub(super) fn fresh_like(&mut self, like: Term) -> Term {
        self.count += 1;
        let sort = self.terms.sort(like);
        self.terms.symbol(format!("open {}", self.count), sort)
    }

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
            // Each use of what has no value may see another one.
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

    /// Works out an instruction that is no `phi`.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Vec<Term> {
        let found = match &instruction.op {
            Op::Load => self.load(instruction),
            Op::Store => {
                self.store(instruction);
                return Vec::new();
            }
            Op::Alloca(_) => Some(vec![self.terms.symbol(format!("private {}", instruction.result), Sort::Bits(64))]),
            Op::Call(name, base) => self.call(instruction, name, base),
            Op::Shuffle(mask) if mask.iter().any(|m| *m < 0) => self.shuffled(instruction, mask),
            Op::AtomicRmw(_) | Op::CompareExchange | Op::Other | Op::Phi(_) | Op::Member(_) => None,
            _ => self.transferred(instruction),
        };
        match found {
            Some(lanes) => lanes,
            None => self.fresh(instruction.result, "anything"),
        }
    }

    fn operands(&mut self, instruction: &Instruction) -> Vec<Vec<Term>> {
        instruction.operands.iter().map(|o| self.value(*o)).collect()
    }

    fn transferred(&mut self, instruction: &Instruction) -> Option<Vec<Term>> {
        let operands = self.operands(instruction);
        let exact = transfer::apply(&mut self.terms, self.program, instruction, &operands)?;
        let lane = |i: usize, o: usize| *operands[o].get(i).unwrap_or(&operands[o][0]);
        let mut lanes = Vec::with_capacity(exact.len());
        for (i, exact) in exact.into_iter().enumerate() {
            let open = match &instruction.op {
                Op::Binary(opcode) => self.binary_is_open(*opcode, lane(i, 0), lane(i, 1)),
                Op::Cast(LLVMOpcode::LLVMFPToSI) => Some(self.does_not_fit(lane(i, 0), exact, true)),
                Op::Cast(LLVMOpcode::LLVMFPToUI) => Some(self.does_not_fit(lane(i, 0), exact, false)),
                _ => None,
            };
            let exact = self.anything_if(open, exact);
            lanes.push(match &instruction.op {
                Op::Binary(opcode @ (LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub)) => {
                    self.contracted(*opcode == LLVMOpcode::LLVMFSub, lane(i, 0), lane(i, 1), exact)
                }
                _ => exact,
            });
        }
        Some(lanes)
    }

    /// A sum of a product may be rounded once only, as the device likes (`FP_CONTRACT` is on by default: OpenCL C 6.12.2).
    fn contracted(&mut self, is_difference: bool, left: Term, right: Term, exact: Term) -> Term {
        let sort = self.terms.sort(exact);
        let factors = |terms: &Terms, term: Term| match terms.node(term) {
            Node::Apply(Operation::FMul, args) => Some((args[0], args[1])),
            _ => None,
        };
        let (of_left, of_right) = (factors(&self.terms, left), factors(&self.terms, right));
        if of_left.is_none() && of_right.is_none() {
            return exact;
        }
        if sort == Sort::Float(16) {
            return self.fresh_like(exact);
        }
        let mut result = exact;
        if let Some((a, b)) = of_left {
            let other = if is_difference { self.terms.apply(Operation::FNeg, vec![right], sort) } else { right };
            result = self.perhaps_fused([a, b, other], result);
        }
        if let Some((a, b)) = of_right {
            let a = if is_difference { self.terms.apply(Operation::FNeg, vec![a], sort) } else { a };
            result = self.perhaps_fused([a, b, left], result);
        }
        result
    }

    fn perhaps_fused(&mut self, of: [Term; 3], else_: Term) -> Term {
        let sort = self.terms.sort(else_);
        let fused = self.terms.apply(Operation::FFma, of.to_vec(), sort);
        let bit = self.terms.truth(false);
        let choice = self.fresh_like(bit);
        self.terms.select(choice, fused, else_)
    }

    pub(super) fn anything_if(&mut self, open: Option<Term>, exact: Term) -> Term {
        match open.map(|o| (o, self.terms.as_constant(o))) {
            None | Some((_, Some(0))) => exact,
            Some((open, _)) => {
                let any = self.fresh_like(exact);
                self.terms.select(open, any, exact)
            }
        }
    }

    fn number(&mut self, bits: u64, like: Term) -> Term {
        let sort = self.terms.sort(like);
        self.terms.constant(bits, sort)
    }

    /// Divisions without a result (OpenCL C 6.3.b), shifts by too many bits that the language has not masked, and division
    /// of less than double precision, which is not exact (7.4).
    fn binary_is_open(&mut self, opcode: LLVMOpcode, left: Term, right: Term) -> Option<Term> {
        use LLVMOpcode::*;
        let (Sort::Bits(width) | Sort::Float(width)) = self.terms.sort(left) else { return None };
        match opcode {
            LLVMUDiv | LLVMURem => {
                let zero = self.number(0, right);
                Some(self.terms.compare(Operation::Eq, right, zero))
            }
            LLVMSDiv | LLVMSRem => {
                let (zero, minus) = (self.number(0, right), self.number(u64::MAX, right));
                let least = self.number(1 << (width - 1), left);
                let none = self.terms.compare(Operation::Eq, right, zero);
                let (by_minus, of_least) =
                    (self.terms.compare(Operation::Eq, right, minus), self.terms.compare(Operation::Eq, left, least));
                let wraps = self.terms.and(by_minus, of_least);
                Some(self.terms.or(none, wraps))
            }
            LLVMShl | LLVMLShr | LLVMAShr => {
                let most = self.number(u64::from(width), right);
                let within = self.terms.compare(Operation::Ult, right, most);
                Some(self.terms.not(within))
            }
            LLVMFDiv if width < 64 => Some(self.terms.truth(true)),
            _ => None,
        }
    }

    /// Conversions of what the type does not hold give anything (6.2.3.3).
    fn does_not_fit(&mut self, x: Term, to: Term, is_signed: bool) -> Term {
        let (Sort::Float(from), Sort::Bits(width)) = (self.terms.sort(x), self.terms.sort(to)) else {
            return self.terms.truth(true);
        };
        let sort = self.terms.sort(x);
        let whole = self.terms.apply(Operation::FRound(Rounding::Zero), vec![x], sort);
        let end = self.number(power(from, if is_signed { width - 1 } else { width }), x);
        let below = self.terms.compare(Operation::FLt, whole, end);
        let begin = if is_signed { self.terms.apply(Operation::FNeg, vec![end], sort) } else { self.number(0, x) };
        let above = self.terms.compare(Operation::FLe, begin, whole);
        let fits = self.terms.and(below, above);
        self.terms.not(fits)
    }

    fn shuffled(&mut self, instruction: &Instruction, mask: &[i32]) -> Option<Vec<Term>> {
        let operands = self.operands(instruction);
        let mut lanes = transfer::apply(&mut self.terms, self.program, instruction, &operands)?;
        for (lane, m) in lanes.iter_mut().zip(mask) {
            if *m < 0 {
                *lane = self.fresh_like(*lane);
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
                let offset = memory::split(&mut self.terms, address, base)?;
                let offset = self.terms.as_constant(offset)?;
                let cell = self.cells.at(variable, offset)?;
                let same = cell.bytes == shape.bytes() && cell.lanes.len() == shape.lanes.max(1) as usize;
                (same && cell.lanes.iter().all(|l| self.terms.sort(*l) == sort)).then(|| cell.lanes.clone())
            }
            Region::Variable(index) if self.program.variables[index].is_constant => {
                let base = self.terms.symbol(format!("@{index}"), Sort::Bits(64));
                let offset = memory::split(&mut self.terms, address, base)?;
                self.looked_up(index, offset, instruction)
            }
            Region::Argument(position) => self.load_of_argument(position, address, instruction),
            _ => None,
        }
    }

    /// The content of a `__constant` variable: by its place, where that is within the variable.
    fn looked_up(&mut self, index: usize, offset: Term, instruction: &Instruction) -> Option<Vec<Term>> {
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
        // Pointers and booleans in memory are not what their bytes are here.
        if !matches!(shape.kind, Kind::Int(8 | 16 | 32 | 64) | Kind::Float(_)) || size == 0 {
            return None;
        }
        let count = u64::from(shape.lanes.max(1));
        if let Some(at) = self.terms.as_constant(offset) {
            let lanes: Option<Vec<u64>> = (0..count).map(|i| content(at, i)).collect();
            return Some(lanes?.into_iter().map(|bits| self.terms.constant(masked(bits, width), sort)).collect());
        }
        let elements = variable.bytes / size;
        if elements > TABLE || count > 1 {
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

    /// Structs by value nobody but the work-item has; buffers that the kernel does not write keep what they hold, if none that it
    /// writes overlaps them (a proof that needs this says so).
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
            let offset = memory::split(&mut self.terms, address, base)?;
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
                let offset = address.and_then(|a| memory::split(&mut self.terms, a, base));
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

    fn call(&mut self, instruction: &Instruction, name: &str, base: &str) -> Option<Vec<Term>> {
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
                // The fourth lane of a volume's sides is 0.
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
        self.builtin(instruction, name, base)
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

    /// Builtins on values, where the specification leaves nothing open.
    fn builtin(&mut self, instruction: &Instruction, name: &str, base: &str) -> Option<Vec<Term>> {
        let first = self.program.shape(*instruction.operands.first()?);
        let is_float = matches!(first.kind, Kind::Float(_));
        let is_rough = base.starts_with("native_") || base.starts_with("half_");
        if is_rough || is_float && matches!(base, "mad" | "mix" | "dot" | "divide" | "recip") {
            return None;
        }
        if matches!(first.kind, Kind::Float(16 | 32)) && (base == "sqrt" || name.starts_with("llvm.sqrt")) {
            return None;
        }
        // LLVM's SPIR-V does not say whether what is converted has a sign, and devices take the wrong one.
        if base.starts_with("convert_") && base.contains("_sat") && !is_float {
            return None;
        }
        let operands = self.operands(instruction);
        let exact = transfer::apply(&mut self.terms, self.program, instruction, &operands)?;
        let lane = |i: usize, o: usize| *operands[o].get(i).unwrap_or(&operands[o][0]);
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        let element = params.split_once('_').filter(|(v, _)| v.starts_with("Dv")).map_or(params, |(_, of)| of);
        let is_signed = element.chars().next().is_some_and(builtins::is_signed);
        let mut lanes = Vec::with_capacity(exact.len());
        for (i, exact) in exact.into_iter().enumerate() {
            let open = if name.starts_with("llvm.fmuladd") {
                // Rounded once or twice, as the device likes.
                let sort = self.terms.sort(exact);
                if sort == Sort::Float(16) {
                    return None;
                }
                lanes.push(self.perhaps_fused([lane(i, 0), lane(i, 1), lane(i, 2)], exact));
                continue;
            } else if base.starts_with("convert_") && is_float && !base.contains("_sat") {
                match self.terms.sort(exact) {
                    Sort::Bits(_) => Some(self.does_not_fit(lane(i, 0), exact, !base.starts_with("convert_u"))),
                    _ => None,
                }
            } else if matches!(base, "any" | "all") {
                // Devices differ in what they take for true besides all ones.
                let mut odd = self.terms.truth(false);
                for x in operands[0].clone() {
                    let (zero, ones) = (self.number(0, x), self.number(u64::MAX, x));
                    let is_zero = self.terms.compare(Operation::Eq, x, zero);
                    let is_ones = self.terms.compare(Operation::Eq, x, ones);
                    let is_truth = self.terms.or(is_zero, is_ones);
                    let is_odd = self.terms.not(is_truth);
                    odd = self.terms.or(odd, is_odd);
                }
                Some(odd)
            } else if matches!(base, "mul24" | "mad24") {
                let (x, y) = (self.is_wide(lane(i, 0), is_signed), self.is_wide(lane(i, 1), is_signed));
                Some(self.terms.or(x, y))
            } else if base == "clamp" {
                let (low, high) = (lane(i, 1), lane(i, 2));
                let less = match (is_float, is_signed) {
                    (true, _) => Operation::FLe,
                    (false, true) => Operation::Sle,
                    (false, false) => Operation::Ule,
                };
                let ordered = self.terms.compare(less, low, high);
                Some(self.terms.not(ordered))
            } else {
                None
            };
            let mut open = open;
            if is_float && matches!(base, "min" | "max" | "clamp") {
                let nan = self.terms.apply(Operation::IsNan, vec![lane(i, 0)], Sort::Bits(1));
                let other = self.terms.apply(Operation::IsNan, vec![lane(i, 1)], Sort::Bits(1));
                let any = self.terms.or(nan, other);
                open = Some(match open {
                    Some(open) => self.terms.or(open, any),
                    None => any,
                });
            }
            lanes.push(self.anything_if(open, exact));
        }
        Some(lanes)
    }

    /// Whether a number takes more than 24 bits (6.12.3: then `mul24` is open).
    fn is_wide(&mut self, x: Term, is_signed: bool) -> Term {
        let Sort::Bits(width) = self.terms.sort(x) else { return self.terms.truth(true) };
        let low = self.terms.apply(Operation::Trunc, vec![x], Sort::Bits(24.min(width)));
        let extend = if is_signed { Operation::SExt } else { Operation::ZExt };
        let back = self.terms.apply(extend, vec![low], Sort::Bits(width));
        let same = self.terms.compare(Operation::Eq, x, back);
        self.terms.not(same)
    }
}

/// The symbol of a scalar of an argument, by its offset in bytes.
pub fn argument(position: u32, offset: u64) -> String {
    format!("arg{position}+{offset}")
}

/// The symbol of an argument that is an address.
pub fn pointer_to(position: u32) -> String {
    format!("&arg{position}")
}
