//! Removes from a module what would permit an optimiser to assume that something does not happen: poison-generating
//! flags, and attributes and metadata that assert values, progress or the absence of effects.
//!
//! A mutant may do what the original never does, and a test may observe it; without such assumptions, equal optimised
//! code means equal behaviour.

use std::sync::LazyLock;

use kassay_ir::llvm::assumptions::Holder;
use kassay_ir::llvm::{AttributeIndex, AttributeKind, Function, Inst, View};
use kassay_prove::solve::purity;

/// Removes all metadata from instructions and functions. No instruction is added or removed.
pub fn drop_metadata(module: View<'_>) {
    for f in module.functions() {
        f.clear_metadata();
        f.instructions().into_iter().for_each(Inst::drop_metadata);
    }
}

/// Drops every assumption about the module's instructions, functions and calls.
pub fn drop_all(module: View<'_>) {
    drop_metadata(module);
    for f in module.functions() {
        strip_function(f);
        for inst in f.instructions() {
            inst.drop_poison_flags();
            if inst.is_call() {
                strip_call(inst);
            }
        }
    }
}

static NOINLINE: LazyLock<AttributeKind> = LazyLock::new(|| AttributeKind::of("noinline"));

fn strip_function(f: Function<'_>) {
    if f.name().starts_with("llvm.") {
        return;
    }
    let own = f.attributes(AttributeIndex::Function);
    // What a declaration says of its effects is kept if it reaches no memory through pointers.
    if !keeps_its_effects(f) {
        Holder::Function(f).drop_effects();
    }
    Holder::Function(f).drop_values();
    // Functions named like those of a C library mean nothing here; address 0 is an ordinary address.
    own.add_text("no-builtins", "");
    if f.has_body() {
        own.add_flag("null_pointer_is_valid");
    }
}

/// Returns whether what is assumed of a function's effects is kept: it is declared only, and reaches no memory.
fn keeps_its_effects(f: Function<'_>) -> bool {
    !f.has_body() && !purity::takes_references(f)
}

fn strip_call(call: Inst<'_>) {
    let callee = call.called_function();
    if callee.is_some_and(|f| f.name().starts_with("llvm.")) {
        return;
    }
    if !callee.is_some_and(keeps_its_effects) {
        let own = call.attributes(AttributeIndex::Function);
        Holder::Call(call).drop_effects();
        own.remove_kind(*NOINLINE);
        // Two calls are never merged: which of two barriers a work-item waits at is observable.
        own.add_flag("nomerge");
    }
    Holder::Call(call).drop_values();
}
