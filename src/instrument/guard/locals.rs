//! Fills local memory with a pattern before the kernel begins. OpenCL leaves its initial contents undefined, so a
//! mutant that does not write it first would read what the previous launch left there, or whatever a compiler makes of
//! an undefined value, and no verdict would hold for another module of the same mutant.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

use super::emit::Emitter;
use crate::error::Result;
use crate::instrument::layout::{GuardLayout, argument};

/// The address space of local memory.
const LOCAL: u32 = 3;

/// Alignment required by four-byte writes.
const ALIGNMENT: u32 = 4;

/// Fills the kernel's local variables and local arguments at its entry. Returns whether there were any, in which case
/// the group has to synchronise before it continues.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn fill(emitter: &Emitter<'_, '_>, layout: GuardLayout) -> Result<bool> {
    let (fill, extent) = (emitter.runtime("__kassay_fill")?, emitter.runtime("__kassay_extent")?);
    let variables = variables(emitter);
    emitter.at_entry();
    for (variable, bytes) in &variables {
        emitter.call(fill, &mut [*variable, emitter.const_i64(*bytes)]);
    }
    let arguments = arguments(emitter, layout);
    for (position, pointer) in &arguments {
        let word = emitter.const_i32(layout.argument(*position) + argument::EXTENT);
        let bytes = emitter.call(extent, &mut [emitter.probe, word]);
        emitter.call(fill, &mut [*pointer, bytes]);
    }
    Ok(!variables.is_empty() || !arguments.is_empty())
}

/// Returns the used local variables with their sizes in bytes, and aligns them for word writes.
fn variables(emitter: &Emitter<'_, '_>) -> Vec<(LLVMValueRef, u64)> {
    let mut found = Vec::new();
    // SAFETY: the module is alive; its list of globals ends with null.
    unsafe {
        let module = emitter.module.as_mut_ptr();
        let data = LLVMGetModuleDataLayout(module);
        let mut next = LLVMGetFirstGlobal(module);
        while !next.is_null() {
            if LLVMGetPointerAddressSpace(LLVMTypeOf(next)) == LOCAL && !LLVMGetFirstUse(next).is_null() {
                LLVMSetAlignment(next, LLVMGetAlignment(next).max(ALIGNMENT));
                found.push((next, LLVMABISizeOfType(data, LLVMGlobalGetValueType(next))));
            }
            next = LLVMGetNextGlobal(next);
        }
    }
    found
}

/// Returns the kernel's own arguments that are used and point to local memory.
fn arguments(emitter: &Emitter<'_, '_>, layout: GuardLayout) -> Vec<(u32, LLVMValueRef)> {
    // SAFETY: the kernel has the layout's arguments and the probe buffer.
    let argument = |position| unsafe { LLVMGetParam(emitter.kernel.0, position) };
    let is_local = |value: &LLVMValueRef| unsafe {
        let ty = LLVMTypeOf(*value);
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind
            && LLVMGetPointerAddressSpace(ty) == LOCAL
            && !LLVMGetFirstUse(*value).is_null()
    };
    (0..layout.args).map(|position| (position, argument(position))).filter(|(_, value)| is_local(value)).collect()
}
