//! What the inferences share: a kernel's accesses, with their addresses and what holds where they stand.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::intervals::Bounds;
use super::path_conditions::{self, PathConditions};
use super::polynomial::{Atom, Poly, Symbols};
use crate::kernel::builtins;
use crate::program::{Op, Program, Region, ValueId};

/// So many values behind one are looked at, the nearest first: what is farther away is taken not to be there.
const MOST_SOURCES: usize = 2048;
/// Branches keep a value below so many others at most.
const MOST_BOUNDS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Read,
    Write,
    Atomic,
}

/// An access to memory.
#[derive(Debug, Clone)]
pub struct Access {
    /// The instruction.
    pub id: ValueId,
    pub block: usize,
    pub region: Region,
    /// In bytes.
    pub offset: Poly,
    pub bytes: u64,
    pub pointer: ValueId,
    /// An operand that counts elements behind the pointer, as of `vload`.
    pub number: Option<ValueId>,
    pub way: Way,
}

/// A kernel, read.
pub struct Reading<'p> {
    pub program: &'p Program,
    pub symbols: Symbols<'p>,
    pub facts: PathConditions,
    pub accesses: Vec<Access>,
    /// What branches anywhere keep values below.
    pub bounds: Bounds,
    /// Accesses by their instructions, the first of each.
    access_of: HashMap<ValueId, usize>,
    /// By value, when [`Reading::sources`] came there last.
    seen: RefCell<(Vec<u32>, u32)>,
    loads: RefCell<HashMap<ValueId, Loads>>,
}

/// Loads from buffers: instruction and argument.
pub type Loads = Rc<[(ValueId, u32)]>;

impl<'p> Reading<'p> {
    pub fn new(program: &'p Program) -> Reading<'p> {
        let symbols = Symbols::new(program);
        let facts = path_conditions::find(&symbols);
        let accesses = accesses(&symbols);
        let mut bounds = Bounds::new();
        for (_, fact) in facts.all() {
            for atom in fact.less.atoms().filter(|a| matches!(a, Atom::Value(_))) {
                if let Some((1, rest)) = fact.less.linear_in(atom) {
                    let bound = fact.than.sub(&rest);
                    let known = bounds.entry(atom).or_default();
                    if known.len() < MOST_BOUNDS && !bound.has(atom) && !known.contains(&bound) {
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
        Reading { program, symbols, facts, accesses, bounds, access_of, seen, loads: RefCell::default() }
    }

    /// The values that `start` is computed from, loads and what stands at their addresses excluded; the nearest first, so many of them as
    /// are looked at.
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
                if found.len() < MOST_SOURCES && std::mem::replace(&mut seen[operand as usize], *turn) != *turn {
                    found.push(operand);
                }
            }
        }
        found
    }

    /// The loads from buffers among them.
    pub fn loads_behind(&self, start: ValueId) -> Loads {
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

    /// The buffer that a value was loaded from.
    pub fn loaded_from(&self, value: ValueId) -> Option<u32> {
        let instruction = self.program.instruction(value)?;
        if !matches!(instruction.op, Op::Load) && !matches!(&instruction.op, Op::Call(_, b) if b.starts_with("vload")) {
            return None;
        }
        let access = &self.accesses[*self.access_of.get(&value)?];
        match access.region {
            Region::Argument(position) if self.program.by_value[position as usize].is_none() => Some(position),
            _ => None,
        }
    }
}

fn touches_memory(base: &str) -> bool {
    base.starts_with("vload") || builtins::operation(base).is_some() || base.starts_with("read_image")
}

fn accesses(symbols: &Symbols<'_>) -> Vec<Access> {
    let program = symbols.program;
    let mut all = Vec::new();
    for (block, instruction) in program.instructions() {
        let operands = &instruction.operands;
        let shape_of = |v: ValueId| program.shape(v);
        let mut push = |pointer: ValueId, bytes: u64, way: Way, number: Option<(ValueId, u64)>| {
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
                way,
            });
        };
        match &instruction.op {
            Op::Load => push(operands[0], shape_of(instruction.result).bytes(), Way::Read, None),
            Op::Store => push(operands[1], shape_of(operands[0]).bytes(), Way::Write, None),
            Op::AtomicRmw(_) | Op::CompareExchange => {
                push(operands[0], operands.last().map_or(4, |o| shape_of(*o).bytes()), Way::Atomic, None);
            }
            Op::Call(name, base) => {
                let (_, params) = builtins::demangle(name).unwrap_or_default();
                let pointee = super::dry_run::pointee(params);
                if base.starts_with("vload") && operands.len() == 2 {
                    let shape = shape_of(instruction.result);
                    let scalar = pointee.map_or(shape.lane_bytes(), |p| p.1);
                    let bytes = scalar * u64::from(shape.lanes.max(1));
                    push(operands[1], bytes, Way::Read, Some((operands[0], bytes)));
                } else if base.starts_with("vstore") && operands.len() >= 3 {
                    let shape = shape_of(operands[0]);
                    let scalar = pointee.map_or(shape.lane_bytes(), |p| p.1);
                    let bytes = scalar * u64::from(shape.lanes.max(1));
                    push(operands[2], bytes, Way::Write, Some((operands[1], bytes)));
                } else if base.starts_with("async_work_group") && operands.len() >= 3 {
                    let element = pointee.map_or(4, |p| p.0);
                    push(operands[0], element, Way::Write, None);
                    push(operands[1], element, Way::Read, None);
                } else if builtins::operation(base).is_some() && !operands.is_empty() {
                    push(operands[0], pointee.map_or(4, |p| p.0), Way::Atomic, None);
                }
            }
            _ => {}
        }
    }
    all
}
