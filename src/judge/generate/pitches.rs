//! Finds what scalars have to be because addresses step by them: the pitch of a row exceeds what is accessed in a row,
//! whether it is the scalar itself or computed from it, and steps in bytes are multiples of the elements.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;
use kassay_prove::program::{Kind, Op, Program, Region, ValueId};

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::buffer_lengths;
use super::model::LowerBound;
use super::polynomial::{Atom, Id, Poly};

/// Operations through which a pitch is traced back to scalars.
const DEPTH: u32 = 4;

/// Places that a buffer tells are of at least so many elements, where nothing says of how many.
pub(super) const FEWEST_PLACES: u64 = 16;

/// The address of an access to memory that work-items share, as an offset in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offset {
    pub poly: Poly,
    pub bytes: u64,
    /// Of what the address is a multiple.
    pub alignment: u64,
    pub region: Region,
    /// Which coordinate of an image it is, from 1; 0: it is an address.
    coordinate: u8,
    pub block: BlockIndex,
    pub is_written: bool,
    /// The address need only be a multiple of the size of a component.
    is_by_component: bool,
}

impl Offset {
    /// Whether both are offsets in the same memory, or the same coordinates of an image.
    fn is_beside(&self, other: &Offset) -> bool {
        (self.region, self.coordinate) == (other.region, other.coordinate)
    }

    /// Whether it is a coordinate of an image.
    pub(super) fn is_coordinate(&self) -> bool {
        self.coordinate > 0
    }
}

/// Returns the coordinates at which images are written, as offsets in texels.
pub(super) fn coordinates(summary: &AccessSummary<'_>) -> Vec<Offset> {
    let program = summary.program;
    let mut all = Vec::new();
    for (block, instruction) in program.instructions() {
        let is_write = |base: &str| builtins::family(base) == Some(Family::ImageWrite);
        let ([image, at, ..], true) =
            (&instruction.operands[..], matches!(&instruction.op, Op::Call(_, base) if is_write(base)))
        else {
            continue;
        };
        let is_number = matches!(program.shape(*at).kind, Kind::Int(_));
        let Some(position) = program.params.iter().position(|p| p == image).filter(|_| is_number) else { continue };
        let Ok(position) = u32::try_from(position) else { continue };
        for (coordinate, poly) in (1..=3).zip(summary.symbols.components(*at)) {
            let offset = |poly| Offset {
                poly,
                bytes: 1,
                alignment: 1,
                region: Region::Argument(position),
                coordinate,
                block,
                is_written: true,
                is_by_component: true,
            };
            all.extend(poly.map(offset).filter(|offset| !all.contains(offset)));
        }
    }
    all
}

/// Returns the offsets of the accesses to shared memory, and the coordinates of writes to images. Where a pointer is
/// one of several, each of them.
pub(super) fn offsets(summary: &AccessSummary<'_>) -> Vec<Offset> {
    let program = summary.program;
    let mut all: Vec<Offset> = coordinates(summary);
    for access in summary.accesses.iter().filter(|a| !matches!(a.region, Region::Private(_))) {
        let mut push = |poly: Poly| {
            let offset = Offset {
                poly,
                bytes: access.bytes,
                alignment: alignment(program, access),
                region: access.region,
                coordinate: 0,
                block: access.block,
                is_written: access.kind != AccessKind::Read,
                is_by_component: access.number.is_some(),
            };
            if !all.contains(&offset) {
                all.push(offset);
            }
        };
        push(access.offset.clone());
        let is_pointer = |atom: Atom| matches!(atom, Atom::Value(v) if program.shape(v).kind == Kind::Pointer);
        if access.offset.atoms().any(is_pointer) {
            let is_address = |v: &ValueId| program.instruction(*v).is_some_and(|i| matches!(i.op, Op::Address { .. }));
            let pointers = summary.sources(access.pointer).into_iter().filter(is_address);
            pointers.for_each(|v| push(summary.symbols.address(v).offset));
        }
    }
    all
}

