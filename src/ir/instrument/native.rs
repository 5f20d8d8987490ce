//! Compiles for the simulator: from a kernel's module, with or without probes, to an object file and the table
//! of its sites.

use std::sync::Arc;

use inkwell::module::Module;
use kassay_base::cache::{self, Key};
use kassay_base::error::{Error, Result};
use kassay_base::json;
use kassay_model::code::{Code, Effort, LoweringOptions, NativeCode};
use kassay_model::interface::Interface;
use kassay_model::native::table::NativeTable;
use serde::{Deserialize, Serialize};

use super::accesses::{self, AccessOptions};
use crate::kernel::module;
use crate::llvm::{Context, View};
use crate::lower::cached;
use crate::lower::forked::{self, Attempt, Job, Limit};
use crate::lower::native::{emit, machine, prepare};

/// Begins to lower the kernel `entry` for this host with all checks, and returns while the code is being made. `module`
/// is in canonical form; probes may be woven in: the probe buffer follows the arguments of `interface`.
///
/// # Errors
/// As [`linked`](prepare::linked).
pub fn begin(module: Module<'_>, entry: &str, interface: &Interface, options: &LoweringOptions) -> Result<PendingCode> {
    let given = View::of(&module).function(entry).map_or(0, |kernel| kernel.param_count());
    let probe = given as usize > interface.args.len();
    let key = cached::key("host", &module).map(|key| {
        let LoweringOptions { races, effort, image_buffers: _, deadline: _ } = options;
        let wanted = format!("{entry} {interface:?} {races} {effort:?} {probe}");
        key.with(wanted.as_bytes()).with(&machine::host())
    });
    if let Some(code) = key.as_ref().and_then(cache::find).and_then(|bytes| read(&bytes, entry)) {
        return Ok(PendingCode::Cached(code));
    }
    let bitcode = prepare::linked(module)?.write_bitcode_to_memory();
    // From inlining on, everything may take long, so it runs in a child process that can be ended.
    let limit = Limit::of(emit::LIMIT).until(options.deadline);
    let LoweringOptions { races, effort, .. } = *options;
    let wanted = Wanted { entry: entry.to_owned(), interface: interface.clone(), races, effort, probe };
    let attempt = forked::begin_attempt(limit, emit::WHAT, Job::new(make, &wanted, bitcode.as_slice()))?;
    Ok(PendingCode::Running { attempt: Box::new(attempt), key, entry: entry.to_owned() })
}

/// What a child is to make of a module.
#[derive(Serialize, Deserialize)]
struct Wanted {
    entry: String,
    interface: Interface,
    races: bool,
    effort: Effort,
    /// Whether the probe buffer follows the kernel's own arguments.
    probe: bool,
}

/// In the child: makes the code of a module whose builtins are linked.
fn make(wanted: Wanted, bitcode: &[u8]) -> Result<Vec<u8>> {
    let Wanted { entry, interface, races, effort, probe } = wanted;
    let context = Context::create();
    let mut module = module::parse_own(&context, bitcode)?;
    prepare::inlined(&mut module, &entry)?;
    let table = accesses::weave(&module, &entry, &AccessOptions { races, interface: &interface, probe })?;
    let object = emit::object(&mut module, &entry, effort)?;
    packed(&table, &object)
}

/// Code that is being made.
#[derive(Debug)]
pub enum PendingCode {
    /// Found in the cache.
    Cached(NativeCode),
    /// A process of its own is making it.
    Running {
        /// The process.
        attempt: Box<Attempt>,
        /// Where the cache is to keep it; `None` without a cache.
        key: Option<Key>,
        /// The kernel's name.
        entry: String,
    },
}

impl PendingCode {
    /// Waits for the code.
    ///
    /// # Errors
    /// As [`prepare`](prepare::prepare), [`weave`](accesses::weave) and [`emit`](emit::emit); [`Error::late`]
    /// at the deadline.
    pub fn end(self) -> Result<Code> {
        let code = match self {
            PendingCode::Cached(code) => code,
            PendingCode::Running { attempt, key, entry } => {
                let bytes = attempt.end()?;
                let code =
                    read(&bytes, &entry).ok_or_else(|| Error::internal("LLVM's child answered something else"))?;
                if let Some(key) = key {
                    cache::keep(&key, &bytes);
                }
                code
            }
        };
        Ok(Code::Native(Arc::new(code)))
    }
}

/// Format of the child's answer and of the cache: the length of the table as JSON (8 bytes, little-endian), the table,
/// the object file.
fn packed(table: &NativeTable, object: &[u8]) -> Result<Vec<u8>> {
    let table = json::bytes(table).map_err(|e| Error::internal(format!("the table of sites is lost: {e}")))?;
    let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(object);
    Ok(bytes)
}

fn read(bytes: &[u8], entry: &str) -> Option<NativeCode> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (table, object) = rest.split_at_checked(u64::from_le_bytes(*len) as usize)?;
    Some(NativeCode { object: object.to_vec(), entry: entry.to_owned(), table: json::read(table).ok()? })
}

/// Returns the module as it is before compilation: everything inlined, with hooks.
///
/// # Errors
/// As [`prepare`](prepare::prepare) and [`weave`](accesses::weave).
pub fn hooked<'c>(module: Module<'c>, entry: &str, options: &AccessOptions<'_>) -> Result<(Module<'c>, NativeTable)> {
    let module = prepare::prepare(module, entry)?;
    let table = accesses::weave(&module, entry, options)?;
    Ok((module, table))
}
