//! Defines the serde types of every result and their schema; stores, journals and merges results.
//!
//! Must never know: how anything was computed.

pub mod check;
pub mod cover;
pub mod devices;
pub mod generate;
pub mod inspect;
pub mod journal;
pub mod merge;
pub mod mutate;
pub mod mutate_summary;
pub mod run;
pub mod schedule;
pub mod schema;
pub mod shard;
pub mod store;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The device that produced a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    pub name: String,
    /// Version of the driver.
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// SPIR-V versions that it accepts, such as `SPIR-V_1.2`; empty if none.
    pub il_versions: Vec<String>,
}

/// A number of covered items and the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    pub covered: u64,
    pub total: u64,
}

impl Ratio {
    /// Returns the share covered in percent; `None` if there is nothing to cover.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.covered as f64 / self.total as f64)
    }
}

/// A source location; lines and columns count from 1. `line` 0: unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub column: u32,
}
