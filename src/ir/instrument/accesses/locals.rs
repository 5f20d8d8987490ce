//! Moves static local variables into the group's local memory, whose address is known at run time.

use std::collections::HashMap;

use kassay_base::error::Result;

use super::emit::Emitter;
use super::objects::Objects;
use crate::kernel::constant_uses;

/// Replaces all static local variables by their addresses in the group's local memory.
///
/// # Errors
/// `Internal` if the address of one is part of a constant that no instruction can compute.
pub fn replace<'m>(e: &Emitter<'m>, objects: &mut Objects<'m>) -> Result<()> {
    let locals = objects.locals();
    if locals.is_empty() {
        return Ok(());
    }
    let mut moved = HashMap::new();
    for (object, variable, offset) in &locals {
        let bytes = objects.bounds(*object).1.unwrap_or(0);
        let place = e.local(*object, *offset, bytes, variable.ty());
        objects.set_base(*object, place);
        moved.insert(variable.value(), place);
    }
    constant_uses::replace(e.kernel, &moved)?;
    for (_, variable, _) in locals {
        if variable.users().into_iter().all(|user| user.users().is_empty() && user.as_instruction().is_none()) {
            // SAFETY: no instruction uses it, nor a constant that is used; where its address is asked for, there is the
            // new one.
            unsafe {
                variable.value().replace_constant(variable.ty().poison());
                variable.delete();
            }
        }
    }
    Ok(())
}
