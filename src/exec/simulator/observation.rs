//! What the simulator sees beyond outputs: conflicting accesses, barriers that diverge, faults. Numbers of sites are indices into
//! the parts of [`crate::lower::host::table::HostTable`].

use std::time::Instant;

use super::compare::Compared;
pub use super::events::ListDifference;
use crate::exec::Observation;
use crate::lower::host::table::Mode;
use crate::suite::faults::FaultClass;
use crate::suite::schedule::Schedule;

/// How to run a launch on the simulator.
#[derive(Debug, Clone, Default)]
pub struct SimulationOptions {
    pub schedule: Schedule,
    /// Look for races (the code must be woven for it).
    pub races: bool,
    /// Sources of barriers ([`crate::lower::host::table::BarrierSite::source`]) that order no memory in this run: items still wait there.
    pub ignored_barriers: Vec<u32>,
    /// Loop iterations that a work-item may make in all; `None`: as many as the time allows.
    pub fuel: Option<u64>,
    /// Words of the probe buffer; `None`: the kernel has none.
    pub probe_words: Option<u64>,
    /// Also measure the footprint; goes with `races`.
    pub footprint: bool,
    /// End the launch at the first access out of bounds or bad division.
    pub halts: bool,
    /// How many comparisons the code tells of; what they showed is in [`Simulation::compared`].
    pub comparisons: u32,
    /// When the caller has no more time: the launch ends there, which is no fault of the kernel ([`Simulation::cut_short`]). `None`: only the
    /// limit of the launch itself ends it.
    pub deadline: Option<Instant>,
    /// End the launch at the first conflict and only say that there is one ([`Simulation::conflicted`]); goes with `races`.
    pub first_conflict: bool,
}

/// One access of one work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// Of [`crate::lower::host::table::HostTable::accesses`].
    pub site: u32,
    pub mode: Mode,
    pub global_id: [u64; 3],
    pub group_id: [u64; 3],
    /// How many accesses to global and local memory the item had made before: where a schedule can interrupt it.
    pub number: u64,
}

/// Two accesses to the same bytes that nothing orders, at least one of them a write: one entry per pair of sites, and per
/// scope (inside a group, between groups).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The example: of all with the same sites the first that was seen.
    pub accesses: [Access; 2],
    /// Of the table; arguments are objects by position.
    pub object: u32,
    /// Where in it, in bytes.
    pub offset: u64,
    /// Between different work-groups.
    pub inter_group: bool,
    /// Both write, and whenever they met they wrote equal values.
    pub benign: bool,
    /// At how many places (cells, see [`crate::lower::host::table::HostTable::granule`]) the sites met; a lower bound where there are very many.
    pub count: u64,
}

/// Work-items of a group that wait for others which will not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    pub group_id: [u64; 3],
    /// A barrier and who waits there: `(barrier site, iteration, global id of one item, how many items)`; the first entry is that of the
    /// barrier most items wait at.
    pub waiting: Vec<Waiting>,
    /// How many items of the group have finished, and one of them.
    pub finished: u64,
    pub finished_item: Option<[u64; 3]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub barrier: u32,
    pub iteration: u64,
    pub item: [u64; 3],
    pub items: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    OutOfBounds,
    /// Beyond an array that lies inside an object, such as a row or a member of a struct; the access itself may stay in the object.
    BeyondInner,
    /// An asynchronous copy with other arguments than those of the first work-item of the group.
    CopyArguments,
    /// A wait for other events than those of the first work-item of the group; the offset is a [`ListDifference`].
    EventLists,
    /// Within the first 4096 bytes of the address space.
    Null,
    /// Into constant memory or a `const`-qualified argument's buffer that the launch made read-only.
    ReadOnlyWrite,
    Misaligned,
    /// A read of local memory that no item of the group has written.
    Uninitialised,
    Division,
    /// Fuel or time ran out.
    NonTermination,
}

