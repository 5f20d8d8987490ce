//! Summarises a kernel's memory accesses: their symbolic addresses, and the conditions under which they execute. The
//! inferences are based on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::interface::HeldIndex;
use kassay_prove::program::machine::call::pointee_bytes;
use kassay_prove::program::{Op, Program, Region, ValueId};

use super::intervals::Bounds;
use super::path_conditions::{self, PathConditions};
use super::polynomial::{Atom, PerItem, Poly, Symbols};

/// Sources of a value that are visited, nearest first; those farther away are ignored.
const MAX_SOURCES: usize = 2048;
/// Upper bounds kept per value.
const MAX_BOUNDS: usize = 16;

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// A memory access.
#[derive(Debug, Clone)]
pub struct Access {
    /// The instruction that performs it.
    pub id: ValueId,
    pub block: BlockIndex,
    pub region: Region,
    /// Offset within the region, in bytes.
    pub offset: Poly,
    pub bytes: u64,
    pub pointer: ValueId,
    /// The operand that counts elements from the pointer, as in `vload`.
    pub number: Option<ValueId>,
    pub kind: AccessKind,
}

/// A program with its symbolic values, path conditions and accesses.
pub struct AccessSummary<'p> {
    pub program: &'p Program,
    pub symbols: Symbols<'p>,
    pub facts: PathConditions,
    pub accesses: Vec<Access>,
    /// Upper bounds that branches anywhere impose on values.
    pub bounds: Bounds,
    /// The first access of each instruction, as index into `accesses`.
    access_of: HashMap<ValueId, usize>,
    /// Visited marks of [`AccessSummary::sources`]: by value the number of the last traversal that visited it, and the
    /// number of the current one.
    seen: RefCell<(Vec<u32>, u32)>,
    loads: RefCell<HashMap<ValueId, Loads>>,
}

/// Loads from buffers: instruction, and position of the argument.
pub type Loads = Rc<[(ValueId, u32)]>;

