//! Code for the simulator: from a kernel's module, with or without probes, to an object file and the table of its sites.

use std::sync::Arc;

use inkwell::module::Module;
use llvm_sys::core::LLVMCountParams;

use super::accesses::{self, AccessOptions};
use crate::error::Result;
use crate::kernel::interface::Interface;
use crate::kernel::ir;
use crate::lower::code::{Code, HostCode};
pub use crate::lower::host::emit::Effort;
use crate::lower::host::table::HostTable;
use crate::lower::host::{emit, prepare};

/// What code for the simulator is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// Every access to global and local memory is told to the simulator, so that it can look for races and interrupt work-items at
    /// it; else bounds are checked in the code itself, which is several times faster.
    pub races: bool,
    pub effort: Effort,
}

/// Lowers the kernel `entry` for this host, everything checked. `module` is in canonical form; probes may be woven in: the probe
/// buffer is what stands behind the arguments of `interface`.
///
/// # Errors
/// As of [`prepare`](prepare::prepare), [`weave`](accesses::weave) and [`emit`](emit::emit).
pub fn code(module: Module<'_>, entry: &str, interface: &Interface, options: &HostOptions) -> Result<Code> {
    let (module, table) = hooked(module, entry, interface, options.races)?;
    let object = emit::emit(&module, entry, options.effort)?;
    Ok(Code::Host(Arc::new(HostCode { object, entry: entry.to_owned(), table })))
}

/// The same before it is compiled: everything inlined, with hooks.
///
/// # Errors
/// As of [`prepare`](prepare::prepare) and [`weave`](accesses::weave).
pub fn hooked<'c>(
    module: Module<'c>,
    entry: &str,
    interface: &Interface,
    races: bool,
) -> Result<(Module<'c>, HostTable)> {
    // SAFETY: alive.
    let given = ir::function(&module, entry).map_or(0, |kernel| unsafe { LLVMCountParams(kernel.0) });
    let probe = given as usize > interface.args.len();
    let module = prepare::prepare(module, entry)?;
    let table = accesses::weave(&module, entry, &AccessOptions { races, interface, probe })?;
    Ok((module, table))
}
