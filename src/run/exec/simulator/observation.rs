//! Defines the observations of the simulator beyond outputs: conflicting accesses, divergent barriers, faults. Site
//! numbers are indices into the parts of [`kassay_model::native::table::NativeTable`].

use std::time::{Duration, Instant};

use kassay_model::native::table::Mode;
use kassay_suite::faults::FaultClass;
use kassay_suite::schedule::Schedule;

pub use super::events::ListDifference;
use crate::exec::Observation;

/// How to run a launch on the simulator.
#[derive(Debug, Clone, Default)]
pub struct SimulationOptions {
    /// The order of work-groups and work-items.
    pub schedule: Schedule,
    /// Detect races (the code must be instrumented for it).
    pub races: bool,
    /// Sources of barriers ([`kassay_model::native::table::BarrierSite::source`]) that order no memory in this run;
    /// work-items still wait there.
    pub ignored_barriers: Vec<u32>,
    /// The maximum number of loop iterations of a work-item; `None`: as many as the time allows.
    pub fuel: Option<u64>,
    /// Words of the probe buffer; `None` if the kernel has none.
    pub probe_words: Option<u64>,
    /// End the launch at the first access out of bounds or bad division.
    pub halts: bool,
    /// The caller's deadline: the launch ends there, which is no fault of the kernel ([`Simulation::cut_short`]).
    /// `None`: only the limit of the launch itself ends it.
    pub deadline: Option<Instant>,
    /// A word of the probe buffer that ends the launch once it is not 0, when a work-item next ends or synchronises.
    pub decisive: Option<u32>,
    /// Linear numbers of the work-groups to run, ascending; empty: all. Requires `races`.
    pub groups: Vec<u64>,
    /// End the launch at the first conflict and report only that there is one ([`Simulation::conflicted`]);
    /// requires `races`.
    pub first_conflict: bool,
    /// With `races`: so many consecutive work-items of a group, at most 64, make each access in lockstep.
    pub lockstep: Option<u32>,
}

/// One access of one work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// Index into [`kassay_model::native::table::NativeTable::accesses`].
    pub site: u32,
    /// What it does.
    pub mode: Mode,
    /// Global id of the work-item.
    pub global_id: [u64; 3],
    /// Id of its work-group.
    pub group_id: [u64; 3],
    /// The number of accesses to global and local memory that the work-item had made before: the point at which a
    /// schedule can interrupt it.
    pub number: u64,
}

/// Two accesses to the same bytes that nothing orders, at least one of them a write. There is one entry per pair of
/// sites and scope (within a group, between groups).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// An example: the first conflict of these sites that was observed.
    pub accesses: [Access; 2],
    /// Number in the table; arguments are objects by position.
    pub object: u32,
    /// Byte offset in the object.
    pub offset: u64,
    /// Whether the accesses belong to different work-groups.
    pub inter_group: bool,
    /// Whether both accesses write, and wrote equal values whenever they conflicted.
    pub benign: bool,
    /// The number of cells (see [`kassay_model::native::table::NativeTable::granule`]) at which the sites conflicted; a
    /// lower bound if there are very many.
    pub count: u64,
}

/// Work-items of a group, or of the launch, that wait for others that will not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// Whether groups wait for each other: `waiting` and `finished` count work-items of the whole launch.
    pub is_of_grid: bool,
    /// Id of the work-group; of the first that waits.
    pub group_id: [u64; 3],
    /// Work-items by the barrier and iteration at which they wait; the entry with the most work-items comes first.
    pub waiting: Vec<Waiting>,
    /// How many work-items of the group have finished, and one of them.
    pub finished: u64,
    /// Global id of one that has finished; `None` if none has.
    pub finished_item: Option<[u64; 3]>,
}

/// Stands for different masks: no lane that waits names none.
pub const VARIOUS: u32 = 0;

