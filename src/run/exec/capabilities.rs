//! What an executor can do besides running launches. Code that depends on it asks here, never which executor it is.

use kassay_model::code::Target;

/// What an executor can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The form of code that it loads.
    pub target: Target,
    /// The schedules in which it runs a launch.
    pub schedules: Schedules,
    /// What it checks while a kernel runs.
    pub checks: Checks,
    /// Whether it takes sweeps with a [`Batch`](super::Batch). Where a single launch costs little, they gain nothing.
    pub batches: bool,
    /// Whether it makes joint sweeps ([`super::JointSweep`]).
    pub joins: Joins,
    /// Whether its barriers, and functions of its sub-groups, wait for no work-item that has returned, as CUDA has it.
    pub skips_returned: bool,
    /// Whether all groups of a launch are active at the same time, so that they can wait for each other.
    pub whole_grids: bool,
    /// Whether it also loads the text of a kernel ([`Target::Source`]), which it compiles itself.
    pub compiles: bool,
}

/// Whether an executor makes joint sweeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Joins {
    /// It makes none.
    #[default]
    Never,
    /// It can, but gains nothing.
    IfAsked,
    /// Its device has room for thousands of runs at once.
    Always,
}

/// The schedules in which an executor can run a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Schedules {
    /// Only its own. Other orders of work-groups need a kernel that reads its ids through a map.
    #[default]
    Own,
    /// Any schedule that a suite can state, exactly.
    All,
}

/// What an executor checks while a kernel runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses out of bounds and other faults: they are skipped, and the launch goes on.
    pub faults: bool,
    /// Reads of memory that nothing has written.
    pub uninitialised: bool,
    /// Races and diverging barriers, in code that was lowered for it.
    pub races: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks = Checks { faults: true, uninitialised: true, races: true };
    /// No check.
    pub const NONE: Checks = Checks { faults: false, uninitialised: false, races: false };
}
