//! An interpreted work-item: its values and its path.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::memory::{MemoryBlock, Writer};
use super::trace::PathStep;
use super::value::Lane;
use crate::program::machine::WorkItem;
use crate::solve::expression::Term;

/// Which of a work-item's values are kept as terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// None.
    Concrete,
    /// Arguments and buffer contents.
    Data,
    /// Ids and sizes as well.
    Full,
}

/// State of a work-item that has not left its first block.
pub const START: u32 = u32::MAX;

/// An interpreted work-item.
pub type Item = WorkItem<Lane, ItemData>;

/// What the interpreter keeps of a work-item besides its values.
pub struct ItemData {
    pub mode: Mode,
    /// State in the product graph at the end of the previous block, and the successor taken from there.
    pub graph_state: u32,
    pub successor_taken: u32,
    /// By region.
    pub private_memory: HashMap<u64, MemoryBlock>,
    /// Position among the traced work-items.
    pub number: u32,
    /// Number among all work-items of the launch, from 1.
    pub serial: u64,
    pub hash: u64,
    pub visited: Vec<u32>,
    pub path: Vec<PathStep>,
    /// By step: the hash of the path that led to it.
    pub prefix_hashes: Vec<u64>,
    /// By step: the state in which it was taken.
    pub states: Vec<u32>,
    pub chosen: BTreeMap<usize, Vec<Term>>,
    /// Conditions that the path contains already.
    pub pinned: HashSet<Term>,
    pub depends: BTreeMap<u32, u32>,
    /// First step of the path that requires the absence of a fault and does not hold.
    pub fault: Option<usize>,
}

impl ItemData {
    /// Creates the data of a work-item that has not started.
    pub fn new(mode: Mode, number: u32, serial: u64) -> ItemData {
        ItemData {
            mode,
            graph_state: START,
            successor_taken: 0,
            private_memory: HashMap::new(),
            number,
            serial,
            hash: 0,
            visited: Vec::new(),
            path: Vec::new(),
            prefix_hashes: Vec::new(),
            states: Vec::new(),
            chosen: BTreeMap::new(),
            pinned: HashSet::new(),
            depends: BTreeMap::new(),
            fault: None,
        }
    }

    /// The author of a store made now, if the work-item is traced.
    pub fn writer(&self) -> Option<Writer> {
        (self.mode != Mode::Concrete).then_some(Writer { item: self.number, length: self.path.len() as u32 })
    }

    /// Appends a step to the path.
    pub fn step(&mut self, step: PathStep) {
        self.path.push(step);
        self.prefix_hashes.push(self.hash);
        self.states.push(self.graph_state);
    }

    /// Appends a condition that an access relies on, unless the path contains it already.
    pub fn pin(&mut self, condition: Option<Term>) {
        if let Some(condition) = condition
            && self.pinned.insert(condition)
        {
            self.step(PathStep::Pin(condition));
        }
    }

    /// Records that a value comes from another work-item.
    pub fn depend(&mut self, writer: Option<Writer>) {
        let Some(writer) = writer.filter(|w| w.item != self.number) else { return };
        let known = self.depends.entry(writer.item).or_insert(0);
        if *known <= writer.length {
            *known = writer.length + 1;
            self.step(PathStep::Depends { item: writer.item, length: writer.length });
        }
    }
}
