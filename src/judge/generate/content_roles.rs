//! Infers what the integers in a buffer are for: indices into other memory, offsets, trip counts, or plain data.

use kassay_ir::cfg::indices::BlockIndex;
use kassay_prove::program::{Kind, Op, Region, ValueId};
use kassay_suite::launch::ResolvedRange;

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::intervals::IntervalAnalysis;
use super::model::Contents;
use super::polynomial::{Atom, Poly};

/// Addresses that stay below this many bytes whatever a buffer holds need no care.
const HARMLESS: i128 = 1 << 16;

/// Infers the role of the contents of the buffer at `position`.
pub fn find(summary: &AccessSummary<'_>, position: u32) -> Contents {
    let program = summary.program;
    let from_here = |value: ValueId| summary.loads_among_sources(value).iter().any(|(_, p)| *p == position);
    // Loops from one loaded value to another, or up to one.
    let mut counts = false;
    for (_, instruction) in program.instructions() {
        if !program.is_counter(instruction.result) {
            continue;
        }
        let Op::Phi(from) = &instruction.op else { continue };
        let here = program.block_of(instruction.result).unwrap_or(BlockIndex::ENTRY);
        let starts = instruction.operands.iter().zip(from).filter(|(_, b)| !program.dominates(here, **b));
        let begins = starts.map(|(value, _)| *value).any(from_here);
        let bounds = summary.bounds.get(&Atom::Value(instruction.result)).into_iter().flatten();
        let loads = |bound: &Poly| bound.atoms().any(|a| matches!(a, Atom::Value(v) if from_here(v)));
        let ends = bounds.filter(|b| loads(b)).count() > 0;
        if begins && ends {
            return Contents::Offsets;
        }
        counts |= ends;
    }
    for access in &summary.accesses {
        if let Some(contents) = indices_role(summary, access, position) {
            return contents;
        }
    }
    if counts { Contents::TripCounts } else { Contents::Data }
}

/// Returns the role of the contents as indices, if the address of this access depends on them.
fn indices_role(summary: &AccessSummary<'_>, access: &Access, position: u32) -> Option<Contents> {
    let program = summary.program;
    let sources = summary.loads_among_sources(access.pointer);
    let more = access.number.map(|number| summary.loads_among_sources(number));
    let (load, _) = sources
        .iter()
        .chain(more.iter().flat_map(|m| m.iter()))
        .copied()
        .find(|(v, p)| *p == position && *v != access.id)?;
    if !matches!(program.shape(load).kind, Kind::Int(_)) {
        return None;
    }
    let intervals = IntervalAnalysis {
        symbols: &summary.symbols,
        bounds: &summary.bounds,
        range: ResolvedRange { dims: 3, global: [64; 3], local: [8; 3], offset: [0; 3] },
        scalars: &|_, _| None,
        contents: None,
        cache: Default::default(),
    };
    let (low, high) = intervals.of(&access.offset);
    if low >= 0 && high < HARMLESS {
        return None;
    }
    let scale = access.offset.0.get(&vec![Atom::Value(load)]).copied().unwrap_or(0);
    let scale = u64::try_from(scale).unwrap_or(0).max(access.bytes) / access.bytes.max(1);
    // Work-items that only write there would conflict if two had the same index.
    let is_read = |a: &&Access| a.region == access.region && a.kind != AccessKind::Write;
    let distinct = access.kind == AccessKind::Write
        && matches!(access.region, Region::Argument(_))
        && !summary
            .accesses
            .iter()
            .any(|a| is_read(&a) && summary.loads_among_sources(a.pointer).iter().any(|(_, p)| *p == position));
    let room = room(summary, access.pointer, load);
    Some(Contents::Indices { target: access.region, scale: scale.max(1), distinct, room })
}

/// Returns the size of the array that `load` indexes on the way to `pointer`; the smallest if it indexes several.
fn room(summary: &AccessSummary<'_>, pointer: ValueId, load: ValueId) -> Option<u64> {
    let mut at = pointer;
    let mut found: Option<u64> = None;
    while let Some(instruction) = summary.program.instruction(at) {
        if let Op::Address { steps, .. } = &instruction.op {
            for step in steps.iter().filter(|s| summary.sources(instruction.operands[s.operand]).contains(&load)) {
                let smaller = |n: u64| step.extent.map_or(n, |e| e.min(n));
                found = found.map(smaller).or(step.extent);
            }
        }
        at = *instruction.operands.first()?;
    }
    found
}
