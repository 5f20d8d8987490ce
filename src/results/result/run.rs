//! The result of `kassay run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;
use super::set::{InSet, SetResult};

/// The result of `kassay run`: which tests produce the expected outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Outcomes of the tests, in suite order.
    pub tests: Vec<Test>,
    /// Numbers of tests by status.
    pub summary: Summary,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl RunResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.run/1";
}

/// The result of `kassay run` for several kernels.
pub type RunSet = SetResult<RunResult, Summary>;

impl RunResult {
    /// Whether some test leaves something else than what the driver compiles.
    pub fn differs_from_source(&self) -> bool {
        let is_other = |test: &Test| {
            test.against_source.as_ref().is_some_and(|compared| compared.comparison == Comparison::Differs)
        };
        self.tests.iter().any(is_other)
    }
}

impl InSet for RunResult {
    type Total = Summary;
    type Sum = Summary;

    const COMMAND: &'static str = "run";
    const SET_SCHEMA: &'static str = "kassay.run-set/1";

    fn header(&self) -> &Header {
        &self.header
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn findings(&self) -> Vec<String> {
        let bad = self.summary.failed + self.summary.broken;
        (bad > 0).then(|| format!("{bad} of {} tests did not pass", self.summary.total)).into_iter().collect()
    }

    fn add_to(&self, sum: &mut Summary) {
        let own = &self.summary;
        *sum = Summary {
            total: sum.total.saturating_add(own.total),
            passed: sum.passed.saturating_add(own.passed),
            failed: sum.failed.saturating_add(own.failed),
            unchecked: sum.unchecked.saturating_add(own.unchecked),
            broken: sum.broken.saturating_add(own.broken),
        };
    }

    fn total_of(sum: &Summary) -> Summary {
        *sum
    }
}

/// Numbers of tests by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// All tests.
    pub total: u64,
    /// Tests whose expectations all hold.
    pub passed: u64,
    /// Tests with an output that is not as expected, or with a fault that the simulator found.
    pub failed: u64,
    /// Completed, but the suite has no expectation.
    pub unchecked: u64,
    /// Timed out, crashed or rejected.
    pub broken: u64,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// Every expectation holds.
    Passed,
    /// An output is not as expected, or a check of the simulator failed.
    Failed,
    /// The launch completed, but the suite states no expectation.
    Unchecked,
    /// The launch exceeded the time limit and was stopped.
    Timeout,
    /// The kernel or the driver took its process down, or the device stopped the launch.
    Crashed,
    /// The device refused the launch, such as a work-group that is too large for it.
    Rejected,
}

impl TestStatus {
    /// Returns the word that results and reports use.
    pub fn name(self) -> &'static str {
        match self {
            TestStatus::Passed => "passed",
            TestStatus::Failed => "failed",
            TestStatus::Unchecked => "unchecked",
            TestStatus::Timeout => "timeout",
            TestStatus::Crashed => "crashed",
            TestStatus::Rejected => "rejected",
        }
    }
}

/// The outcome of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// Name of the test.
    pub name: String,
    /// How the test ended.
    pub status: TestStatus,
    /// Explanation of a failure; also the first allowed fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// One entry per argument with an expectation.
    pub outputs: Vec<Output>,
    /// Kernel time in seconds.
    pub kernel_s: Option<f64>,
    /// Output of the kernel's printf.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printf: String,
    /// With `--against-source`: whether the driver's own compiler makes the same of the kernel's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_source: Option<AgainstSource>,
}

/// The comparison of what kassay's code leaves with what the kernel leaves as the driver compiles its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgainstSource {
    /// What it has shown.
    pub comparison: Comparison,
    /// The first difference, or why nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a comparison has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// All outputs are the same, bit for bit.
    Same,
    /// Floats differ as they do where another compiler rounds them.
    Rounding,
    /// An output is another one.
    Differs,
    /// What the driver compiles leaves something else each time.
    NotReproduced,
    /// The driver cannot be given the text, refuses it, or its code does not complete.
    NotCompared,
}

/// The comparison of an argument's contents with the expectation of the test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// Name of the argument, or its position.
    pub arg: String,
    /// Whether no element differs by more than the tolerance.
    pub passed: bool,
    /// Elements that differ by more than the tolerance.
    pub mismatches: u64,
    /// Elements compared, including those that only one side has.
    pub elements: u64,
    /// The first mismatch: flat index (with the field's path for structs), expected and actual value as text.
    pub first: Option<Mismatch>,
    /// Largest finite absolute error over all elements; null if there is none.
    pub largest_absolute_error: Option<f64>,
}

/// An element that differs from its expected value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// Index of the element, from 0, with all dimensions flattened.
    pub index: u64,
    /// Path of the struct's field, or component of the vector (`s0`); absent for scalars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Expected value.
    pub expected: String,
    /// Value after the launch.
    pub actual: String,
}
