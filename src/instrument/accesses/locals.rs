//! Moves static local variables into the group's local memory, whose address is known at run time.

use std::collections::HashMap;

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::{Emitter, EntryValue};
use super::objects::Objects;
use crate::error::Result;
use crate::kernel::constant_uses;
use crate::kernel::ir::users;

/// Replaces all static local variables by their addresses in the group's local memory.
///
/// # Errors
/// `Internal` if the address of one is part of a constant that no instruction can compute.
pub fn replace(e: &Emitter<'_, '_>, objects: &mut Objects) -> Result<()> {
    let locals = objects.locals();
    if locals.is_empty() {
        return Ok(());
    }
    let mut moved: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
    for (object, variable, offset) in &locals {
        let base = e.local_base();
        let place = e.entry_value(EntryValue::Local(*object), || {
            let place = e.byte_offset(base, *offset);
            e.cast_like(place, *variable)
        });
        objects.set_base(*object, place);
        moved.insert(*variable, place);
    }
    constant_uses::replace(e.kernel, &moved)?;
    for (_, variable, _) in locals {
        // SAFETY: alive; it goes when nothing uses it.
        unsafe {
            if users(variable).iter().all(|user| users(*user).is_empty() && LLVMIsAInstruction(*user).is_null()) {
                LLVMReplaceAllUsesWith(variable, LLVMGetPoison(LLVMTypeOf(variable)));
                LLVMDeleteGlobal(variable);
            }
        }
    }
    Ok(())
}