/// Returns of what the address of an access is a multiple: of its bytes, or of those of the vector of which it is a
/// part.
fn alignment(program: &Program, access: &Access) -> u64 {
    let own = access.bytes.max(1);
    let own = if own.is_power_of_two() { own } else { 1 << own.trailing_zeros() };
    program.alignments.get(&access.id).map_or(own, |of| u64::from(*of).max(own))
}

/// Returns the factor of a row's pitch, or the least one of those with which accesses to the same memory step by it:
/// where a work-item has two rows, the pitch is that of one.
fn least_factor(offset: &Offset, offsets: &[Offset], row: &Term<'_>) -> i128 {
    let beside = offsets.iter().filter(|other| other.is_beside(offset) && other.is_written);
    let single = beside.filter_map(|other| other.poly.0.get(&row.pitches)).copied().filter(|factor| *factor > 0);
    single.chain([row.factor]).min().unwrap_or(row.factor)
}

/// A product of an offset: what it steps by, and how often.
#[derive(Clone)]
struct Term<'a> {
    /// Factors that are the same for all work-items.
    pitches: Vec<Atom>,
    /// The others.
    index: Vec<Atom>,
    factor: i128,
    product: &'a Vec<Atom>,
}

/// Returns lower bounds of the scalar that nothing checks: with less, rows would overlap.
pub(super) fn lower_bounds(summary: &AccessSummary<'_>, offsets: &[Offset], scalar: Atom) -> Vec<LowerBound> {
    let mut all = parts_apart(summary, offsets, scalar);
    for offset in offsets {
        let terms = terms(summary, &offset.poly);
        for row in &terms {
            for (at, pitch) in row.pitches.iter().enumerate() {
                if row.factor <= 0 || !comes_from(summary, *pitch, scalar, DEPTH) {
                    continue;
                }
                let mut outer = row.pitches.clone();
                outer.remove(at);
                let row = &Term { factor: least_factor(offset, offsets, row), ..row.clone() };
                let Some(extent) = extent(summary, (offset, offsets), (row, &terms), *pitch, &outer) else { continue };
                let is_kept = summary.facts.blocks[offset.block].iter().any(|f| {
                    f.rhs.has(*pitch) && f.lhs.atoms().any(|a| !is_uniform(summary, a, DEPTH) && extent.has(a))
                });
                if !is_kept {
                    all.extend(bound(summary, *pitch, scalar, &extent, row.factor));
                    let checked = checked(summary, offset, &extent);
                    all.extend(checked.and_then(|extent| bound(summary, *pitch, scalar, &extent, row.factor)));
                }
            }
        }
    }
    all
}

/// Returns by which scalar, and how often, the second of two writes to the same memory lies behind the first.
fn first_part(first: &Offset, second: &Offset) -> Option<(Atom, i128)> {
    if !first.is_beside(second) || !first.is_written || !second.is_written {
        return None;
    }
    let apart = second.poly.sub(&first.poly);
    let steps = apart.sub(&Poly::constant(apart.constant_term()));
    if steps.0.len() == 1 {
        let (product, by) = steps.0.first_key_value().filter(|(_, by)| **by > 0)?;
        return match product[..] {
            [scalar @ Atom::Arg(..)] => Some((scalar, *by)),
            _ => None,
        };
    }
    // Parts of different shapes, such as planes of which the second one has half as many rows.
    let rises = |poly: &Poly| poly.0.values().all(|n| *n > 0);
    let mut scalars = second.poly.0.iter().filter_map(|(product, by)| match product[..] {
        [scalar @ Atom::Arg(..)] => Some((scalar, *by)),
        _ => None,
    });
    match (scalars.next(), scalars.next()) {
        (Some((scalar, by)), None) if first.is_coordinate() && rises(&second.poly) && !first.poly.has(scalar) => {
            Some((scalar, by))
        }
        _ => None,
    }
}

