//! Local memory is filled with one pattern before the kernel begins. OpenCL leaves its contents open, so a mutant that
//! does not write it first would read what the launch before left there, or what a compiler makes of an undefined value:
//! no verdict would hold for another module of the same mutant.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

use super::emit::Emitter;
use crate::error::Result;
use crate::instrument::layout::{GuardLayout, argument};

/// The address space of local memory.
const LOCAL: u32 = 3;

/// What words of four bytes are written with.
const ALIGNMENT: u32 = 4;

/// Fills the kernel's local variables and the local memory that it gets as arguments, at its entry. Whether there was any:
/// then the group has to meet before it goes on.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn fill(emitter: &Emitter<'_, '_>, layout: GuardLayout) -> Result<bool> {
    let (fill, extent) = (emitter.runtime("__kassay_fill")?, emitter.runtime("__kassay_extent")?);
    let variables = variables(emitter);
    emitter.at_entry();
    for (variable, bytes) in &variables {
        emitter.call(fill, &mut [*variable, emitter.wide(*bytes)]);
    }
    let arguments = arguments(emitter, layout);
    for (position, pointer) in &arguments {
        let word = emitter.number(layout.argument(*position) + argument::EXTENT);
        let bytes = emitter.call(extent, &mut [emitter.probe, word]);
        emitter.call(fill, &mut [*pointer, bytes]);
    }
    Ok(!variables.is_empty() || !arguments.is_empty())
}

/// The local variables that something uses, with their sizes in bytes; aligned for words.
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

/// The kernel's own arguments that are local memory and that something uses.
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
