//! `kassay check`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Header, Location};
use crate::suite::faults::FaultClass;
use crate::suite::schedule::Schedule;

/// What `kassay check` found: races, barriers that diverge, memory faults, barriers that nothing needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    pub verdict: Verdict,
    /// What the verdict stands for, of the explored inputs.
    pub holds_for: HoldsFor,
    /// Why it does not hold for all interleavings, a sentence each.
    pub holds_for_because: Vec<String>,
    /// Races first, then divergences, faults, and what is no complaint; in the order of the source.
    pub findings: Vec<Finding>,
    /// What was run.
    pub inputs: Vec<Input>,
    /// Every barrier that some work-item could reach.
    pub barriers: Vec<Barrier>,
    /// Null with `--no-amplify`.
    pub amplification: Option<Amplification>,
    pub summary: Summary,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl CheckResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.check/1";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least one input completed, and nothing was found but redundant barriers and reads of uninitialised memory.
    Clean,
    Racy,
    Divergent,
    /// An access out of bounds, through a null pointer, to read-only memory or misaligned; a division that traps; no end.
    MemoryFault,
    /// No input completed, and nothing was found.
    Unknown,
}

impl Verdict {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Racy => "racy",
            Verdict::Divergent => "divergent",
            Verdict::MemoryFault => "memory-fault",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Which interleavings of an explored input a verdict stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoldsFor {
    AllInterleavings,
    ExploredSchedules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    DataRace,
    BarrierDivergence,
    OutOfBounds,
    NullAccess,
    ReadOnlyWrite,
    Misaligned,
    Division,
    NonTermination,
    /// A read of local memory that no work-item of the group has written.
    Uninitialised,
    RedundantBarrier,
}

impl FindingKind {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::DataRace => "data-race",
            FindingKind::BarrierDivergence => "barrier-divergence",
            FindingKind::OutOfBounds => FaultClass::OutOfBounds.name(),
            FindingKind::NullAccess => FaultClass::NullAccess.name(),
            FindingKind::ReadOnlyWrite => FaultClass::ReadOnlyWrite.name(),
            FindingKind::Misaligned => FaultClass::Misaligned.name(),
            FindingKind::Division => FaultClass::Division.name(),
            FindingKind::NonTermination => FaultClass::NonTermination.name(),
            FindingKind::Uninitialised => FaultClass::Uninitialised.name(),
            FindingKind::RedundantBarrier => "redundant-barrier",
        }
    }
}

/// Who takes part in a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    IntraGroup,
    InterGroup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    Global,
    Local,
    Private,
    Constant,
    Image,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    Read,
    Write,
    Atomic,
}

/// One thing to know about the kernel. Keys that a kind does not have are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    /// Of races.
    pub scope: Option<Scope>,
    /// Where the memory lies that was accessed.
    pub memory: Option<Memory>,
    /// The argument's or variable's name.
    pub variable: Option<String>,
    /// Which element of it, of the example; negative: before its beginning.
    pub index: Option<i64>,
    /// Out of bounds: true if the index leaves an inner array (a row, a member of a struct), and the access may stay in the object around it.
    pub within_object: Option<bool>,
    /// Of races: both write, and whenever they met they wrote equal values.
    pub benign: bool,
    /// Races: at how many elements; divergences: in how many work-groups; else how often. All inputs together.
    pub count: u64,
    /// The example. Races have two; what is no access (a barrier, a division, a loop) has no mode.
    pub accesses: Vec<Access>,
    /// Of divergences: the work-items that had finished while others waited.
    pub finished: Option<Items>,
    /// Of divergences: the branch or loop that sent the work-items different ways, as far as it can be told.
    pub branch: Option<Branch>,
    /// What it means for the reader, in a sentence.
    pub message: String,
    /// The name of the input that shows it; of several the first.
    pub input: Option<String>,
    /// How many inputs show it.
    pub inputs: u64,
    /// The schedule that shows it; empty: the natural one.
    pub schedule: Schedule,
    /// Of races: two schedules after which the outputs differ.
    pub witness: Option<Witness>,
    /// The suite file that shows it again, with `--reproduce`.
    pub reproduction: Option<String>,
}

/// An access of a work-item, or a place where work-items wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// The function it stands in.
    pub function: String,
    /// The calls that lead there, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_from: Vec<Location>,
    pub mode: Option<Mode>,
    pub global_id: Option<[u64; 3]>,
    pub group_id: Option<[u64; 3]>,
    /// The builtin that makes the access, or that the work-items wait at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Bytes accessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// Of barriers: how many work-items wait there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// Work-items of a group, and one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Items {
    pub items: u64,
    pub global_id: Option<[u64; 3]>,
}

/// A branch or loop.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    #[serde(flatten)]
    pub location: Location,
    /// `if`, `switch`, `?:`, `for`, `while`, `do`; `branch` where the IR does not tell.
    pub construct: String,
}

/// Two schedules of an input after which an output differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Witness {
    pub schedules: [Schedule; 2],
    /// The argument's name, or its position.
    pub argument: String,
    /// The first element that differs, and its field or lane.
    pub index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// After each of the schedules.
    pub values: [String; 2],
}

/// A launch that was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    pub name: String,
    /// `suite`, `generated`, `solved` or `evolved`.
    pub origin: String,
    pub global: Vec<u64>,
    pub local: Vec<u64>,
    pub work_groups: u64,
    /// Null: all of them; else how many of them were run, of a launch that is too large to be watched as a whole.
    pub groups_run: Option<u64>,
    /// Whether every work-item came to its end.
    pub completed: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many findings it shows.
    pub findings: u64,
    /// The schedule it ran under; empty: the natural one.
    #[serde(default, skip_serializing_if = "Schedule::is_natural")]
    pub schedule: Schedule,
    /// What was assumed in making it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// Distinct accessed addresses by the threads that access them (SIMULEE 3.1), with `--evolve`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<f64>,
}

/// A barrier of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Barrier {
    #[serde(flatten)]
    pub location: Location,
    pub function: String,
    pub builtin: String,
    /// In how many of the explored inputs some work-item came there.
    pub reached: u64,
    /// Whether no finding appears if it is ignored, in any explored input; null: not tried.
    pub redundant: Option<bool>,
    /// How many findings appear if it is ignored, or why that was not tried.
    pub reason: String,
}

/// For which values of which arguments `clean` holds (LEUNG 3 and 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amplification {
    /// Whether no contents of a buffer or image have a say in addresses, guards of accesses or barriers.
    pub access_invariant: bool,
    /// Inputs for all values of which a clean verdict holds: `n`, a value; `x[]`, the contents of a buffer.
    pub holds_for_all_values_of: Vec<String>,
    /// Inputs that have a say in addresses, guards of accesses or barriers.
    pub property_integrity_inputs: Vec<String>,
    /// What each of those has a say in, and where.
    pub why_not: Vec<String>,
}

/// Numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// By kind.
    pub findings: BTreeMap<String, u64>,
    pub inputs: u64,
    pub completed: u64,
    /// Launches in all, also those that looked for redundant barriers and for schedules.
    pub launches: u64,
    /// Barriers that may be ignored.
    pub redundant_barriers: u64,
    pub barriers: u64,
}
