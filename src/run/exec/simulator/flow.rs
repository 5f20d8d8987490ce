//! Follows values through memory: which definition each use meets, for def-use coverage.
//!
//! Every cell of memory knows the access that defined it last, and by whom. A use looks that up. Cells are as small as
//! needed for accesses to cover whole ones; those of private memory are bytes. Local memory is undefined when a group
//! begins, and what the host has put into a buffer is a definition of its own.
//!
//! Not thread-safe: groups run one at a time, but may be interleaved (each in a slot of its own).

use std::collections::{BTreeSet, HashMap};

use kassay_base::error::Result;
use kassay_model::native::abi::flow::{DEFINES, FORGETS};
use kassay_model::native::table::{Relation, Space};

use super::observer::{Observer, SharedFlow};
use super::program::NONE;

/// A definition that reached a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// Number of the access that defined it; `None`: the host.
    pub definition: Option<u32>,
    /// Number of the access that used it.
    pub usage: u32,
    /// How the two are related.
    pub relation: Relation,
}

/// What a launch was seen to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flows {
    /// Numbers of the pairs of private variables that occurred, ascending.
    pub pairs: Vec<u32>,
    /// Definitions that reached a use through memory.
    pub memory: BTreeSet<Flow>,
}

/// Stands for all work-items of a group together.
pub const GROUP: u32 = u32::MAX;

/// The last definition of a cell of local or global memory.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The access; [`NONE`]: the cell has not been defined.
    access: u32,
    /// Local linear id of the work-item, or [`GROUP`].
    item: u32,
    /// Linear number of the group.
    group: u32,
    /// The group's interval between two barriers.
    epoch: u32,
}

const UNDEFINED: Cell = Cell { access: NONE, item: 0, group: 0, epoch: 0 };

/// The cells of an object, which are `1 << shift` bytes long.
#[derive(Debug)]
struct Cells {
    shift: u32,
    cells: Vec<Cell>,
}

/// Bytes of private memory whose cells are kept together.
const PAGE: u64 = 256;

/// The last definitions of a page of stacks: access, and number of the work-item in the launch.
type Page = Box<[(u32, u64); PAGE as usize]>;

/// The state of a run.
#[derive(Debug)]
pub struct FlowTracker {
    pairs: Vec<bool>,
    /// By address of the object.
    shared: HashMap<u64, Cells>,
    /// By address divided by [`PAGE`].
    private: HashMap<u64, Page>,
    /// By slot: the linear number of its group, and how many barriers have ordered local, and global, memory.
    slots: Vec<(u32, [u32; 2])>,
    found: Found,
}

/// What was seen of memory.
#[derive(Debug)]
struct Found {
    /// By access: what it met last.
    last: Vec<Option<Flow>>,
    all: BTreeSet<Flow>,
}

impl Found {
    fn note(&mut self, flow: Flow) {
        let Some(last) = self.last.get_mut(flow.usage as usize) else { return };
        if *last != Some(flow) {
            *last = Some(flow);
            self.all.insert(flow);
        }
    }
}

impl FlowTracker {
    /// Follows so many pairs of private variables, and accesses, that the code reports by their numbers.
    pub fn new(pairs: u32, accesses: u32) -> FlowTracker {
        FlowTracker {
            pairs: vec![false; pairs as usize],
            shared: HashMap::new(),
            private: HashMap::new(),
            slots: Vec::new(),
            found: Found { last: vec![None; accesses as usize], all: BTreeSet::new() },
        }
    }

    /// Returns what was seen.
    pub fn finish(self) -> Flows {
        let pairs = (0..).zip(&self.pairs).filter(|(_, seen)| **seen).map(|(number, _)| number).collect();
        Flows { pairs, memory: self.found.all }
    }
}

impl Observer for FlowTracker {
    fn begin_group(&mut self, slot: u32, group: u64) -> Result<()> {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, (0, [0; 2]));
        }
        self.slots[slot].0 = group as u32;
        Ok(())
    }

    fn barrier(&mut self, slot: u32, flags: u32) {
        let Some((_, epochs)) = self.slots.get_mut(slot as usize) else { return };
        for (bit, epoch) in epochs.iter_mut().enumerate() {
            *epoch = epoch.wrapping_add(flags >> bit & 1);
        }
    }

    fn pair(&mut self, number: u32) {
        if let Some(seen) = self.pairs.get_mut(number as usize) {
            *seen = true;
        }
    }

    fn private_flow(&mut self, item: u64, access: u32, flags: u32, address: u64, bytes: u64) {
        let mut met = NONE;
        for byte in address..address.saturating_add(bytes) {
            let page = self.private.entry(byte / PAGE).or_insert_with(|| Box::new([(NONE, 0); PAGE as usize]));
            let cell = &mut page[(byte % PAGE) as usize];
            if flags & DEFINES != 0 {
                *cell = (if flags & FORGETS != 0 { NONE } else { access }, item);
            } else if cell.0 != NONE && cell.1 == item && cell.0 != met {
                met = cell.0;
                self.found.note(Flow { definition: Some(met), usage: access, relation: Relation::Private });
            }
        }
    }

    fn shared_flow(&mut self, flow: &SharedFlow<'_>) {
        let SharedFlow { slot, item, access, flags, region, granule, offset, bytes } = *flow;
        let is_local = region.space == Space::Local;
        let Some((group, epochs)) = self.slots.get(slot as usize).copied() else { return };
        let now = Cell { access, item, group, epoch: epochs[usize::from(!is_local)] };
        let defines = flags & DEFINES != 0;
        let memory = region.base - region.start;
        let Some(known) = self.shared.get_mut(&memory) else {
            if defines {
                let shift = granule.max(1).ilog2();
                let cells = vec![UNDEFINED; ((region.start + region.bytes).div_ceil(1 << shift)) as usize];
                self.shared.insert(memory, Cells { shift, cells });
                self.shared_flow(flow);
            } else if !is_local {
                self.found.note(Flow { definition: None, usage: access, relation: Relation::HostToKernel });
            }
            return;
        };
        let first = (offset >> known.shift) as usize;
        let end = ((offset + bytes - 1) >> known.shift) as usize + 1;
        // Another part of the memory may go on further.
        if end > known.cells.len() {
            known.cells.resize(end, UNDEFINED);
        }
        if defines {
            known.cells[first..end].fill(now);
            return;
        }
        for cell in &known.cells[first..end] {
            if let Some((definition, relation)) = met(*cell, now, is_local) {
                self.found.note(Flow { definition, usage: access, relation });
            }
        }
    }
}

/// Returns which definition a use of a cell now meets, and how the two are related; `None` if the cell is undefined.
fn met(cell: Cell, now: Cell, is_local: bool) -> Option<(Option<u32>, Relation)> {
    // Local memory is another group's after that has ended.
    let is_defined = cell.access != NONE && (!is_local || cell.group == now.group);
    if !is_defined {
        return (!is_local).then_some((None, Relation::HostToKernel));
    }
    let relation = if cell.group != now.group {
        Relation::AcrossGroups
    } else if cell.item == now.item && now.item != GROUP {
        Relation::SameWorkItem
    } else if cell.epoch != now.epoch || cell.item == GROUP {
        // What a group has copied can be used after the wait for it, which no flags order.
        Relation::AcrossBarrier
    } else {
        Relation::WithinGroup
    };
    Some((Some(cell.access), relation))
}
