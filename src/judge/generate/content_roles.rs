//! Infers what the integers in a buffer are for: indices into other memory, offsets, trip counts, or plain data.

use std::collections::BTreeSet;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_prove::program::{Kind, Op, Region, ValueId};
use kassay_suite::launch::ResolvedRange;

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::intervals::IntervalAnalysis;
use super::model::Contents;
use super::pitches::FEWEST_PLACES;
use super::polynomial::{Atom, Id, Poly};

/// Addresses that stay below this many bytes whatever a buffer holds need no care.
const HARMLESS: i128 = 1 << 16;

/// Rows or elements that are enough where it is not known how many there are.
const FEW: u64 = 8;

/// Infers the role of the contents of the buffer at `position`. `is_scalar`: a load is of one of the model's scalars,
/// which says nothing of the other contents.
pub fn find(summary: &AccessSummary<'_>, position: u32, is_scalar: &dyn Fn(ValueId) -> bool) -> Contents {
    let program = summary.program;
    let from_here =
        |value: ValueId| summary.loads_among_sources(value).iter().any(|(load, p)| *p == position && !is_scalar(*load));
    if let Some(contents) = segments(summary, position) {
        return contents;
    }
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
    if bounds_by_difference(summary, position) {
        return Contents::Offsets;
    }
    let mut roles = summary.accesses.iter().filter_map(|access| indices_role(summary, access, position, is_scalar));
    if let Some(mut first) = roles.next() {
        let is_distinct = |contents: &Contents| matches!(contents, Contents::Indices { distinct: true, .. });
        if let Contents::Indices { distinct, .. } = &mut first {
            // Something may be read by an index before something else is written by it.
            *distinct |= roles.any(|contents| is_distinct(&contents));
        }
        return first;
    }
    if let Some(target) = target_by_tiles(summary, position) {
        return Contents::Indices { target, scale: 1, distinct: false, room: Some(FEW) };
    }
    if counts { Contents::TripCounts } else { Contents::Data }
}

/// Recognises `starts[i] + k < starts[i] + lengths[i]`, where `k` counts: segments that begin where one buffer says,
/// and are as long as another one says.
fn segments(summary: &AccessSummary<'_>, position: u32) -> Option<Contents> {
    let place = |load: ValueId| {
        let access = summary.accesses.iter().find(|access| access.id == load)?;
        access.offset.div_exact(access.bytes.max(1).into())
    };
    let begins = |side: &Poly, at: u32| {
        side.atoms().any(|atom| match atom {
            Atom::Value(value) => summary.loads_among_sources(value).iter().any(|(_, from)| *from == at),
            _ => false,
        })
    };
    summary.facts.all().filter(|(_, fact)| !fact.is_equal).find_map(|(_, fact)| {
        let loaded = fact.rhs.0.iter().filter(|(_, n)| **n == 1).filter_map(|(product, _)| match product[..] {
            [Atom::Value(value)] => Some((value, summary.loaded_from(value)?)),
            _ => None,
        });
        let [(a, of_a), (b, of_b)] = loaded.collect::<Vec<(ValueId, u32)>>()[..] else { return None };
        if of_a == of_b || place(a).is_none() || place(a) != place(b) {
            return None;
        }
        let (start, length) = match (begins(&fact.lhs, of_a), begins(&fact.lhs, of_b)) {
            (true, false) => (of_a, of_b),
            (false, true) => (of_b, of_a),
            _ => return None,
        };
        match position {
            _ if position == start => Some(Contents::Offsets),
            _ if position == length => Some(Contents::Lengths { of: start }),
            _ => None,
        }
    })
}

/// Recognises `if (lid < ends[i] - ends[i - 1])`: as many work-items as there are places between two neighbouring
/// elements.
fn bounds_by_difference(summary: &AccessSummary<'_>, position: u32) -> bool {
    let program = summary.program;
    let place = |atom: Atom| match atom {
        Atom::Value(v) if summary.loaded_from(v) == Some(position) => {
            summary.accesses.iter().find(|access| access.id == v).map(|access| &access.offset)
        }
        _ => None,
    };
    let is_difference = |poly: &Poly| {
        let term = |sign: i128| {
            let mut terms = poly.0.iter().filter(|(product, n)| product.len() == 1 && **n == sign);
            terms.find_map(|(product, _)| place(product[0]))
        };
        match (term(1), term(-1)) {
            (Some(end), Some(start)) => end.sub(start).as_constant().is_some_and(|apart| apart > 0),
            _ => false,
        }
    };
    let is_computed = |v: &ValueId| program.shape(*v).is_int() && is_difference(&summary.symbols.poly(*v));
    let is_of_item = |poly: &Poly| poly.atoms().any(|atom| matches!(atom, Atom::Id(Id::Global | Id::Local, _)));
    let comes_from_difference = |poly: &Poly| {
        is_difference(poly)
            || poly.atoms().any(|a| matches!(a, Atom::Value(v) if summary.sources(v).iter().any(is_computed)))
    };
    summary.facts.all().any(|(_, fact)| !fact.is_equal && is_of_item(&fact.lhs) && comes_from_difference(&fact.rhs))
}

