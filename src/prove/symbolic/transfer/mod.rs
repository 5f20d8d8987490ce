//! Evaluates instructions that do not access memory on terms, one term per lane. Where OpenCL leaves a result open, it
//! is that of the simulator: a shift amount is taken modulo the width, a conversion saturates, and division by 0 is as
//! in SMT-LIB.

mod builtins;
mod floats;
mod integers;

use kassay_ir::llvm::Opcode;

use crate::program::{Definition, Instruction, Kind, Op, Program, Shape, Step, ValueId};
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::solve::opcodes::{compare_floats, compare_integers, integer_operation};

/// Returns the sort of a lane.
pub fn sort(kind: Kind) -> Sort {
    match kind {
        Kind::Int(width) if width <= 64 => Sort::Bits(width),
        Kind::Float(width) => Sort::Float(width),
        Kind::Pointer => Sort::Bits(64),
        Kind::Int(_) | Kind::Void | Kind::Other => Sort::Other,
    }
}

/// Returns the lanes of a constant; `None` if the value is not a constant, or has no sort.
pub fn constant(terms: &mut Terms, program: &Program, value: ValueId) -> Option<Vec<Term>> {
    let sort = sort(program.shape(value).kind);
    match &program.values[value as usize] {
        Definition::Constant(lanes) if sort != Sort::Other => {
            Some(lanes.iter().map(|bits| terms.constant(*bits, sort)).collect())
        }
        _ => None,
    }
}

/// Returns a lane's bits; those of a float are as in memory.
pub fn to_bits(terms: &mut Terms, lane: Term) -> Term {
    match terms.sort(lane) {
        Sort::Float(width) => terms.apply(Operation::ToBits, vec![lane], Sort::Bits(width)),
        _ => lane,
    }
}

/// Returns the lane of this sort that has these bits.
pub fn from_bits(terms: &mut Terms, bits: Term, sort: Sort) -> Term {
    match sort {
        Sort::Float(_) => terms.apply(Operation::FromBits, vec![bits], sort),
        _ => bits,
    }
}

/// Returns the lanes of an instruction's result for the lanes of its operands. `None` if the instruction accesses
/// memory, queries ids or is not known, or if an operand has no sort.
pub fn apply(
    terms: &mut Terms,
    program: &Program,
    instruction: &Instruction,
    operands: &[Vec<Term>],
) -> Option<Vec<Term>> {
    let to = program.shape(instruction.result);
    let has_no_sort = |lanes: &Vec<Term>| lanes.is_empty() || lanes.iter().any(|t| terms.sort(*t) == Sort::Other);
    if operands.iter().any(has_no_sort) {
        return None;
    }
    let kind = |i: usize| instruction.operands.get(i).map(|o| program.shape(*o).kind);
    let lanes = to.lanes.max(1) as usize;
    let mut transfer = Transfer { terms };
    match &instruction.op {
        Op::Binary(opcode) => transfer.each(lanes, operands, |t, lane| t.binary(*opcode, lane[0], lane[1])),
        Op::FNeg => transfer.each(lanes, operands, |t, lane| {
            let sort = t.terms.sort(lane[0]);
            Some(t.terms.apply(Operation::FNeg, vec![lane[0]], sort))
        }),
        Op::Compare(predicate) => {
            transfer.each(lanes, operands, |t, lane| Some(compare_integers(t.terms, *predicate, lane[0], lane[1])))
        }
        Op::FCompare(predicate) => {
            transfer.each(lanes, operands, |t, lane| Some(compare_floats(t.terms, *predicate, lane[0], lane[1])))
        }
        Op::Cast(Opcode::LLVMBitCast) => transfer.bit_cast(&operands[0], to),
        Op::Cast(opcode) => transfer.each(lanes, operands, |t, lane| t.cast(*opcode, kind(0)?, lane[0], to.kind)),
        Op::Address { steps, offset } => {
            transfer.each(lanes, operands, |t, lane| Some(t.address(lane, steps, *offset)))
        }
        Op::Select => transfer.each(lanes, operands, |t, lane| Some(t.terms.select(lane[0], lane[1], lane[2]))),
        Op::Copy => Some(operands[0].clone()),
        Op::Extract => {
            let index = *operands[1].first()?;
            transfer.picked(&operands[0], index).map(|lane| vec![lane])
        }
        Op::Insert => {
            let (index, new) = (*operands[2].first()?, *operands[1].first()?);
            Some(transfer.replaced(&operands[0], index, new))
        }
        Op::Shuffle(mask) => {
            let both: Vec<Term> = operands[0].iter().chain(&operands[1]).copied().collect();
            let none = transfer.terms.constant(0, sort(to.kind));
            mask.iter()
                .map(|m| match usize::try_from(*m) {
                    Ok(m) => both.get(m).copied(),
                    Err(_) => Some(none),
                })
                .collect()
        }
        Op::Member(i) => operands[0].get(*i).map(|lane| vec![*lane]),
        Op::Call(name, base) => {
            let shapes: Vec<Shape> = instruction.operands.iter().map(|o| program.shape(*o)).collect();
            transfer.call(name, base, operands, &shapes, to)
        }
        Op::Load | Op::Store | Op::Phi(_) | Op::Alloca(_) | Op::AtomicRmw(_) | Op::CompareExchange | Op::Other => None,
    }
}

