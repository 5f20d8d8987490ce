//! Removes from a module what would permit an optimiser to assume that something does not happen: poison-generating
//! flags, and attributes and metadata that promise values, progress or the absence of effects.
//!
//! A mutant may do what the original never does, and a test may observe it; without such licences, equal optimised code
//! means equal behaviour.

use std::sync::LazyLock;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMAttributeReturnIndex, LLVMOpcode};

use crate::kernel::ir::{self, Block, Function, Inst};
use crate::solve::purity;

/// Promises about a function's effects. Those of a declaration are kept if it reaches no memory through pointers.
const EFFECTS: [&str; 8] =
    ["memory", "willreturn", "mustprogress", "nosync", "nofree", "speculatable", "noreturn", "nocallback"];

/// Promises about values.
const VALUES: [&str; 16] = [
    "noundef",
    "nonnull",
    "noalias",
    "align",
    "dereferenceable",
    "dereferenceable_or_null",
    "range",
    "nofpclass",
    "captures",
    "readnone",
    "readonly",
    "writeonly",
    "returned",
    "dead_on_unwind",
    "writable",
    "initializes",
];

/// Removes all metadata from instructions and functions. No instruction is added or removed.
pub fn drop_metadata(module: &Module<'_>) {
    for f in ir::functions(module) {
        // SAFETY: a function of the borrowed module.
        unsafe { LLVMGlobalClearMetadata(f.0) };
        for inst in f.blocks().into_iter().flat_map(Block::instructions) {
            inst.drop_metadata();
        }
    }
}

/// Drops every licence of the module's instructions, functions and calls.
pub fn drop_all(module: &Module<'_>) {
    drop_metadata(module);
    for f in ir::functions(module) {
        strip_function(module, f);
        for inst in f.blocks().into_iter().flat_map(Block::instructions) {
            strip_instruction(module, inst);
        }
    }
}

/// LLVM's numbers of [`EFFECTS`] and [`VALUES`]: looking them up for every call of every mutant takes longer than
/// removing the attributes.
static EFFECT_KINDS: LazyLock<[u32; 8]> = LazyLock::new(|| EFFECTS.map(kind_of));
static VALUE_KINDS: LazyLock<[u32; 16]> = LazyLock::new(|| VALUES.map(kind_of));
static NOINLINE: LazyLock<u32> = LazyLock::new(|| kind_of("noinline"));
static NOMERGE: LazyLock<u32> = LazyLock::new(|| kind_of("nomerge"));

fn kind_of(name: &str) -> u32 {
    // SAFETY: a pointer to a static string, with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

fn strip_function(module: &Module<'_>, f: Function) {
    let name = f.name();
    if name.starts_with("llvm.") {
        return;
    }
    let promises_hold = !f.has_body() && !purity::takes_pointers(f);
    // SAFETY: a function of the borrowed module; removing an absent attribute does nothing.
    unsafe {
        if !promises_hold {
            for kind in *EFFECT_KINDS {
                LLVMRemoveEnumAttributeAtIndex(f.0, LLVMAttributeFunctionIndex, kind);
            }
        }
        let promised = |index: &LLVMAttributeIndex| LLVMGetAttributeCountAtIndex(f.0, *index) > 0;
        for index in argument_indices(LLVMCountParams(f.0)).filter(promised) {
            for kind in *VALUE_KINDS {
                LLVMRemoveEnumAttributeAtIndex(f.0, index, kind);
            }
        }
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        // Functions named like those of a C library mean nothing here; address 0 is an ordinary address.
        let key = "no-builtins";
        let plain = LLVMCreateStringAttribute(context, key.as_ptr().cast(), key.len() as u32, "".as_ptr().cast(), 0);
        LLVMAddAttributeAtIndex(f.0, LLVMAttributeFunctionIndex, plain);
    }
    if f.has_body() {
        crate::kernel::canonical::add_attribute(f, "null_pointer_is_valid");
    }
}

fn argument_indices(count: u32) -> impl Iterator<Item = LLVMAttributeIndex> {
    std::iter::once(LLVMAttributeReturnIndex).chain(1..=count)
}

fn strip_instruction(module: &Module<'_>, inst: Inst) {
    inst.drop_poison_flags();
    if inst.opcode() == LLVMOpcode::LLVMCall {
        // SAFETY: a call of the borrowed module.
        unsafe { strip_call(module, inst) };
    }
}

/// # Safety
/// `inst` is a call of a living module.
unsafe fn strip_call(module: &Module<'_>, inst: Inst) {
    let callee = inst.callee();
    if callee.as_deref().is_some_and(|name| name.starts_with("llvm.")) {
        return;
    }
    let holds = callee
        .and_then(|name| ir::function(module, &name))
        .is_some_and(|f| !f.has_body() && !purity::takes_pointers(f));
    // SAFETY: the caller passes a call of the living module; removing an absent attribute does nothing.
    unsafe {
        if !holds {
            for kind in EFFECT_KINDS.iter().chain([&*NOINLINE]) {
                LLVMRemoveCallSiteEnumAttribute(inst.0, LLVMAttributeFunctionIndex, *kind);
            }
            // Two calls are never merged: which of two barriers a work-item waits at is observable.
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            LLVMAddCallSiteAttribute(inst.0, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, *NOMERGE, 0));
        }
        let promised = |index: &LLVMAttributeIndex| LLVMGetCallSiteAttributeCount(inst.0, *index) > 0;
        for index in argument_indices(LLVMGetNumArgOperands(inst.0)).filter(promised) {
            for kind in *VALUE_KINDS {
                LLVMRemoveCallSiteEnumAttribute(inst.0, index, kind);
            }
        }
    }
}
