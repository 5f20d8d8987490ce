//! The result of `kassay schedule`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Device;
use crate::suite::schedule::Preemption;

/// The result of `kassay schedule`: whether outputs depend on the order of work-groups and work-items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleResult {
    /// `kassay.schedule/1`
    pub schema: String,
    /// Version of kassay.
    pub version: String,
    /// Name of the kernel function.
    pub kernel: String,
    /// Path of the kernel's file, as given.
    pub source: String,
    /// Device that ran the kernel.
    pub device: Option<Device>,
    pub seed: u64,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Requested number of schedules per test.
    pub schedules: u64,
    /// Runs of each schedule.
    pub repeats: u64,
    pub tests: Vec<Test>,
    pub summary: Summary,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl ScheduleResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.schedule/1";
}

/// The verdict on a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same outputs after every run of every schedule.
    Stable,
    /// Outputs differ between schedules, or only some schedules complete.
    OrderDependent,
    /// Outputs differ between repeats of one schedule.
    Nondeterministic,
    /// No run of any schedule completed.
    Failed,
}

impl Verdict {
    /// Returns the name as spelt in results.
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
    /// The first difference in each output, per pair of schedules found to differ in it.
    pub differing_outputs: Vec<Difference>,
}

/// A schedule and the outcome of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// Index, unique within the result.
    pub index: u64,
    /// `natural`, `suite`, `one-group-first`, `permutation`, `item-order`, `preemption`, `directed` or `recorded`.
    pub family: String,
    /// The n-th launched group does the work of group `map[n]` (linear numbers, dimension 0 fastest); empty: ascending.
    pub map: Vec<u32>,
    /// The order of the work-items of each group, by local linear id; empty: ascending.
    pub item_order: Vec<u32>,
    pub preemptions: Vec<Preemption>,
    /// Seed from which it was drawn; null if it is not random.
    pub seed: Option<u64>,
    /// `completed`, or the end of the first run that did not: `timeout`, `crashed`, `rejected`, `divergence`, `fault`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of different outcomes of its runs.
    pub outcomes: u64,
    /// Number of the first completed run's outputs; schedules with the same number left the same outputs.
    pub outcome: Option<u64>,
    /// Kernel time in seconds, median of the runs.
    pub kernel_s: Option<f64>,
}

/// An output that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Name of the argument, or its position.
    pub argument: String,
    /// Indices of the two schedules; equal for two runs of one schedule.
    pub schedules: [u64; 2],
    /// Index of the first element that differs.
    pub index: u64,
    /// Field or vector component that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Values after each of the two schedules.
    pub values: [String; 2],
    /// Number of elements that differ.
    pub mismatches: u64,
    pub elements: u64,
}

/// Numbers of tests by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub total: u64,
    pub stable: u64,
    pub order_dependent: u64,
    pub nondeterministic: u64,
    pub failed: u64,
}
