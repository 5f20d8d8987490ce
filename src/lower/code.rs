//! Code in the forms that executors load.

use std::sync::Arc;

use crate::lower::host::table::HostTable;

/// What executors take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// For OpenCL devices.
    SpirV(SpirvCode),
    /// For the simulator.
    Host(Arc<HostCode>),
}

/// Which of them is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Target {
    #[default]
    SpirV,
    Host,
}

/// Code that an OpenCL device takes through its IL loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpirvCode {
    /// A SPIR-V module.
    pub spirv: Arc<Vec<u8>>,
    /// The kernel's name in it.
    pub entry: String,
    /// Options of `clBuildProgram`.
    pub build_options: String,
}

/// Code that the simulator runs: an object file for this host, and what its hooks' numbers mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCode {
    /// A relocatable ELF object that defines [`super::host::abi::ENTRY`].
    pub object: Vec<u8>,
    /// The kernel's name.
    pub entry: String,
    pub table: HostTable,
}

impl Code {
    /// For an OpenCL device.
    pub fn spirv(spirv: Vec<u8>, entry: impl Into<String>, build_options: String) -> Code {
        Code::SpirV(SpirvCode { spirv: Arc::new(spirv), entry: entry.into(), build_options })
    }

    /// As SPIR-V, if it is that.
    pub fn as_spirv(&self) -> Option<&SpirvCode> {
        match self {
            Code::SpirV(code) => Some(code),
            Code::Host(_) => None,
        }
    }

    pub fn entry(&self) -> &str {
        match self {
            Code::SpirV(code) => &code.entry,
            Code::Host(code) => &code.entry,
        }
    }
}
