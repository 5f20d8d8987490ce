//! `kassay devices`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DevicesResult {
    /// `kassay.devices/1`
    pub schema: String,
    pub version: String,
    /// Always null, as is `source`: no kernel is asked about.
    pub kernel: Option<String>,
    pub source: Option<String>,
    /// What is used without `--device`.
    pub device: Option<super::Device>,
    /// Always 0.
    pub seed: u64,
    pub elapsed_s: f64,
    pub devices: Vec<Found>,
    pub drivers: Vec<Driver>,
    pub missing: Vec<Missing>,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// What `--device` takes: `opencl:P.D` or `sim`.
    pub id: String,
    pub name: String,
    pub platform: String,
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// How it takes code.
    pub code: CodePath,
    pub il_versions: Vec<String>,
    pub max_work_group_size: u64,
    pub max_work_item_sizes: [u64; 3],
    /// In bytes, as are the next two.
    pub local_memory: u64,
    pub global_memory: u64,
    pub max_allocation: u64,
    pub fp16: bool,
    pub fp64: bool,
    pub images: bool,
}

/// How a device takes code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodePath {
    /// SPIR-V through its IL loader.
    Spirv,
    /// As LLVM IR, compiled for the host: the simulator.
    Host,
    /// PTX through program binaries, which kassay does not make yet.
    PtxLater,
    /// In no way that kassay could use.
    None,
}

/// A driver: a file that names the library of an OpenCL platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    pub file: String,
    pub library: String,
    /// `kassay` (its set-up), `system`, or `user` (by an environment variable).
    pub origin: String,
    /// Whether the library is there; null where the system's search path decides.
    pub present: Option<bool>,
}

/// Something lacking, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    pub what: String,
    #[serde(rename = "mend")]
    pub help: String,
}
