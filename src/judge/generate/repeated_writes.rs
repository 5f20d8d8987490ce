//! Finds dimensions along which all work-items write the same places: hosts have one work-item there.

use std::collections::BTreeSet;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Op, Region, ValueId};

use super::access_summary::{AccessKind, AccessSummary};
use super::polynomial::{Atom, Id, id_of};

/// What is written, and by which work-items.
struct Written {
    region: Option<Region>,
    /// Dimensions whose ids decide where, or who.
    dimensions: BTreeSet<u8>,
}

/// Dimensions along which all work-items write the same places.
pub(super) struct Repeated {
    /// In memory of the group.
    pub in_groups: Vec<u8>,
    /// In memory of the launch.
    pub in_launch: Vec<u8>,
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
        let decides = |d: u8| mine.iter().any(|written| written.dimensions.contains(&d));
        if mine.iter().any(|written| written.region.is_some_and(is_counted)) || !(0..dims).any(decides) {
            return Vec::new();
        }
        (0..dims).filter(|d| !decides(*d)).collect()
    };
    Repeated { in_groups: along(true), in_launch: along(false) }
}

fn writes(summary: &AccessSummary<'_>) -> Vec<Written> {
    let program = summary.program;
    let mut all = Vec::new();
    for access in summary.accesses.iter().filter(|a| a.kind == AccessKind::Write) {
        if matches!(access.region, Region::Private(_)) {
            continue;
        }
        let mut dimensions = deciding(summary, access.block);
        for value in [Some(access.pointer), access.number].into_iter().flatten() {
            dimensions.extend(dimensions_of(summary, value));
        }
        all.push(Written { region: Some(access.region), dimensions });
    }
    for (block, instruction) in program.instructions() {
        if matches!(&instruction.op, Op::Call(_, base) if builtins::family(base) == Some(Family::ImageWrite)) {
            let mut dimensions = deciding(summary, block);
            dimensions.extend(instruction.operands.iter().flat_map(|value| dimensions_of(summary, *value)));
            all.push(Written { region: None, dimensions });
        }
    }
    all
}

/// Returns the dimensions whose ids decide whether a block is executed. That ids do not exceed a scalar says only how
/// large launches are.
fn deciding(summary: &AccessSummary<'_>, block: BlockIndex) -> BTreeSet<u8> {
    let mut found = BTreeSet::new();
    for fact in &summary.facts.blocks[block] {
        let is_size = |atom: Atom| matches!(atom, Atom::Arg(..) | Atom::Id(Id::GlobalSize, _));
        if !fact.is_equal && (fact.lhs.atoms().any(is_size) || fact.rhs.atoms().any(is_size)) {
            continue;
        }
        for atom in fact.lhs.atoms().chain(fact.rhs.atoms()) {
            match atom {
                Atom::Id(Id::Global | Id::Local | Id::Group, d) => {
                    found.insert(d);
                }
                Atom::Value(value) => found.extend(dimensions_of(summary, value)),
                Atom::Id(..) | Atom::Arg(..) => {}
            }
        }
    }
    found
}

/// Returns the dimensions on whose ids a value depends; all of them where it comes from memory or from what is no id.
fn dimensions_of(summary: &AccessSummary<'_>, value: ValueId) -> BTreeSet<u8> {
    let program = summary.program;
    let mut found = BTreeSet::new();
    for source in summary.sources(value) {
        let Some(instruction) = program.instruction(source) else { continue };
        match &instruction.op {
            Op::Call(_, base) => match id_of(base) {
                Some(Id::Global | Id::Local | Id::Group) => {
                    let dimension = instruction.operands.first().and_then(|d| program.constant(*d));
                    match dimension.and_then(|d| u8::try_from(d).ok()) {
                        Some(d) => found.extend([d]),
                        None => found.extend(0..3),
                    }
                }
                Some(_) => {}
                // Sub-groups go along the first dimension first.
                None if base.starts_with("get_sub_group") => found.extend([0]),
                None if instruction.operands.is_empty() => found.extend(0..3),
                None => {}
            },
            Op::AtomicRmw(_) | Op::CompareExchange => found.extend(0..3),
            Op::Load if summary.loaded_from(source).is_some() => found.extend(0..3),
            Op::Load => {
                let region = summary.symbols.address(instruction.operands[0]).region;
                let is_by_value =
                    matches!(region, Region::Argument(position) if program.by_value[position as usize].is_some());
                if !is_by_value {
                    found.extend(0..3);
                }
            }
            _ => {}
        }
    }
    found
}
