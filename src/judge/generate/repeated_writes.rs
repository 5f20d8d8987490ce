//! Finds dimensions along which all work-items write the same places, or whose ids are only checked: hosts have one
//! work-item there.

use std::collections::BTreeSet;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Op, Program, Region, ValueId};

use super::access_summary::{AccessKind, AccessSummary};
use super::polynomial::{Atom, Id, id_of};

/// Values that are visited on the way to what a value is computed from.
const MAX_SOURCES: usize = 2048;

/// What is written, and by which work-items.
struct Written {
    region: Option<Region>,
    /// Ids that decide where, or who.
    ids: Ids,
}

/// Ids with their dimensions.
type Ids = BTreeSet<(Id, u8)>;

/// What tells work-items apart.
const OF_ITEMS: [Id; 3] = [Id::Global, Id::Local, Id::Group];

/// All ids of some dimensions.
fn all_of(dimensions: impl Iterator<Item = u8>) -> impl Iterator<Item = (Id, u8)> {
    dimensions.flat_map(|d| OF_ITEMS.map(|id| (id, d)))
}

/// Dimensions along which all work-items write the same places, or that tell none of them apart.
pub(super) struct Repeated {
    /// In memory of the group.
    pub in_groups: Vec<u8>,
    /// In memory of the launch.
    pub in_launch: Vec<u8>,
    /// No id of the dimension is read but in checks that it does not exceed something.
    pub only_checked: Vec<u8>,
    /// The same of the ids that tell groups apart, where the local one is read otherwise.
    pub groups_only_checked: Vec<u8>,
}

/// Returns the dimensions along which all work-items of a group, or of the launch, write the same places. Of several
/// dimensions that is so of some only: where no id decides the place, the code does not say which.
pub(super) fn of(summary: &AccessSummary<'_>, interface: &Interface, dims: u8) -> Repeated {
    let is_local = |region: Region| match region {
        Region::Variable(index) => summary.program.variables[index].is_local,
        Region::Argument(position) => {
            interface.args.get(position as usize).is_some_and(|arg| matches!(arg.kind, ArgKind::Local { .. }))
        }
        Region::Private(_) | Region::Unknown => false,
    };
    // Work-items may share by atomics what they write.
    let is_counted = |region: Region| {
        summary.accesses.iter().any(|a| a.kind == AccessKind::Atomic && [region, Region::Unknown].contains(&a.region))
    };
    let all = writes(summary);
    let along = |of_group: bool| -> Vec<u8> {
        let is_meant = |written: &&Written| match written.region {
            Some(region) => is_local(region) == of_group,
            None => !of_group,
        };
        let mine: Vec<&Written> = all.iter().filter(is_meant).collect();
        let decides = |d: u8| mine.iter().any(|written| written.ids.iter().any(|(_, of)| *of == d));
        if mine.iter().any(|written| written.region.is_some_and(is_counted)) || !(0..dims).any(decides) {
            return Vec::new();
        }
        (0..dims).filter(|d| !decides(*d)).collect()
    };
    let used = used(summary, &all);
    let is_used = |ids: &[Id], d: u8| ids.iter().any(|id| used.contains(&(*id, d)));
    Repeated {
        in_groups: along(true),
        in_launch: along(false),
        only_checked: (0..dims).filter(|d| !is_used(&OF_ITEMS, *d)).collect(),
        groups_only_checked: (0..dims)
            .filter(|d| !is_used(&[Id::Global, Id::Group], *d) && is_used(&[Id::Local], *d))
            .collect(),
    }
}

/// Returns the ids that decide what is read or written, where, and by whom.
fn used(summary: &AccessSummary<'_>, writes: &[Written]) -> Ids {
    let program = summary.program;
    let mut found: Ids = writes.iter().flat_map(|written| written.ids.iter().copied()).collect();
    for access in &summary.accesses {
        found.extend(deciding(summary, access.block));
        for value in [Some(access.pointer), access.number].into_iter().flatten() {
            found.extend(ids_of(summary, value).into_iter().filter(|_| !is_own_memory(access.region)));
        }
    }
    // What is stored, returned by a read of an image, or passed on to an atomic.
    for (_, instruction) in program.instructions() {
        let is_passed = match &instruction.op {
            Op::Store | Op::AtomicRmw(_) | Op::CompareExchange => true,
            Op::Call(_, base) => id_of(base).is_none(),
            _ => false,
        };
        for value in instruction.operands.iter().filter(|_| is_passed) {
            let direct = summary.sources(*value).into_iter().filter_map(|source| asked(program, source));
            found.extend(direct);
        }
    }
    found
}

fn is_own_memory(region: Region) -> bool {
    matches!(region, Region::Private(_))
}

/// Returns the id that a call asks for; `None` if the value is something else.
fn asked(program: &Program, value: ValueId) -> Option<(Id, u8)> {
    let instruction = program.instruction(value)?;
    let Op::Call(_, base) = &instruction.op else { return None };
    let id = id_of(base).filter(|id| OF_ITEMS.contains(id))?;
    let dimension = instruction.operands.first().and_then(|d| program.constant(*d))?;
    Some((id, u8::try_from(dimension).ok()?))
}

