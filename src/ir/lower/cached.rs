//! Computes cache keys of code from the module that it is made from.

use inkwell::module::Module;
use kassay_base::cache::{self, Key};

/// Returns the cache key of what the step `kind` makes from `module`, as far as the module determines it; `None` if
/// there is no cache. To be called before the step changes the module.
pub fn key(kind: &str, module: &Module<'_>) -> Option<Key> {
    cache::is_open().then(|| Key::new(kind).with(module.write_bitcode_to_memory().as_slice()))
}