/// Work-items that wait at the same barrier in the same iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The barrier site.
    pub barrier: u32,
    /// Hash of the iteration counts of the loops around the barrier.
    pub iteration: u64,
    /// For functions of warps: the lanes that they name; [`VARIOUS`] where they name different ones.
    pub mask: Option<u32>,
    /// The global id of one of them.
    pub item: [u64; 3],
    /// How many wait there.
    pub items: u64,
}

/// The kinds of faults that checks detect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// Outside the object.
    OutOfBounds,
    /// Beyond an array inside an object, such as a row or a member of a struct; the access may still lie within
    /// the object.
    BeyondInner,
    /// Beyond a row of an array of arrays, likewise: the access may still lie within the object.
    BeyondRow,
    /// A barrier with other flags than those of the first work-item of the group; the offset is the flags.
    BarrierFlags,
    /// An asynchronous copy whose arguments differ from those of the first work-item of the group.
    CopyArguments,
    /// A wait for events that differ from those of the first work-item of the group; the offset is a
    /// [`ListDifference`].
    EventLists,
    /// An asynchronous copy that its group has not waited for at its end.
    UnawaitedCopy,
    /// A function of warps with a mask that does not name the caller; the offset is the mask.
    OutsideMask,
    /// Within the first 4096 bytes of the address space.
    Null,
    /// A write to constant memory, or to a buffer that the host has made for reading only.
    ReadOnlyWrite,
    /// A read of a buffer that the host has made for writing only.
    WriteOnlyRead,
    /// At an address that is no multiple of the type's alignment.
    Misaligned,
    /// A read of local memory that no work-item of the group has written.
    Uninitialised,
    /// An integer division by zero, or of the least integer by -1.
    Division,
    /// Fuel or time ran out.
    NonTermination,
    /// An assertion failed, or the work-item came to another trap.
    Trap,
}

impl FaultKind {
    /// Returns whether the work-item continues after the fault, with the faulty operation skipped, replaced or noted.
    pub fn is_skipped(self) -> bool {
        !matches!(self, FaultKind::NonTermination | FaultKind::Trap) && self.class().is_some()
    }

    /// Returns the class of the fault; `None` if the work-items of a group disagree, because then no single one is at
    /// fault.
    pub fn class(self) -> Option<FaultClass> {
        match self {
            FaultKind::OutOfBounds | FaultKind::BeyondInner | FaultKind::BeyondRow => Some(FaultClass::OutOfBounds),
            FaultKind::BarrierFlags | FaultKind::CopyArguments | FaultKind::EventLists | FaultKind::OutsideMask => None,
            FaultKind::Null => Some(FaultClass::NullAccess),
            FaultKind::ReadOnlyWrite => Some(FaultClass::ReadOnlyWrite),
            FaultKind::WriteOnlyRead => Some(FaultClass::WriteOnlyRead),
            FaultKind::Misaligned => Some(FaultClass::Misaligned),
            FaultKind::UnawaitedCopy => Some(FaultClass::UnawaitedCopy),
            FaultKind::Uninitialised => Some(FaultClass::Uninitialised),
            FaultKind::Division => Some(FaultClass::Division),
            FaultKind::NonTermination => Some(FaultClass::NonTermination),
            FaultKind::Trap => Some(FaultClass::Assertion),
        }
    }
}

/// A fault that a check detected: one entry per kind and site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatorFault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Index into the part of the table that belongs to `kind`: accesses, divisions, traps, loops, or barriers (for
    /// what all work-items of a group or warp do together).
    pub site: u32,
    /// Global id of the first work-item that committed it.
    pub global_id: [u64; 3],
    /// Id of that work-item's work-group.
    pub group_id: [u64; 3],
    /// For accesses: the object, if the pointer belongs to one or lies near it, and the byte offset in it; negative if
    /// before it.
    pub object: Option<u32>,
    /// Byte offset in the object, see `object`.
    pub offset: i64,
    /// For accesses of memory: how many bytes the first one was of; 0 for others.
    pub bytes: u64,
    /// For images instead: the texel's coordinates; the layer comes after the other dimensions.
    pub texel: Option<[i64; 3]>,
    /// The least and the greatest offset of all occurrences; `None` if they concern different objects, or texels.
    pub span: Option<(i64, i64)>,
    /// For [`FaultKind::BeyondInner`] and [`FaultKind::BeyondRow`]: the index, and the number of elements of the array.
    pub inner: Option<(i64, u64)>,
    /// Total number of occurrences.
    pub count: u64,
}

