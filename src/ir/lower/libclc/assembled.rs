//! Keeps assembled builtins as bitcode: in memory, for each set of builtins, and in the cache.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::cache::{self, Key};
use kassay_base::error::Result;

use super::library::unreadable;
use crate::llvm::{self, Type};

/// What builtins are made for, libclc's path, and the builtins' names and types.
type Set = (&'static str, PathBuf, Vec<(String, String)>);
static CACHE: LazyLock<Mutex<HashMap<Set, Arc<Vec<u8>>>>> = LazyLock::new(Mutex::default);

/// Returns the bitcode of the module that `assemble` makes of `wanted`, given libclc's path. `kind` says what it is
/// made for, and `machine` returns what besides determines it.
///
/// # Errors
/// `Environment` without libclc; those of `assemble`.
pub fn bitcode<'c>(
    kind: &'static str,
    wanted: &BTreeMap<String, Type<'_>>,
    machine: impl Fn() -> Vec<u8>,
    assemble: impl FnOnce(&Path) -> Result<Module<'c>>,
) -> Result<Arc<Vec<u8>>> {
    let path = super::path()?;
    let builtins: Vec<_> = wanted.iter().map(|(name, ty)| (name.clone(), ty.text())).collect();
    let set = (kind, path, builtins);
    if let Some(known) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&set) {
        return Ok(known.clone());
    }
    let place = cache::is_open().then(|| {
        let key = Key::new(kind).with(&machine());
        set.2.iter().fold(key, |sum, (name, ty)| sum.with(name.as_bytes()).with(ty.as_bytes()))
    });
    let bitcode = match place.as_ref().and_then(cache::find) {
        Some(bitcode) => bitcode,
        None => {
            let bitcode = assemble(&set.1)?.write_bitcode_to_memory().as_slice().to_vec();
            if let Some(place) = place {
                cache::keep(&place, &bitcode);
            }
            bitcode
        }
    };
    let bitcode = Arc::new(bitcode);
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).insert(set, bitcode.clone());
    Ok(bitcode)
}

/// Links what [`bitcode`] returned.
///
/// # Errors
/// `Internal` if the modules do not go together.
pub fn link(module: &mut Module<'_>, bitcode: &[u8]) -> Result<()> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "builtins");
    let builtins = Module::parse_bitcode_from_buffer(&buffer, module.get_context()).map_err(unreadable)?;
    llvm::link(module, builtins).map_err(unreadable)
}