impl FaultKind {
    /// Whether a work-item goes on behind it, without what it was about to do.
    pub fn is_skipped(self) -> bool {
        !matches!(self, FaultKind::NonTermination | FaultKind::CopyArguments | FaultKind::EventLists)
    }

    /// Returns what a work-item did; `None` where the work-items of a group do not agree, so that none alone is at fault.
    pub fn class(self) -> Option<FaultClass> {
        match self {
            FaultKind::OutOfBounds | FaultKind::BeyondInner => Some(FaultClass::OutOfBounds),
            FaultKind::CopyArguments | FaultKind::EventLists => None,
            FaultKind::Null => Some(FaultClass::NullAccess),
            FaultKind::ReadOnlyWrite => Some(FaultClass::ReadOnlyWrite),
            FaultKind::Misaligned => Some(FaultClass::Misaligned),
            FaultKind::Uninitialised => Some(FaultClass::Uninitialised),
            FaultKind::Division => Some(FaultClass::Division),
            FaultKind::NonTermination => Some(FaultClass::NonTermination),
        }
    }
}

/// What a check stopped: one entry per kind and site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatorFault {
    pub kind: FaultKind,
    /// Of the table's part that belongs to `kind`: accesses, divisions, loops or barriers (of [`FaultKind::CopyArguments`] and [`FaultKind::EventLists`]).
    pub site: u32,
    pub global_id: [u64; 3],
    pub group_id: [u64; 3],
    /// Of accesses: the object, if the pointer belongs to one (or lies next to it), and where in it, in bytes; negative: before it.
    pub object: Option<u32>,
    pub offset: i64,
    /// Of images instead: the texel's numbers by dimension, layers behind the others.
    pub texel: Option<[i64; 3]>,
    /// The least and the greatest offset of all of them; `None` where they are about different objects, or texels.
    pub span: Option<(i64, i64)>,
    /// Of [`FaultKind::BeyondInner`]: the index, and how many elements the inner array has.
    pub inner: Option<(i64, u64)>,
    /// How often, in all.
    pub count: u64,
}

/// What a launch did on the simulator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Simulation {
    pub observation: Observation,
    pub conflicts: Vec<Conflict>,
    pub divergences: Vec<Divergence>,
    pub faults: Vec<SimulatorFault>,
    /// Sources of barriers ([`crate::lower::host::table::BarrierSite::source`]) at which some work-item arrived, ascending.
    pub reached: Vec<u32>,
    /// Whether some accesses are in order only because of what atomics happened to read: in another order they may conflict.
    pub leans_on_atomics: bool,
    /// If it was asked for.
    pub footprint: Option<Footprint>,
    /// By number, as many as were asked for.
    pub compared: Vec<Compared>,
    /// Whether every work-item came to its end.
    pub completed: bool,
    /// Whether [`SimulationOptions::deadline`] ended it.
    pub cut_short: bool,
    /// The loop ([`crate::lower::host::table::HostTable::loops`]) that a work-item was in then, and which one.
    pub cut_at: Option<(u32, [u64; 3])>,
    /// With [`SimulationOptions::first_conflict`]: whether there was one. It ended the launch; [`Simulation::conflicts`] and the
    /// outputs are empty.
    pub conflicted: bool,
    /// Of a launch with more work-items than races can be looked for: how many of its groups were run, a sample. `None`: all.
    pub sampled: Option<u64>,
    /// Why the launch was not begun: it is beyond what the simulator can run.
    pub rejected: Option<String>,
}

/// Addresses that a launch touched, for the search for inputs (SIMULEE 3.1): only global and local memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Footprint {
    /// Distinct cells that were accessed.
    pub addresses: u64,
    /// Sum over cells of how many work-items accessed it (at most 2 are told apart per cell).
    pub threads: u64,
    /// Distance between the lowest and the highest, in bytes, largest object.
    pub range: u64,
}
