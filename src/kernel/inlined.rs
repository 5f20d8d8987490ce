//! How large a kernel becomes once all that it calls is part of it.

use std::collections::HashMap;

use inkwell::module::Module;

use super::ir::{self, Block, Function};

/// Kernels of more instructions, with everything inlined, are large: passes take seconds.
pub const LARGE: u64 = 20_000;

/// The passes that inline everything which is to be inlined. Large functions are promoted before, as what is copied is a third as long
/// then; of others everything stays that LLVM's inliner would simplify away where it sees a constant argument.
pub fn passes(module: &Module<'_>, entry: &str) -> &'static str {
    match size(module, entry).is_some_and(|size| size > LARGE) {
        true => "function(sroa,mem2reg),always-inline,globaldce",
        false => "always-inline,globaldce",
    }
}

/// Instructions of `entry` with those of all it calls, as often as it calls them; `None` if some function calls itself. 0 if
/// there is no such function.
pub fn size(module: &Module<'_>, entry: &str) -> Option<u64> {
    match ir::function(module, entry) {
        Some(f) => size_of(module, f, &mut HashMap::new()),
        None => Some(0),
    }
}

/// `known`: sizes; `None` while the function is being counted.
fn size_of(module: &Module<'_>, f: Function, known: &mut HashMap<Function, Option<u64>>) -> Option<u64> {
    if let Some(size) = known.get(&f) {
        return *size;
    }
    known.insert(f, None);
    let mut size = 0u64;
    for inst in f.blocks().into_iter().flat_map(Block::instructions) {
        let callee = inst.callee().and_then(|name| ir::function(module, &name));
        let inside = callee.map_or(Some(0), |f| size_of(module, f, known))?;
        size = size.saturating_add(1).saturating_add(inside);
    }
    known.insert(f, Some(size));
    Some(size)
}
