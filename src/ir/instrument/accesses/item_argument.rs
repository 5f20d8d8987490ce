//! Passes the work-item's context as the kernel's last argument.

use kassay_base::error::{Error, Result};
use kassay_model::native::abi;

use crate::kernel::parameters;
use crate::llvm::{AddressSpace, Function, Opcode, Value, View};

/// Adds the argument to the kernel and replaces the calls of [`abi::ITEM`] by it. Returns the new function and the
/// argument.
///
/// # Errors
/// `Internal` if the kernel is called, or the placeholder used for something else.
pub fn append<'m>(view: View<'m>, kernel: Function<'m>) -> Result<(Function<'m>, Value<'m>)> {
    let name = kernel.name();
    if kernel.is_used() {
        return Err(Error::internal(format!("{name} is called, although everything is inlined")));
    }
    let extended = parameters::append(kernel, view.pointer_type(AddressSpace::Private), "kassay_item");
    let (new, item) = (extended.function, extended.parameter);
    // SAFETY: nothing calls the old kernel, and the caller goes on with the new one.
    unsafe { extended.replace_old(|_| None) };
    if let Some(placeholder) = view.function(abi::ITEM) {
        for user in placeholder.users() {
            let call = user.as_opcode(Opcode::LLVMCall).filter(|call| call.called_function() == Some(placeholder));
            let call = call.ok_or_else(|| Error::internal(format!("the address of {} is taken", abi::ITEM)))?;
            call.replace_and_erase(item);
        }
        // SAFETY: its uses are gone; it is looked up by its name.
        unsafe { placeholder.delete() };
    }
    Ok((new, item))
}
