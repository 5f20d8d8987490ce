//! Translates the orderings and scopes of LLVM's atomics into OpenCL's terms.

use kassay_model::native::table::{Ordering, Scope};

use super::sites;
use crate::llvm::AtomicOrdering::{self, *};
use crate::llvm::{Inst, View};

/// Names of synchronisation scopes in IR of clang for SPIR-V (`llvm/lib/Target/SPIRV`), of libclc and of LLVM itself.
const SCOPES: [(&str, Scope); 12] = [
    ("singlethread", Scope::WorkItem),
    ("work_item", Scope::WorkItem),
    ("wavefront", Scope::SubGroup),
    ("subgroup", Scope::SubGroup),
    ("sub_group", Scope::SubGroup),
    ("workgroup", Scope::WorkGroup),
    ("block", Scope::WorkGroup),
    ("device", Scope::Device),
    ("agent", Scope::Device),
    ("all_svm_devices", Scope::AllDevices),
    ("system", Scope::AllDevices),
    ("", Scope::AllDevices),
];

/// Returns the scope of an atomic instruction or fence.
pub fn scope<'m>(view: View<'m>, inst: Inst<'m>) -> Scope {
    let own = inst.sync_scope();
    let known = SCOPES.iter().find(|(name, _)| Some(view.sync_scope(name)) == own);
    known.map_or(Scope::AllDevices, |(_, scope)| *scope)
}

/// Returns the name of the scope of an atomic instruction or fence; empty for the widest, and for one that is not
/// known.
pub fn scope_name(inst: Inst<'_>) -> &'static str {
    SCOPES.iter().map(|(name, _)| *name).find(|name| inst.is_in_scope(name)).unwrap_or_default()
}

/// Returns whether an ordering has acquire semantics.
pub fn acquires(order: AtomicOrdering) -> bool {
    matches!(
        order,
        LLVMAtomicOrderingAcquire | LLVMAtomicOrderingAcquireRelease | LLVMAtomicOrderingSequentiallyConsistent
    )
}

/// Returns whether an ordering has release semantics.
pub fn releases(order: AtomicOrdering) -> bool {
    matches!(
        order,
        LLVMAtomicOrderingRelease | LLVMAtomicOrderingAcquireRelease | LLVMAtomicOrderingSequentiallyConsistent
    )
}

/// Returns the number of an ordering in OpenCL C's `memory_order` (6.15.12.4).
pub fn number(order: AtomicOrdering) -> u32 {
    match order {
        LLVMAtomicOrderingAcquire => 2,
        LLVMAtomicOrderingRelease => 3,
        LLVMAtomicOrderingAcquireRelease => 4,
        LLVMAtomicOrderingSequentiallyConsistent => 5,
        _ => 0,
    }
}

/// Returns the effective ordering of an atomic instruction; `loads` and `stores` say whether it may read and write.
pub fn ordering<'m>(
    view: View<'m>,
    inst: Inst<'m>,
    order: AtomicOrdering,
    loads: bool,
    stores: bool,
) -> Option<Ordering> {
    sites::ordering(loads && acquires(order), stores && releases(order), scope(view, inst))
}