/// Builds the terms of results from those of operands.
struct Transfer<'t> {
    terms: &'t mut Terms,
}

impl Transfer<'_> {
    /// Applies `f` to each lane; a scalar operand is used for every lane.
    fn each(
        &mut self,
        lanes: usize,
        operands: &[Vec<Term>],
        mut f: impl FnMut(&mut Self, &[Term]) -> Option<Term>,
    ) -> Option<Vec<Term>> {
        let mut lane = |i: usize| {
            let of = |operand: &Vec<Term>| match operand[..] {
                [scalar] => Some(scalar),
                _ => operand.get(i).copied(),
            };
            f(self, &operands.iter().map(of).collect::<Option<Vec<Term>>>()?)
        };
        (0..lanes).map(&mut lane).collect()
    }

    fn width(&self, term: Term) -> u32 {
        match self.terms.sort(term) {
            Sort::Bits(width) | Sort::Float(width) => width,
            Sort::Other => 64,
        }
    }

    /// Returns a constant of the sort of `like`.
    fn number(&mut self, bits: u64, like: Term) -> Term {
        let sort = self.terms.sort(like);
        self.terms.constant(bits, sort)
    }

    /// Applies an operation whose result has the sort of its first argument.
    fn make(&mut self, operation: Operation, args: &[Term]) -> Term {
        let sort = self.terms.sort(args[0]);
        self.terms.apply(operation, args.to_vec(), sort)
    }

    fn binary(&mut self, opcode: Opcode, left: Term, right: Term) -> Option<Term> {
        use Opcode::*;
        let operation = match opcode {
            LLVMShl | LLVMLShr | LLVMAShr => return Some(self.shifted(integer_operation(opcode)?, left, right)),
            LLVMFAdd => Operation::FAdd,
            LLVMFSub => Operation::FSub,
            LLVMFMul => Operation::FMul,
            LLVMFDiv => Operation::FDiv,
            LLVMFRem => Operation::FRem,
            _ => integer_operation(opcode)?,
        };
        Some(self.make(operation, &[left, right]))
    }

    /// The amount counts modulo the width (OpenCL C 1.2, 6.3.j).
    fn shifted(&mut self, operation: Operation, value: Term, by: Term) -> Term {
        let by = self.modulo_width(value, by);
        self.make(operation, &[value, by])
    }

    fn modulo_width(&mut self, value: Term, by: Term) -> Term {
        let width = u64::from(self.width(value));
        if width.is_power_of_two() {
            let most = self.number(width - 1, by);
            self.make(Operation::And, &[by, most])
        } else {
            let width = self.number(width, by);
            self.make(Operation::URem, &[by, width])
        }
    }

    fn is_nan(&mut self, x: Term) -> Term {
        self.terms.apply(Operation::IsNan, vec![x], Sort::Bits(1))
    }

    fn cast(&mut self, opcode: Opcode, from: Kind, value: Term, to: Kind) -> Option<Term> {
        use Opcode::*;
        let sort = sort(to);
        let operation = match opcode {
            LLVMTrunc => Operation::Trunc,
            LLVMZExt => Operation::ZExt,
            LLVMSExt => Operation::SExt,
            LLVMFPToUI => Operation::FToUI,
            LLVMFPToSI => Operation::FToSI,
            LLVMUIToFP => Operation::UIToF,
            LLVMSIToFP => Operation::SIToF,
            LLVMFPTrunc | LLVMFPExt => Operation::FToF,
            LLVMAddrSpaceCast => return Some(value),
            LLVMPtrToInt | LLVMIntToPtr => return Some(self.resized(value, sort, false)),
            _ => return None,
        };
        if sort == Sort::Other || self::sort(from) == Sort::Other {
            return None;
        }
        Some(self.terms.apply(operation, vec![value], sort))
    }

    /// Extends to more bits, or truncates to the low ones.
    fn resized(&mut self, value: Term, sort: Sort, is_signed: bool) -> Term {
        let (from, to) = (self.terms.sort(value), sort);
        let operation = match (from, to) {
            (Sort::Bits(from), Sort::Bits(to)) if to < from => Operation::Trunc,
            (Sort::Bits(from), Sort::Bits(to)) if to > from && is_signed => Operation::SExt,
            (Sort::Bits(from), Sort::Bits(to)) if to > from => Operation::ZExt,
            _ => return value,
        };
        self.terms.apply(operation, vec![value], sort)
    }

    /// Reinterprets the bits as lanes of another width; the first lane is lowest.
    fn bit_cast(&mut self, lanes: &[Term], to: Shape) -> Option<Vec<Term>> {
        let (from, into) = (self.width(*lanes.first()?), self.width_of(to.kind)?);
        let count = to.lanes.max(1) as usize;
        if from as usize * lanes.len() != into as usize * count {
            return None;
        }
        let bits: Vec<Term> = lanes.iter().map(|lane| to_bits(self.terms, *lane)).collect();
        let parts = if from == into {
            bits
        } else if from > into && from.is_multiple_of(into) {
            let of = |t: &mut Self, bits: Term, i: u32| {
                t.terms.apply(Operation::Extract(i * into), vec![bits], Sort::Bits(into))
            };
            bits.iter()
                .flat_map(|b| (0..from / into).map(|i| (*b, i)).collect::<Vec<_>>())
                .map(|(b, i)| of(self, b, i))
                .collect()
        } else if into > from && into.is_multiple_of(from) {
            bits.chunks((into / from) as usize).map(|chunk| self.joined(chunk)).collect()
        } else {
            return None;
        };
        Some(parts.into_iter().map(|bits| from_bits(self.terms, bits, sort(to.kind))).collect())
    }

    fn width_of(&self, kind: Kind) -> Option<u32> {
        match sort(kind) {
            Sort::Bits(width) | Sort::Float(width) => Some(width),
            Sort::Other => None,
        }
    }

    /// Concatenates parts, the first lowest.
    fn joined(&mut self, parts: &[Term]) -> Term {
        let mut whole = parts[0];
        for part in &parts[1..] {
            let width = self.width(whole) + self.width(*part);
            whole = self.terms.apply(Operation::Concat, vec![*part, whole], Sort::Bits(width));
        }
        whole
    }

    /// Addresses are sums modulo 2^64.
    fn address(&mut self, lane: &[Term], steps: &[Step], offset: i64) -> Term {
        let sort = Sort::Bits(64);
        let mut at = lane[0];
        for step in steps {
            let index = self.resized(lane[step.operand], sort, true);
            let scale = self.terms.constant(step.scale.cast_unsigned(), sort);
            let bytes = self.make(Operation::Mul, &[index, scale]);
            at = self.make(Operation::Add, &[at, bytes]);
        }
        let offset = self.terms.constant(offset.cast_unsigned(), sort);
        self.make(Operation::Add, &[at, offset])
    }

    /// Selects a lane by an index that may be symbolic. A symbolic index beyond the last lane selects the last; a
    /// constant one gives `None`.
    fn picked(&mut self, lanes: &[Term], index: Term) -> Option<Term> {
        if let Some(i) = self.terms.as_constant(index) {
            return lanes.get(usize::try_from(i).ok()?).copied();
        }
        let (last, before) = lanes.split_last()?;
        let mut chosen = *last;
        for (i, lane) in before.iter().enumerate() {
            let number = self.number(i as u64, index);
            let is = self.terms.compare(Operation::Eq, index, number);
            chosen = self.terms.select(is, *lane, chosen);
        }
        Some(chosen)
    }

    fn replaced(&mut self, lanes: &[Term], index: Term, new: Term) -> Vec<Term> {
        let one = |(i, lane): (usize, &Term)| {
            let number = self.number(i as u64, index);
            let is = self.terms.compare(Operation::Eq, index, number);
            self.terms.select(is, new, *lane)
        };
        lanes.iter().enumerate().map(one).collect()
    }
}
