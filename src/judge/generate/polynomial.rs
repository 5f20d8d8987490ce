//! Represents a kernel's integers and addresses as polynomials over arguments, ids and opaque values such as
//! loop counters.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;
use kassay_model::interface::HeldIndex;
pub use kassay_prove::program::ids::{Id, id_of};
use kassay_prove::program::{Definition, Kind, Op, Program, Region, ValueId, signed};

/// A variable of a polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// The scalar at this byte offset of a by-value argument, or of a buffer that the kernel does not write.
    Arg(u32, u64),
    Id(Id, u8),
    /// Any other value.
    Value(ValueId),
}

/// A sum of products with integer coefficients, by sorted factors; the constant term has none. No coefficient is 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Poly(pub BTreeMap<Vec<Atom>, i128>);

/// Operations on vectors through which a component is traced.
const LANE_DEPTH: u32 = 6;

/// Sums and products with more terms than this become atoms.
const MAX_TERMS: usize = 40;

impl Poly {
    /// Returns the constant polynomial `n`.
    pub fn constant(n: i128) -> Poly {
        Poly(if n == 0 { BTreeMap::new() } else { [(Vec::new(), n)].into() })
    }

    /// Returns the polynomial that consists of one variable.
    pub fn atom(atom: Atom) -> Poly {
        Poly([(vec![atom], 1)].into())
    }

    /// Returns the value, if the polynomial is constant.
    pub fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Returns the constant term.
    pub fn constant_term(&self) -> i128 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// Returns the sum; coefficients saturate.
    pub fn add(&self, other: &Poly) -> Poly {
        let mut sum = self.0.clone();
        for (product, n) in &other.0 {
            let entry = sum.entry(product.clone()).or_insert(0);
            *entry = entry.saturating_add(*n);
        }
        sum.retain(|_, n| *n != 0);
        Poly(sum)
    }

    /// Returns the product with a constant; coefficients saturate.
    pub fn times(&self, n: i128) -> Poly {
        if n == 0 {
            return Poly::default();
        }
        Poly(self.0.iter().map(|(p, c)| (p.clone(), c.saturating_mul(n))).collect())
    }

    /// Returns the difference; coefficients saturate.
    pub fn sub(&self, other: &Poly) -> Poly {
        self.add(&other.times(-1))
    }

    /// Returns the product; `None` if it has too many terms or factors.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        if self.0.len() * other.0.len() > MAX_TERMS {
            return None;
        }
        let mut product = Poly::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut atoms = [a.clone(), b.clone()].concat();
                atoms.sort_unstable();
                if atoms.len() > 6 {
                    return None;
                }
                product = product.add(&Poly([(atoms, n.saturating_mul(*m))].into()));
            }
        }
        Some(product)
    }

    /// Returns the quotient by `n`; `None` if there is a remainder.
    pub fn div_exact(&self, n: i128) -> Option<Poly> {
        self.0.values().all(|c| c % n == 0).then(|| Poly(self.0.iter().map(|(p, c)| (p.clone(), c / n)).collect()))
    }

    /// Returns the variables of all terms, with repetitions.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.keys().flatten().copied()
    }

    /// Returns whether the variable occurs.
    pub fn has(&self, atom: Atom) -> bool {
        self.atoms().any(|a| a == atom)
    }

    /// Splits `self` into `coefficient * atom + others`; `None` unless the atom occurs exactly once, as a term of
    /// its own.
    pub fn linear_in(&self, atom: Atom) -> Option<(i128, Poly)> {
        let coefficient = *self.0.get(&vec![atom])?;
        let mut others = self.clone();
        others.0.remove(&vec![atom]);
        (!others.has(atom)).then_some((coefficient, others))
    }

    /// Substitutes `by` for `atom`; `None` if the result is too large.
    pub fn substitute(&self, atom: Atom, by: &Poly) -> Option<Poly> {
        let mut sum = Poly::default();
        for (product, n) in &self.0 {
            let mut term = Poly::constant(*n);
            for a in product {
                term = term.mul(&if *a == atom { by.clone() } else { Poly::atom(*a) })?;
            }
            sum = sum.add(&term);
        }
        Some(sum)
    }

    /// Formats the polynomial with these names, terms of the highest degree first.
    pub fn text(&self, name: &dyn Fn(Atom) -> String) -> String {
        let mut out = String::new();
        let mut terms: Vec<_> = self.0.iter().collect();
        terms.sort_by_key(|(product, _)| std::cmp::Reverse(product.len()));
        for (product, n) in terms {
            let names: Vec<String> = product.iter().map(|a| name(*a)).collect();
            let sign = if *n < 0 { " - " } else { " + " };
            let size = n.unsigned_abs();
            let factor = match (size, names.is_empty()) {
                (1, false) => String::new(),
                (_, true) => size.to_string(),
                _ => format!("{size} * "),
            };
            out += &format!("{sign}{factor}{}", names.join(" * "));
        }
        match out.strip_prefix(" + ") {
            Some(rest) => rest.to_owned(),
            None => out.trim_start().to_owned(),
        }
    }
}