/// Returns the role of the contents as indices, if the address of this access depends on them.
fn indices_role(
    summary: &AccessSummary<'_>,
    access: &Access,
    position: u32,
    is_scalar: &dyn Fn(ValueId) -> bool,
) -> Option<Contents> {
    let program = summary.program;
    let sources = summary.loads_among_sources(access.pointer);
    let more = access.number.map(|number| summary.loads_among_sources(number));
    let (load, _) = sources
        .iter()
        .chain(more.iter().flat_map(|m| m.iter()))
        .copied()
        .find(|(v, p)| *p == position && *v != access.id && !is_scalar(*v))?;
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
    // Of a pointer that a loop moves along it is not known how far.
    let is_pointer = |atom: Atom| matches!(atom, Atom::Value(v) if program.shape(v).kind == Kind::Pointer);
    if low >= 0 && high < HARMLESS && !access.offset.atoms().any(is_pointer) {
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
    let steps = |product: &Vec<Atom>| {
        let is_loaded = |atom: &Atom| match atom {
            Atom::Value(v) => *v == load || summary.loads_among_sources(*v).iter().any(|(from, _)| *from == load),
            _ => false,
        };
        product.iter().any(is_loaded) && product.iter().any(|atom| matches!(atom, Atom::Arg(..)))
    };
    let mut room = room(summary, access.pointer, load).or_else(|| room_of_plane(summary, access, load));
    if access.offset.0.keys().any(steps) {
        // Rows, of which the length is not known here.
        room = Some(room.map_or(FEW, |room| room.min(FEW)));
    }
    Some(Contents::Indices { target: access.region, scale: scale.max(1), distinct, room })
}

/// Returns the memory that is indexed by what the kernel copies from the buffer to local memory, and reads there.
fn target_by_tiles(summary: &AccessSummary<'_>, position: u32) -> Option<Region> {
    let program = summary.program;
    let is_tile = |region| matches!(region, Region::Variable(index) if program.variables[index].is_local);
    let is_copied = |access: &&Access| {
        let store = program.instruction(access.id).filter(|i| matches!(i.op, Op::Store));
        access.kind == AccessKind::Write
            && is_tile(access.region)
            && store.is_some_and(|store| {
                matches!(program.shape(store.operands[0]).kind, Kind::Int(width) if width > 8)
                    && summary.loads_among_sources(store.operands[0]).iter().any(|(_, from)| *from == position)
            })
    };
    let tiles: Vec<Region> = summary.accesses.iter().filter(is_copied).map(|access| access.region).collect();
    if tiles.is_empty() {
        return None;
    }
    let reads = summary.accesses.iter().filter(|a| a.kind == AccessKind::Read && tiles.contains(&a.region));
    let read: Vec<ValueId> = reads.map(|access| access.id).collect();
    let is_indexed = |access: &&Access| {
        let mut values = [Some(access.pointer), access.number].into_iter().flatten();
        matches!(access.region, Region::Argument(_))
            && values.any(|value| summary.sources(value).iter().any(|source| read.contains(source)))
    };
    summary.accesses.iter().find(is_indexed).map(|access| access.region)
}

/// Returns how many places there are between the accesses to planes that lie a constant apart, such as `force[i]` and
/// `force[i + 64]`.
fn room_of_plane(summary: &AccessSummary<'_>, access: &Access, load: ValueId) -> Option<u64> {
    let factor = *access.offset.0.get(&vec![Atom::Value(load)]).filter(|factor| **factor > 0)?;
    let beside = summary.accesses.iter().filter(|other| other.region == access.region);
    let apart = beside.filter_map(|other| other.offset.sub(&access.offset).as_constant());
    let places = apart.map(|apart| apart.abs() / factor).filter_map(|n| u64::try_from(n).ok());
    places.filter(|n| *n > 0).min().filter(|n| *n >= FEWEST_PLACES)
}

/// Returns the sizes of the arrays of fixed size that what is loaded from the buffer indexes.
pub(super) fn rooms(summary: &AccessSummary<'_>, position: u32) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for access in &summary.accesses {
        for (load, _) in summary.loads_among_sources(access.pointer).iter().filter(|(_, from)| *from == position) {
            found.extend(room(summary, access.pointer, *load).filter(|_| *load != access.id));
        }
    }
    found
}

/// Returns the size of the array that `load` indexes on the way to `pointer`; the smallest if it indexes several. Of a
/// sum of several places of the same kind each has a part of it.
fn room(summary: &AccessSummary<'_>, pointer: ValueId, load: ValueId) -> Option<u64> {
    let mut at = pointer;
    let mut found: Option<u64> = None;
    let from = summary.loaded_from(load);
    while let Some(instruction) = summary.program.instruction(at) {
        if let Op::Address { steps, .. } = &instruction.op {
            for step in steps.iter().filter(|s| summary.sources(instruction.operands[s.operand]).contains(&load)) {
                let index = summary.symbols.poly(instruction.operands[step.operand]);
                let is_summand = |atom: Atom| matches!(atom, Atom::Value(v) if summary.loaded_from(v) == from);
                let terms = index.0.iter().filter(|(product, _)| matches!(product[..], [one] if is_summand(one)));
                let sum = terms.map(|(_, n)| *n).sum::<i128>();
                let sum = u64::try_from(sum).unwrap_or(1).max(1);
                let extent = step.extent.map(|extent| extent.saturating_sub(1) / sum + 1);
                found = found.into_iter().chain(extent).min();
            }
        }
        at = *instruction.operands.first()?;
    }
    found
}
