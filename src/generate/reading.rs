//! What the inferences share: a kernel's accesses, with their addresses and what holds where they stand.

use std::collections::HashSet;

use super::facts::{self, Fact};
use super::ranges::Bounds;
use super::symbolic::{Atom, Poly, Symbols};
use crate::kernel::builtins;
use crate::program::{Op, Program, Region, ValueId};

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
    /// By block.
    pub facts: Vec<Vec<Fact>>,
    pub accesses: Vec<Access>,
    /// What branches anywhere keep values below.
    pub bounds: Bounds,
}

impl<'p> Reading<'p> {
    pub fn new(program: &'p Program) -> Reading<'p> {
        let symbols = Symbols::new(program);
        let facts = facts::find(&symbols);
        let accesses = accesses(&symbols);
        let mut bounds = Bounds::new();
        for fact in facts.iter().flatten() {
            for atom in fact.less.atoms().filter(|a| matches!(a, Atom::Value(_))) {
                if let Some((1, rest)) = fact.less.linear_in(atom) {
                    let bound = fact.than.sub(&rest);
                    let known = bounds.entry(atom).or_default();
                    if !bound.has(atom) && !known.contains(&bound) {
                        known.push(bound);
                    }
                }
            }
        }
        Reading { program, symbols, facts, accesses, bounds }
    }

    /// The values that `start` is computed from, loads and what stands at their addresses excluded.
    pub fn sources(&self, start: ValueId) -> HashSet<ValueId> {
        let mut seen = HashSet::new();
        let mut todo = vec![start];
        while let Some(value) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Some(instruction) = self.program.instruction(value)
                && !matches!(instruction.op, Op::Load | Op::AtomicRmw(_) | Op::CompareExchange)
                && (value == start || !matches!(&instruction.op, Op::Call(_, base) if touches_memory(base)))
            {
                todo.extend(self.program.read_by(instruction));
            }
        }
        seen
    }

    /// The loads from buffers among them: instruction and argument.
    pub fn loads_behind(&self, start: ValueId) -> Vec<(ValueId, u32)> {
        let mut found: Vec<(ValueId, u32)> =
            self.sources(start).into_iter().filter_map(|v| Some((v, self.loaded_from(v)?))).collect();
        found.sort_unstable();
        found
    }

    /// The buffer that a value was loaded from.
    pub fn loaded_from(&self, value: ValueId) -> Option<u32> {
        let instruction = self.program.instruction(value)?;
        if !matches!(instruction.op, Op::Load) && !matches!(&instruction.op, Op::Call(_, b) if b.starts_with("vload")) {
            return None;
        }
        let access = self.accesses.iter().find(|a| a.id == value)?;
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
