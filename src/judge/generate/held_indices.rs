//! How much of a buffer the pointers in another one lead to, in generated launches ([`HeldIndex`]).

use kassay_model::interface::{HeldIndex, Interface};
use kassay_prove::program::{Kind, Op, Program};

use super::dry_run::Report;
use super::fill::gcd;
use super::index_patterns::{HeldIndices, IndexPattern};

/// Bytes for what each pointer points to until it is known how many it needs: at first, and at least.
const WIDE: u64 = 1 << 18;
const NARROW: u64 = 1 << 6;

/// Returns how many bytes each pointer gets until it is known how many it needs, the most first; nothing if no buffer
/// holds pointers.
pub fn sizes(interface: &Interface) -> Vec<u64> {
    let halved = |size: &u64| Some(size >> 4).filter(|size| *size > NARROW);
    let all = std::iter::successors((!interface.indices.is_empty()).then_some(WIDE), halved);
    all.map(|size| in_units(interface, size)).collect()
}

/// Returns the next size of which all that pointers point to is a part.
fn in_units(interface: &Interface, bytes: u64) -> u64 {
    let unit = interface.indices.iter().fold(1, |all, index| all / gcd(all, index.unit) * index.unit);
    bytes.next_multiple_of(unit)
}

/// Returns what the buffer at `position` holds, if there are `bytes` for what each pointer points to.
pub fn of(interface: &Interface, program: &Program, position: usize, bytes: u64) -> Vec<HeldIndices> {
    let mine = interface.indices.iter().filter(|index| index.parameter as usize == position);
    let pattern = |index: &HeldIndex| match index.leads_back() {
        true if asks_for_null(program) => IndexPattern::Lists,
        true => IndexPattern::Rings,
        false => IndexPattern::Apart(bytes / index.unit),
    };
    mine.map(|index| HeldIndices { offset: index.offset, pattern: pattern(index) }).collect()
}

/// Whether the kernel compares any pointer: what it asks then is where a list ends.
fn asks_for_null(program: &Program) -> bool {
    let is_pointer = |v: &u32| program.shape(*v).kind == Kind::Pointer;
    program.instructions().any(|(_, i)| matches!(i.op, Op::Compare(_)) && i.operands.iter().all(is_pointer))
}

/// Returns how many bytes each pointer needs, as a dry run shows that had more.
pub fn needed(interface: &Interface, report: &Report) -> u64 {
    let leads = interface.indices.iter().filter(|index| !index.leads_back());
    let most = leads.map(|index| report.args[index.into as usize].high_in_part).max().unwrap_or(0);
    in_units(interface, most.max(1).next_power_of_two())
}
