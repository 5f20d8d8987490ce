//! Infers which work-group sizes a kernel supports, from static local arrays, constants in its index arithmetic, loops
//! that halve the group, and the ids that it reads.

use std::collections::{BTreeMap, BTreeSet};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::llvm::Opcode;
use kassay_model::interface::Interface;
use kassay_prove::program::{Definition, Op, Program, Region, ValueId};

use super::access_summary::{AccessKind, AccessSummary};
use super::atomic_counters;
use super::id_uses::IdUses;
use super::model::GroupRules;
use super::pitches;
use super::polynomial::{Atom, Id, Poly};
use super::repeated_writes;

/// Upper limit of inferred work-group sizes.
const LARGEST: u64 = 1024;

/// The largest constants added to a local id that indexes an array, by array size, dimension and factor of the id.
type Halos = BTreeMap<(u64, usize, i128), i128>;

/// Infers the rules. `dims`: number of dimensions in which the kernel queries ids.
pub fn find(summary: &AccessSummary<'_>, interface: &Interface, dims: u32) -> GroupRules {
    let mut rules = GroupRules {
        required: interface.required_local,
        hint: interface.local_hint,
        sub_group: interface.sub_groups.simulated().map(u64::from),
        power_of_two: halves_group(summary),
        ..GroupRules::default()
    };
    let mut halos = Halos::new();
    for (block, instruction) in summary.program.instructions() {
        let Op::Address { steps, .. } = &instruction.op else { continue };
        if !atomic_counters::is_local(summary.program, instruction.result) {
            continue;
        }
        for step in steps {
            let whole = || whole_variable(summary.program, instruction.operands[0], step.scale);
            let Some(extent) = step.extent.or_else(whole) else { continue };
            let index = summary.symbols.poly(instruction.operands[step.operand]);
            for d in 0..3 {
                record_halo(summary, block, &index, (extent, d), &mut halos);
            }
        }
    }
    for ((extent, d, factor), halo) in halos {
        let factor = u64::try_from(factor).unwrap_or(1).max(1);
        let room = match u64::try_from(halo) {
            // An array with a halo is larger than the group by the halo; if its size is a power of two, that is the
            // group's size, unless the halo is a half of it: then each work-item has two elements.
            Ok(halo) if !extent.is_power_of_two() || halo >= extent / 2 => extent - halo.min(extent - 1),
            Ok(_) => extent,
            // Only the work-items from some id on use the array.
            Err(_) => extent.saturating_add(u64::try_from(-halo).unwrap_or(0)).min(LARGEST),
        };
        let most = room.div_ceil(factor).max(1);
        let known = &mut rules.at_most[d];
        *known = Some(known.map_or(most, |n| n.min(most)));
    }
    // All work-items of a group may claim a slot.
    let slots = atomic_counters::smallest_slot_array(summary);
    if let Some(slots) = slots.into_iter().chain(interface.max_group).min() {
        let most = (1..=slots).take_while(|n| n.checked_pow(dims).is_some_and(|all| all <= slots)).last().unwrap_or(1);
        for known in &mut rules.at_most[..dims as usize] {
            *known = Some(known.map_or(most, |n| n.min(most)));
        }
    }
    let tile_widths = tile_widths(summary);
    for d in 0..3u8 {
        rules.multiple_of[usize::from(d)] = shared_steps(summary, d);
        // If work-items process several elements each, rows are a multiple of the group's size.
        let most = rules.at_most[usize::from(d)];
        let found = halved_from(summary, d)
            .or_else(|| loop_stride(summary, d))
            .or_else(|| tile_step(summary, d))
            .or_else(|| row_width(summary, d))
            .filter(|n| most.is_none_or(|most| *n <= most));
        rules.exactly[usize::from(d)] = found.or_else(|| most.filter(|n| tile_widths[usize::from(d)].contains(n)));
    }
    let ids = IdUses::of(summary);
    for d in (0..dims.min(3)).filter_map(|d| u8::try_from(d).ok()) {
        let known = &mut rules.exactly[usize::from(d)];
        *known = known.or_else(|| ids.has_one_item(d).then_some(1));
        rules.one_group[usize::from(d)] = ids.has_one_group(d);
    }
    // Halves of a row of so many work-items, or one sub-group for each row: rows that share an array are of one group.
    let mut has_row = halved_from(summary, 0).is_some_and(|n| rules.exactly[0] == Some(n));
    if rules.exactly[0].is_none() && ids.has_one_sub_group() {
        rules.exactly[0] = rules.sub_group;
        has_row = rules.sub_group.is_some();
    }
    if has_row {
        let rows = u8::try_from(dims.min(3)).unwrap_or(3);
        for d in repeated_writes::of(summary, interface, rows).in_groups.into_iter().filter(|d| *d > 0) {
            rules.exactly[usize::from(d)].get_or_insert(1);
        }
    }
    rules
}

