//! An interpreted work-item: its values and its path.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::memory::{MemoryBlock, Writer};
use super::trace::PathStep;
use super::value::Value;
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

/// Progress of a work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Running,
    /// At the barrier in this block, at this position.
    Waiting(usize, usize),
    Done,
}

/// An interpreted work-item.
pub struct Item {
    pub values: Vec<Value>,
    pub block: usize,
    pub previous: usize,
    /// State in the product graph at the end of the previous block, and the successor taken from there.
    pub graph_state: u32,
    pub successor_taken: u32,
    pub index: usize,
    /// By region.
    pub private_memory: HashMap<u64, MemoryBlock>,
    pub state: State,
    pub local_id: [u64; 3],
    pub group_id: [u64; 3],
    pub mode: Mode,
    /// Position among the traced work-items.
    pub number: u32,
    /// Number among all work-items of the launch, from 1.
    pub serial: u64,
    pub steps: u64,
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

impl Item {
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
