//! `kassay run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;

/// What `kassay run` found: which tests give what they expect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    pub tests: Vec<Test>,
    pub summary: Summary,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl RunResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.run/1";
}

/// Tests by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    /// Completed, but nothing in the suite says what to expect.
    pub unchecked: u64,
    /// Timed out, crashed or rejected.
    pub broken: u64,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    Passed,
    /// An output is not as expected, or a check of the simulator found something.
    Failed,
    /// It completed, but nothing in the suite says what to expect.
    Unchecked,
    Timeout,
    Crashed,
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

/// How one test went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    pub name: String,
    pub status: TestStatus,
    /// What happened, if neither `passed` nor `unchecked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// One per argument with an expectation.
    pub outputs: Vec<Output>,
    /// Seconds on the device, the median of the repeats.
    pub kernel_s: Option<f64>,
    /// What the kernel printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printf: String,
}

/// An argument's contents against what the test expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The argument's name, or its position.
    pub arg: String,
    pub passed: bool,
    /// Elements that differ by more than the tolerance.
    pub mismatches: u64,
    pub elements: u64,
    /// The first of them: flat index (with the field's path for structs), expected and actual value as text.
    pub first: Option<Mismatch>,
    /// Over all elements; null for outputs that are not numbers.
    pub largest_absolute_error: Option<f64>,
}

/// An element that differs from what the test expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    pub index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub expected: String,
    pub actual: String,
}
