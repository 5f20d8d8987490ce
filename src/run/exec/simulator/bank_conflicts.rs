//! Measures bank conflicts of local memory: how many different words the work-items of a wavefront ask one bank for at
//! once, where a device serves one word of each bank at a time.
//!
//! Work-items run one after another here. At once is what those of a wavefront make as their n-th execution of a site
//! since they last waited for each other. An access of several words is made by as many work-items at once as fill all
//! banks.

use std::collections::BTreeMap;
use std::fmt;

use kassay_base::error::Result;
use kassay_model::native::table::Space;
use rustc_hash::FxHashMap;

use super::observer::Observer;
use super::program::Site;
use super::shadow::{Accessor, Area, Memory, Place};

/// Work-items of a wavefront, which follow each other by their local linear ids.
const LANES: u32 = 32;
const BANKS: u64 = 32;
/// Bytes of a word of a bank.
const WORD: u64 = 4;
/// Executions of a site by a work-item between two barriers that are looked at.
const MOST: u32 = 1 << 12;

/// What accesses of wavefronts cost at a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BankConflicts {
    /// The largest number of words that one bank was asked for at once: 1 without conflicts.
    pub degree: u64,
    /// Number of accesses of a wavefront that asked a bank for more than one.
    pub conflicting: u64,
    /// Number of all accesses of wavefronts.
    pub accesses: u64,
}

impl BankConflicts {
    /// Adds what was measured elsewhere.
    pub fn add(&mut self, other: BankConflicts) {
        self.degree = self.degree.max(other.degree);
        self.conflicting += other.conflicting;
        self.accesses += other.accesses;
    }
}

impl fmt::Display for BankConflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BankConflicts { degree, conflicting, accesses } = self;
        write!(
            f,
            "up to {degree}-way bank conflicts of local memory, in {conflicting} of {accesses} accesses of wavefronts"
        )
    }
}

/// A word that part of a wavefront asks for: the part, the bank, and what tells it from others of that bank.
type Word = (u32, u64, u32, u64);

/// A group, since its last barrier.
#[derive(Debug, Default)]
struct Interval {
    /// By site and work-item: how often it executed the site.
    executions: FxHashMap<(u32, u32), u32>,
    /// By site, wavefront and number of the execution: what it asks for.
    words: FxHashMap<(u32, u32, u32), Vec<Word>>,
}

/// Counts the conflicts of launches.
#[derive(Debug, Default)]
pub struct BankConflictCounter {
    /// By object.
    is_local: Vec<bool>,
    /// By slot.
    groups: Vec<Interval>,
    /// By access site.
    sites: BTreeMap<u32, BankConflicts>,
}

impl BankConflictCounter {
    /// What was measured, by access site.
    pub fn sites(&self) -> impl Iterator<Item = (u32, BankConflicts)> {
        self.sites.iter().map(|(site, conflicts)| (*site, *conflicts))
    }
}

impl Observer for BankConflictCounter {
    fn begin(&mut self, areas: &[Area], _items: u64) -> Result<()> {
        self.is_local = areas.iter().map(|area| area.memory == Memory::Local).collect();
        self.groups.clear();
        Ok(())
    }

    fn watches(&self, site: &Site) -> bool {
        matches!(site.space, Space::Local | Space::Generic)
    }

    fn begin_group(&mut self, slot: u32, _group: u64) -> Result<()> {
        let count = self.groups.len().max(slot as usize + 1);
        self.groups.resize_with(count, Interval::default);
        Ok(())
    }

    fn access(&mut self, by: Accessor, site: u32, place: Place, bytes: u64) {
        let is_local = self.is_local.get(place.object as usize).copied().unwrap_or(false);
        let words = bytes.div_ceil(WORD).next_power_of_two();
        let Some(group) = self.groups.get_mut(by.slot as usize).filter(|_| is_local && words <= BANKS) else { return };
        let executions = group.executions.entry((site, by.item)).or_default();
        if *executions == MOST {
            return;
        }
        let asked = group.words.entry((site, by.item / LANES, *executions)).or_default();
        *executions += 1;
        let part = by.item % LANES / (BANKS / words) as u32;
        let words = place.offset / WORD..(place.offset + bytes).div_ceil(WORD);
        asked.extend(words.map(|word| (part, word % BANKS, place.object, word)));
    }

    fn barrier(&mut self, slot: u32, _flags: u32) {
        let Some(group) = self.groups.get_mut(slot as usize) else { return };
        group.executions.clear();
        for ((site, ..), mut asked) in group.words.drain() {
            asked.sort_unstable();
            asked.dedup();
            let degree = asked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(|of_bank| of_bank.len() as u64).max();
            let degree = degree.unwrap_or(0);
            let access = BankConflicts { degree, conflicting: u64::from(degree > 1), accesses: 1 };
            self.sites.entry(site).or_default().add(access);
        }
    }

    fn end_group(&mut self, slot: u32) {
        self.barrier(slot, 0);
    }
}
