//! Turns images, samplers and events into pointers.
//!
//! Their types (`target("spirv.Image", …)`) belong to SPIR-V; no other backend accepts them. LLVM's C interface cannot
//! change the type of a value, so the module is printed and parsed again with `ptr` in place of these types.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::llvm::{Block, Inst, Type, TypeKind, View};

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
    View::of(module).functions().into_iter().any(|f| {
        signature_has_handle(f.value_type()) || f.blocks().into_iter().flat_map(Block::walk).any(allocates_handle)
    })
}

fn signature_has_handle(function: Type<'_>) -> bool {
    function.signature().is_some_and(|(result, params, _)| is_handle(result) || params.into_iter().any(is_handle))
}

fn allocates_handle(inst: Inst<'_>) -> bool {
    inst.allocated_type().is_some_and(holds_handle)
}

fn holds_handle(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::LLVMArrayTypeKind => ty.elements().is_some_and(|(element, _)| holds_handle(element)),
        TypeKind::LLVMStructTypeKind => ty.fields().into_iter().any(holds_handle),
        _ => is_handle(ty),
    }
}

fn is_handle(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::LLVMTargetExtTypeKind
}

/// Replaces these types in the text of a module. Their parameters contain no parentheses.
fn replace_types(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(TYPE) {
        result.push_str(before);
        match after.split_once(')') {
            Some((_, after)) => {
                result.push_str("ptr");
                rest = after;
            }
            None => {
                result.push_str(TYPE);
                rest = after;
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