impl SimulatorFault {
    /// A fault that happened once, somewhere: for tests of what is said of faults.
    pub fn of(kind: FaultKind) -> SimulatorFault {
        SimulatorFault {
            kind,
            site: 0,
            global_id: [0; 3],
            group_id: [0; 3],
            object: None,
            offset: 0,
            bytes: 0,
            texel: None,
            span: None,
            inner: None,
            count: 1,
        }
    }
}

/// What a launch did on the simulator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Simulation {
    /// Outputs, probe buffer, times and printed text.
    pub observation: Observation,
    /// Conflicting accesses that nothing orders; empty without [`SimulationOptions::races`].
    pub conflicts: Vec<Conflict>,
    /// Work-groups whose work-items could not synchronise.
    pub divergences: Vec<Divergence>,
    /// Faults, one entry per kind and site.
    pub faults: Vec<SimulatorFault>,
    /// Sources of barriers ([`kassay_model::native::table::BarrierSite::source`]) at which some work-item
    /// arrived, ascending.
    pub reached: Vec<u32>,
    /// Whether some accesses are ordered only because of the values that atomics happened to read: under another
    /// schedule they may conflict.
    pub depends_on_atomics: bool,
    /// Whether work-items synchronised without others of their group that had returned
    /// ([`kassay_model::native::abi::ItemContext::returned`]), which CUDA allows and OpenCL does not.
    pub went_without: bool,
    /// Whether lanes of a warp called its functions apart from each other, or named only some of them where that makes
    /// a difference, which CUDA allows, and OpenCL's sub-groups do not.
    pub was_apart: bool,
    /// Whether the answer to [`kassay_model::native::abi::warp::ACTIVE`] was asked for, which CUDA leaves open.
    pub asked_active: bool,
    /// Whether every work-item ran to its end.
    pub completed: bool,
    /// Whether [`SimulationOptions::deadline`] ended it.
    pub cut_short: bool,
    /// The loop ([`kassay_model::native::table::NativeTable::loops`]) in which a work-item was then, and its global id.
    pub cut_at: Option<(u32, [u64; 3])>,
    /// With [`SimulationOptions::first_conflict`]: whether there was a conflict. It ended the launch;
    /// the outputs are empty then, and [`Simulation::conflicts`] always.
    pub conflicted: bool,
    /// If the launch has too many work-items for race detection, or groups were chosen: the number of groups that were
    /// run. `None`: all were run.
    pub sampled: Option<u64>,
    /// Whether several threads shared the launch, so that another run of it may do something else.
    pub depends_on_threads: bool,
    /// Why the launch was not started: it exceeds what the simulator can run.
    pub rejected: Option<String>,
}

impl Simulation {
    /// How long the launch ran.
    pub fn time(&self) -> Duration {
        self.observation.kernel_times.first().copied().unwrap_or_default()
    }

    /// Returns whether the launch completed in spite of its faults, all of which could be skipped.
    pub fn is_tolerable(&self) -> bool {
        self.completed && self.divergences.is_empty() && self.faults.iter().all(|f| f.kind.is_skipped())
    }

    /// Returns whether the launch's own time limit ended it: nothing else keeps its work-items from their ends.
    pub fn ran_out_of_time(&self) -> bool {
        let ends = |fault: &SimulatorFault| !fault.kind.is_skipped() && fault.kind != FaultKind::NonTermination;
        let is_stopped = !self.completed && !self.cut_short && !self.conflicted && self.rejected.is_none();
        is_stopped && self.divergences.is_empty() && !self.faults.iter().any(ends)
    }
}
