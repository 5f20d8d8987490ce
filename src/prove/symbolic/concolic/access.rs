//! Loads and stores of the concolic interpreter.

use super::inputs;
use super::interpreter::Interpreter;
use super::item::{Item, Mode};
use super::memory::{Cell, Initial, MemoryBlock};
use super::trace::PathStep;
use super::value::{self, Lane, Value};
use crate::program::pointer::{self, PRIVATE};
use crate::program::value::lane_from_bytes;
use crate::program::{Kind, Shape, arithmetic, masked};
use crate::solve::expression::{Operation, Sort, Term};

/// Largest number of cells of a table that may be read at a symbolic index.
const MAX_CELLS: u64 = 128;

/// A resolved access of one lane.
struct ResolvedAccess {
    region: u64,
    at: u64,
    size: u64,
    /// Offset from the start of the region, if it depends on the input.
    address: Option<Term>,
}

impl Interpreter<'_> {
    /// Returns the memory of a region. The work-item's copy of a struct passed by value is created on first use.
    fn memory_block<'s>(&'s mut self, item: &'s mut Item, region: u64) -> Option<&'s mut MemoryBlock> {
        let program = self.setup.program;
        let is_copy = program.by_value.get(region as usize).is_some_and(Option::is_some);
        if is_copy && !item.own.private_memory.contains_key(&region) {
            let mut copy = self.memory_blocks.get(region as usize)?.clone();
            let input = self.setup.inputs.args.get(region as usize).filter(|i| i.is_free);
            if let (Some(input), true) = (input, item.own.mode != Mode::Concrete) {
                for leaf in &input.leaves {
                    let size = leaf.scalar.size();
                    let symbol = inputs::scalar_symbol(region as usize, leaf.offset);
                    let term = self.terms.symbol(symbol, Sort::Bits(8 * size as u32));
                    copy.cells.insert(leaf.offset, Cell { size, term: Some(term), address: None, writer: None });
                }
            }
            item.own.private_memory.insert(region, copy);
        }
        if is_copy || region >= PRIVATE {
            item.own.private_memory.get_mut(&region)
        } else {
            self.memory_blocks.get_mut(region as usize)
        }
    }

    /// Resolves an access; records a fault and returns `None` if it is out of bounds.
    fn resolve(&mut self, item: &mut Item, address: Lane, size: u64) -> Option<ResolvedAccess> {
        let place = pointer::decode(address.bits);
        let found = place.and_then(|(region, offset)| {
            let at = self.memory_block(item, region)?.access(offset, size)?;
            Some((region, at))
        });
        let Some((region, at)) = found else {
            self.fault(item);
            if let (Some((region, _)), Some(term), false) = (place, address.term, self.setup.inputs.allows_faults) {
                self.require_in_bounds(item, region, term, size);
            }
            return None;
        };
        let begin = pointer::encode(region, 0);
        let address = address.term.map(|term| value::plus(self.terms, term, begin.wrapping_neg()));
        Some(ResolvedAccess { region, at, size, address })
    }

    /// Requires an access that is out of bounds to lie within the current size of the region.
    fn require_in_bounds(&mut self, item: &mut Item, region: u64, pointer: Term, size: u64) {
        let Some(bytes) = self.memory_block(item, region).map(|b| b.bytes.len() as u64).filter(|bytes| *bytes >= size)
        else {
            return;
        };
        let offset = value::plus(self.terms, pointer, pointer::encode(region, 0).wrapping_neg());
        let end = self.terms.constant(bytes - size + 1, Sort::Bits(64));
        let holds = self.terms.compare(Operation::Ult, offset, end);
        self.require_no_fault(item, holds, false);
    }

    /// Loads a value; lanes that depend on the input get a term. An access out of bounds gives 0.
    pub(super) fn load_lanes(&mut self, item: &mut Item, pointer: Lane, shape: Shape) -> Value {
        if shape.kind == Kind::Other {
            return Value::of(Vec::new(), shape);
        }
        let (size, step) = (shape.bytes(), shape.lane_bytes().max(1));
        let Some(access) = self.resolve(item, pointer, size) else { return Value::of(Vec::new(), shape) };
        let traced = item.own.mode != Mode::Concrete;
        let Some(block) = self.memory_block(item, access.region) else { return Value::of(Vec::new(), shape) };
        let mut lanes: Vec<Lane> = block
            .read(access.at, size)
            .chunks(step as usize)
            .map(|chunk| Lane::known(lane_from_bytes(chunk, shape.kind)))
            .collect();
        let plain = block.cells.is_empty() && block.initial == Initial::Known && access.address.is_none();
        if !traced || plain || step > 8 {
            return Value::of(lanes, shape);
        }
        for (i, lane) in (0u64..).zip(&mut lanes) {
            let address = access.address.map(|a| value::plus(self.terms, a, i * step));
            let part = ResolvedAccess { region: access.region, at: access.at + i * step, size: step, address };
            if let Some(bits) = self.symbolic_content(item, &part) {
                let term = value::loaded(self.terms, bits, shape.kind);
                *lane = value::lane(self.terms, term, lane.bits);
            }
        }
        Value::of(lanes, shape)
    }

    /// Returns the contents at an address as a term if they depend on the input, and appends the conditions for that to
    /// the path.
    fn symbolic_content(&mut self, item: &mut Item, access: &ResolvedAccess) -> Option<Term> {
        let ResolvedAccess { region, at, size, address } = *access;
        let block = self.memory_block(item, region)?;
        let initial = block.initial;
        let found = block.overlapping(at, size);
        match &found[..] {
            [] => match initial {
                Initial::Input(position) => self.initial_content(item, access, position),
                Initial::Known if address.is_some() => {
                    if let Some(picked) = self.read_table(item, access) {
                        return Some(picked);
                    }
                    self.pin_address(item, access);
                    None
                }
                Initial::Known => None,
            },
            [(begin, cell)] if *begin == at && cell.size == size => {
                if address.is_some()
                    && (region >= PRIVATE)
                    && let Some(picked) = self.read_table(item, access)
                {
                    return Some(picked);
                }
                self.pin_to_cell(item, access, at, cell);
                item.own.depend(cell.writer);
                cell.term
            }
            _ => {
                let mut parts = Vec::new();
                for byte in at..at + size {
                    parts.push(self.symbolic_byte(item, access, byte, &found));
                }
                Some(value::joined(self.terms, &parts))
            }
        }
    }

    /// Returns one byte of an access that does not coincide with a single cell.
    fn symbolic_byte(&mut self, item: &mut Item, access: &ResolvedAccess, byte: u64, found: &[(u64, Cell)]) -> Term {
        if let Some((begin, cell)) = found.iter().find(|(begin, cell)| (*begin..begin + cell.size).contains(&byte)) {
            self.pin_to_cell(item, access, *begin, cell);
            item.own.depend(cell.writer);
            if let Some(term) = cell.term {
                return value::extract(self.terms, term, byte - begin, 1);
            }
        } else if let Some(Initial::Input(position)) = self.memory_block(item, access.region).map(|b| b.initial) {
            let granule = self.setup.inputs.args[position].granule;
            let begin = byte / granule * granule;
            let part = ResolvedAccess {
                at: begin,
                size: granule,
                address: access.address.map(|a| value::plus(self.terms, a, begin.wrapping_sub(access.at))),
                ..*access
            };
            if let Some(cell) = self.initial_content(item, &part, position) {
                return value::extract(self.terms, cell, byte - begin, 1);
            }
        } else {
            self.pin_address(item, access);
        }
        let bits = self.memory_block(item, access.region).map_or(0, |b| b.read(byte, 1).first().copied().unwrap_or(0));
        self.terms.constant(bits.into(), Sort::Bits(8))
    }

    /// Returns the initial contents of a buffer.
    fn initial_content(&mut self, item: &mut Item, access: &ResolvedAccess, position: usize) -> Option<Term> {
        let granule = self.setup.inputs.args[position].granule;
        if !access.at.is_multiple_of(granule) || !access.size.is_multiple_of(granule) {
            self.pin_address(item, access);
            return None;
        }
        let terms = &mut *self.terms;
        let function = inputs::buffer_function(position, granule);
        let mut parts = Vec::new();
        for offset in (0..access.size).step_by(granule as usize) {
            let index = match access.address {
                Some(address) => value::plus(terms, address, offset),
                None => terms.constant(access.at + offset, Sort::Bits(64)),
            };
            parts.push(terms.unknown(function.clone(), vec![index], Sort::Bits(8 * granule as u32)));
        }
        let all = value::joined(terms, &parts);
        if let Some(at) = access.address {
            item.own.step(PathStep::Access { position: position as u32, at, size: access.size });
        }
        Some(all)
    }

    /// Pins the address of an access to its current value.
    fn pin_address(&mut self, item: &mut Item, access: &ResolvedAccess) {
        if let Some(address) = access.address {
            let at = self.terms.constant(access.at, Sort::Bits(64));
            item.own.pin(value::equal(self.terms, address, at));
        }
    }

    /// Pins the address of an access to that of a stored cell.
    fn pin_to_cell(&mut self, item: &mut Item, access: &ResolvedAccess, begin: u64, cell: &Cell) {
        if access.address.is_none() && cell.address.is_none() {
            return;
        }
        let terms = &mut *self.terms;
        let address = access.address.unwrap_or_else(|| terms.constant(access.at, Sort::Bits(64)));
        let address = value::plus(terms, address, begin.wrapping_sub(access.at));
        let stored = cell.address.unwrap_or_else(|| terms.constant(begin, Sort::Bits(64)));
        item.own.pin(value::equal(terms, address, stored));
    }

    /// Reads a small table that no other work-item writes at a symbolic address: selects among all of its cells.
    fn read_table(&mut self, item: &mut Item, access: &ResolvedAccess) -> Option<Term> {
        let address = access.address?;
        let variable = (access.region as usize).checked_sub(self.setup.program.params.len());
        let is_own = access.region >= PRIVATE
            || self.setup.program.by_value.get(access.region as usize).is_some_and(Option::is_some)
            || variable.and_then(|v| self.setup.program.variables.get(v)).is_some_and(|v| !v.is_local);
        let block = self.memory_block(item, access.region)?;
        let (bytes, first) = (block.bytes.len() as u64, access.at % access.size);
        let count = bytes.checked_sub(first)? / access.size;
        if !is_own || count > MAX_CELLS {
            return None;
        }
        let mut cells: Vec<(u64, Result<Term, u64>)> = Vec::new();
        for begin in (0..count).map(|i| first + i * access.size) {
            cells.push(match &block.overlapping(begin, access.size)[..] {
                [] => (begin, Err(lane_from_bytes(block.read(begin, access.size), Kind::Int(8 * access.size as u32)))),
                [(at, cell)] if *at == begin && cell.size == access.size && cell.address.is_none() => {
                    let bits = lane_from_bytes(block.read(begin, access.size), Kind::Int(8 * access.size as u32));
                    (begin, cell.term.ok_or(bits))
                }
                _ => return None,
            });
        }
        let terms = &mut *self.terms;
        let of = Sort::Bits(8 * access.size as u32);
        let mut chosen: Option<Term> = None;
        let mut within = terms.constant(0, Sort::Bits(1));
        for (begin, content) in cells.into_iter().rev() {
            let content = content.unwrap_or_else(|bits| terms.constant(bits, of));
            let begin = terms.constant(begin, Sort::Bits(64));
            let is_here = terms.compare(Operation::Eq, address, begin);
            within = terms.apply(Operation::Or, vec![within, is_here], Sort::Bits(1));
            chosen = Some(match chosen {
                Some(other) => terms.apply(Operation::Select, vec![is_here, content, other], of),
                None => content,
            });
        }
        item.own.pin(Some(within));
        chosen
    }

    /// Stores a value, with cells for lanes that are symbolic or visible to other work-items.
    pub(super) fn store_lanes(&mut self, item: &mut Item, pointer: Lane, what: &Value, shape: Shape) {
        let bytes = what.to_bytes(shape);
        let step = shape.lane_bytes();
        let Some(access) = self.resolve(item, pointer, bytes.len() as u64) else { return };
        let is_shared = access.region < PRIVATE;
        let traced = item.own.mode != Mode::Concrete;
        let mut cells = Vec::new();
        if traced && (1..=8).contains(&step) {
            for (i, lane) in (0u64..).zip(what.lanes()) {
                let term = lane.term.map(|t| value::stored(self.terms, t, shape.kind, step));
                let address = access.address.map(|a| value::plus(self.terms, a, i * step));
                if is_shared || term.is_some() || address.is_some() {
                    cells.push((access.at + i * step, Cell { size: step, term, address, writer: item.own.writer() }));
                }
            }
        }
        self.write_cells(item, &access, &bytes, cells);
    }

    /// Writes bytes, and the cells with their terms.
    fn write_cells(&mut self, item: &mut Item, access: &ResolvedAccess, bytes: &[u8], cells: Vec<(u64, Cell)>) {
        let mut terms = std::mem::take(self.terms);
        if let Some(block) = self.memory_block(item, access.region) {
            block.write(access.at, bytes);
            block.clear(&mut terms, access.at, access.size);
            block.cells.extend(cells);
        }
        *self.terms = terms;
    }

    /// Copies bytes, with the terms of cells that are copied completely.
    pub(super) fn copy_bytes(&mut self, item: &mut Item, to: Lane, from: Lane, size: u64) {
        if size == 0 {
            return;
        }
        let (Some(source), Some(target)) = (self.resolve(item, from, size), self.resolve(item, to, size)) else {
            return;
        };
        let Some(block) = self.memory_block(item, source.region) else { return };
        let bytes = block.read(source.at, size).to_vec();
        let (initial, known) = (block.initial, block.overlapping(source.at, size));
        let mut cells: Vec<(u64, Cell)> = Vec::new();
        if item.own.mode != Mode::Concrete {
            let mut at = source.at;
            while at < source.at + size {
                let next = known.iter().find(|(begin, cell)| begin + cell.size > at);
                let left = source.at + size - at;
                let step = match (next, initial) {
                    (Some((begin, cell)), _) if *begin == at && cell.size <= left => cell.size,
                    (Some((begin, _)), _) if *begin <= at => 1,
                    (Some((begin, _)), Initial::Known) => begin - at,
                    (None, Initial::Known) => left,
                    (_, Initial::Input(position)) => {
                        let granule = self.setup.inputs.args[position].granule;
                        if at.is_multiple_of(granule) && granule <= left { granule } else { 1 }
                    }
                };
                if step <= 8 {
                    let offset = at - source.at;
                    let address = source.address.map(|a| value::plus(self.terms, a, offset));
                    let part = ResolvedAccess { region: source.region, at, size: step, address };
                    let term = self.symbolic_content(item, &part);
                    let address = target.address.map(|a| value::plus(self.terms, a, offset));
                    if term.is_some() || address.is_some() || target.region < PRIVATE {
                        let cell = Cell { size: step, term, address, writer: item.own.writer() };
                        cells.push((target.at + offset, cell));
                    }
                }
                at += step.max(1);
            }
        }
        self.write_cells(item, &target, &bytes, cells);
    }

    /// Fills memory with one byte value.
    pub(super) fn fill_bytes(&mut self, item: &mut Item, to: Lane, byte: u8, size: u64) {
        if size > 0
            && let Some(target) = self.resolve(item, to, size)
        {
            self.write_cells(item, &target, &vec![byte; size as usize], Vec::new());
        }
    }

    /// Performs an atomic operation on the concrete value in memory; returns the old value.
    pub(super) fn exchange(&mut self, item: &mut Item, at: Lane, of: Shape, f: impl FnOnce(u64) -> u64) -> u64 {
        let of = Shape { lanes: 0, ..of };
        let (pointer, at) = (at, Lane::known(at.bits));
        let Some(access) = self.resolve(item, at, of.bytes()) else {
            if let (Some((region, _)), Some(term)) = (pointer::decode(pointer.bits), pointer.term) {
                self.require_in_bounds(item, region, term, of.bytes());
            }
            return 0;
        };
        let old = self
            .memory_block(item, access.region)
            .map_or(0, |b| lane_from_bytes(b.read(access.at, access.size), of.kind));
        let new = Value::known(masked(f(old), arithmetic::width(of.kind)));
        self.store_lanes(item, at, &new, of);
        old
    }
}
