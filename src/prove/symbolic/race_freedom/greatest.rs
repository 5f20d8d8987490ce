//! What values may be at most, as expressions of what a launch gives: guesses from the shape of the code, which a
//! solver has to confirm.
//!
//! Of a value that is compared with another one it is the other one; of ids it is the size of the launch; of sums and
//! products it is that of their operands. `row * pitch + column` with `row < height` and `column < width` is at most
//! `(height - 1) * pitch + width - 1`.

use std::collections::{BTreeMap, HashMap, HashSet};

use kassay_ir::llvm::{IntPredicate, Opcode};
use kassay_model::condition::Quantity;
use kassay_model::interface::{ArgKind, Type};

use super::accesses::{Access, Base};
use super::kernel::Kernel;
use super::scalars;
use crate::program::ids::{Id, id_of};
use crate::program::math::names::Function;
use crate::program::{Definition, Instruction, Kind, Op, Region, ValueId};
use crate::solve::integers::{Polynomial, Symbol};

/// Most guesses for a value.
const MAX_GUESSES: usize = 6;
/// Most values from an address on.
const MAX_DEPTH: usize = 24;

/// Guesses what values are at most.
pub struct Greatest<'k, 'p> {
    kernel: &'k Kernel<'p>,
    /// What the symbols of guesses are.
    pub quantities: Vec<Quantity>,
    symbols: HashMap<Quantity, Symbol>,
    /// By value: those that it is compared with, and whether it may be equal to them.
    compared: HashMap<ValueId, Vec<(ValueId, bool)>>,
    /// The first call that returns an id or a size: all others return the same.
    ids: BTreeMap<(Id, i64), ValueId>,
    /// Integers that are passed by value.
    parts: Vec<Quantity>,
    known: HashMap<ValueId, Vec<Polynomial>>,
    /// Values whose guesses are being made.
    busy: HashSet<ValueId>,
}

fn number(n: i64) -> Polynomial {
    Polynomial::constant(i128::from(n))
}

impl<'k, 'p> Greatest<'k, 'p> {
    /// Reads the comparisons of a kernel.
    pub fn of(kernel: &'k Kernel<'p>) -> Greatest<'k, 'p> {
        let mut all = Greatest {
            kernel,
            quantities: Vec::new(),
            symbols: HashMap::new(),
            compared: HashMap::new(),
            ids: BTreeMap::new(),
            parts: scalars::relevant(kernel),
            known: HashMap::new(),
            busy: HashSet::new(),
        };
        for (_, instruction) in kernel.program.instructions() {
            if let Some(call) = all.id(instruction) {
                all.ids.entry(call).or_insert(instruction.result);
            }
        }
        for (_, instruction) in kernel.program.instructions() {
            if let Op::Compare(predicate) = &instruction.op {
                use IntPredicate::*;
                let (a, b) = (all.same(instruction.operands[0]), all.same(instruction.operands[1]));
                let may_be_equal = match predicate {
                    LLVMIntULT | LLVMIntSLT | LLVMIntUGE | LLVMIntSGE | LLVMIntNE => [false, true],
                    LLVMIntULE | LLVMIntSLE | LLVMIntUGT | LLVMIntSGT => [true, false],
                    LLVMIntEQ => [true, true],
                };
                // Which of both is the smaller one depends on the branch.
                all.compared.entry(a).or_default().push((b, may_be_equal[0]));
                all.compared.entry(b).or_default().push((a, may_be_equal[1]));
            }
        }
        all
    }

    /// The bytes, from the beginning of the object on, up to the end of what an access may access.
    pub fn end_of(&mut self, access: &Access) -> Vec<Polynomial> {
        let mut all = self.offsets(access.pointer, MAX_DEPTH);
        let mut more = vec![Polynomial::constant(i128::from(access.bytes))];
        if let Some((index, stride)) = access.index {
            let stride = Polynomial::constant(i128::from(stride));
            more = sums(&more, &products(&self.most(index, MAX_DEPTH), &[stride]));
        }
        if let Some(elements) = access.elements {
            let last: Vec<Polynomial> =
                self.most(elements.count, MAX_DEPTH).iter().filter_map(|n| n.plus(&number(1), -1)).collect();
            let mut moved = products(&last, &[Polynomial::constant(i128::from(access.bytes))]);
            if let Some(stride) = elements.stride {
                moved = products(&moved, &self.most(stride, MAX_DEPTH));
            }
            more = sums(&more, &moved);
        }
        all = sums(&all, &more);
        all
    }

