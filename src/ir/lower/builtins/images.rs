//! Queries of an image's format (OpenCL C 3.0, 6.15.15.6), which SPIR-V counts from 0 and OpenCL from where its
//! constants begin; and texels of halves, which are those of floats.

use super::call::{Call, Replacement};
use crate::kernel::builtins::mangle;
use crate::kernel::builtins::types::{self, Type as Mangled};
use crate::lower::emitted::FIRST_ORDER;

/// `CLK_SNORM_INT8`, the first data type (OpenCL's `CL_SNORM_INT8`).
const FIRST_DATA_TYPE: u64 = 0x10D0;

const DATA_TYPE: &str = "get_image_channel_data_type";

/// The backend knows the query of the data type alone, and leaves its number as it is. What a query of the order needs
/// besides, [`crate::lower::emitted`] does: it knows the one to which this number is added.
pub(super) fn channels<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let first = if call.name == DATA_TYPE { FIRST_DATA_TYPE } else { FIRST_ORDER.into() };
    let types: Vec<_> = call.args.iter().map(|arg| arg.ty()).collect();
    let name = mangle(DATA_TYPE, &types::print(call.types));
    let query = call.declared(&name, call.result.function(&types, false), &call.args);
    Some(Replacement::Value(call.builder.add(query.value(), call.result.int(first), "")))
}

/// `read_imageh`.
pub(super) fn read_halves<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let floats = call.type_of().float().vector(call.result.lanes()?);
    let types: Vec<_> = call.args.iter().map(|arg| arg.ty()).collect();
    let name = mangle("read_imagef", &types::print(call.types));
    let texel = call.declared(&name, floats.function(&types, false), &call.args);
    Some(Replacement::Value(call.builder.fp_trunc(texel.value(), call.result, "")))
}

/// `write_imageh`.
pub(super) fn write_halves<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let (&texel, rest) = call.args.split_last()?;
    let lanes = texel.ty().lanes()?;
    let mut args = rest.to_vec();
    args.push(call.builder.fp_ext(texel, call.type_of().float().vector(lanes), ""));
    let types: Vec<_> = args.iter().map(|arg| arg.ty()).collect();
    let mut mangled = call.types.to_vec();
    *mangled.last_mut()? = Mangled::Vector(lanes, Box::new(Mangled::Plain("f".to_owned())));
    call.declared(&mangle("write_imagef", &types::print(&mangled)), call.result.function(&types, false), &args);
    Some(Replacement::Built)
}