/// Returns by how many bytes a place that is loaded from a buffer steps, if the offset consists of nothing else, and
/// how many places there may be: as many as the buffer has elements, or as there are work-items, but not too few.
fn places(summary: &AccessSummary<'_>, offset: &Poly) -> Option<(i128, Vec<Poly>)> {
    let (product, factor) = offset.0.first_key_value().filter(|(_, factor)| offset.0.len() == 1 && **factor > 0)?;
    let [Atom::Value(value)] = product[..] else { return None };
    let loads = summary.loads_among_sources(value);
    if loads.is_empty() {
        return None;
    }
    let sizes = [0, 1, 2].map(|d| Atom::Id(Id::GlobalSize, d));
    let mut counts = vec![Poly([(sizes.to_vec(), 1)].into()), Poly::constant(FEWEST_PLACES.into())];
    for (load, position) in loads.iter() {
        let element = summary.program.shape(*load).lane_bytes().max(1);
        counts.extend(buffer_lengths::of(summary, *position, element).lengths);
    }
    Some((*factor, counts))
}

/// Returns lower bounds of the scalar by which two parts of a row are apart: the first one ends before the second.
fn parts_apart(summary: &AccessSummary<'_>, offsets: &[Offset], scalar: Atom) -> Vec<LowerBound> {
    let mut all = Vec::new();
    for (first, second) in offsets.iter().flat_map(|first| offsets.iter().map(move |second| (first, second))) {
        let Some((_, coefficient)) = first_part(first, second).filter(|(by, _)| *by == scalar) else { continue };
        // Rows with a pitch of their own are as far apart as both parts are long.
        let is_row = |term: &Term<'_>| {
            let is_later = |atom: &Atom| matches!(atom, Atom::Id(Id::Group, _) | Atom::Id(Id::Global, 1..));
            term.pitches.iter().any(|pitch| matches!(pitch, Atom::Arg(..))) && term.index.iter().all(is_later)
        };
        let along = terms(summary, &first.poly);
        let along = along.iter().filter(|term| term.factor > 0 && !is_row(term));
        let row = Poly(along.map(|term| (term.product.clone(), term.factor)).collect());
        let facts = summary.facts.blocks[first.block].iter().chain(&summary.facts.blocks[second.block]);
        let is_kept = facts
            .into_iter()
            .any(|f| f.rhs.has(scalar) && f.lhs.atoms().any(|a| !is_uniform(summary, a, DEPTH) && row.has(a)));
        let mut push = |extent: Poly| {
            let beyond = first.poly.constant_term() - second.poly.constant_term();
            let extent = extent.add(&Poly::constant(i128::from(first.bytes.max(1)) - 1 + beyond));
            all.push(LowerBound { extent, coefficient, rest: Poly::default(), is_hard: true, is_start: false });
        };
        if is_kept || row.has(scalar) {
            continue;
        }
        if grows(&row, summary, 3) {
            push(row);
        } else if let Some((factor, counts)) = places(summary, &row) {
            counts.into_iter().for_each(|count| push(count.sub(&Poly::constant(1)).times(factor)));
        }
    }
    all
}

