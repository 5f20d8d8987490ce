//! Passes the work-item's context as the kernel's last argument.

use inkwell::module::Module;
use llvm_sys::core::*;

use crate::error::{Error, Result};
use crate::kernel::ir::{self, Function};
use crate::kernel::parameters;
use crate::lower::host::abi;

/// Adds the argument to the kernel and replaces the calls of [`abi::ITEM`] by it.
pub fn append(module: &Module<'_>, kernel: Function) -> Result<Function> {
    // SAFETY: alive; the old function is deleted when its body has moved and nothing calls it; calls of the placeholder have no
    // uses left when they are erased.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let name = kernel.name();
        let (new, calls) = parameters::append(kernel, LLVMPointerTypeInContext(context, 0), "kassay_item");
        if !calls.is_empty() {
            return Err(Error::internal(format!("{name} is called, although everything is inlined")));
        }
        LLVMDeleteFunction(kernel.0);
        if let Some(placeholder) = ir::function(module, abi::ITEM) {
            let item = LLVMGetLastParam(new.0);
            for call in ir::users(placeholder.0) {
                if LLVMIsACallInst(call).is_null() || LLVMGetCalledValue(call) != placeholder.0 {
                    return Err(Error::internal(format!("the address of {} is taken", abi::ITEM)));
                }
                LLVMReplaceAllUsesWith(call, item);
                LLVMInstructionEraseFromParent(call);
            }
            LLVMDeleteFunction(placeholder.0);
        }
        Ok(new)
    }
}
