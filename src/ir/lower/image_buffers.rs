//! Emulates images and samplers in code for devices that are given none: an image becomes a pointer to a buffer that
//! holds its descriptor and its texels, a sampler a number. Builtins that read, write and ask images get bodies
//! (`runtime-cl/image_buffers.cl`), under the names by which the simulator has its own (`runtime-cl/host_images.cl`).
//!
//! LLVM's C interface cannot change the type of a value, so the module is printed, its text rewritten, and parsed
//! again.

use std::collections::BTreeSet;

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::libclc::library::{self, Library, Source};
use super::undefined;
use crate::kernel::canonical;
use crate::llvm::{AddressSpace, AttributeIndex, Function, Type, TypeKind, View};

/// `runtime-cl/image_buffers.cl` as bitcode (see `build.rs`).
const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image_buffers.bc"));

const IMAGE: &str = "target(\"spirv.Image\"";
const SAMPLER: &str = "target(\"spirv.Sampler\"";

/// Replaces the images and samplers of a module that is not retargeted yet. Without any, it stays as it is.
///
/// # Errors
/// `Caller` if the kernel calls a function that is not defined; `Internal` if LLVM cannot parse the rewritten text, or
/// what comes of it does not verify.
pub fn emulate(module: Module<'_>) -> Result<Module<'_>> {
    let has_any = |f: Function<'_>| {
        f.value_type().signature().is_some_and(|(result, params, _)| params.into_iter().chain([result]).any(is_handle))
    };
    if !View::of(&module).functions().into_iter().any(has_any) {
        return Ok(module);
    }
    // As long as the module has positions to name.
    undefined::refuse(&module)?;
    // Positions are kept on the host's side; the code carries none.
    View::of(&module).strip_debug_info();
    let context = module.get_context();
    let text = rewritten(&module.print_to_string().to_string());
    drop(module);
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let mut module = context
        .create_module_from_ir(buffer)
        .map_err(|e| Error::internal("the kernel's images cannot be made buffers").details(e.to_string()))?;
    link(&mut module)?;
    canonical::verify(&module, "making the kernel's images buffers")?;
    Ok(module)
}

/// Returns, by position, which arguments of a kernel are memory that it cannot write: constant memory, and images that
/// it only reads. To be asked before [`emulate`].
pub fn read_only(module: &Module<'_>, entry: &str) -> Vec<bool> {
    let kernel = View::of(module).function(entry);
    let is_read_only = |ty: Type<'_>| match ty.space() {
        Some(space) => space == AddressSpace::Constant,
        // The last parameter of an image's type is its access qualifier: 0 is `read_only`.
        None => ty.text().starts_with(IMAGE) && ty.text().ends_with(" 0)"),
    };
    kernel.map(|kernel| kernel.params().into_iter().map(|param| is_read_only(param.ty())).collect()).unwrap_or_default()
}

fn is_handle(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::LLVMTargetExtTypeKind && [IMAGE, SAMPLER].iter().any(|name| ty.text().starts_with(name))
}

/// Links the bodies of the builtins that the module calls.
fn link(module: &mut Module<'_>) -> Result<()> {
    let library = Library::open(module.get_context(), &Source::Embedded(BITCODE))?;
    let wanted: Vec<String> = library::undefined(module).into_iter().map(|(name, _)| name).collect();
    let wanted: Vec<&String> = wanted.iter().filter(|name| library.defines(name)).collect();
    let own: BTreeSet<String> =
        View::of(module).functions().into_iter().filter(|f| f.has_body()).map(Function::name).collect();
    library::declare(module, wanted.into_iter());
    library.link(module)?;
    for f in View::of(module).functions().into_iter().filter(|f| f.has_body() && !own.contains(&f.name())) {
        f.make_internal();
        let attributes = f.attributes(AttributeIndex::Function);
        attributes.remove("noinline");
        attributes.remove_text("target-cpu");
        attributes.remove_text("target-features");
    }
    Ok(())
}

/// Replaces types of values, and the names of the types in the kernel's description of its arguments.
fn rewritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['t', '!']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with(IMAGE) {
            out.push_str("ptr addrspace(1)");
            rest = after(rest, ')');
        } else if rest.starts_with(SAMPLER) {
            out.push_str("i32");
            rest = after(rest, ')');
        } else if let Some(name) = described_type(rest) {
            out.push_str(if name == "sampler_t" { "!\"uint\"" } else { "!\"uchar*\"" });
            rest = &rest[name.len() + 3..];
        } else {
            let (first, others) = rest.split_at(1);
            out.push_str(first);
            rest = others;
        }
    }
    out.push_str(rest);
    out
}

fn after(text: &str, end: char) -> &str {
    text.split_once(end).map_or("", |(_, after)| after)
}

/// Returns the name of a type of images or samplers if `text` begins with metadata that is this name.
fn described_type(text: &str) -> Option<&str> {
    let name = text.strip_prefix("!\"")?.split_once('"')?.0;
    (name == "sampler_t" || (name.starts_with("image") && name.ends_with("_t"))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_become_pointers_and_numbers() {
        let text = "declare void @f(target(\"spirv.Image\", void, 1, 0, 0, 0, 0, 0, 0), target(\"spirv.Sampler\"))";
        assert_eq!(rewritten(text), "declare void @f(ptr addrspace(1), i32)");
        assert_eq!(
            rewritten("!3 = !{!\"image2d_t\", !\"sampler_t\", !\"int\"}"),
            "!3 = !{!\"uchar*\", !\"uint\", !\"int\"}"
        );
        for text in ["target(\"spirv.Event\")", "target triple = \"x\"", "!4 = !{!\"none\"}", "a tail ! t"] {
            assert_eq!(rewritten(text), text);
        }
    }
}