/// An address: its region and the offset in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub region: Region,
    pub offset: Poly,
}

/// Returns the arguments whose memory a kernel may write; `None`: any.
fn written(program: &Program) -> Option<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    for (_, instruction) in program.instructions() {
        let operands = &instruction.operands;
        let pointers: &[ValueId] = match &instruction.op {
            Op::Store => operands.get(1..2).unwrap_or(&[]),
            Op::AtomicRmw(_) | Op::CompareExchange => operands.get(..1).unwrap_or(&[]),
            Op::Call(_, base) if builtins::family(base) != Some(Family::VectorLoad) => operands,
            _ => &[],
        };
        for pointer in pointers.iter().filter(|v| program.shape(**v).kind == Kind::Pointer) {
            for root in &program.roots[*pointer as usize] {
                match root {
                    Region::Argument(position) => {
                        found.insert(*position);
                    }
                    Region::Unknown => return None,
                    Region::Variable(_) | Region::Private(_) => {}
                }
            }
        }
    }
    Some(found)
}

/// What the numbers are that a buffer has for each work-item or group of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Each {
    /// Where its part of another buffer begins: parts lie one behind the other.
    Start,
    /// A pitch, the same for all.
    Pitch,
}

/// Buffers with a number for each work-item or group, by position.
pub type PerItem = BTreeMap<u32, Each>;

/// In place of an offset: the scalar from which all elements of a buffer are made.
pub const EVERY: u64 = u64::MAX;

/// The polynomials of a program's values, computed once.
pub struct Symbols<'p> {
    pub program: &'p Program,
    /// Arguments whose memory the kernel may write, or that hold pointers; `None`: any.
    written: Option<BTreeSet<u32>>,
    /// Buffers with a number for each work-item or group of a dimension.
    pub per_item: PerItem,
    known: RefCell<HashMap<ValueId, Poly>>,
}