/// Returns the number of elements of `scale` bytes in a variable from the constant address `base` on. Where a helper
/// gets the address of an array, the access in it does not say how large the array is.
fn whole_variable(program: &Program, base: ValueId, scale: i64) -> Option<u64> {
    let Definition::Variable(index, offset) = program.values[base as usize] else { return None };
    let room = program.variables[index].bytes.checked_sub(u64::try_from(offset).ok()?)?;
    room.checked_div(u64::try_from(scale).ok()?).filter(|extent| *extent > 0)
}

/// Returns, by dimension, the lengths of the runs of adjacent elements that loops read from local arrays in which each
/// work-item writes one element of its own.
fn tile_widths(summary: &AccessSummary<'_>) -> [BTreeSet<u64>; 3] {
    let program = summary.program;
    let is_array = |region| matches!(region, Region::Variable(index) if program.variables[index].is_local);
    let mut found: [BTreeSet<u64>; 3] = Default::default();
    for (d, found) in (0..3u8).zip(&mut found) {
        let id = Atom::Id(Id::Local, d);
        for read in summary.accesses.iter().filter(|a| a.kind == AccessKind::Read && is_array(a.region)) {
            let mut writes = summary.accesses.iter().filter(|a| a.region == read.region && a.kind != AccessKind::Read);
            let steps = |poly: &Poly, atom| poly.linear_in(atom).map(|(step, _)| step);
            let Some(step) = writes.next().and_then(|w| steps(&w.offset, id)) else { continue };
            if !writes.all(|w| steps(&w.offset, id) == Some(step)) {
                continue;
            }
            let counts = |a: &Atom| matches!(a, Atom::Value(v) if program.is_counter(*v));
            for counter in read.offset.atoms().filter(counts).filter(|a| steps(&read.offset, *a) == Some(step)) {
                let bounds = summary.bounds.get(&counter).into_iter().flatten();
                found.extend(bounds.filter_map(|b| u64::try_from(b.as_constant()?).ok()).filter(|n| *n <= LARGEST));
            }
        }
    }
    found
}

/// Records the halo of an index into an array of `extent` elements that depends on the local id in dimension `d`,
/// unless a check bounds it.
fn record_halo(
    summary: &AccessSummary<'_>,
    block: BlockIndex,
    index: &Poly,
    (extent, d): (u64, usize),
    halos: &mut Halos,
) {
    let id = Atom::Id(Id::Local, d as u8);
    let Some((factor, rest)) = index.linear_in(id).filter(|(factor, _)| *factor > 0) else { return };
    let in_reach = |f: &std::rc::Rc<super::path_conditions::Fact>| {
        f.lhs.has(id) && f.rhs.as_constant().is_some_and(|n| n <= i128::from(extent))
    };
    if summary.facts.blocks[block].iter().any(in_reach) {
        return;
    }
    // In a flattened multi-dimensional array, other ids contribute the larger steps.
    let (factor, halo) = match rest.as_constant() {
        Some(halo) => (factor, halo),
        None if rest.0.values().all(|n| *n >= 0) && factor > 1 => (factor, rest.constant_term()),
        None => return,
    };
    let known = halos.entry((extent, d, factor)).or_insert(halo);
    *known = (*known).max(halo);
}

/// Recognises `for (i = lid; …; i += 16)`, which implies 16 work-items per group.
fn loop_stride(summary: &AccessSummary<'_>, d: u8) -> Option<u64> {
    let program = summary.program;
    let id = Poly::atom(Atom::Id(Id::Local, d));
    for (_, instruction) in program.instructions() {
        if !program.is_counter(instruction.result) || !program.shape(instruction.result).is_int() {
            continue;
        }
        let me = Poly::atom(Atom::Value(instruction.result));
        let polys: Vec<Poly> = instruction.operands.iter().map(|o| summary.symbols.poly(*o)).collect();
        let starts = polys.contains(&id);
        let step = polys.iter().find_map(|p| p.sub(&me).as_constant());
        if let (true, Some(step)) = (starts, step) {
            return u64::try_from(step).ok().filter(|n| (1..=LARGEST).contains(n));
        }
    }
    None
}

