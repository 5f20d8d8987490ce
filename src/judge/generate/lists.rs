//! Finds lists of sizes and of strides: arrays of which a loop reads an element for each dimension, to take a number
//! apart into coordinates and to make an address of these.

use std::collections::{BTreeMap, BTreeSet};

use kassay_ir::llvm::Opcode;
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Op, Region, ValueId};
use kassay_suite::scalar_layout;

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::model::{DIMENSIONS, List, LowerBound, UpperBound};
use super::polynomial::{Atom, Id, Poly, id_of};
use super::scalars_in_buffers;

/// Lists by whose elements others are read, one after the other.
const DEPTH: u32 = 3;

/// The lists of a kernel.
#[derive(Debug, Default)]
pub struct Lists {
    /// Those in arguments that are passed by value: argument and offset of each element, and which one it is.
    pub elements: BTreeMap<(u32, u64), (List, u64)>,
    /// Buffers that hold one, by position.
    pub buffers: BTreeMap<u32, List>,
    /// Their names.
    pub names: BTreeSet<(String, List)>,
    /// Of how many dimensions the lists are.
    pub ranks: Vec<Rank>,
}

/// A number of dimensions, `coefficient * scalar + rest`, and the greatest one for which a list has room.
#[derive(Debug)]
pub struct Rank {
    scalar: Atom,
    coefficient: i128,
    rest: Poly,
    most: u64,
}

impl Lists {
    /// Returns the bounds of a scalar that counts dimensions: there is one at least.
    pub fn bounds(&self, scalar: Atom) -> (Vec<LowerBound>, Vec<UpperBound>) {
        let of = |rank: &Rank| {
            let (coefficient, rest) = (rank.coefficient, rank.rest.clone());
            let least =
                LowerBound { extent: Poly::default(), coefficient, rest: rest.clone(), is_hard: false, is_start: true };
            (least, UpperBound { coefficient, rest, most: rank.most.into() })
        };
        self.ranks.iter().filter(|rank| rank.scalar == scalar).map(of).unzip()
    }
}

/// Finds the lists of a kernel.
pub fn find(summary: &AccessSummary<'_>, interface: &Interface) -> Lists {
    let mut found = Lists::default();
    let reads = summary.accesses.iter().filter(|access| access.kind == AccessKind::Read);
    let counted: Vec<&Access> = reads.filter(|access| is_counted(summary, access, DEPTH)).collect();
    let is_order = |load: ValueId| counted.iter().any(|o| o.id != load && summary.sources(o.pointer).contains(&load));
    for access in &counted {
        let list = kind(summary, access.id).or_else(|| is_order(access.id).then_some(List::Order));
        let (Region::Argument(position), Some(list)) = (access.region, list) else { continue };
        let Some(arg) = interface.args.get(position as usize) else { continue };
        match &arg.kind {
            ArgKind::Value(ty) => {
                let leaves = scalar_layout::leaves(ty);
                let first = base(summary, access).and_then(|base| leaves.iter().find(|leaf| leaf.offset == base));
                let Some(prefix) = first.and_then(|leaf| leaf.path.strip_suffix("[0]")) else { continue };
                let index = |path: &str| path.strip_prefix(prefix)?.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
                let mut length = 0;
                for leaf in leaves.iter().filter(|leaf| scalar_layout::range(leaf.scalar).is_some()) {
                    if let Some(index) = index(&leaf.path) {
                        length = length.max(index + 1);
                        found.elements.entry((position, leaf.offset)).or_insert((list, index));
                    }
                }
                found.ranks.extend(ranks(summary, access, length.min(DIMENSIONS)));
                let label = arg.display_name();
                found.names.insert((if prefix.is_empty() { label } else { format!("{label}.{prefix}") }, list));
            }
            ArgKind::Buffer { .. } if !scalars_in_buffers::is_given(arg, 0, u64::MAX) => {
                found.ranks.extend(ranks(summary, access, DIMENSIONS));
                found.buffers.entry(position).or_insert(list);
                found.names.insert((arg.display_name(), list));
            }
            _ => {}
        }
    }
    found
}

