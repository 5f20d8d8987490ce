//! Code for the simulator: from a kernel's module, with or without probes, to an object file and the table of its sites.

use std::sync::Arc;
use std::time::Instant;

use inkwell::module::Module;
use llvm_sys::core::LLVMCountParams;

use super::accesses::{self, AccessOptions};
use crate::error::{Error, Result};
use crate::kernel::cache::{self, Key};
use crate::kernel::interface::Interface;
use crate::kernel::ir;
use crate::lower::cached;
use crate::lower::code::{Code, HostCode};
use crate::lower::forked::{self, Attempt, Limit};
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
    /// When whoever waits for the code has no more time.
    pub deadline: Option<Instant>,
}

/// Lowers the kernel `entry` for this host, everything checked. `module` is in canonical form; probes may be woven in: the probe
/// buffer is what stands behind the arguments of `interface`.
///
/// # Errors
/// As of [`prepare`](prepare::prepare), [`weave`](accesses::weave) and [`emit`](emit::emit); [`Error::late`] at the deadline.
pub fn code(module: Module<'_>, entry: &str, interface: &Interface, options: &HostOptions) -> Result<Code> {
    begin(module, entry, interface, options)?.end()
}

/// The same, while the caller does something else.
///
/// # Errors
/// As of [`linked`](prepare::linked).
pub fn begin(module: Module<'_>, entry: &str, interface: &Interface, options: &HostOptions) -> Result<Making> {
    // SAFETY: alive.
    let given = ir::function(&module, entry).map_or(0, |kernel| unsafe { LLVMCountParams(kernel.0) });
    let probe = given as usize > interface.args.len();
    let key = cached::key("host", &module).map(|key| {
        let HostOptions { races, effort, deadline: _ } = options;
        let wanted = format!("{entry} {interface:?} {races} {effort:?} {probe}");
        key.with(wanted.as_bytes()).with(&emit::host())
    });
    if let Some(code) = key.as_ref().and_then(cache::find).and_then(|bytes| read(&bytes, entry)) {
        return Ok(Making::Known(code));
    }
    let module = prepare::linked(module)?;
    // Where everything is inlined, all that follows may take long: a child can be ended.
    let limit = Limit::of(emit::LIMIT).until(options.deadline);
    let attempt = forked::begin_attempt(limit, emit::WHAT, || {
        prepare::inlined(&module, entry)?;
        let table = accesses::weave(&module, entry, &AccessOptions { races: options.races, interface, probe })?;
        let object = emit::object(&module, entry, options.effort)?;
        packed(&table, &object)
    })?;
    Ok(Making::Begun { attempt: Box::new(attempt), key, entry: entry.to_owned() })
}

/// Code that is about to be made.
#[derive(Debug)]
pub enum Making {
    /// It was in the cache.
    Known(HostCode),
    Begun {
        attempt: Box<Attempt>,
        key: Option<Key>,
        entry: String,
    },
}

impl Making {
    /// Waits for it.
    ///
    /// # Errors
    /// As of [`code`].
    pub fn end(self) -> Result<Code> {
        let code = match self {
            Making::Known(code) => code,
            Making::Begun { attempt, key, entry } => {
                let bytes = attempt.end()?;
                let code =
                    read(&bytes, &entry).ok_or_else(|| Error::internal("LLVM's child answered something else"))?;
                if let Some(key) = key {
                    cache::keep(&key, &bytes);
                }
                code
            }
        };
        Ok(Code::Host(Arc::new(code)))
    }
}

/// What the child answers, and the cache has: the length of the table as JSON, the table, the object.
fn packed(table: &HostTable, object: &[u8]) -> Result<Vec<u8>> {
    let table = serde_json::to_vec(table).map_err(|e| Error::internal(format!("the table of sites is lost: {e}")))?;
    let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(object);
    Ok(bytes)
}

fn read(bytes: &[u8], entry: &str) -> Option<HostCode> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (table, object) = rest.split_at_checked(u64::from_le_bytes(*len) as usize)?;
    Some(HostCode { object: object.to_vec(), entry: entry.to_owned(), table: serde_json::from_slice(table).ok()? })
}

/// The same before it is compiled: everything inlined, with hooks.
///
/// # Errors
/// As of [`prepare`](prepare::prepare) and [`weave`](accesses::weave).
pub fn hooked<'c>(module: Module<'c>, entry: &str, options: &AccessOptions<'_>) -> Result<(Module<'c>, HostTable)> {
    let module = prepare::prepare(module, entry)?;
    let table = accesses::weave(&module, entry, options)?;
    Ok((module, table))
}