    /// The offsets of a pointer from the beginning of its object.
    fn offsets(&mut self, pointer: ValueId, depth: usize) -> Vec<Polynomial> {
        let Some(instruction) = self.kernel.program.instruction(pointer) else {
            return match self.kernel.program.values[pointer as usize] {
                Definition::Param(_) => vec![Polynomial::default()],
                _ => Vec::new(),
            };
        };
        if depth == 0 || !self.busy.insert(pointer) {
            return Vec::new();
        }
        let operands = &instruction.operands;
        let found = match &instruction.op {
            Op::Copy | Op::Cast(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => {
                self.offsets(operands[0], depth - 1)
            }
            Op::Select => union(self.offsets(operands[1], depth - 1), self.offsets(operands[2], depth - 1)),
            Op::Phi(_) => {
                operands.iter().fold(Vec::new(), |all, operand| union(all, self.offsets(*operand, depth - 1)))
            }
            Op::Address { steps, offset } => {
                let mut all = sums(&self.offsets(operands[0], depth - 1), &[number(*offset)]);
                for step in steps {
                    let most = self.most(operands[step.operand], depth - 1);
                    all = sums(&all, &products(&most, &[number(step.scale)]));
                }
                all
            }
            _ => Vec::new(),
        };
        self.busy.remove(&pointer);
        found
    }

    /// What a value is at most.
    fn most(&mut self, value: ValueId, depth: usize) -> Vec<Polynomial> {
        let value = self.same(value);
        if let Some(exact) = self.exact(value, depth) {
            return vec![exact];
        }
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let Some(instruction) = self.kernel.program.instruction(value) else { return Vec::new() };
        if depth == 0 || !self.busy.insert(value) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (other, may_be_equal) in self.compared.get(&value).cloned().unwrap_or_default() {
            let less = number(i64::from(!may_be_equal));
            found = union(found, self.most(other, depth - 1).iter().filter_map(|m| m.plus(&less, -1)).collect());
        }
        found = union(found, self.of_operation(instruction, depth));
        self.busy.remove(&value);
        // What is found on the way round a loop lacks what the loop adds.
        if self.busy.is_empty() {
            self.known.insert(value, found.clone());
        }
        found
    }

    fn of_operation(&mut self, instruction: &Instruction, depth: usize) -> Vec<Polynomial> {
        if let Some((id, d)) = self.id(instruction) {
            return self.below_size(id, d).into_iter().collect();
        }
        let program = self.kernel.program;
        let operands = &instruction.operands;
        let constant = |i: usize| operands.get(i).and_then(|o| program.constant(*o));
        let mut most = |i: usize| self.most(operands[i], depth - 1);
        let less = |all: Vec<Polynomial>| all.iter().filter_map(|n| n.plus(&number(1), -1)).collect();
        match &instruction.op {
            Op::Binary(Opcode::LLVMAdd | Opcode::LLVMOr | Opcode::LLVMXor) => sums(&most(0), &most(1)),
            Op::Binary(Opcode::LLVMSub) => {
                let least = products(&self.least(operands[1], depth - 1), &[number(-1)]);
                sums(&self.most(operands[0], depth - 1), &least)
            }
            Op::Binary(Opcode::LLVMMul) => products(&most(0), &most(1)),
            Op::Binary(Opcode::LLVMShl) => match constant(1) {
                Some(by @ 0..=40) => products(&most(0), &[number(1 << by)]),
                _ => Vec::new(),
            },
            Op::Binary(Opcode::LLVMUDiv | Opcode::LLVMSDiv) => match constant(1) {
                Some(by @ 1..) => quotients(&most(0), by),
                _ => most(0),
            },
            Op::Binary(Opcode::LLVMLShr | Opcode::LLVMAShr) => match constant(1) {
                Some(by @ 0..=40) => quotients(&most(0), 1 << by),
                _ => most(0),
            },
            Op::Binary(Opcode::LLVMURem | Opcode::LLVMSRem) => union(less(most(1)), most(0)),
            Op::Binary(Opcode::LLVMAnd) => match (constant(0), constant(1)) {
                (Some(mask @ 0..), _) => union(vec![number(mask)], most(1)),
                (_, Some(mask @ 0..)) => union(vec![number(mask)], most(0)),
                _ => union(most(0), most(1)),
            },
            Op::Select => union(most(1), most(2)),
            Op::Phi(_) => (0..operands.len()).fold(Vec::new(), |all, i| union(all, most(i))),
            Op::Cast(_) if program.shape(operands[0]).is_int() => most(0),
            Op::Call(name, base) => match Function::of(name, base).map(|f| f.base) {
                Some("min" | "max") => union(most(0), most(1)),
                Some("clamp") => most(2),
                Some("mul24") => products(&most(0), &most(1)),
                Some("mad24") => sums(&products(&most(0), &most(1)), &most(2)),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What a value is at least, where that is not 0.
    fn least(&mut self, value: ValueId, depth: usize) -> Vec<Polynomial> {
        let value = self.same(value);
        vec![self.exact(value, depth).unwrap_or_default()]
    }

    /// A value that all work-items compute alike from what the launch gives.
    fn exact(&mut self, value: ValueId, depth: usize) -> Option<Polynomial> {
        let program = self.kernel.program;
        let value = self.same(value);
        match &program.values[value as usize] {
            Definition::Constant(_) if !program.undefined.contains(&value) => {
                program.shape(value).is_int().then(|| program.constant(value).map(number))?
            }
            Definition::Param(position) => {
                let arg = self.kernel.interface.args.get(*position as usize)?;
                let is_number = matches!(program.shape(value).kind, Kind::Int(2..=64)) && program.shape(value).is_int();
                let is_scalar = matches!(arg.kind, ArgKind::Value(Type::Scalar(_)));
                let name = arg.display_name();
                (is_number && is_scalar).then(|| self.symbol(Quantity::scalar(*position, name)))
            }
            Definition::Inst { .. } if depth > 0 => {
                let instruction = program.instruction(value)?;
                if let Some((id, d)) = self.id(instruction) {
                    let d = u8::try_from(d).ok()?;
                    let quantity = match id {
                        Id::GlobalSize => Quantity::GlobalSize(d),
                        Id::LocalSize => Quantity::LocalSize(d),
                        Id::Groups => Quantity::Groups(d),
                        _ => return None,
                    };
                    return Some(self.size(quantity));
                }
                if let Some(part) = self.part(instruction) {
                    return Some(part);
                }
                let Op::Binary(opcode) = &instruction.op else { return None };
                let (left, right) = (instruction.operands[0], instruction.operands[1]);
                match opcode {
                    Opcode::LLVMAdd => self.exact(left, depth - 1)?.plus(&self.exact(right, depth - 1)?, 1),
                    Opcode::LLVMSub => self.exact(left, depth - 1)?.plus(&self.exact(right, depth - 1)?, -1),
                    Opcode::LLVMMul => self.exact(left, depth - 1)?.times(&self.exact(right, depth - 1)?),
                    Opcode::LLVMShl => match program.constant(right)? {
                        by @ 0..=40 => self.exact(left, depth - 1)?.times(&number(1 << by)),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A component of a vector, or a member of a struct, that is passed by value.
    fn part(&mut self, instruction: &Instruction) -> Option<Polynomial> {
        let (program, operands) = (self.kernel.program, &instruction.operands);
        let (position, offset) = match &instruction.op {
            Op::Extract => {
                let Definition::Param(position) = program.values[*operands.first()? as usize] else { return None };
                let lane = u64::try_from(program.constant(*operands.get(1)?)?).ok()?;
                (position, lane * program.shape(instruction.result).lane_bytes())
            }
            Op::Load => {
                let [Region::Argument(position)] = self.kernel.regions(operands[0])[..] else { return None };
                let [offset] = &self.offsets(operands[0], MAX_DEPTH)[..] else { return None };
                let is_read = self.kernel.is_by_value(position)
                    && self.kernel.is_only_read(Base::Object(Region::Argument(position)), &self.kernel.written);
                (position, is_read.then(|| u64::try_from(offset.as_constant()?).ok())??)
            }
            _ => return None,
        };
        let is_it = |quantity: &Quantity| match quantity {
            Quantity::Scalar(scalar) => (scalar.position, scalar.offset) == (position, offset),
            _ => false,
        };
        let quantity = self.parts.iter().find(|quantity| is_it(quantity))?.clone();
        Some(self.symbol(quantity))
    }

    /// The greatest value of an id, given no offset.
    fn below_size(&mut self, id: Id, d: i64) -> Option<Polynomial> {
        let d = u8::try_from(d).ok()?;
        let size = match id {
            Id::Global => Quantity::GlobalSize(d),
            Id::Local => Quantity::LocalSize(d),
            Id::Group => Quantity::Groups(d),
            _ => return None,
        };
        self.size(size).plus(&number(1), -1)
    }

    /// A size of the launch; 1 in dimensions that a launch of this kernel does not have.
    fn size(&mut self, size: Quantity) -> Polynomial {
        let (Quantity::GlobalSize(d) | Quantity::LocalSize(d) | Quantity::Groups(d)) = size else {
            return self.symbol(size);
        };
        match self.kernel.dimensions.get(usize::from(d)) {
            Some(true) => self.symbol(size),
            _ => number(1),
        }
    }

    fn symbol(&mut self, quantity: Quantity) -> Polynomial {
        let new = self.quantities.len() as Symbol;
        let symbol = *self.symbols.entry(quantity.clone()).or_insert(new);
        if symbol == new {
            self.quantities.push(quantity);
        }
        Polynomial::symbol(symbol)
    }

    /// The id or size that a call returns, with its dimension.
    fn id(&self, instruction: &Instruction) -> Option<(Id, i64)> {
        let Op::Call(_, base) = &instruction.op else { return None };
        let d = self.kernel.program.constant(*instruction.operands.first()?)?;
        id_of(base).map(|id| (id, d))
    }

    /// The value that this one is but for its type.
    fn same(&self, mut value: ValueId) -> ValueId {
        for _ in 0..MAX_DEPTH {
            let Some(instruction) = self.kernel.program.instruction(value) else { return value };
            let is_int = |v: ValueId| self.kernel.program.shape(v).is_int();
            value = match &instruction.op {
                Op::Cast(Opcode::LLVMSExt | Opcode::LLVMZExt) | Op::Copy if is_int(value) => instruction.operands[0],
                Op::Cast(Opcode::LLVMTrunc) if matches!(self.kernel.program.shape(value).kind, Kind::Int(32..)) => {
                    instruction.operands[0]
                }
                Op::Phi(_) if instruction.operands.windows(2).all(|pair| pair[0] == pair[1]) => instruction.operands[0],
                Op::Call(..) => return self.id(instruction).and_then(|id| self.ids.get(&id)).copied().unwrap_or(value),
                _ => return value,
            };
        }
        value
    }
}

fn union(mut all: Vec<Polynomial>, more: Vec<Polynomial>) -> Vec<Polynomial> {
    for one in more {
        if !all.contains(&one) && all.len() < MAX_GUESSES {
            all.push(one);
        }
    }
    all
}

fn combined(
    left: &[Polynomial],
    right: &[Polynomial],
    combine: impl Fn(&Polynomial, &Polynomial) -> Option<Polynomial>,
) -> Vec<Polynomial> {
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    union(Vec::new(), pairs.filter_map(|(a, b)| combine(a, b)).collect())
}

fn sums(left: &[Polynomial], right: &[Polynomial]) -> Vec<Polynomial> {
    combined(left, right, |a, b| a.plus(b, 1))
}

fn products(left: &[Polynomial], right: &[Polynomial]) -> Vec<Polynomial> {
    combined(left, right, Polynomial::times)
}

/// Quotients by a number of what is at most these; the same where one has no such form.
fn quotients(all: &[Polynomial], by: i64) -> Vec<Polynomial> {
    let quotient = |most: &Polynomial| {
        if let Some(n) = most.as_constant() {
            return Some(Polynomial::constant(n.div_euclid(i128::from(by))));
        }
        // A multiple of it less one.
        let whole = most.plus(&number(1), 1)?.divided(i128::from(by));
        whole.or_else(|| most.plus(&number(1), 1)).and_then(|all| all.plus(&number(1), -1))
    };
    union(Vec::new(), all.iter().filter_map(quotient).collect())
}
