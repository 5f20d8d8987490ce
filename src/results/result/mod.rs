//! Defines the serde types of every result and their schema; stores, journals and merges results.
//!
//! Must never know: how anything was computed.

/// The commands with a result for each kernel, in the order in which `kassay ci` asks them: calls a macro with, for
/// each, the variant of [`any::AnyResult`], the field of [`ci::CiResult`] and the type of the result.
macro_rules! kernel_commands {
    ($use:ident) => {
        $use! {
            /// A result of `kassay run`.
            Run run RunResult,
            /// A result of `kassay cover`.
            Cover cover CoverResult,
            /// A result of `kassay mutate`.
            Mutate mutate MutateResult,
            /// A result of `kassay check`.
            Check check CheckResult,
            /// A result of `kassay schedule`.
            Schedule schedule ScheduleResult,
            /// A result of `kassay generate`.
            Generate generate GenerateResult,
        }
    };
}

pub mod amplification;
pub mod any;
pub mod capture;
pub mod causes;
pub mod check;
pub mod ci;
pub mod compare;
pub mod cover;
pub mod def_use;
pub mod devices;
pub mod gather;
pub mod generate;
mod grids;
pub mod inspect;
pub mod join;
pub mod journal;
pub mod mcdc;
pub mod merge;
pub mod mutate;
pub mod mutate_summary;
pub mod new_survivors;
pub mod outcomes;
pub mod probe_map;
pub mod proofs;
pub mod repairs;
pub mod run;
pub mod schedule;
pub mod schema;
mod scope;
pub mod set;
pub mod shard;
pub mod store;

use std::fmt;

use kassay_model::words::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fields that every result begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The command and the version of its results, such as `kassay.cover/1`.
    pub schema: String,
    /// Version of kassay.
    pub version: String,
    /// Name of the kernel function; for `inspect` without a requested kernel the names of all kernels, joined by
    /// commas.
    pub kernel: String,
    /// Path of the kernel's file, as given.
    pub source: String,
    /// Device that ran the kernel; null if nothing was run.
    pub device: Option<Device>,
    /// Seed of generated values, samples and schedules: that of `--seed`, otherwise the suite's, otherwise 0.
    pub seed: u64,
}

impl Header {
    /// Creates the header of a result of this version of kassay.
    pub fn new(schema: &str, kernel: String, source: String, device: Option<Device>, seed: u64) -> Header {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Header { schema: schema.to_owned(), version, kernel, source, device, seed }
    }

    /// The words for what is said of the kernel.
    pub fn words(&self) -> Words {
        Words::of(&self.source)
    }
}

/// The device that produced a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Name, as the device reports it; in merged results distinct names are joined by `; `.
    pub name: String,
    /// Version of the driver.
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`; `unknown` if the driver of a host program does not tell.
    pub kind: String,
    /// SPIR-V versions that it accepts, such as `SPIR-V_1.2`, or for NVIDIA GPUs the PTX that they got,
    /// `PTX_7.0_sm_70`; empty if none.
    pub il_versions: Vec<String>,
}

/// A number of covered items and the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// Number of covered items.
    pub covered: u64,
    /// Number of all items.
    pub total: u64,
}

/// Returns the sum of counts; the greatest number if they have no sum of 64 bits, as those of a result that was made up
/// may.
pub fn sum<const N: usize>(counts: [u64; N]) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

impl Ratio {
    /// Returns the share covered in percent; `None` if there is nothing to cover.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.covered as f64 / self.total as f64)
    }

    /// Returns the sum, or the greatest number where it is beyond that: results that are read may say anything.
    pub fn plus(self, other: Ratio) -> Ratio {
        Ratio { covered: self.covered.saturating_add(other.covered), total: self.total.saturating_add(other.total) }
    }
}

/// A source location; lines and columns count from 1. `line` 0: unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// Path of the file; of the kernel's file, as given, if the location is unknown.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

impl Location {
    /// Returns `line:column`, as far as it is known.
    pub fn position(&self) -> impl fmt::Display + use<> {
        kassay_base::error::Position { line: self.line, column: self.column }
    }
}

/// `file:line:column`, as far as it is known.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{} (no line known)", self.file),
            _ => write!(f, "{}:{}", self.file, self.position()),
        }
    }
}
