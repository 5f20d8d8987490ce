//! The result of `kassay generate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cover::Coverage;
use super::set::{InSet, SetResult};
use super::{Header, Location};

/// The result of `kassay generate`: the tests of the suite, their coverage, and the status of every goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Hash of everything that determines goals and tests.
    pub configuration: String,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Coverage of the suite written.
    pub coverage: Coverage,
    /// Goals, ordered by file, line and column.
    pub goals: Vec<Goal>,
    /// Tests, in suite order.
    pub tests: Vec<GeneratedTest>,
    /// Numbers of tests, goals and launches, and the time spent.
    pub summary: GenerateSummary,
    /// Mutation scores, if mutants are the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// What the seeds are and teach, if the search began with the launches of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<SeedReport>,
    /// The solver that proofs come from, with its version: another one may prove more or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl GenerateResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.generate/1";
}

/// The result of `kassay generate` for several kernels.
pub type GenerateSet = SetResult<GenerateResult, GenerateSummary>;

impl InSet for GenerateResult {
    type Total = GenerateSummary;
    type Sum = GenerateSummary;

    const COMMAND: &'static str = "generate";
    const SET_SCHEMA: &'static str = "kassay.generate-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn add_to(&self, sum: &mut GenerateSummary) {
        let own = &self.summary;
        *sum = GenerateSummary {
            tests: sum.tests.saturating_add(own.tests),
            covered: sum.covered.saturating_add(own.covered),
            covered_with_fault: sum.covered_with_fault.saturating_add(own.covered_with_fault),
            infeasible: sum.infeasible.saturating_add(own.infeasible),
            equivalent: sum.equivalent.saturating_add(own.equivalent),
            unknown: sum.unknown.saturating_add(own.unknown),
            executions: sum.executions.saturating_add(own.executions),
            faulted: sum.faulted.saturating_add(own.faulted),
            fuzz_s: sum.fuzz_s + own.fuzz_s,
            smt_s: sum.smt_s + own.smt_s,
        };
    }

    fn total_of(sum: &GenerateSummary) -> GenerateSummary {
        sum.clone()
    }
}

/// A goal of the search: an outcome to cover or a mutant to kill, with its status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Goal {
    /// Stable id of the site, as in results of `kassay cover`; null for mutants.
    pub site: Option<String>,
    /// Outcome as in results of `kassay cover`, such as `true` or `case 3`; null for mutants.
    pub outcome: Option<String>,
    /// Id of the mutant to kill; null for outcomes.
    pub mutant: Option<String>,
    /// Kind of the site, such as `branch`, or `mutant`.
    pub kind: String,
    /// Location of the site, or of the start of the mutant's original text; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Whether a test covers it, or what was proved of it.
    pub status: GoalStatus,
    /// Technique that found the covering test.
    pub by: Option<By>,
    /// Reason why it is not covered.
    pub reason: Option<String>,
    /// Extent of the search, if it ended without a decision.
    pub bound: Option<String>,
    /// Assumptions of a proof beyond the rules of OpenCL; of an unknown goal that only launches reach which break
    /// likely invariants of the seeds, these likely invariants.
    pub preconditions: Vec<String>,
    /// Seconds from the start until it was decided.
    pub time_s: f64,
}

/// The status of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GoalStatus {
    /// A test of the suite covers it.
    Covered,
    /// Only faulting launches reach it; the suite has one of them as a test that allows the fault.
    CoveredWithFault,
    /// Proved: no launch can cover it.
    Infeasible,
    /// Proved: no launch distinguishes the mutant from the kernel.
    Equivalent,
    /// Neither covered nor proved.
    Unknown,
}

/// The technique that found a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// One of the initial launches.
    Seed,
    /// Fuzzing.
    Fuzz,
    /// Solving path conditions.
    Smt,
}

/// A test of the suite written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratedTest {
    /// Name of the test in the suite.
    pub name: String,
    /// Technique that found it.
    pub by: By,
    /// Number of work-items of the launch.
    pub work_items: u64,
    /// Number of work-groups of the launch.
    pub work_groups: u64,
    /// Number of outcomes of branches, conditions, loops and barriers that it covers.
    pub covers: u64,
    /// Assumptions under which it was made.
    pub preconditions: Vec<String>,
}

/// Mutation scores in percent, as `kassay mutate` computes them; null if no mutant counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scores {
    /// Score of the branch-covering suite with which the search started.
    pub branch_suite: Option<f64>,
    /// Score of the suite written.
    pub suite: Option<f64>,
}

/// Numbers of tests, of goals by status and of launches, and the time spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GenerateSummary {
    /// Tests of the suite written.
    pub tests: u64,
    /// Goals covered by tests without faults.
    pub covered: u64,
    /// Goals that only tests with an allowed fault cover.
    #[serde(default)]
    pub covered_with_fault: u64,
    /// Goals proved infeasible.
    pub infeasible: u64,
    /// Mutants only.
    #[serde(default)]
    pub equivalent: u64,
    /// Goals neither covered nor proved infeasible or equivalent.
    pub unknown: u64,
    /// Launches made, including those for minimisation.
    pub executions: u64,
    /// Launches that faulted or did not end; nothing of them is kept.
    pub faulted: u64,
    /// Seconds for initial launches, fuzzing and minimisation.
    pub fuzz_s: f64,
    /// Seconds for solving.
    pub smt_s: f64,
}

/// The launches of a suite with which a search began, and what they have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedReport {
    /// Path of the suite.
    pub suite: String,
    /// Its tests.
    pub launches: u64,
    /// Tests that the search did not begin with, and why, a sentence each.
    pub left_out: Vec<String>,
    /// Coverage of the seeds alone.
    pub coverage: Coverage,
    /// Outcomes that are goals, and that the suite written covers but no seed does.
    pub added: u64,
    /// What all seeds have in common; every test of the suite written keeps to it.
    pub couplings: Vec<CouplingRow>,
    /// Where seeds are not as kassay takes the arguments, or as the interface file says, a sentence each.
    pub contradictions: Vec<String>,
    /// Goals that only launches reach which break likely invariants.
    pub excluded: Vec<ExcludedGoal>,
}

/// Something that holds in all launches of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingRow {
    /// What it is about.
    pub kind: CouplingKind,
    /// The likely invariant as a sentence, such as `x has n elements`.
    pub sentence: String,
    /// Whether nothing that it relates varies among the seeds, so that it may be an accident.
    pub guess: bool,
    /// Seeds that show it.
    pub launches: u64,
}

/// What a likely invariant is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CouplingKind {
    /// A length, a size of the launch or a number that follows from others.
    Size,
    /// A number or size that never changes.
    Constant,
    /// A number that is one of few.
    Values,
    /// All work-groups have the same size.
    WholeGroups,
    /// The integers in a buffer.
    Contents,
}

/// A goal that only launches reach which break likely invariants of the seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedGoal {
    /// Id of the site.
    pub site: String,
    /// The outcome.
    pub outcome: String,
    /// Location of the site.
    #[serde(flatten)]
    pub location: Location,
    /// Sentences of the likely invariants that the launch breaks.
    pub breaks: Vec<String>,
    /// Name of the test in the suite in the folder `beyond`.
    pub test: String,
}