impl<'p> AccessSummary<'p> {
    /// Summarises a program. `per_item`: what is known of its buffers.
    pub fn new(program: &'p Program, per_item: PerItem, held: &[HeldIndex]) -> AccessSummary<'p> {
        let symbols = Symbols::new(program, per_item, held);
        let facts = path_conditions::find(&symbols);
        let accesses = accesses(&symbols);
        let mut bounds = Bounds::new();
        for (_, fact) in facts.all() {
            for atom in fact.lhs.atoms().filter(|a| matches!(a, Atom::Value(_))) {
                if let Some((1, rest)) = fact.lhs.linear_in(atom) {
                    let bound = fact.rhs.sub(&rest);
                    let known = bounds.entry(atom).or_default();
                    if known.len() < MAX_BOUNDS && !bound.has(atom) && !known.contains(&bound) {
                        known.push(bound);
                    }
                }
            }
        }
        let mut access_of = HashMap::new();
        for (i, access) in accesses.iter().enumerate() {
            access_of.entry(access.id).or_insert(i);
        }
        let seen = RefCell::new((vec![0; program.values.len()], 0));
        AccessSummary { program, symbols, facts, accesses, bounds, access_of, seen, loads: RefCell::default() }
    }

    /// Returns the values from which `start` is computed, itself included, the nearest first, at most [`MAX_SOURCES`].
    /// The traversal stops at loads, atomics and calls that access memory, so address computations are excluded.
    pub fn sources(&self, start: ValueId) -> Vec<ValueId> {
        let (seen, turn) = &mut *self.seen.borrow_mut();
        *turn += 1;
        let mut found = vec![start];
        seen[start as usize] = *turn;
        let mut next = 0;
        while let Some(value) = found.get(next).copied() {
            next += 1;
            let Some(instruction) = self.program.instruction(value) else { continue };
            let goes_on = !matches!(instruction.op, Op::Load | Op::AtomicRmw(_) | Op::CompareExchange)
                && (value == start || !matches!(&instruction.op, Op::Call(_, base) if touches_memory(base)));
            for operand in self.program.read_by(instruction).filter(|_| goes_on) {
                if found.len() < MAX_SOURCES && std::mem::replace(&mut seen[operand as usize], *turn) != *turn {
                    found.push(operand);
                }
            }
        }
        found
    }

    /// Returns the loads from buffers among the [`AccessSummary::sources`] of a value. Cached.
    pub fn loads_among_sources(&self, start: ValueId) -> Loads {
        if let Some(known) = self.loads.borrow().get(&start) {
            return known.clone();
        }
        let mut found: Vec<(ValueId, u32)> =
            self.sources(start).into_iter().filter_map(|v| Some((v, self.loaded_from(v)?))).collect();
        found.sort_unstable();
        let found: Loads = found.into();
        self.loads.borrow_mut().insert(start, found.clone());
        found
    }

    /// Returns the argument from whose buffer a value was loaded, if it was.
    pub fn loaded_from(&self, value: ValueId) -> Option<u32> {
        let instruction = self.program.instruction(value)?;
        if !matches!(instruction.op, Op::Load) && !matches!(&instruction.op, Op::Call(_, base) if is_vector_load(base))
        {
            return None;
        }
        let access = &self.accesses[*self.access_of.get(&value)?];
        match access.region {
            Region::Argument(position) if self.program.by_value[position as usize].is_none() => Some(position),
            _ => None,
        }
    }
}

fn is_vector_load(base: &str) -> bool {
    builtins::family(base) == Some(Family::VectorLoad)
}

fn touches_memory(base: &str) -> bool {
    matches!(builtins::family(base), Some(Family::VectorLoad | Family::ImageRead))
        || builtins::operation(base).is_some()
}

fn accesses(symbols: &Symbols<'_>) -> Vec<Access> {
    let program = symbols.program;
    let mut all = Vec::new();
    for (block, instruction) in program.instructions() {
        let operands = &instruction.operands;
        let shape_of = |v: ValueId| program.shape(v);
        let mut push = |pointer: ValueId, bytes: u64, kind: AccessKind, number: Option<(ValueId, u64)>| {
            let address = symbols.address(pointer);
            let by = number.map(|(n, scale)| symbols.poly(n).times(scale.into())).unwrap_or_default();
            all.push(Access {
                id: instruction.result,
                block,
                region: address.region,
                offset: address.offset.add(&by),
                bytes,
                pointer,
                number: number.map(|n| n.0),
                kind,
            });
        };
        match &instruction.op {
            Op::Load => push(operands[0], shape_of(instruction.result).bytes(), AccessKind::Read, None),
            Op::Store => push(operands[1], shape_of(operands[0]).bytes(), AccessKind::Write, None),
            Op::AtomicRmw(_) | Op::CompareExchange => {
                push(operands[0], operands.last().map_or(4, |o| shape_of(*o).bytes()), AccessKind::Atomic, None);
            }
            Op::Call(name, base) => {
                let (_, params) = builtins::demangle(name).unwrap_or_default();
                let pointee = pointee_bytes(params);
                let family = builtins::family(base);
                if family == Some(Family::VectorLoad) && operands.len() == 2 {
                    let shape = shape_of(instruction.result);
                    let scalar = pointee.map_or(shape.lane_bytes(), |p| p.1);
                    let bytes = scalar * u64::from(shape.lanes.max(1));
                    push(operands[1], bytes, AccessKind::Read, Some((operands[0], bytes)));
                } else if family == Some(Family::VectorStore) && operands.len() >= 3 {
                    let shape = shape_of(operands[0]);
                    let scalar = pointee.map_or(shape.lane_bytes(), |p| p.1);
                    let bytes = scalar * u64::from(shape.lanes.max(1));
                    push(operands[2], bytes, AccessKind::Write, Some((operands[1], bytes)));
                } else if family == Some(Family::AsyncCopy) && operands.len() >= 3 {
                    let element = pointee.map_or(4, |p| p.0);
                    push(operands[0], element, AccessKind::Write, None);
                    push(operands[1], element, AccessKind::Read, None);
                } else if builtins::operation(base).is_some() && !operands.is_empty() {
                    push(operands[0], pointee.map_or(4, |p| p.0), AccessKind::Atomic, None);
                }
            }
            _ => {}
        }
    }
    all
}
