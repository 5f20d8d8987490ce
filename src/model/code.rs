//! Defines the forms of code that executors load, and how code is asked for.

use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::native::table::NativeTable;

/// The form of code to produce.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    /// SPIR-V 1.2, for OpenCL devices.
    #[default]
    SpirV,
    /// An object file for this machine, for the simulator.
    #[serde(rename = "Host")]
    Native,
    /// PTX, for NVIDIA's OpenCL devices.
    Ptx,
    /// The text of a kernel, for a driver's own compiler: nothing that kassay makes.
    Source,
}

impl Target {
    /// The name of the form, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Target::SpirV => "SPIR-V",
            Target::Native => "code for this host",
            Target::Ptx => "PTX",
            Target::Source => "OpenCL C",
        }
    }

    /// Returns whether code of this form calls its executor's hooks: before every access that is not known to be in
    /// bounds, where work-items wait, and at the kernel's end, to which the executor sends work-items that wait
    /// forever.
    pub fn has_hooks(self) -> bool {
        match self {
            Target::SpirV | Target::Ptx | Target::Source => false,
            Target::Native => true,
        }
    }
}

/// A form of code for devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CodeForm {
    /// SPIR-V 1.2, for `clCreateProgramWithIL`.
    #[default]
    SpirV,
    /// PTX 7.0 for sm_70 and newer, for `clCreateProgramWithBinary` of NVIDIA's driver (docs/gpu.md).
    Ptx,
}

impl From<CodeForm> for Target {
    fn from(form: CodeForm) -> Target {
        match form {
            CodeForm::SpirV => Target::SpirV,
            CodeForm::Ptx => Target::Ptx,
        }
    }
}

/// Optimisation effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Effort {
    /// As little as possible, for code that runs so briefly that building it takes longer: a device builds it with
    /// `-cl-opt-disable`; for this host, private variables are promoted to registers.
    Quick,
    /// As a device builds kernels by default; for this host as `-O2`.
    #[default]
    Full,
}

/// How a kernel is lowered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoweringOptions {
    /// How much time optimising may take.
    pub effort: Effort,
    /// For targets with hooks: whether every access to global and local memory calls the executor, so that it can
    /// detect races and interrupt work-items there. If not, bounds are checked by the code itself, which is several
    /// times faster.
    pub races: bool,
    /// For SPIR-V: whether images are buffers (`lower::image_buffers`), as they are in PTX. So the emulation can be
    /// compared with a device's own images.
    pub image_buffers: bool,
    /// The caller's deadline, for targets whose code may take long.
    pub deadline: Option<Instant>,
}

/// Code for an executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// For a device, whose driver builds it.
    Device(DeviceCode),
    /// For the simulator.
    Native(Arc<NativeCode>),
}

/// Code that a device's driver builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCode {
    /// The form of `bytes`.
    pub target: Target,
    /// A module of that form.
    pub bytes: Arc<Vec<u8>>,
    /// The kernel's name in the module.
    pub entry: String,
    /// Options of `clBuildProgram`.
    pub build_options: String,
    /// Whether images and samplers are what `lower::image_buffers` makes of them.
    pub image_buffers: bool,
    /// By position, which arguments are memory that the kernel cannot write, as far as `bytes` does not say it.
    pub read_only: Vec<bool>,
}

/// Code that the simulator runs: an object file for this host, and the table of the sites that hooks refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeCode {
    /// A relocatable ELF object that defines [`crate::native::abi::ENTRY`].
    pub object: Vec<u8>,
    /// The kernel's name.
    pub entry: String,
    /// The sites that hooks refer to by number.
    pub table: NativeTable,
}

impl Code {
    /// Wraps a SPIR-V module.
    pub fn spirv(spirv: Vec<u8>, entry: impl Into<String>, build_options: String) -> Code {
        let (target, bytes) = (Target::SpirV, Arc::new(spirv));
        Code::device(target, bytes, entry.into(), build_options)
    }

    /// Wraps the text of a kernel, which the driver compiles.
    pub fn source(text: Vec<u8>, entry: impl Into<String>, build_options: String) -> Code {
        Code::device(Target::Source, Arc::new(text), entry.into(), build_options)
    }

    /// Wraps PTX.
    pub fn ptx(ptx: Vec<u8>, entry: impl Into<String>, build_options: String) -> Code {
        let (target, bytes) = (Target::Ptx, Arc::new(ptx));
        Code::device(target, bytes, entry.into(), build_options)
    }

    fn device(target: Target, bytes: Arc<Vec<u8>>, entry: String, build_options: String) -> Code {
        let (image_buffers, read_only) = (target == Target::Ptx, Vec::new());
        Code::Device(DeviceCode { target, bytes, entry, build_options, image_buffers, read_only })
    }

    /// Says of code for a device that its images are buffers, and which arguments are memory that it cannot write.
    pub fn with_image_buffers(self, read_only: Vec<bool>) -> Code {
        match self {
            Code::Device(code) => Code::Device(DeviceCode { image_buffers: true, read_only, ..code }),
            native @ Code::Native(_) => native,
        }
    }

    /// Returns the code for a device; `None` for the simulator's.
    pub fn as_device(&self) -> Option<&DeviceCode> {
        match self {
            Code::Device(code) => Some(code),
            Code::Native(_) => None,
        }
    }

    /// Returns the simulator's code.
    ///
    /// # Errors
    /// `Internal` if it is code for a device.
    pub fn into_native(self) -> Result<Arc<NativeCode>> {
        match self {
            Code::Native(code) => Ok(code),
            Code::Device(_) => Err(Error::internal("code for the simulator was asked for")),
        }
    }

    /// The module or object file, without what an executor needs besides.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Code::Device(code) => &code.bytes,
            Code::Native(code) => &code.object,
        }
    }

    /// The kernel's name.
    pub fn entry(&self) -> &str {
        match self {
            Code::Device(code) => &code.entry,
            Code::Native(code) => &code.entry,
        }
    }
}

/// What lowering gives: the inner error is a refusal by the backend of a module that verifies (`Internal`, with the
/// backend's message), which callers that lower many variants of a kernel take as a property of the variant.
pub type Lowered = Result<std::result::Result<Code, Error>>;
