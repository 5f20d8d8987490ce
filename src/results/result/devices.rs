//! The result of `kassay devices`.

use kassay_model::code::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `kassay devices`: devices, drivers, and what is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DevicesResult {
    /// `kassay.devices/1`
    pub schema: String,
    /// Version of kassay.
    pub version: String,
    /// Always null, as is `source`: the command takes no kernel.
    pub kernel: Option<String>,
    /// Always null, as is `kernel`.
    pub source: Option<String>,
    /// The device used without `--device`.
    pub device: Option<super::Device>,
    /// Always 0.
    pub seed: u64,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// All OpenCL devices, followed by the simulator.
    pub devices: Vec<Found>,
    /// The drivers from which OpenCL platforms are loaded, whether or not they work.
    pub drivers: Vec<Driver>,
    /// The programs that translate SPIR-V kernels to LLVM IR: the first is used, the others for modules on which it
    /// crashes.
    #[serde(default)]
    pub translators: Vec<Translator>,
    /// What is missing or broken, each with what helps.
    pub missing: Vec<Missing>,
}

impl DevicesResult {
    /// Identifies such results, with the version of their format.
    pub const SCHEMA: &'static str = "kassay.devices/1";
}

/// An available device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Value for `--device`: `opencl:P.D` or `sim`.
    pub id: String,
    /// Name, as the device reports it.
    pub name: String,
    /// Name of its OpenCL platform; `kassay` for the simulator.
    pub platform: String,
    /// Version of the driver.
    pub driver: String,
    /// `cpu`, `gpu`, `accelerator` or `simulator`.
    pub kind: String,
    /// The form of code that it accepts.
    pub code: CodePath,
    /// SPIR-V versions that it accepts, such as `SPIR-V_1.2`; empty if none.
    pub il_versions: Vec<String>,
    /// Largest number of work-items in a work-group.
    pub max_work_group_size: u64,
    /// Largest size of a work-group in each dimension.
    pub max_work_item_sizes: [u64; 3],
    /// Bytes per work-group.
    pub local_memory: u64,
    /// Bytes.
    pub global_memory: u64,
    /// Bytes per buffer.
    pub max_allocation: u64,
    /// Whether it supports `half`.
    pub fp16: bool,
    /// Whether it supports `double`.
    pub fp64: bool,
    /// Whether it supports images.
    pub images: bool,
    /// How many work-items sub-groups can be required to have; empty if none can be required.
    #[serde(default)]
    pub sub_group_sizes: Vec<u64>,
}

/// The form of code that a device accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodePath {
    /// SPIR-V (clCreateProgramWithIL).
    Spirv,
    /// LLVM IR compiled for the host: the simulator.
    Host,
    /// PTX (clCreateProgramWithBinary).
    Ptx,
    /// Nothing that kassay can produce.
    None,
}

impl From<Target> for CodePath {
    fn from(target: Target) -> CodePath {
        match target {
            Target::SpirV => CodePath::Spirv,
            Target::Native => CodePath::Host,
            Target::Ptx => CodePath::Ptx,
            Target::Source => CodePath::None,
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
            CodePath::Ptx => "takes PTX; used only if it is named".to_owned(),
            CodePath::None => "takes no SPIR-V: of no use here".to_owned(),
        }
    }
}

/// A driver: a file that names the library of an OpenCL platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Driver {
    /// Path of the `.icd` file, or the library itself if an environment variable names it.
    pub file: String,
    /// Path of the library, or a name that is looked up on the system's search path.
    pub library: String,
    /// `kassay` (installed by its set-up), `system`, or `user` (named by an environment variable).
    pub origin: String,
    /// Whether the library exists; null if it is looked up on the system's search path.
    pub present: Option<bool>,
}

/// A program that translates SPIR-V to LLVM IR (llvm-spirv).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Translator {
    /// Path of the program.
    pub path: String,
    /// Version: of the package for kassay's, otherwise of the LLVM in it; null if it is not known.
    pub version: Option<String>,
    /// `kassay` (installed by its set-up), `system`, or `user` (named by `KASSAY_LLVM_SPIRV`).
    pub origin: String,
}

/// Something missing, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// What is missing or broken.
    pub what: String,
    /// What to do about it.
    #[serde(rename = "mend")]
    pub help: String,
}
