//! Computes a kernel's size after everything that it calls has been inlined.

use std::collections::HashMap;

use inkwell::module::Module;

use crate::llvm::{Function, View};

/// The kind of metadata by which the front end of CUDA marks what a library's function computes and decides where it is
/// inlined, and kassay what it computes in the place of a pointer: the user wrote a call or a load, which has no sites
/// and no mutants within.
pub const LIBRARY: &str = "kassay.library";

/// Kernels with more instructions than this after inlining are large: passes take seconds.
pub const LARGE: u64 = 20_000;

/// The passes that inline all calls. Large kernels are promoted first, because the code that is then copied is
/// a third as long. Smaller ones are not, which preserves everything that LLVM's inliner would simplify away
/// at constant arguments.
pub fn passes(module: &Module<'_>, entry: &str) -> &'static str {
    match size(module, entry).is_some_and(|size| size > LARGE) {
        true => "function(sroa,mem2reg),always-inline,globaldce",
        false => "always-inline,globaldce",
    }
}

/// The number of instructions of `entry` after inlining: a callee counts once per call. `None` if a function is
/// recursive; 0 if the function does not exist.
pub fn size(module: &Module<'_>, entry: &str) -> Option<u64> {
    match View::of(module).function(entry) {
        Some(f) => size_of(f, &mut HashMap::new()),
        None => Some(0),
    }
}

/// `known` caches sizes; `None` marks a function that is still being counted.
fn size_of<'m>(f: Function<'m>, known: &mut HashMap<Function<'m>, Option<u64>>) -> Option<u64> {
    if let Some(size) = known.get(&f) {
        return *size;
    }
    known.insert(f, None);
    let mut size = 0u64;
    for inst in f.instructions() {
        let inside = inst.called_function().map_or(Some(0), |f| size_of(f, known))?;
        size = size.saturating_add(1).saturating_add(inside);
    }
    known.insert(f, Some(size));
    Some(size)
}