/// Returns the last byte of a row that is accessed: the terms of the offset that go along the row, and the bytes of the
/// access. `outer`: the factors of the row's product other than the pitch and its index. `None` if nothing goes along
/// it.
fn extent(
    summary: &AccessSummary<'_>,
    (offset, offsets): (&Offset, &[Offset]),
    (row, terms): (&Term<'_>, &[Term<'_>]),
    pitch: Atom,
    outer: &[Atom],
) -> Option<Poly> {
    // Where a check keeps what the pitch multiplies below another scalar, that is the length of the row: rows step by
    // it.
    let facts = &summary.facts.blocks[offset.block];
    let is_length = |other: &Atom| facts.iter().any(|f| f.rhs.has(*other) && f.lhs.has(pitch));
    let is_along = |term: &&Term<'_>| {
        let is_lower = || term.pitches.iter().all(|other| order(row, pitch, term, *other) == Ordering::Greater);
        term.product != row.product
            && !term.pitches.contains(&pitch)
            && !term.pitches.iter().any(is_length)
            && term.factor > 0
            && if outer.is_empty() { is_lower() } else { term.pitches == outer }
    };
    let mut column = Poly::default();
    for term in terms.iter().filter(is_along) {
        let mut product = term.product.clone();
        for factor in outer {
            product.remove(product.iter().position(|atom| atom == factor)?);
        }
        column.0.insert(product, term.factor);
    }
    let is_empty = column.0.is_empty();
    if is_empty && (!outer.is_empty() || !offset.is_written || i128::from(offset.bytes) <= row.factor) {
        return None;
    }
    // Reads of what another row holds, or of what is in no row, harm nothing.
    if !offset.is_written && !grows(&column, summary, 3) {
        return None;
    }
    if !outer.is_empty() && offset.is_written {
        column = column.add(&Poly::constant(rows_beside(offset, offsets, outer)));
    }
    if outer.is_empty() && offset.is_written {
        // What work-items write beside each other, in one access or in several, belongs to the row; so does its other
        // part, where rows have two.
        column = column.add(&Poly::constant(span(offset, offsets) - 1));
        let scalars = offset.poly.0.iter().filter(|(product, _)| !is_empty && matches!(product[..], [Atom::Arg(..)]));
        for (at, by) in scalars.filter(|(at, _)| at[0] != pitch) {
            let is_part = |o: &Offset| first_part(o, offset) == Some((at[0], *by));
            if offsets.iter().any(is_part) {
                column = column.add(&Poly::atom(at[0]).times(*by));
            }
        }
    }
    Some(column)
}

/// Returns how far rows that a work-item writes beside each other reach, in the units of the row's factor. `pitch`: the
/// factors of their step.
fn rows_beside(offset: &Offset, offsets: &[Offset], pitch: &[Atom]) -> i128 {
    let along = |poly: &Poly| {
        let mut along = poly.sub(&Poly::constant(poly.constant_term()));
        along.0.remove(pitch);
        along
    };
    let own = along(&offset.poly);
    let beside = offsets.iter().filter(|o| o.is_written && o.is_beside(offset) && along(&o.poly) == own);
    beside.filter_map(|o| o.poly.0.get(pitch)).copied().max().unwrap_or(0).max(0)
}

/// Returns the extent with counters of loops at the last values that checks before the access leave them, if these are
/// the same for all work-items.
fn checked(summary: &AccessSummary<'_>, offset: &Offset, extent: &Poly) -> Option<Poly> {
    let is_counter = |atom: &Atom| matches!(atom, Atom::Value(v) if summary.program.is_counter(*v));
    let counter = extent.atoms().find(is_counter)?;
    let last = summary.facts.blocks[offset.block].iter().find_map(|fact| {
        let (1, rest) = fact.lhs.linear_in(counter)? else { return None };
        let most = fact.rhs.sub(&rest).sub(&Poly::constant(1));
        let is_same = most.atoms().all(|atom| is_uniform(summary, atom, DEPTH));
        is_same.then_some(most)
    })?;
    extent.substitute(counter, &last)
}

/// Returns whether a polynomial grows with the launch: it contains ids or sizes, directly or through values computed
/// from them.
pub(super) fn grows(poly: &Poly, summary: &AccessSummary<'_>, depth: u32) -> bool {
    poly.atoms().any(|atom| match atom {
        Atom::Id(id, _) => !matches!(id, Id::Offset),
        Atom::Arg(..) => false,
        Atom::Value(value) => {
            depth > 0
                && summary.program.instruction(value).is_some_and(|i| match &i.op {
                    Op::Phi(_) | Op::Binary(_) | Op::Select => {
                        i.operands.iter().any(|o| *o != value && grows(&summary.symbols.poly(*o), summary, depth - 1))
                    }
                    _ => false,
                })
        }
    })
}

