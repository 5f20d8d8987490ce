//! `kassay schedule`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;
use crate::suite::schedule::Preemption;

/// Whether outputs depend on the order in which work-groups and work-items run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleResult {
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Schedules per test asked for.
    pub schedules: u64,
    /// Runs of each.
    pub repeats: u64,
    pub tests: Vec<Test>,
    pub summary: Summary,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl ScheduleResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.schedule/2";

    /// What `schema` says in results of the version before, which are still read: there, `faulted` is `fault`.
    pub const SCHEMA_1: &'static str = "kassay.schedule/1";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same outputs after every run of every schedule.
    Stable,
    /// Outputs differ between schedules.
    OrderDependent,
    /// Outputs differ between repeats of one schedule.
    Nondeterministic,
    /// No run of any schedule completed.
    Failed,
}

impl Verdict {
    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Stable => "stable",
            Verdict::OrderDependent => "order-dependent",
            Verdict::Nondeterministic => "nondeterministic",
            Verdict::Failed => "failed",
        }
    }
}

/// A test under several schedules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    pub name: String,
    pub verdict: Verdict,
    pub work_groups: u64,
    pub schedules: Vec<Ran>,
    /// The first difference of every output that differs, per pair of schedules that was seen to differ in it.
    pub differing_outputs: Vec<Difference>,
}

/// How a run under a schedule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    Completed,
    Timeout,
    Crashed,
    Rejected,
    /// Work-items wait at a barrier that others never reach.
    Divergence,
    /// A check of the simulator found something.
    #[serde(alias = "fault")]
    Faulted,
}

impl RunStatus {
    /// Returns the word that results and reports use.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Completed => "completed",
            RunStatus::Timeout => "timeout",
            RunStatus::Crashed => "crashed",
            RunStatus::Rejected => "rejected",
            RunStatus::Divergence => "divergence",
            RunStatus::Faulted => "faulted",
        }
    }
}

/// A schedule and how its runs ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// Through the whole result.
    pub index: u64,
    /// `natural`, `suite`, `one-group-first`, `permutation`, `item-order`, `preemption`, `directed`, `recorded`.
    pub family: String,
    /// The n-th launched group does the work of group `map[n]` (linear numbers, dimension 0 fastest); empty: ascending.
    pub map: Vec<u32>,
    /// The order of the items of each group, by local linear id; empty: ascending.
    pub item_order: Vec<u32>,
    pub preemptions: Vec<Preemption>,
    /// What it was drawn with; null: nothing about it is random.
    pub seed: Option<u64>,
    /// `completed`, or how the first run ended that did not.
    pub status: RunStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many different outcomes its runs had.
    pub outcomes: u64,
    /// A number of the outputs: schedules with the same left the same outputs. That of the first run that completed.
    pub outcome: Option<u64>,
    /// Seconds on the device, the median of the runs.
    pub kernel_s: Option<f64>,
}

/// An output that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The argument's name, or its position.
    pub argument: String,
    /// Of the schedules; equal: repeats of one.
    pub schedules: [u64; 2],
    /// The first element that differs, and its field or lane.
    pub index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// After each of the schedules.
    pub values: [String; 2],
    /// Elements that differ.
    pub mismatches: u64,
    pub elements: u64,
}

/// Tests by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub total: u64,
    pub stable: u64,
    pub order_dependent: u64,
    pub nondeterministic: u64,
    pub failed: u64,
}
