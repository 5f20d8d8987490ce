//! Builds the function that the simulator calls, which loads the kernel's arguments ([`abi::ENTRY`]).

use inkwell::module::Module;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

use super::abi;
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Function};

/// Adds the wrapper to a woven kernel, whose last parameter is the item. Structures that are passed by value are copied
/// for each work-item.
///
/// # Errors
/// `Internal` if there is no such kernel.
pub fn add(module: &Module<'_>, entry: &str) -> Result<()> {
    let kernel = ir::function(module, entry)
        .filter(|f| f.has_body())
        .ok_or_else(|| Error::internal(format!("there is no kernel `{entry}` to make code of")))?;
    // SAFETY: everything belongs to one living module; parameters are counted before they are asked for.
    unsafe {
        let count = LLVMCountParams(kernel.0);
        if count == 0 {
            return Err(Error::internal(format!("`{entry}` was not woven: it has no item")));
        }
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let pointer = LLVMPointerTypeInContext(context, 0);
        let mut types = [pointer, pointer];
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), types.as_mut_ptr(), 2, 0);
        let name = std::ffi::CString::new(abi::ENTRY).unwrap_or_default();
        let wrapper = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
        canonical::add_attribute(Function(wrapper), "nounwind");
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, wrapper, c"".as_ptr()));
        let cells = LLVMGetParam(wrapper, 1);
        let mut arguments: Vec<LLVMValueRef> = Vec::new();
        for i in 0..count - 1 {
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(context), u64::from(i), 0);
            let cell = LLVMBuildGEP2(builder, pointer, cells, &mut index, 1, c"".as_ptr());
            let at = LLVMBuildLoad2(builder, pointer, cell, c"".as_ptr());
            arguments.push(argument(module, builder, kernel, i, at));
        }
        arguments.push(LLVMGetParam(wrapper, 0));
        let kernel_type = LLVMGlobalGetValueType(kernel.0);
        LLVMBuildCall2(builder, kernel_type, kernel.0, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
        LLVMSetLinkage(kernel.0, LLVMLinkage::LLVMInternalLinkage);
        // The wrapper is small; the kernel stays a function of its own, all of whose callers are visible
        // to the optimiser.
        canonical::add_attribute(kernel, "noinline");
    }
    Ok(())
}

/// Builds the value of the kernel's argument `i`; `at` points to it.
///
/// # Safety
/// The builder must be positioned in a function of the module.
unsafe fn argument(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    kernel: Function,
    i: u32,
    at: LLVMValueRef,
) -> LLVMValueRef {
    // SAFETY: see above; the attribute is a type attribute, its index that of the parameter.
    unsafe {
        let parameter = LLVMGetParam(kernel.0, i);
        let by_value = LLVMGetEnumAttributeAtIndex(kernel.0, i + 1, kind_of("byval"));
        if by_value.is_null() {
            let value = LLVMBuildLoad2(builder, LLVMTypeOf(parameter), at, c"".as_ptr());
            LLVMSetAlignment(value, 1);
            return value;
        }
        let ty = LLVMGetTypeAttributeValue(by_value);
        let align = match LLVMGetEnumAttributeAtIndex(kernel.0, i + 1, kind_of("align")) {
            none if none.is_null() => 16,
            align => u32::try_from(LLVMGetEnumAttributeValue(align)).unwrap_or(16),
        };
        // The copy is made by the wrapper, so the call need not make one.
        LLVMRemoveEnumAttributeAtIndex(kernel.0, i + 1, kind_of("byval"));
        let copy = LLVMBuildAlloca(builder, ty, c"".as_ptr());
        LLVMSetAlignment(copy, align);
        let bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), ty);
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        LLVMBuildMemCpy(builder, copy, align, at, 1, LLVMConstInt(LLVMInt64TypeInContext(context), bytes, 0));
        copy
    }
}

fn kind_of(name: &str) -> u32 {
    // SAFETY: a pointer with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
