//! Turns images, samplers and events into pointers.
//!
//! Their types (`target("spirv.Image", …)`) belong to SPIR-V; no other backend accepts them. LLVM's C interface cannot
//! change the type of a value, so the module is printed and parsed again with `ptr` in place of these types.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;

use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block};

const TYPE: &str = "target(\"spirv.";

/// Returns the module unchanged if it has no such type.
///
/// # Errors
/// `Internal` if LLVM cannot parse its own text.
pub fn rewrite(module: Module<'_>) -> Result<Module<'_>> {
    if !contains_handles(&module) {
        return Ok(module);
    }
    let context = module.get_context();
    let text = module.print_to_string().to_string();
    drop(module);
    let buffer = MemoryBuffer::create_from_memory_range_copy(replace_types(&text).as_bytes(), "kernel");
    context
        .create_module_from_ir(buffer)
        .map_err(|e| Error::internal("the kernel's images cannot be made pointers").details(e.to_string()))
}

fn contains_handles(module: &Module<'_>) -> bool {
    ir::functions(module).into_iter().any(|f| {
        // SAFETY: alive; the parameters are copied into a vector of the right length.
        let ty = unsafe { LLVMGlobalGetValueType(f.0) };
        signature_has_handle(ty) || f.blocks().into_iter().flat_map(Block::instructions).any(|i| allocates_handle(i.0))
    })
}

fn signature_has_handle(function: LLVMTypeRef) -> bool {
    // SAFETY: the type is alive and a function's; the parameters are copied into a vector of the right length.
    unsafe {
        let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(function) as usize];
        LLVMGetParamTypes(function, types.as_mut_ptr());
        types.push(LLVMGetReturnType(function));
        types.into_iter().any(is_handle)
    }
}

fn allocates_handle(inst: llvm_sys::prelude::LLVMValueRef) -> bool {
    // SAFETY: alive; asked of allocations only.
    unsafe { !LLVMIsAAllocaInst(inst).is_null() && holds_handle(LLVMGetAllocatedType(inst)) }
}

fn holds_handle(ty: LLVMTypeRef) -> bool {
    // SAFETY: alive; elements are asked of types that have them.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMArrayTypeKind => holds_handle(LLVMGetElementType(ty)),
            LLVMTypeKind::LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).any(|i| holds_handle(LLVMStructGetTypeAtIndex(ty, i)))
            }
            _ => is_handle(ty),
        }
    }
}

fn is_handle(ty: LLVMTypeRef) -> bool {
    // SAFETY: alive.
    unsafe { LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMTargetExtTypeKind }
}

/// Replaces these types in the text of a module. Their parameters contain no parentheses.
fn replace_types(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(TYPE) {
        result.push_str(before);
        match behind.split_once(')') {
            Some((_, behind)) => {
                result.push_str("ptr");
                rest = behind;
            }
            None => {
                result.push_str(TYPE);
                rest = behind;
            }
        }
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_become_pointers() {
        let text = "declare i32 @f(target(\"spirv.Image\", void, 1, 0), i32, target(\"spirv.Sampler\") %s)";
        assert_eq!(replace_types(text), "declare i32 @f(ptr, i32, ptr %s)");
        assert_eq!(replace_types("plain"), "plain");
    }
}
