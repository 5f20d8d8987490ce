//! `kassay generate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cover::Coverage;
use super::{Header, Location};

/// What `kassay generate` made of a kernel: a suite, what its tests cover, and the fate of every goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateResult {
    #[serde(flatten)]
    pub header: Header,
    /// Hash of all that goals and tests follow from.
    pub configuration: String,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Of the suite that was written.
    pub coverage: Coverage,
    /// In order of file, line, column.
    pub goals: Vec<Goal>,
    /// In the suite's order.
    pub tests: Vec<GeneratedTest>,
    pub summary: GenerateSummary,
    /// Where mutants are the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl GenerateResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.generate/1";
}

/// An outcome to be covered, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// The site's stable id, as `kassay cover` has it; absent for mutants.
    pub site: Option<String>,
    /// As in the results of `kassay cover`, such as `true` or `case 3`.
    pub outcome: Option<String>,
    /// The id of the mutant to be killed, where that is the goal.
    pub mutant: Option<String>,
    /// Such as `branch`.
    pub kind: String,
    #[serde(flatten)]
    pub location: Location,
    pub status: GoalStatus,
    /// What covered it.
    pub by: Option<By>,
    /// Why it is not covered.
    pub reason: Option<String>,
    /// How far the search went.
    pub bound: Option<String>,
    /// What a proof leans on besides OpenCL itself.
    pub preconditions: Vec<String>,
    /// Seconds from the beginning until it was decided.
    pub time_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalStatus {
    /// A test of the suite covers it.
    Covered,
    /// Only launches that fault came there; a test of the suite that allows it is one of them.
    CoveredWithFault,
    /// No launch can cover it: proved.
    Infeasible,
    /// No launch tells the mutant from the kernel: proved.
    Equivalent,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// One of the first launches.
    Seed,
    Fuzz,
    Smt,
}

/// A test of the suite that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratedTest {
    pub name: String,
    pub by: By,
    pub work_items: u64,
    pub work_groups: u64,
    /// Outcomes of branches, conditions, loops and barriers that it covers.
    pub covers: u64,
    /// What was assumed in making it.
    pub preconditions: Vec<String>,
}

/// Mutation scores in percent, as `kassay mutate` counts them; null where no mutant counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Of the suite that covers the branches, with which the search began.
    pub branch_suite: Option<f64>,
    /// Of the suite that was written.
    pub suite: Option<f64>,
}

/// Numbers of tests and of goals by status, and where the time went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSummary {
    pub tests: u64,
    /// Those of tests that do not fault.
    pub covered: u64,
    #[serde(default)]
    pub covered_with_fault: u64,
    pub infeasible: u64,
    /// Mutants only.
    #[serde(default)]
    pub equivalent: u64,
    pub unknown: u64,
    /// Launches made, those of minimising included.
    pub executions: u64,
    /// Of those: launches that did what no kernel may, or did not end; nothing of them is kept.
    pub faulted: u64,
    /// Seconds of seeds, fuzzing and minimising.
    pub fuzz_s: f64,
    /// Seconds of solving.
    pub smt_s: f64,
}
