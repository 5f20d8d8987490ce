//! Assertions and other traps: calls of `llvm.trap`, after which an optimiser takes it that nothing comes. Failed
//! assertions are traps that bear the text of their condition.
//!
//! Where kassay itself reports them, they are calls of [`placeholder::TRAP`], which no pass merges or looks beyond.
//! Code of devices that report nothing goes on after them.

use kassay_model::native::abi::placeholder;

use crate::kernel::canonical;
use crate::llvm::{AttributeIndex, Inst, View};

/// The kind of metadata by which CUDA's front end gives a trap the text of the condition that has failed.
const CONDITION: &str = "kassay.assertion";

/// The names of the intrinsics: `__builtin_trap`, `__builtin_debugtrap`, and what checks of compilers call.
const INTRINSICS: [&str; 3] = ["llvm.trap", "llvm.debugtrap", "llvm.ubsantrap"];

fn traps<'m>(view: View<'m>) -> Vec<Inst<'m>> {
    let is_trap = |inst: &Inst<'_>| inst.callee().is_some_and(|name| INTRINSICS.contains(&&*name));
    view.instructions().into_iter().filter(is_trap).collect()
}

/// Returns whether the module has traps.
pub fn may_trap(view: View<'_>) -> bool {
    !traps(view).is_empty()
}

/// Makes traps calls of [`placeholder::TRAP`].
pub fn mark(view: View<'_>) {
    let traps = traps(view);
    if traps.is_empty() {
        return;
    }
    let ty = view.void_type().function(&[], false);
    let function = view.function_or_declared(placeholder::TRAP, ty);
    let condition = view.metadata_kind(CONDITION);
    let builder = view.builder();
    for trap in traps {
        builder.before(trap);
        let call = builder.call(function, &[], "");
        call.set_debug_location(trap.debug_location());
        call.set_metadata(condition, trap.metadata(condition));
        // Each is a place of the source.
        call.attributes(AttributeIndex::Function).add_flag("nomerge");
        builder.at_end(trap.block());
        trap.erase();
    }
}

/// Removes traps.
pub fn drop_all(view: View<'_>) {
    let traps = traps(view);
    if traps.is_empty() {
        return;
    }
    for trap in traps {
        trap.erase();
    }
    canonical::return_where_unreachable(view);
}

/// Returns the marked traps of a module.
pub fn marked(view: View<'_>) -> Vec<Inst<'_>> {
    let is_marked = |inst: &Inst<'_>| inst.callee().is_some_and(|name| name == placeholder::TRAP);
    view.instructions().into_iter().filter(is_marked).collect()
}

/// Returns the text of the condition of a failed assertion; `None` of other traps.
pub fn condition(trap: Inst<'_>) -> Option<String> {
    trap.metadata(trap.function().view().metadata_kind(CONDITION))?.operand(0).text().map(str::to_owned)
}