/// Returns how many bytes are written beside each other, in accesses whose offsets differ in a constant.
fn span(offset: &Offset, offsets: &[Offset]) -> i128 {
    let without_constant = |poly: &Poly| poly.sub(&Poly::constant(poly.constant_term()));
    let own = without_constant(&offset.poly);
    let beside = offsets
        .iter()
        .filter(|o| o.is_written && o.coordinate == offset.coordinate && without_constant(&o.poly) == own);
    let ends = beside.map(|o| (o.poly.constant_term(), o.poly.constant_term() + i128::from(o.bytes.max(1))));
    let (least, most) = ends.fold((i128::MAX, i128::MIN), |(a, b), (low, high)| (a.min(low), b.max(high)));
    most.saturating_sub(least).clamp(1, 256)
}

/// Compares two strides of an address: the outer one is that of the later dimension, or else that of the later
/// argument.
fn order(row: &Term<'_>, pitch: Atom, other_row: &Term<'_>, other: Atom) -> Ordering {
    let dimension = |term: &Term<'_>| match term.index[..] {
        [Atom::Id(Id::Global | Id::Local | Id::Group, d)] => Some(d),
        _ => None,
    };
    match (dimension(row), dimension(other_row)) {
        (Some(a), Some(b)) if a != b => a.cmp(&b),
        _ => pitch.cmp(&other),
    }
}

/// Returns whether an index is multiplied by the scalar.
pub(super) fn steps_by(summary: &AccessSummary<'_>, offset: &Poly, scalar: Atom) -> bool {
    terms(summary, offset).iter().any(|term| term.factor > 0 && term.pitches.contains(&scalar))
}

fn terms<'o>(summary: &AccessSummary<'_>, offset: &'o Poly) -> Vec<Term<'o>> {
    let of = |(product, factor): (&'o Vec<Atom>, &i128)| {
        let (pitches, index): (Vec<Atom>, Vec<Atom>) =
            product.iter().partition(|atom| is_uniform(summary, **atom, DEPTH));
        (!index.is_empty()).then_some(Term { pitches, index, factor: *factor, product })
    };
    offset.0.iter().filter_map(of).collect()
}

/// Returns whether all work-items have the same value, as far as scalars and sizes alone decide it.
fn is_uniform(summary: &AccessSummary<'_>, atom: Atom, depth: u32) -> bool {
    match atom {
        Atom::Arg(..) | Atom::Id(Id::GlobalSize | Id::LocalSize | Id::Groups, _) => true,
        Atom::Id(..) => false,
        Atom::Value(value) => {
            let Some(instruction) = summary.program.instruction(value).filter(|_| depth > 0) else { return false };
            let is_computed = match &instruction.op {
                Op::Binary(_) => true,
                Op::Call(_, base) => matches!(base.as_str(), "min" | "max"),
                _ => false,
            };
            let mut operands = instruction.operands.iter().map(|operand| summary.symbols.poly(*operand));
            is_computed && operands.all(|poly| poly.atoms().all(|a| a != atom && is_uniform(summary, a, depth - 1)))
        }
    }
}

/// Returns dividend and divisor of a value that is a quotient.
pub(super) fn quotient(summary: &AccessSummary<'_>, value: ValueId) -> Option<(Poly, Poly)> {
    let program = summary.program;
    let instruction = program.instruction(value)?;
    let operand = |i: usize| Some(summary.symbols.poly(*instruction.operands.get(i)?));
    match instruction.op {
        Op::Binary(Opcode::LLVMSDiv | Opcode::LLVMUDiv) => Some((operand(0)?, operand(1)?)),
        Op::Binary(Opcode::LLVMAShr | Opcode::LLVMLShr) => {
            let by = program.constant(*instruction.operands.get(1)?).filter(|by| (0..62).contains(by))?;
            Some((operand(0)?, Poly::constant(1 << by)))
        }
        _ => None,
    }
}

