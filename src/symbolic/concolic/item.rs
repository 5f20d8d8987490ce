//! A work-item that is interpreted: its values, and the path that it went.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::memory::{Block, Writer};
use super::trace::Entry;
use super::value::Value;
use crate::solve::expression::Term;

/// How much of a work-item's values is kept as terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    Concrete,
    /// Arguments and contents of buffers.
    Data,
    /// Ids and sizes too.
    Full,
}

/// The state of a work-item that has not left its first block.
pub const START: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Running,
    /// At the barrier of this block and position.
    Waiting(usize, usize),
    Done,
}

pub struct Item {
    pub values: Vec<Value>,
    pub block: usize,
    pub previous: usize,
    /// The state in which it was at the end of the last block, and how it left that.
    pub state_of: u32,
    pub way_out: u32,
    pub index: usize,
    /// By region.
    pub privates: HashMap<u64, Block>,
    pub state: State,
    pub local_id: [u64; 3],
    pub group_id: [u64; 3],
    pub mode: Mode,
    /// Its position among the items that are traced.
    pub number: u32,
    /// Among all of the launch, from 1.
    pub serial: u64,
    pub steps: u64,
    pub hash: u64,
    pub visited: Vec<u32>,
    pub path: Vec<Entry>,
    /// By step, the way that led there.
    pub ways: Vec<u64>,
    /// And the state in which it was taken.
    pub states: Vec<u32>,
    pub chosen: BTreeMap<usize, Vec<Term>>,
    /// What the path says already.
    pub said: HashSet<Term>,
    pub depends: BTreeMap<u32, u32>,
    /// The first step of the path that says of something that no kernel may that it is not done, though it is.
    pub fault: Option<usize>,
}

impl Item {
    /// Who stores now.
    pub fn writer(&self) -> Option<Writer> {
        (self.mode != Mode::Concrete).then_some(Writer { item: self.number, length: self.path.len() as u32 })
    }

    /// Adds a step to the path.
    pub fn step(&mut self, step: Entry) {
        self.path.push(step);
        self.ways.push(self.hash);
        self.states.push(self.state_of);
    }

    /// Adds what an access takes for granted.
    pub fn require(&mut self, condition: Option<Term>) {
        if let Some(condition) = condition
            && self.said.insert(condition)
        {
            self.step(Entry::Require(condition));
        }
    }

    /// Adds that a value comes from another work-item.
    pub fn depend(&mut self, writer: Option<Writer>) {
        let Some(writer) = writer.filter(|w| w.item != self.number) else { return };
        let known = self.depends.entry(writer.item).or_insert(0);
        if *known <= writer.length {
            *known = writer.length + 1;
            self.step(Entry::Depends { item: writer.item, length: writer.length });
        }
    }
}
