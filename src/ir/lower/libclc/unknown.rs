//! Tells which builtins no library has.

use inkwell::module::Module;
use kassay_base::error::Error;

use crate::kernel::builtins::demangle;
use crate::llvm::{Block, Function, View};

/// Suffixes that clang appends to the names of builtins that it implements by its own functions.
const VARIANTS: [&str; 6] = ["_basic", "_varargs", "_events", "_impl", "_2", "_4"];

/// Returns a builtin's name as written in the source.
fn as_written(name: &str) -> &str {
    if let Some((base, _)) = demangle(name) {
        return base;
    }
    let mut name = name.trim_start_matches("__");
    while let Some(shorter) = VARIANTS.iter().find_map(|v| name.strip_suffix(v)) {
        name = shorter;
    }
    name
}

/// Builds the error for builtins that `who` lacks; `names` are those in the kernel's module.
pub fn unknown(module: &Module<'_>, names: &[&str], who: &str, help: &str) -> Error {
    let calls = View::of(module).functions().into_iter().flat_map(Function::blocks).flat_map(Block::walk);
    let mut calls = calls.filter(|i| i.callee().is_some_and(|c| names.contains(&c.as_str())));
    let place = calls.find_map(|call| call.location()).filter(|l| l.line > 0);
    let place = place.map(|l| format!("{l}: ")).unwrap_or_default();
    let shown = |name: &&str| match as_written(name) {
        written if demangle(name).is_some() => format!("`{written}` ({name})"),
        written => format!("`{written}`"),
    };
    let mut all: Vec<String> = names.iter().map(shown).collect();
    all.dedup();
    Error::internal(format!("{place}{who} has no {}", all.join(", no "))).help(help)
}
