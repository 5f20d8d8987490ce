//! `kassay run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Device;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// `kassay.run/1`
    pub schema: String,
    pub version: String,
    pub kernel: String,
    pub source: String,
    pub device: Option<Device>,
    pub seed: u64,
    pub elapsed_s: f64,
    pub tests: Vec<Test>,
    pub summary: Summary,
    pub notes: Vec<String>,
}

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    pub name: String,
    /// `passed`, `failed`, `unchecked`, `timeout`, `crashed`, `rejected`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// One per argument with an expectation.
    pub outputs: Vec<Output>,
    pub kernel_s: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printf: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    pub arg: String,
    pub passed: bool,
    /// Elements that differ by more than the tolerance.
    pub mismatches: u64,
    pub elements: u64,
    /// The first of them: flat index (with the field's path for structs), expected and actual value as text.
    pub first: Option<Mismatch>,
    pub largest_absolute_error: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    pub index: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub expected: String,
    pub actual: String,
}
