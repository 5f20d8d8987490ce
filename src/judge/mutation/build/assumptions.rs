//! Removes from modules of mutants what is true of the original only, so that no mutant's behaviour is undefined where
//! the original's is not (a table in `docs/operators.md` names all of it).
//!
//! Flags that clang set (signed arithmetic does not overflow, pointers stay within objects) are the source language's,
//! and stay in IR that was not optimised; an instruction with another operand loses its own.

use kassay_ir::llvm::assumptions::Holder;
use kassay_ir::llvm::{Function, Inst, Opcode, View};

/// Metadata with which an access or call asserts something of its value, of its address, or of other accesses.
const METADATA: [&str; 12] = [
    "range",
    "nonnull",
    "noundef",
    "nofpclass",
    "align",
    "dereferenceable",
    "dereferenceable_or_null",
    "invariant.load",
    "invariant.group",
    "alias.scope",
    "noalias",
    "captures",
];

/// Intrinsics that are undefined of one value if their second argument says so.
const POISONING: [&str; 3] = ["llvm.abs.", "llvm.ctlz.", "llvm.cttz."];

/// Drops what an optimiser inferred: flags of integers and addresses by which results are poison, assumptions of
/// attributes and metadata, and alignments beyond those of types. No instruction is added or removed. Liberties with
/// floats stay, because the user gives them.
pub fn drop_inferred(module: View<'_>) {
    let metadata = METADATA.map(|name| module.metadata_kind(name));
    let layout = module.layout();
    for f in module.functions().into_iter().filter(|f| !f.name().starts_with("llvm.")) {
        Holder::Function(f).drop_inferred_values();
        if f.has_body() {
            Holder::Function(f).drop_effects();
        }
        for inst in f.instructions() {
            if !inst.ty().scalar().is_float() {
                inst.drop_poison_flags();
            }
            metadata.iter().for_each(|kind| inst.set_metadata(*kind, None));
            if inst.is_call() {
                inst.set_tail_call(false);
                Holder::Call(inst).drop_inferred_values();
                define(module, inst);
            }
            let accessed = match inst.opcode() {
                Opcode::LLVMLoad => inst.ty(),
                Opcode::LLVMStore => inst.operand(0).ty(),
                _ => continue,
            };
            // Atomic accesses are aligned as their types are, or have no code.
            if !inst.is_atomic()
                && accessed.is_sized()
                && inst.alignment().is_some_and(|own| own > layout.alignment(accessed))
            {
                inst.set_alignment(layout.alignment(accessed));
            }
        }
    }
}

const ASSUME: &str = "llvm.assume";

/// Makes an intrinsic defined of all values.
fn define<'m>(module: View<'m>, call: Inst<'m>) {
    let Some(name) = call.callee() else { return };
    if POISONING.iter().any(|start| name.starts_with(start)) && call.arg_count() == 2 {
        call.set_operand(1, module.types().bool().int(0));
    }
    if name == ASSUME {
        call.set_operand(0, module.types().bool().int(1));
    }
}

/// Erases `llvm.assume`: what the original may assume, a mutant may break. Positions in the module are void afterwards,
/// so that mutants are woven before.
pub fn drop_assumptions(module: View<'_>) {
    let functions = module.functions().into_iter().filter(|f| f.has_body());
    for call in functions.flat_map(Function::instructions) {
        if call.callee().as_deref() == Some(ASSUME) {
            call.erase();
        }
    }
}