/// Recognises `for (i = 0; …; i += 8) tile[lid + i]` where that is written: 8 work-items fill a tile of many rows.
fn tile_step(summary: &AccessSummary<'_>, d: u8) -> Option<u64> {
    let program = summary.program;
    let id = Atom::Id(Id::Local, d);
    let is_tile = |region| matches!(region, Region::Variable(index) if program.variables[index].is_local);
    let writes = summary.accesses.iter().filter(|a| a.kind == AccessKind::Write && is_tile(a.region));
    let step = |counter: ValueId| {
        let phi = program.instruction(counter)?;
        let me = Poly::atom(Atom::Value(counter));
        phi.operands.iter().find_map(|operand| summary.symbols.poly(*operand).sub(&me).as_constant())
    };
    let steps = writes.filter_map(|write| {
        let (by, rest) = write.offset.linear_in(id)?;
        let beside = rest.0.iter().filter(|(product, factor)| product.len() == 1 && **factor == by);
        let counters = beside.filter_map(|(product, _)| match product[0] {
            Atom::Value(value) if program.is_counter(value) => Some(value),
            _ => None,
        });
        counters.filter_map(step).filter_map(|n| u64::try_from(n).ok()).filter(|n| (2..=LARGEST).contains(n)).min()
    });
    steps.min()
}

/// Recognises `for (s = 64; s > 0; s /= 2) if (lid < s)`, which implies 128 work-items per group.
fn halved_from(summary: &AccessSummary<'_>, d: u8) -> Option<u64> {
    let program = summary.program;
    let id = Poly::atom(Atom::Id(Id::Local, d));
    let halved = |value: ValueId| {
        let counter = program.is_counter(value).then(|| program.instruction(value)).flatten()?;
        let is_half = |operand: &ValueId| is_half_of(program, *operand, value);
        let start = counter.operands.iter().find_map(|operand| program.constant(*operand))?;
        counter.operands.iter().any(is_half).then_some(start)
    };
    let starts = summary.facts.all().filter_map(|(_, fact)| match fact.rhs.0.first_key_value() {
        Some((product, 1)) if fact.lhs == id && fact.rhs.0.len() == 1 => match product[..] {
            [Atom::Value(value)] => halved(value),
            _ => None,
        },
        _ => None,
    });
    starts.filter_map(|start| u64::try_from(start).ok()?.checked_mul(2)).filter(|n| (2..=LARGEST).contains(n)).max()
}

/// Recognises `for (…; …; i += get_local_size(0) / 8)`: with fewer work-items than 8 the loop would not get on.
fn shared_steps(summary: &AccessSummary<'_>, d: u8) -> Option<u64> {
    let program = summary.program;
    let size = vec![Atom::Id(Id::LocalSize, d)];
    let counters = program.instructions().filter(|(_, i)| program.is_counter(i.result));
    let steps = counters.filter(|(_, i)| program.shape(i.result).is_int()).flat_map(|(_, phi)| {
        let me = Poly::atom(Atom::Value(phi.result));
        phi.operands.iter().map(move |operand| summary.symbols.poly(*operand).sub(&me)).collect::<Vec<Poly>>()
    });
    let parts = steps.filter_map(|step| {
        let (product, 1) = step.0.first_key_value()? else { return None };
        let ([Atom::Value(value)], 1) = (&product[..], step.0.len()) else { return None };
        let (dividend, divisor) = pitches::quotient(summary, *value)?;
        let (divisor, factor) = (divisor.as_constant()?, *dividend.0.get(&size)?);
        let is_whole = dividend.0.len() == 1 && factor > 0 && divisor % factor == 0;
        u64::try_from(divisor / factor).ok().filter(|n| is_whole && (2..=LARGEST).contains(n))
    });
    steps_of(parts)
}

/// Returns the greatest of the numbers, if it is a multiple of all.
fn steps_of(parts: impl Iterator<Item = u64>) -> Option<u64> {
    let all: Vec<u64> = parts.collect();
    all.iter().max().copied().filter(|most| all.iter().all(|n| most % n == 0))
}