/// Whether the place of a read depends on the counter of a loop, directly or through another list, and on nothing that
/// differs between work-items.
fn is_counted(summary: &AccessSummary<'_>, access: &Access, depth: u32) -> bool {
    let program = summary.program;
    let Region::Argument(position) = access.region else { return false };
    let is_number = program.shape(access.id).is_int();
    if depth == 0 || !is_number || !summary.symbols.is_kept(position) || access.offset.as_constant().is_some() {
        return false;
    }
    let is_list = |value: &ValueId| {
        let mut reads = summary.accesses.iter().filter(|a| a.id == *value && a.kind == AccessKind::Read);
        reads.any(|read| is_counted(summary, read, depth - 1))
    };
    let is_scalar = |value: &ValueId| summary.symbols.poly(*value).atoms().all(|atom| matches!(atom, Atom::Arg(..)));
    let is_id = |base: &str| matches!(id_of(base), Some(Id::Global | Id::Local | Id::Group));
    let is_of_item = |value: &ValueId| {
        program.instruction(*value).is_some_and(|i| match &i.op {
            Op::Call(_, base) => is_id(base),
            Op::Load => !is_scalar(value) && !is_list(value),
            Op::AtomicRmw(_) | Op::CompareExchange => true,
            _ => false,
        })
    };
    let sources = summary.sources(access.pointer);
    sources.iter().any(|value| program.is_counter(*value) || is_list(value)) && !sources.iter().any(is_of_item)
}

/// Returns the scalars that say how many elements of a list a loop reads: those at which its counter begins or ends.
fn ranks(summary: &AccessSummary<'_>, access: &Access, most: u64) -> Vec<Rank> {
    let program = summary.program;
    let counters = summary.sources(access.pointer).into_iter().filter(|value| program.is_counter(*value));
    let mut numbers: Vec<Poly> = Vec::new();
    for counter in counters {
        // Upwards to a number of dimensions, or downwards from the last one.
        numbers.extend(summary.bounds.get(&Atom::Value(counter)).into_iter().flatten().cloned());
        let (Some(phi), Some(here)) = (program.instruction(counter), program.block_of(counter)) else { continue };
        let Op::Phi(from) = &phi.op else { continue };
        let starts = phi.operands.iter().zip(from).filter(|(_, block)| !program.dominates(here, **block));
        numbers.extend(starts.map(|(value, _)| summary.symbols.poly(*value).add(&Poly::constant(1))));
    }
    let of = |number: Poly| {
        let scalar = number.atoms().find(|atom| matches!(atom, Atom::Arg(..)))?;
        let (coefficient, rest) =
            number.linear_in(scalar).filter(|(n, rest)| *n > 0 && rest.as_constant().is_some())?;
        Some(Rank { scalar, coefficient, rest, most })
    };
    numbers.into_iter().filter_map(of).collect()
}

/// Returns where the array that an access indexes begins in its argument.
fn base(summary: &AccessSummary<'_>, access: &Access) -> Option<u64> {
    let instruction = summary.program.instruction(access.pointer)?;
    let Op::Address { offset, .. } = &instruction.op else { return None };
    let start = summary.symbols.address(instruction.operands[0]).offset.as_constant()?;
    u64::try_from(start + i128::from(*offset)).ok()
}

/// Returns what the elements are that a load takes out of a list: sizes, by which something is divided and goes on
/// with the quotient, or strides, which coordinates are multiplied by, or of which the remainder goes on.
fn kind(summary: &AccessSummary<'_>, load: ValueId) -> Option<List> {
    let program = summary.program;
    let own = Poly::atom(Atom::Value(load));
    let is_own =
        |value: Option<&ValueId>| value.is_some_and(|v| program.shape(*v).is_int() && summary.symbols.poly(*v) == own);
    let goes_on = |value: ValueId| {
        program.instructions().any(|(_, i)| {
            let taken = |operand: &ValueId| {
                *operand == value || summary.symbols.poly(*operand) == Poly::atom(Atom::Value(value))
            };
            matches!(i.op, Op::Phi(_)) && program.shape(i.result).is_int() && i.operands.iter().any(taken)
        })
    };
    let (mut divides, mut remains, mut multiplies) = (None, None, false);
    for (_, instruction) in program.instructions() {
        let Op::Binary(opcode) = &instruction.op else { continue };
        match opcode {
            Opcode::LLVMSDiv | Opcode::LLVMUDiv if is_own(instruction.operands.get(1)) => {
                divides = divides.max(Some(goes_on(instruction.result)));
            }
            Opcode::LLVMSRem | Opcode::LLVMURem if is_own(instruction.operands.get(1)) => {
                remains = remains.max(Some(goes_on(instruction.result)));
            }
            Opcode::LLVMMul => {
                multiplies |= is_own(instruction.operands.first()) || is_own(instruction.operands.get(1))
            }
            _ => {}
        }
    }
    match (divides, remains) {
        (Some(true), _) => Some(List::Sizes),
        (_, Some(true)) => Some(List::Strides),
        (None, None) if multiplies => {
            let is_address = |access: &&Access| access.id != load && summary.sources(access.pointer).contains(&load);
            summary.accesses.iter().find(is_address).map(|_| List::Strides)
        }
        (None, None) => None,
        _ => Some(List::Sizes),
    }
}
