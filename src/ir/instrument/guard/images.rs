//! Guards image accesses against coordinates out of bounds: a write is skipped, a read without a sampler yields zero,
//! and a fault is recorded. With a sampler, such reads are defined.

use kassay_base::error::Result;

use super::bounds;
use super::emit::Emitter;
use crate::kernel::builtins::{self, Family};
use crate::llvm::{Function, Inst, IntPredicate, SPIR_FUNC, Value};

/// A call that reads or writes a texel of an image at integer coordinates.
pub struct Texel<'m> {
    pub inst: Inst<'m>,
    /// The mangled name of the image's type.
    ty: String,
    /// The builtins that return the image's extents, one for each coordinate.
    extents: &'static [&'static str],
}

/// Finds the accesses to images that are arguments of the kernel.
pub fn texels(kernel: Function<'_>) -> Vec<Texel<'_>> {
    kernel.instructions().into_iter().filter_map(texel).collect()
}

fn texel(inst: Inst<'_>) -> Option<Texel<'_>> {
    let callee = inst.callee()?;
    let (name, parameters) = builtins::demangle(&callee)?;
    let family = builtins::family(name);
    let (reads, writes) = (family == Some(Family::ImageRead), family == Some(Family::ImageWrite));
    let ty = builtins::identifier(parameters)?.0;
    let extents = extents(ty.strip_prefix("ocl_")?.rsplit_once('_')?.0)?;
    let operands = inst.operands();
    // The callee is the last operand; with a sampler there would be another one.
    let count = if writes { 4 } else { 3 };
    if !(writes || reads) || operands.len() != count {
        return None;
    }
    (operands[0].is_parameter() && lanes(operands[1])? as usize >= extents.len()).then(|| Texel {
        inst,
        ty: ty.to_owned(),
        extents,
    })
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

/// Returns the number of components of a 32-bit integer or a vector of these; `None` for other types.
fn lanes(value: Value<'_>) -> Option<u32> {
    (value.ty().scalar().int_width() == Some(32)).then(|| value.ty().lanes().unwrap_or(1))
}

/// Branches around an access that is out of bounds.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn guard<'m>(emitter: &Emitter<'m>, texel: &Texel<'m>, code: u32) -> Result<()> {
    let (image, place) = (texel.inst.operand(0), texel.inst.operand(1));
    let b = &emitter.builder;
    b.before(texel.inst);
    let mut fits: Option<Value<'m>> = None;
    for (lane, query) in (0..).zip(texel.extents) {
        let extent =
            emitter.entry_value((image, u64::from(lane), u64::MAX, 0), || Ok(extent(emitter, texel, query, image)))?;
        let at = if place.ty().is_vector() { b.lane(place, lane) } else { place };
        let one = emitter.compare(IntPredicate::LLVMIntULT, at, extent);
        fits = Some(fits.map_or(one, |others| b.and(others, one, "")));
    }
    match fits {
        Some(fits) => bounds::skip(emitter, texel.inst, fits, code),
        None => Ok(()),
    }
}

/// Builds the query of one of the image's extents (OpenCL C 6.12.14.5), as a 32-bit integer.
fn extent<'m>(emitter: &Emitter<'m>, texel: &Texel<'m>, query: &str, image: Value<'m>) -> Value<'m> {
    let is_wide = query == "get_image_array_size";
    let result = if is_wide { emitter.long } else { emitter.int };
    let name = builtins::mangle(query, &format!("{}{}", texel.ty.len(), texel.ty));
    let function = emitter.view.function(&name).unwrap_or_else(|| {
        let new = emitter.view.add_function(&name, result.function(&[image.ty()], false));
        new.set_call_conv(SPIR_FUNC);
        new
    });
    let extent = emitter.call(function, &[image]);
    match is_wide {
        true => emitter.builder.trunc(extent, emitter.int, ""),
        false => extent,
    }
}
