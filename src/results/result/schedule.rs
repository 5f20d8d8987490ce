//! The result of `kassay schedule`.

use kassay_suite::schedule::Preemption;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;
use super::set::{InSet, SetResult};

/// The result of `kassay schedule`: whether outputs depend on the order of work-groups and work-items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Requested number of schedules per test.
    pub schedules: u64,
    /// Runs of each schedule.
    pub repeats: u64,
    /// The tests, in suite order; with `--replay` only the one to which the schedule belongs.
    pub tests: Vec<Test>,
    /// Numbers of tests by verdict.
    pub summary: Summary,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl ScheduleResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.schedule/2";

    /// The value of `schema` in results of the previous version, which are still read: there, `faulted` is `fault`.
    pub const SCHEMA_1: &'static str = "kassay.schedule/1";
}

/// The result of `kassay schedule` for several kernels.
pub type ScheduleSet = SetResult<ScheduleResult, Summary>;

impl InSet for ScheduleResult {
    type Total = Summary;
    type Sum = Summary;

    const COMMAND: &'static str = "schedule";
    const SET_SCHEMA: &'static str = "kassay.schedule-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn findings(&self) -> Vec<String> {
        let bad = self.summary.total - self.summary.stable;
        (bad > 0).then(|| format!("{bad} of {} tests are not stable", self.summary.total)).into_iter().collect()
    }

    fn add_to(&self, sum: &mut Summary) {
        let own = &self.summary;
        *sum = Summary {
            total: sum.total.saturating_add(own.total),
            stable: sum.stable.saturating_add(own.stable),
            order_dependent: sum.order_dependent.saturating_add(own.order_dependent),
            nondeterministic: sum.nondeterministic.saturating_add(own.nondeterministic),
            failed: sum.failed.saturating_add(own.failed),
        };
    }

    fn total_of(sum: &Summary) -> Summary {
        *sum
    }
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
    /// Name of the test.
    pub name: String,
    /// Whether its outputs depend on the schedule.
    pub verdict: Verdict,
    /// Number of work-groups of the launch.
    pub work_groups: u64,
    /// The schedules and their outcomes; the others are compared with the first.
    pub schedules: Vec<Ran>,
    /// The first difference in each output, per pair of schedules found to differ in it.
    pub differing_outputs: Vec<Difference>,
}

/// How a run under a schedule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// The launch ran to completion.
    Completed,
    /// The launch exceeded the time limit and was stopped.
    Timeout,
    /// The kernel or the driver took its process down, or the device stopped the launch.
    Crashed,
    /// The device or the simulator refused the launch.
    Rejected,
    /// Work-items wait at a barrier that others never reach.
    Divergence,
    /// A check of the simulator failed.
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
    /// Interruptions of work-items; empty: none.
    pub preemptions: Vec<Preemption>,
    /// Seed from which it was drawn; null if it is not random.
    pub seed: Option<u64>,
    /// `completed`, or the end of the first run that did not.
    pub status: RunStatus,
    /// Explanation of a status other than `completed`.
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
    /// Number of elements compared.
    pub elements: u64,
}

/// Numbers of tests by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// All tests.
    pub total: u64,
    /// Tests with the same outputs after every run of every schedule.
    pub stable: u64,
    /// Tests whose outputs differ between schedules, or of which only some schedules complete.
    pub order_dependent: u64,
    /// Tests whose outputs differ between runs of one schedule.
    pub nondeterministic: u64,
    /// Tests of which no run completed.
    pub failed: u64,
}
