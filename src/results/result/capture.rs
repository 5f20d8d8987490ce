//! The result of `kassay capture`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;

/// The result of `kassay capture`: what a host program launched, and which of it became suites. Paths are relative to
/// the folder in which the result is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureResult {
    /// The fields that every result begins with. `kernel` names all kernels, joined by commas, `source` the program;
    /// `device` ran the suites.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds of everything.
    pub elapsed_s: f64,
    /// Wall-clock seconds of the program, while it was captured.
    pub program_s: f64,
    /// Wall-clock seconds of the program without kassay, if that was measured (`--measure-native`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_s: Option<f64>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Its exit code; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Processes that made OpenCL calls: the program, and what it started.
    pub processes: u64,
    /// Programs that were built, in the order of their ids.
    pub programs: Vec<Program>,
    /// Kernels that were launched, in the order of their first launches. The same kernel of another program, built with
    /// other options or for another device, is another kernel.
    pub kernels: Vec<Kernel>,
    /// Launches whose kernel is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Why the exit code is 1: kernels whose woven code does something else, so that coverage did not choose their
    /// launches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl CaptureResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.capture/1";
}

/// A program object: code, built with options for a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// A hash of the code, the options and the device: the same in every run.
    pub id: String,
    /// Where the code comes from.
    pub origin: Origin,
    /// The build options, as the program gave them.
    pub options: String,
    /// Options that kassay leaves out, because they concern the vendor's compiler only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped_options: Vec<String>,
    /// The code, as the driver got it; null if no kernel of it was captured.
    pub file: Option<String>,
    /// Files below the working directory that hold the same text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_text: Vec<SameText>,
    /// The name of the device.
    pub device: String,
    /// How the build ended.
    pub status: BuildStatus,
    /// What the driver's build log says, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// Where a program's code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// OpenCL C; also of a program that was linked from several.
    Source,
    /// An intermediate language, such as SPIR-V.
    Il,
    /// A binary.
    Binary,
    /// The device's own kernels.
    BuiltIn,
}

impl Origin {
    /// The spelling in results.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Source => "source",
            Origin::Il => "il",
            Origin::Binary => "binary",
            Origin::BuiltIn => "built-in",
        }
    }
}

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BuildStatus {
    /// The driver has built it.
    Built,
    /// The driver refused it.
    Failed,
    /// The program did not wait for the end.
    Unknown,
}

/// A file that holds the text of a program, or a piece of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SameText {
    /// The file, relative to the working directory.
    pub file: String,
    /// The line of the program's text at which it begins, from 1.
    pub line: u64,
}

/// A kernel of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// The name of the kernel function.
    pub name: String,
    /// The program's id.
    pub program: String,
    /// Launches that the driver took.
    pub launches: u64,
    /// Launches that the driver refused; these are not in `launches`.
    pub refused: u64,
    /// Launches that became tests of the suite. These and those left out are all launches.
    pub kept: u64,
    /// Of these, launches that were kept because they cover what no earlier one had covered.
    #[serde(default)]
    pub kept_for_coverage: u64,
    /// Launches that did not become tests, by reason.
    pub left_out: Vec<LeftOut>,
    /// The suite; null if no launch became a test.
    pub suite: Option<String>,
    /// Why there is no suite, where launches were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What running the suite has shown; null if it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// Launches of a kernel that did not become tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The reason, such as `not-sampled`.
    pub reason: String,
    /// What the reason means.
    pub meaning: String,
    /// Their number.
    pub count: u64,
}

/// What running a suite has shown: each test is run twice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// Tests that left what the program's own launch had left, bit for bit.
    pub exact: u64,
    /// Tests that did so within the measured tolerances.
    pub within_tolerance: u64,
    /// Tolerances that the suite has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerances: Vec<MeasuredTolerance>,
    /// What was not reproduced. The suite does not expect it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reproduced: Vec<NotReproduced>,
    /// Why the suite could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A tolerance that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredTolerance {
    /// The test.
    pub test: String,
    /// The argument.
    pub argument: String,
    /// The largest difference that was seen between what the program's launch had left and what the test left.
    pub largest_difference: f64,
    /// The tolerance: absolute.
    pub abs: f64,
    /// The tolerance: relative to the expected value.
    pub rel: f64,
}

/// An output that was not reproduced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotReproduced {
    /// The test.
    pub test: String,
    /// The argument; null if the whole test is concerned.
    pub argument: Option<String>,
    /// Why.
    pub reason: NotReproducedReason,
    /// What was seen.
    pub message: String,
}

/// Why an output was not reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotReproducedReason {
    /// Two runs of the test differ.
    Nondeterministic,
    /// Both runs of the test are alike, and differ from the program's own launch.
    Differs,
    /// As `differs`; the kernel has variables at program scope, whose values before the launch OpenCL does not tell.
    ProgramVariables,
    /// The test did not end as it should: the kernel crashed, or ran out of time.
    Fault,
}
