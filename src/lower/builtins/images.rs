//! Queries of an image's format (OpenCL C 3.0, 6.15.15.6), which SPIR-V counts from 0 and OpenCL from where its constants begin.

use super::call::{Call, Replacement};
use crate::kernel::builtins::types;

/// `CLK_SNORM_INT8` and `CLK_R`, the first ones (OpenCL's `CL_SNORM_INT8` and `CL_R`).
const FIRST_DATA_TYPE: u64 = 0x10D0;
const FIRST_ORDER: u64 = 0x10B0;

pub(super) fn channels<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let (instruction, first) = match call.name {
        "get_image_channel_data_type" => ("ImageQueryFormat", FIRST_DATA_TYPE),
        _ => ("ImageQueryOrder", FIRST_ORDER),
    };
    let number = call.spirv(instruction, call.result, &call.args, &types::print(call.types));
    Some(Replacement::Value(call.builder.add(number.value(), call.result.int(first), "")))
}
