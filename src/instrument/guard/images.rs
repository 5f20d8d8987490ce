//! Guards image accesses against coordinates out of bounds: a write is skipped, a read without a sampler yields zero,
//! and a fault is recorded. With a sampler, such reads are defined.

use llvm_sys::LLVMIntPredicate::LLVMIntULT;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::bounds;
use super::builtin_accesses;
use super::emit::Emitter;
use crate::error::Result;
use crate::kernel::ir::{self, Function, Inst};

const SPIR_FUNC: u32 = 75;

/// A call that reads or writes a texel of an image at integer coordinates.
pub struct Texel {
    pub inst: Inst,
    /// The mangled name of the image's type.
    ty: String,
    /// The builtins that return the image's extents, one for each coordinate.
    extents: &'static [&'static str],
}

/// Finds the accesses to images that are arguments of the kernel.
pub fn texels(kernel: Function) -> Vec<Texel> {
    kernel.blocks().into_iter().flat_map(|b| b.instructions()).filter_map(texel).collect()
}

fn texel(inst: Inst) -> Option<Texel> {
    let callee = inst.callee()?;
    let (name, parameters) = builtin_accesses::split(&callee)?;
    let writes = ["write_imagef", "write_imagei", "write_imageui", "write_imageh"].contains(&name);
    let reads = ["read_imagef", "read_imagei", "read_imageui", "read_imageh"].contains(&name);
    let ty = builtin_accesses::identifier(parameters)?.0;
    let extents = extents(ty.strip_prefix("ocl_")?.rsplit_once('_')?.0)?;
    let operands = inst.operands();
    // The callee is the last operand; with a sampler there would be another one.
    let count = if writes { 4 } else { 3 };
    if !(writes || reads) || operands.len() != count {
        return None;
    }
    // SAFETY: alive.
    let is_argument = unsafe { !LLVMIsAArgument(operands[0]).is_null() };
    (is_argument && lanes(operands[1])? as usize >= extents.len()).then(|| Texel { inst, ty: ty.to_owned(), extents })
}

/// Returns the extent builtins for a kind of image.
fn extents(kind: &str) -> Option<&'static [&'static str]> {
    const WIDTH: &str = "get_image_width";
    const HEIGHT: &str = "get_image_height";
    const LAYERS: &str = "get_image_array_size";
    Some(match kind {
        "image1d" | "image1d_buffer" => &[WIDTH],
        "image1d_array" => &[WIDTH, LAYERS],
        "image2d" | "image2d_depth" => &[WIDTH, HEIGHT],
        "image2d_array" | "image2d_array_depth" => &[WIDTH, HEIGHT, LAYERS],
        "image3d" => &[WIDTH, HEIGHT, "get_image_depth"],
        _ => return None,
    })
}

/// Number of components of a 32-bit integer or a vector of these; `None` for other types.
fn lanes(value: LLVMValueRef) -> Option<u32> {
    // SAFETY: alive; elements are asked of vectors, widths of integers.
    unsafe {
        let ty = LLVMTypeOf(value);
        let (element, lanes) = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMVectorTypeKind => (LLVMGetElementType(ty), LLVMGetVectorSize(ty)),
            _ => (ty, 1),
        };
        let is_int =
            LLVMGetTypeKind(element) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 32;
        is_int.then_some(lanes)
    }
}

/// Branches around an access that is out of bounds.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn guard(emitter: &Emitter<'_, '_>, texel: &Texel, code: u32) -> Result<()> {
    let operands = texel.inst.operands();
    let (image, place) = (operands[0], operands[1]);
    emitter.before(texel.inst.0);
    let mut fits = None;
    for (lane, query) in (0..).zip(texel.extents) {
        let extent =
            emitter.entry_value((image, u64::from(lane), u64::MAX, 0), || Ok(extent(emitter, texel, query, image)))?;
        // SAFETY: alive; the lane is below the vector's length.
        unsafe {
            let is_vector = LLVMGetTypeKind(LLVMTypeOf(place)) == LLVMTypeKind::LLVMVectorTypeKind;
            let at = match is_vector {
                true => LLVMBuildExtractElement(emitter.builder, place, emitter.const_i32(lane), c"".as_ptr()),
                false => place,
            };
            let one = emitter.compare(LLVMIntULT, at, extent);
            fits = Some(fits.map_or(one, |others| LLVMBuildAnd(emitter.builder, others, one, c"".as_ptr())));
        }
    }
    match fits {
        Some(fits) => bounds::skip(emitter, texel.inst, fits, code),
        None => Ok(()),
    }
}

/// Builds the query of one of the image's extents (OpenCL C 6.12.14.5), as a 32-bit integer.
fn extent(emitter: &Emitter<'_, '_>, texel: &Texel, query: &str, image: LLVMValueRef) -> LLVMValueRef {
    let is_wide = query == "get_image_array_size";
    let result = if is_wide { emitter.long } else { emitter.int };
    let name = format!("_Z{}{query}{}{}", query.len(), texel.ty.len(), texel.ty);
    // SAFETY: alive; the function takes the image and returns an integer.
    unsafe {
        let ty = LLVMFunctionType(result, &mut LLVMTypeOf(image), 1, 0);
        let function = ir::function(emitter.module, &name).unwrap_or_else(|| {
            let new = LLVMAddFunction(emitter.module.as_mut_ptr(), format!("{name}\0").as_ptr().cast(), ty);
            LLVMSetFunctionCallConv(new, SPIR_FUNC);
            Function(new)
        });
        let extent = emitter.call(function, &mut [image]);
        match is_wide {
            true => LLVMBuildTrunc(emitter.builder, extent, emitter.int, c"".as_ptr()),
            false => extent,
        }
    }
}