/// Returns whether a value is another one divided by two.
fn is_half_of(program: &Program, half: ValueId, of: ValueId) -> bool {
    program.instruction(half).is_some_and(|i| {
        let by = i.operands.get(1).and_then(|o| program.constant(*o));
        i.operands.first() == Some(&of)
            && match i.op {
                Op::Binary(Opcode::LLVMLShr | Opcode::LLVMAShr) => by == Some(1),
                Op::Binary(Opcode::LLVMUDiv | Opcode::LLVMSDiv) => by == Some(2),
                _ => false,
            }
    })
}

/// Recognises `group * 16 + lid` and `tile * 16 + lid`: rows of 16 elements that the work-items of a group cover side
/// by side. Also `layer * 64 + row * 16 + lid`, where a layer has 4 rows.
fn row_width(summary: &AccessSummary<'_>, d: u8) -> Option<u64> {
    let id = Atom::Id(Id::Local, d);
    let program = summary.program;
    let row_of = |poly: &Poly| {
        let (step, rest) = poly.linear_in(id).filter(|(step, _)| *step > 0)?;
        // A global id: a row is as long as the launch, or longer.
        if rest.has(Atom::Id(Id::LocalSize, d)) {
            return None;
        }
        // Rows of the launch, not of the group.
        let is_global = |d: u8| {
            let ids = [Atom::Id(Id::Group, d), Atom::Id(Id::LocalSize, d)];
            rest.0.keys().any(|product| ids.iter().all(|id| product.contains(id)))
        };
        let sizes = rest.0.iter().filter_map(|(product, n)| {
            let [only] = product[..] else { return None };
            let is_row = match only {
                Atom::Id(Id::Group, g) => g == d && step == 1,
                Atom::Id(Id::Local, other) => other > d && n % step == 0 && !is_global(other),
                Atom::Value(v) => program.is_counter(v) && step == 1,
                _ => false,
            };
            u64::try_from(n / step).ok().filter(|n| is_row && (2..=LARGEST).contains(n))
        });
        sizes.min()
    };
    let computed = program.instructions().filter(|(_, i)| program.shape(i.result).is_int());
    let polys = computed.filter(|(_, i)| matches!(i.op, Op::Binary(_))).map(|(_, i)| summary.symbols.poly(i.result));
    polys.filter(|p| p.has(id)).filter_map(|p| row_of(&p)).min()
}

/// Returns whether a loop halves the group's size, or doubles a counter up to it.
fn halves_group(summary: &AccessSummary<'_>) -> bool {
    let program = summary.program;
    let of_group = |poly: &Poly| poly.atoms().any(|a| matches!(a, Atom::Id(Id::LocalSize, _)));
    let is_of_group = |value: ValueId| {
        of_group(&summary.symbols.poly(value))
            || summary.sources(value).into_iter().any(|v| of_group(&summary.symbols.poly(v)))
    };
    program.instructions().filter(|(_, i)| program.is_counter(i.result)).any(|(_, phi)| {
        let Op::Phi(from) = &phi.op else { return false };
        let here = program.block_of(phi.result).unwrap_or(BlockIndex::ENTRY);
        let is_back = |b: BlockIndex| program.dominates(here, b);
        let mut steps = phi.operands.iter().zip(from).filter(|(_, b)| is_back(**b)).map(|(v, _)| *v);
        let starts = phi.operands.iter().zip(from).filter(|(_, b)| !is_back(**b)).map(|(v, _)| *v);
        let halved = |v: ValueId| is_half_of(program, v, phi.result);
        let doubled = Poly::atom(Atom::Value(phi.result)).times(2);
        let is_doubled = |v: ValueId| summary.symbols.poly(v) == doubled;
        let bounds = summary.bounds.get(&Atom::Value(phi.result)).into_iter().flatten();
        let ends_at_group =
            || bounds.clone().any(|b| of_group(b) || b.atoms().any(|a| matches!(a, Atom::Value(v) if is_of_group(v))));
        let first: Vec<ValueId> = starts.collect();
        steps.any(|v| (halved(v) && first.iter().any(|s| is_of_group(*s))) || (is_doubled(v) && ends_at_group()))
    })
}
