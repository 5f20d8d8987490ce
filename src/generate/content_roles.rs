//! What the integers in a buffer are for: places elsewhere, offsets, numbers of turns, or mere data.

use super::access_summary::{Access, Reading, Way};
use super::intervals::Ranges;
use super::model::Contents;
use super::polynomial::{Atom, Poly};
use crate::program::{Kind, Op, Region, ValueId};
use crate::suite::launch::ResolvedRange;

/// An address that stays within so many bytes, whatever a buffer holds, needs no care.
const HARMLESS: i128 = 1 << 16;

/// Of the buffer at `position`.
pub fn find(reading: &Reading<'_>, position: u32) -> Contents {
    let program = reading.program;
    let from_here = |value: ValueId| reading.loads_behind(value).iter().any(|(_, p)| *p == position);
    // Loops that run from one load to another, or up to one.
    let mut counts = false;
    for (_, instruction) in program.instructions() {
        if !program.is_counter(instruction.result) {
            continue;
        }
        let Op::Phi(from) = &instruction.op else { continue };
        let here = program.block_of(instruction.result).unwrap_or(0);
        let starts = instruction.operands.iter().zip(from).filter(|(_, b)| !program.dominance.dominates(here, **b));
        let begins = starts.map(|(value, _)| *value).any(from_here);
        let bounds = reading.bounds.get(&Atom::Value(instruction.result)).into_iter().flatten();
        let loads = |bound: &Poly| bound.atoms().any(|a| matches!(a, Atom::Value(v) if from_here(v)));
        let ends = bounds.filter(|b| loads(b)).count() > 0;
        if begins && ends {
            return Contents::Offsets;
        }
        counts |= ends;
    }
    for access in &reading.accesses {
        if let Some(contents) = place(reading, access, position) {
            return contents;
        }
    }
    if counts { Contents::Counts } else { Contents::Data }
}

/// Whether an access goes where the buffer says.
fn place(reading: &Reading<'_>, access: &Access, position: u32) -> Option<Contents> {
    let program = reading.program;
    let sources = reading.loads_behind(access.pointer);
    let more = access.number.map(|number| reading.loads_behind(number));
    let (load, _) = sources
        .iter()
        .chain(more.iter().flat_map(|m| m.iter()))
        .copied()
        .find(|(v, p)| *p == position && *v != access.id)?;
    if !matches!(program.shape(load).kind, Kind::Int(_)) {
        return None;
    }
    let ranges = Ranges {
        symbols: &reading.symbols,
        bounds: &reading.bounds,
        range: ResolvedRange { dims: 3, global: [64; 3], local: [8; 3], offset: [0; 3] },
        scalars: &|_, _| None,
        contents: None,
        known: Default::default(),
    };
    let (low, high) = ranges.of(&access.offset);
    if low >= 0 && high < HARMLESS {
        return None;
    }
    let scale = access.offset.0.get(&vec![Atom::Value(load)]).copied().unwrap_or(0);
    let scale = u64::try_from(scale).unwrap_or(0).max(access.bytes) / access.bytes.max(1);
    // Work-items that only write there would meet if two of them had the same place.
    let is_read = |a: &&Access| a.region == access.region && a.way != Way::Write;
    let distinct = access.way == Way::Write
        && matches!(access.region, Region::Argument(_))
        && !reading
            .accesses
            .iter()
            .any(|a| is_read(&a) && reading.loads_behind(a.pointer).iter().any(|(_, p)| *p == position));
    let room = room(reading, access.pointer, load);
    Some(Contents::Places { target: access.region, scale: scale.max(1), distinct, room })
}

/// The size of the array in which `load` picks an element, on the way to `pointer`.
fn room(reading: &Reading<'_>, pointer: ValueId, load: ValueId) -> Option<u64> {
    let mut at = pointer;
    let mut found: Option<u64> = None;
    while let Some(instruction) = reading.program.instruction(at) {
        if let Op::Address { steps, .. } = &instruction.op {
            for step in steps.iter().filter(|s| reading.sources(instruction.operands[s.operand]).contains(&load)) {
                let smaller = |n: u64| step.extent.map_or(n, |e| e.min(n));
                found = found.map(smaller).or(step.extent);
            }
        }
        at = *instruction.operands.first()?;
    }
    found
}
