//! Leaves out accesses beside others that tell the same: what conflicts with a read conflicts with a write to the same
//! place, too, and one access in an interval between barriers stands for all.

use std::collections::HashMap;

use super::accesses::{Access, Barrier, Kind, Length};
use crate::llvm::{Block, Value};

/// Drops every access for which another one of its block stands that is made through the same pointer, is at least as
/// long, conflicts with as much, and is not divided from it by a barrier.
pub fn without<'m>(accesses: Vec<Access<'m>>, barriers: &[Barrier<'m>]) -> Vec<Access<'m>> {
    let mut dropped = vec![false; accesses.len()];
    let mut blocks: HashMap<Block<'m>, Vec<usize>> = HashMap::new();
    for (number, access) in accesses.iter().enumerate() {
        blocks.entry(access.inst.block()).or_default().push(number);
    }
    for (block, numbers) in blocks {
        // The intervals of the block, in the order of its instructions.
        let mut kept: HashMap<Value<'m>, usize> = HashMap::new();
        let mut next = numbers.into_iter().peekable();
        for inst in block.walk() {
            if barriers.iter().any(|barrier| barrier.inst == inst) {
                kept.clear();
            }
            while let Some(number) = next.next_if(|number| accesses[*number].inst == inst) {
                let access = &accesses[number];
                if access.index.is_some() {
                    continue;
                }
                match kept.get(&access.pointer).copied() {
                    Some(earlier) if stands_for(&accesses[earlier], access) => dropped[number] = true,
                    Some(earlier) => {
                        dropped[earlier] |= stands_for(access, &accesses[earlier]);
                        kept.insert(access.pointer, number);
                    }
                    None => drop(kept.insert(access.pointer, number)),
                }
            }
        }
    }
    let mut dropped = dropped.into_iter();
    accesses.into_iter().filter(|_| !dropped.next().unwrap_or(false)).collect()
}

/// Returns whether whatever conflicts with `other` conflicts with `one`; both are made through the same pointer.
fn stands_for(one: &Access<'_>, other: &Access<'_>) -> bool {
    let (Length::Fixed(one_size), Length::Fixed(other_size)) = (one.length, other.length) else { return false };
    let is_stronger = match (one.kind, other.kind) {
        (Kind::Write, _) | (Kind::Read, Kind::Read | Kind::AtomicRead) => true,
        (Kind::Atomic, other) => other.is_atomic(),
        (Kind::Exchange | Kind::AtomicRead, other) => other == Kind::AtomicRead,
        (Kind::Read, _) => false,
    };
    is_stronger && one_size >= other_size && one.targets.len() >= other.targets.len()
}
