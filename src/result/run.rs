//! The result of `kassay run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Device;

/// The result of `kassay run`: which tests produce the expected outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// `kassay.run/1`
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
    pub tests: Vec<Test>,
    pub summary: Summary,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl RunResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.run/1";
}

/// Numbers of tests by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub total: u64,
    pub passed: u64,
    pub failed: u64,
    /// Completed, but the suite has no expectation.
    pub unchecked: u64,
    /// Timed out, crashed or rejected.
    pub broken: u64,
}

/// The outcome of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    pub name: String,
    /// `passed`, `failed` (an output or a check of the simulator), `unchecked`, `timeout`, `crashed` or `rejected`.
    pub status: String,
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
}

/// The comparison of an argument's contents with the expectation of the test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// Name of the argument, or its position.
    pub arg: String,
    pub passed: bool,
    /// Elements that differ by more than the tolerance.
    pub mismatches: u64,
    pub elements: u64,
    /// The first mismatch: flat index (with the field's path for structs), expected and actual value as text.
    pub first: Option<Mismatch>,
    /// Largest finite absolute error over all elements; null if there is none.
    pub largest_absolute_error: Option<f64>,
}

/// An element that differs from its expected value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    pub index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub expected: String,
    pub actual: String,
}