fn writes(summary: &AccessSummary<'_>) -> Vec<Written> {
    let program = summary.program;
    let mut all = Vec::new();
    for access in summary.accesses.iter().filter(|a| a.kind == AccessKind::Write) {
        if matches!(access.region, Region::Private(_)) {
            continue;
        }
        let mut ids = deciding(summary, access.block);
        for value in [Some(access.pointer), access.number].into_iter().flatten() {
            ids.extend(ids_of(summary, value));
        }
        all.push(Written { region: Some(access.region), ids });
    }
    for (block, instruction) in program.instructions() {
        if matches!(&instruction.op, Op::Call(_, base) if builtins::family(base) == Some(Family::ImageWrite)) {
            let mut ids = deciding(summary, block);
            ids.extend(instruction.operands.iter().flat_map(|value| ids_of(summary, *value)));
            all.push(Written { region: None, ids });
        }
    }
    all
}

/// Returns the ids that decide whether a block is executed. That ids do not exceed a scalar says only how large
/// launches are.
fn deciding(summary: &AccessSummary<'_>, block: BlockIndex) -> Ids {
    let mut found = BTreeSet::new();
    for fact in &summary.facts.blocks[block] {
        let is_size = |atom: Atom| matches!(atom, Atom::Arg(..) | Atom::Id(Id::GlobalSize, _));
        if !fact.is_equal && (fact.lhs.atoms().any(is_size) || fact.rhs.atoms().any(is_size)) {
            continue;
        }
        for atom in fact.lhs.atoms().chain(fact.rhs.atoms()) {
            match atom {
                Atom::Id(id @ (Id::Global | Id::Local | Id::Group), d) => {
                    found.insert((id, d));
                }
                Atom::Value(value) => found.extend(ids_of(summary, value)),
                Atom::Id(..) | Atom::Arg(..) => {}
            }
        }
    }
    found
}

/// Returns the ids on which a value depends; all of them where it comes from memory or from what is no id.
fn ids_of(summary: &AccessSummary<'_>, value: ValueId) -> Ids {
    let program = summary.program;
    let mut found = BTreeSet::new();
    for source in sources(summary, value) {
        let Some(instruction) = program.instruction(source) else { continue };
        match &instruction.op {
            Op::Call(_, base) => match id_of(base) {
                Some(Id::Global | Id::Local | Id::Group) => match asked(program, source) {
                    Some(id) => found.extend([id]),
                    None => found.extend(all_of(0..3)),
                },
                Some(_) => {}
                // Sub-groups go along the first dimension first.
                None if base.starts_with("get_sub_group") => found.extend([(Id::Local, 0)]),
                None if instruction.operands.is_empty() => found.extend(all_of(0..3)),
                None => {}
            },
            Op::AtomicRmw(_) | Op::CompareExchange => found.extend(all_of(0..3)),
            Op::Load if summary.loaded_from(source).is_some() => found.extend(all_of(0..3)),
            Op::Load => {
                let region = summary.symbols.address(instruction.operands[0]).region;
                let is_by_value =
                    matches!(region, Region::Argument(position) if program.by_value[position as usize].is_some());
                if !is_by_value {
                    found.extend(all_of(0..3));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the values from which a value is computed, of vectors only the components that matter: coordinates that are
/// kept together are not computed from each other.
fn sources(summary: &AccessSummary<'_>, start: ValueId) -> Vec<ValueId> {
    let program = summary.program;
    let mut seen: BTreeSet<(ValueId, Option<i64>)> = BTreeSet::new();
    let mut todo = vec![(start, None)];
    let mut found = Vec::new();
    while let Some((value, lane)) = todo.pop() {
        if seen.len() >= MAX_SOURCES || !seen.insert((value, lane)) {
            continue;
        }
        if let Some(taken) = lane.and_then(|lane| program.lane(value, lane)) {
            todo.push((taken, None));
            continue;
        }
        let Some(instruction) = program.instruction(value) else { continue };
        let operands = &instruction.operands;
        match (&instruction.op, lane) {
            (Op::Extract, _) if operands.len() == 2 && program.constant(operands[1]).is_some() => {
                todo.push((operands[0], program.constant(operands[1])));
            }
            // Component by component.
            (Op::Phi(_) | Op::Binary(_) | Op::Copy, Some(_)) => {
                todo.extend(operands.iter().map(|operand| (*operand, lane)));
            }
            (op, _) if is_pure(op) => {
                found.push(value);
                todo.extend(operands.iter().map(|operand| (*operand, None)));
            }
            _ => found.extend(summary.sources(value)),
        }
    }
    found
}

/// Whether a value is computed from its operands alone.
fn is_pure(op: &Op) -> bool {
    matches!(op, Op::Phi(_) | Op::Binary(_) | Op::Copy | Op::Cast(_) | Op::Select | Op::Compare(_) | Op::Address { .. })
}
