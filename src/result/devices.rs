//! The result of `kassay devices`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lower::code::Target;

/// The result of `kassay devices`: devices, drivers, and what is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DevicesResult {
    /// `kassay.devices/1`
    pub schema: String,
    /// Version of kassay.
    pub version: String,
    /// Always null, as is `source`: the command takes no kernel.
    pub kernel: Option<String>,
    pub source: Option<String>,
    /// The device used without `--device`.
    pub device: Option<super::Device>,
    /// Always 0.
    pub seed: u64,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    pub devices: Vec<Found>,
    pub drivers: Vec<Driver>,
    pub missing: Vec<Missing>,
}

/// An available device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Value for `--device`: `opencl:P.D` or `sim`.
    pub id: String,
    pub name: String,
    pub platform: String,
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// The form of code that it accepts.
    pub code: CodePath,
    pub il_versions: Vec<String>,
    pub max_work_group_size: u64,
    pub max_work_item_sizes: [u64; 3],
    /// Bytes per work-group.
    pub local_memory: u64,
    /// Bytes.
    pub global_memory: u64,
    /// Bytes per buffer.
    pub max_allocation: u64,
    pub fp16: bool,
    pub fp64: bool,
    pub images: bool,
}

/// The form of code that a device accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodePath {
    /// SPIR-V (clCreateProgramWithIL).
    Spirv,
    /// LLVM IR compiled for the host: the simulator.
    Host,
    /// PTX as a program binary, which kassay cannot produce yet.
    PtxLater,
    /// Nothing that kassay can produce.
    None,
}

impl From<Target> for CodePath {
    fn from(target: Target) -> CodePath {
        match target {
            Target::SpirV => CodePath::Spirv,
            Target::Host => CodePath::Host,
        }
    }
}

impl CodePath {
    /// Writes what a device of this kind takes, which reports `il_versions`.
    pub fn describe(self, il_versions: &[String]) -> String {
        match self {
            CodePath::Host => {
                "takes kernels without inline assembly, compiled for this host; checks each access; runs \
                               where no device does"
                    .to_owned()
            }
            CodePath::Spirv => format!("takes {}", il_versions.join(" ")),
            CodePath::PtxLater => "takes no SPIR-V; PTX through binaries: later".to_owned(),
            CodePath::None => "takes no SPIR-V: of no use here".to_owned(),
        }
    }
}

/// A driver: a file that names the library of an OpenCL platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    pub file: String,
    pub library: String,
    /// `kassay` (installed by its set-up), `system`, or `user` (named by an environment variable).
    pub origin: String,
    /// Whether the library exists; null if it is looked up on the system's search path.
    pub present: Option<bool>,
}

/// Something missing, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    pub what: String,
    #[serde(rename = "mend")]
    pub help: String,
}
