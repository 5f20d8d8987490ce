//! Defines the forms of code that executors load.

use std::sync::Arc;

use crate::lower::host::table::HostTable;

/// Code for an executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// For OpenCL devices.
    SpirV(SpirvCode),
    /// For the simulator.
    Host(Arc<HostCode>),
}

/// The form of code to produce.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Target {
    #[default]
    SpirV,
    Host,
}

/// Code that an OpenCL device loads with its IL loader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpirvCode {
    /// A SPIR-V module.
    pub spirv: Arc<Vec<u8>>,
    /// The kernel's name in the module.
    pub entry: String,
    /// Options of `clBuildProgram`.
    pub build_options: String,
}

/// Code that the simulator runs: an object file for this host, and the table of the sites that hooks refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCode {
    /// A relocatable ELF object that defines [`super::host::abi::ENTRY`].
    pub object: Vec<u8>,
    /// The kernel's name.
    pub entry: String,
    pub table: HostTable,
}

impl Code {
    /// Wraps a SPIR-V module.
    pub fn spirv(spirv: Vec<u8>, entry: impl Into<String>, build_options: String) -> Code {
        Code::SpirV(SpirvCode { spirv: Arc::new(spirv), entry: entry.into(), build_options })
    }

    /// Returns the SPIR-V code; `None` for the simulator's.
    pub fn as_spirv(&self) -> Option<&SpirvCode> {
        match self {
            Code::SpirV(code) => Some(code),
            Code::Host(_) => None,
        }
    }

    /// The kernel's name.
    pub fn entry(&self) -> &str {
        match self {
            Code::SpirV(code) => &code.entry,
            Code::Host(code) => &code.entry,
        }
    }
}
