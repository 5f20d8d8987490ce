//! Code in the cache, by the module that it was made of.

use inkwell::module::Module;

use crate::kernel::cache::{self, Key};

/// Where what `kind` of step makes of `module` is kept, as far as the module decides; `None` without a cache. Take it before the step
/// changes the module.
pub fn key(kind: &str, module: &Module<'_>) -> Option<Key> {
    cache::is_open().then(|| Key::new(kind).with(module.write_bitcode_to_memory().as_slice()))
}