/// Returns whether a pitch is the scalar, or a quotient of something that grows with it.
fn comes_from(summary: &AccessSummary<'_>, pitch: Atom, scalar: Atom, depth: u32) -> bool {
    match pitch {
        Atom::Value(value) if depth > 0 => quotient(summary, value).is_some_and(|(dividend, divisor)| {
            !divisor.has(scalar) && dividend.atoms().any(|a| a != pitch && comes_from(summary, a, scalar, depth - 1))
        }),
        _ => pitch == scalar,
    }
}

/// Returns the bound of the scalar for which `extent < factor * pitch`.
fn bound(summary: &AccessSummary<'_>, pitch: Atom, scalar: Atom, extent: &Poly, factor: i128) -> Option<LowerBound> {
    let hard = |extent, coefficient, rest| LowerBound { extent, coefficient, rest, is_hard: true, is_start: false };
    // In elements where everything is a multiple of one: a constant rest does not reach the next one.
    let constant = extent.constant_term();
    let steps = extent.sub(&Poly::constant(constant)).div_exact(factor);
    let elements = steps.map(|steps| steps.add(&Poly::constant(constant.div_euclid(factor))));
    let Atom::Value(value) = pitch else {
        return Some(elements.map_or_else(
            || hard(extent.clone(), factor, Poly::default()),
            |elements| hard(elements, 1, Poly::default()),
        ));
    };
    // `elements < dividend / divisor` if `divisor * (elements + 1) - 1 < dividend`.
    let (dividend, divisor) = quotient(summary, value)?;
    let needed = divisor.mul(&elements?.add(&Poly::constant(1)))?.sub(&Poly::constant(1));
    match dividend.linear_in(scalar) {
        Some((coefficient, rest)) if coefficient > 0 => Some(hard(needed, coefficient, rest)),
        Some(_) => None,
        None => {
            let inner = dividend.atoms().find(|a| *a != pitch && comes_from(summary, *a, scalar, DEPTH))?;
            let (coefficient, rest) = dividend.linear_in(inner).filter(|(coefficient, _)| *coefficient > 0)?;
            bound(summary, inner, scalar, &needed.sub(&rest), coefficient)
        }
    }
}

/// Returns the scalars by which addresses step in bytes, and of what they are multiples so that accesses are aligned.
/// Where a part of a buffer begins is not among them: that a host chooses freely.
pub(super) fn multiples(offsets: &[Offset]) -> BTreeMap<Atom, i128> {
    let mut found = BTreeMap::new();
    for offset in offsets.iter().filter(|offset| !offset.is_by_component) {
        for (scalar, of, is_step) in unaligned(&offset.poly, offset.alignment) {
            if is_step {
                let known = found.entry(scalar).or_insert(1);
                *known = of.max(*known);
            }
        }
    }
    found
}

/// Returns scalars that are added to an offset in bytes, directly or times an index (`true`), and of what they must be
/// multiples so that the address is a multiple of `alignment`, a power of two.
pub(super) fn unaligned(offset: &Poly, alignment: u64) -> Vec<(Atom, i128, bool)> {
    let aligned = i128::from(alignment.max(1));
    let of = |(product, factor): (&Vec<Atom>, &i128)| {
        let scalar = product.iter().rfind(|atom| matches!(atom, Atom::Arg(..)))?;
        let of = aligned / (1 << factor.trailing_zeros().min(aligned.trailing_zeros()));
        Some((*scalar, of, product.len() > 1))
    };
    offset.0.iter().filter(|(_, factor)| **factor % aligned != 0).filter_map(of).collect()
}