impl<'p> Symbols<'p> {
    /// Computes the polynomials of all integers of the program. `held`: what stands in buffers for pointers, which is
    /// nothing that a host computes with.
    pub fn new(program: &'p Program, per_item: PerItem, held: &[HeldIndex]) -> Symbols<'p> {
        let mut written = written(program);
        written.iter_mut().for_each(|written| written.extend(held.iter().map(|index| index.parameter)));
        let symbols = Symbols { program, written, per_item, known: RefCell::new(HashMap::new()) };
        // In program order, so that operands are known before their uses.
        for (_, instruction) in program.instructions().filter(|(_, i)| program.shape(i.result).is_int()) {
            symbols.poly(instruction.result);
        }
        symbols
    }

    /// Returns the polynomial of an integer. Widths are ignored: it is valid as long as nothing overflows.
    pub fn poly(&self, value: ValueId) -> Poly {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let poly = self.compute(value).filter(|poly| poly.0.len() <= MAX_TERMS);
        let poly = poly.unwrap_or_else(|| Poly::atom(Atom::Value(value)));
        self.known.borrow_mut().insert(value, poly.clone());
        poly
    }

    fn compute(&self, value: ValueId) -> Option<Poly> {
        let program = self.program;
        if let Some(n) = program.constant(value) {
            return Some(Poly::constant(n.into()));
        }
        if let Definition::Param(position) = program.values[value as usize] {
            return program.shape(value).is_int().then(|| Poly::atom(Atom::Arg(position, 0)));
        }
        let instruction = program.instruction(value)?;
        let operand = |i: usize| self.poly(instruction.operands[i]);
        match &instruction.op {
            Op::Binary(opcode) if program.shape(value).is_int() => match opcode {
                Opcode::LLVMAdd => Some(operand(0).add(&operand(1))),
                Opcode::LLVMSub => Some(operand(0).sub(&operand(1))),
                Opcode::LLVMMul => operand(0).mul(&operand(1)),
                Opcode::LLVMShl => {
                    let n = program.constant(instruction.operands[1]).filter(|n| (0..62).contains(n))?;
                    Some(operand(0).times(1 << n))
                }
                Opcode::LLVMSDiv | Opcode::LLVMUDiv | Opcode::LLVMLShr | Opcode::LLVMAShr => {
                    let n = program.constant(instruction.operands[1])?;
                    let by = match opcode {
                        Opcode::LLVMSDiv | Opcode::LLVMUDiv => n,
                        _ => 1i64.checked_shl(u32::try_from(n).ok().filter(|n| *n < 62)?)?,
                    };
                    let divided = operand(0);
                    (by > 0).then(|| divided.div_exact(by.into())).flatten()
                }
                _ => None,
            },
            Op::Cast(Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc) => {
                let wider = |v, than| matches!(program.shape(v).kind, Kind::Int(bits) if bits > than);
                let from = instruction.operands[0];
                // Neither booleans nor truncations to a byte.
                (program.shape(value).is_int() && wider(value, 8) && wider(from, 1)).then(|| self.poly(from))
            }
            Op::Copy if program.shape(value).is_int() => Some(operand(0)),
            Op::Extract if program.shape(value).is_int() => {
                self.lane(instruction.operands[0], program.constant(instruction.operands[1])?, LANE_DEPTH)
            }
            Op::Load if program.shape(value).is_int() && self.item_of(value).is_some() => {
                let (position, each, id) = self.item_of(value)?;
                let scalar = Poly::atom(Atom::Arg(position, EVERY));
                if each == Each::Start { Poly::atom(id).mul(&scalar) } else { Some(scalar) }
            }
            Op::Phi(_) if program.shape(value).is_int() => self.counted_up(value),
            Op::Load if program.shape(value).is_int() => {
                let (position, offset) = self.place_of_scalar(instruction.operands[0])?;
                Some(Poly::atom(Atom::Arg(position, offset)))
            }
            Op::Call(_, base) if matches!(base.as_str(), "mul24" | "mad24") && program.shape(value).is_int() => {
                let product = operand(0).mul(&operand(1))?;
                Some(if base == "mad24" { product.add(&operand(2)) } else { product })
            }
            Op::Call(_, base) => {
                let dimension = match instruction.operands.first() {
                    Some(d) => program.constant(*d).and_then(|d| u8::try_from(d).ok()).filter(|d| *d < 3)?,
                    None => return None,
                };
                Some(Poly::atom(Atom::Id(id_of(base)?, dimension)))
            }
            _ => None,
        }
    }

    /// Returns the polynomials of the components of a vector of integers, or that of an integer; `None` for components
    /// that are not known.
    pub fn components(&self, value: ValueId) -> Vec<Option<Poly>> {
        match self.program.shape(value).lanes {
            0 => vec![Some(self.poly(value))],
            lanes => (0..i64::from(lanes)).map(|lane| self.lane(value, lane, LANE_DEPTH)).collect(),
        }
    }

    /// Returns the polynomial of a component of a vector of integers.
    fn lane(&self, vector: ValueId, lane: i64, depth: u32) -> Option<Poly> {
        let program = self.program;
        if let Some(taken) = program.lane(vector, lane) {
            return Some(self.poly(taken));
        }
        match &program.values[vector as usize] {
            Definition::Param(position) => {
                let at = u64::try_from(lane).ok()? * program.shape(vector).lane_bytes();
                Some(Poly::atom(Atom::Arg(*position, at)))
            }
            Definition::Constant(lanes) => match program.shape(vector).kind {
                Kind::Int(width) => {
                    Some(Poly::constant(signed(*lanes.get(usize::try_from(lane).ok()?)?, width).into()))
                }
                _ => None,
            },
            _ => {
                let instruction = program.instruction(vector).filter(|_| depth > 0)?;
                let operand = |i: usize| self.lane(*instruction.operands.get(i)?, lane, depth - 1);
                match instruction.op {
                    Op::Binary(Opcode::LLVMAdd) => Some(operand(0)?.add(&operand(1)?)),
                    Op::Binary(Opcode::LLVMSub) => Some(operand(0)?.sub(&operand(1)?)),
                    Op::Binary(Opcode::LLVMMul) => operand(0)?.mul(&operand(1)?),
                    Op::Copy => operand(0),
                    Op::Load => {
                        let (position, offset) = self.place_of_scalar(instruction.operands[0])?;
                        let at = offset + u64::try_from(lane).ok()? * program.shape(vector).lane_bytes();
                        Some(Poly::atom(Atom::Arg(position, at)))
                    }
                    _ => None,
                }
            }
        }
    }

    /// Returns the buffer with a number for each, and the id by which a load takes one of it.
    fn item_of(&self, load: ValueId) -> Option<(u32, Each, Atom)> {
        let (position, id) = self.place_by_id(load)?;
        Some((position, *self.per_item.get(&position)?, id))
    }

    /// Returns the buffer and the id, if a load takes the element that an id says of a buffer that nothing writes.
    pub fn place_by_id(&self, load: ValueId) -> Option<(u32, Atom)> {
        let instruction = self.program.instruction(load).filter(|i| matches!(i.op, Op::Load))?;
        let address = self.address(instruction.operands[0]);
        let Region::Argument(position) = address.region else { return None };
        let bytes = i128::from(self.program.shape(load).bytes());
        let (product, factor) = address.offset.0.first_key_value().filter(|_| address.offset.0.len() == 1)?;
        match product[..] {
            [id @ Atom::Id(Id::Global | Id::Group, _)]
                if *factor == bytes && self.program.by_value[position as usize].is_none() && self.is_kept(position) =>
            {
                Some((position, id))
            }
            _ => None,
        }
    }

    /// Returns the polynomial of a number to which each turn of a loop adds the same scalar, in terms of a counter of
    /// the loop that goes up by one.
    fn counted_up(&self, phi: ValueId) -> Option<Poly> {
        let program = self.program;
        let here = program.block_of(phi)?;
        let (start, step) = self.start_and_step(phi, here)?;
        let step = self.poly(step);
        let is_scalar = |atom: Atom| match atom {
            Atom::Arg(..) => true,
            // It does not change from turn to turn, either.
            Atom::Value(value) => self.place_by_id(value).is_some(),
            Atom::Id(..) => false,
        };
        if step.as_constant().is_some() || !step.atoms().all(is_scalar) {
            return None;
        }
        let counters = program.instructions().filter(|(block, i)| *block == here && matches!(i.op, Op::Phi(_)));
        let counter = counters.map(|(_, other)| other.result).find_map(|counter| {
            let (start, step) = self.start_and_step(counter, here).filter(|_| counter != phi)?;
            (program.constant(step) == Some(1)).then_some(())?;
            Some(Poly::atom(Atom::Value(counter)).sub(&Poly::constant(program.constant(start)?.into())))
        })?;
        Some(self.poly(start).add(&counter.mul(&step)?))
    }

    /// Returns where a loop's phi starts, and what each turn adds to it.
    fn start_and_step(&self, phi: ValueId, here: BlockIndex) -> Option<(ValueId, ValueId)> {
        let program = self.program;
        let instruction = program.instruction(phi).filter(|_| program.shape(phi).is_int())?;
        let Op::Phi(from) = &instruction.op else { return None };
        let (&[a, b], &[from_a, from_b]) = (&instruction.operands[..], &from[..]) else { return None };
        let (start, next) = match (program.dominates(here, from_a), program.dominates(here, from_b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return None,
        };
        let sum = program.instruction(next).filter(|i| matches!(i.op, Op::Binary(Opcode::LLVMAdd)))?;
        match sum.operands[..] {
            [of, step] | [step, of] if of == phi => Some((start, step)),
            _ => None,
        }
    }

    /// Returns argument and offset in bytes of what a pointer points to, if that is the same for all work-items and
    /// stays as the host has made it: a place in an argument that is passed by value, or in a buffer that nothing
    /// writes.
    pub fn place_of_scalar(&self, pointer: ValueId) -> Option<(u32, u64)> {
        let address = self.address(pointer);
        let Region::Argument(position) = address.region else { return None };
        let offset = u64::try_from(address.offset.as_constant()?).ok()?;
        self.is_kept(position).then_some((position, offset))
    }

    /// Returns whether an argument's memory holds numbers only, and stays as the host has made it.
    pub fn is_kept(&self, position: u32) -> bool {
        let is_written = |written: &BTreeSet<u32>| written.contains(&position);
        self.program.by_value[position as usize].is_some() || self.written.as_ref().is_some_and(|w| !is_written(w))
    }

    /// Returns the address that a pointer holds. What cannot be resolved is an opaque offset, in an unknown region
    /// unless the pointer has a single root.
    pub fn address(&self, pointer: ValueId) -> Address {
        let program = self.program;
        match &program.values[pointer as usize] {
            Definition::Param(position) => {
                return Address { region: Region::Argument(*position), offset: Poly::default() };
            }
            Definition::Variable(index, offset) => {
                return Address { region: Region::Variable(*index), offset: Poly::constant((*offset).into()) };
            }
            _ => {}
        }
        let unknown = || {
            let region = match &program.roots[pointer as usize][..] {
                [only] => *only,
                _ => Region::Unknown,
            };
            Address { region, offset: Poly::atom(Atom::Value(pointer)) }
        };
        let Some(instruction) = program.instruction(pointer) else { return unknown() };
        match &instruction.op {
            Op::Alloca(_) => Address { region: Region::Private(pointer), offset: Poly::default() },
            Op::Cast(_) if program.shape(instruction.operands[0]).kind == Kind::Pointer => {
                self.address(instruction.operands[0])
            }
            Op::Copy => self.address(instruction.operands[0]),
            Op::Address { steps, offset } => {
                let mut address = self.address(instruction.operands[0]);
                let mut sum = Poly::constant((*offset).into());
                for step in steps {
                    sum = sum.add(&self.poly(instruction.operands[step.operand]).times(step.scale.into()));
                }
                address.offset = address.offset.add(&sum);
                if address.offset.0.len() > MAX_TERMS {
                    address.offset = Poly::atom(Atom::Value(pointer));
                }
                address
            }
            _ => unknown(),
        }
    }
}
