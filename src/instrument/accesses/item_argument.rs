//! Passes the work-item's context as the kernel's last argument.

use crate::error::{Error, Result};
use crate::kernel::ir;
use crate::kernel::parameters;
use crate::llvm::{AddressSpace, Function, Opcode, Value, View};
use crate::lower::host::abi;

/// Adds the argument to the kernel and replaces the calls of [`abi::ITEM`] by it. Returns the new function and the argument.
///
/// # Errors
/// `Internal` if the kernel is called, or the placeholder used for something else.
pub fn append<'m>(view: View<'m>, kernel: Function<'m>) -> Result<(Function<'m>, Value<'m>)> {
    let name = kernel.name();
    let gone = || Error::internal(format!("{name} lost its body"));
    // Until kernel::parameters moves to crate::llvm.
    let pointer = view.pointer_type(AddressSpace::Private).as_raw();
    let (_, calls) = parameters::append(ir::Function(kernel.as_raw()), pointer, "kassay_item");
    if !calls.is_empty() {
        return Err(Error::internal(format!("{name} is called, although everything is inlined")));
    }
    // SAFETY: nothing calls it, its body has moved, and the caller goes on with the new function.
    unsafe { kernel.delete() };
    let new = view.function(&name).ok_or_else(gone)?;
    let item = new.last_param().ok_or_else(gone)?;
    if let Some(placeholder) = view.function(abi::ITEM) {
        for user in placeholder.users() {
            let call = user.as_opcode(Opcode::LLVMCall).filter(|call| call.called_function() == Some(placeholder));
            let call = call.ok_or_else(|| Error::internal(format!("the address of {} is taken", abi::ITEM)))?;
            // SAFETY: each call stands once among the users, and nobody has looked at the kernel's instructions before.
            unsafe { call.replace_and_erase(item) };
        }
        // SAFETY: its uses are gone; it is looked up by its name.
        unsafe { placeholder.delete() };
    }
    Ok((new, item))
}
