//! `to_global`, `to_local` and `to_private` (OpenCL C 2.0, 6.13.9), which give a null pointer where a generic pointer is none of these;
//! and `get_fence`.

use super::call::{Call, Replacement, mangled_pointer};
use crate::llvm::{AddressSpace, IntPredicate, Type, Value};

/// Storage classes (SPIR-V 3.7).
const CROSS_WORKGROUP: u32 = 5;
const WORKGROUP: u32 = 4;
const FUNCTION: u32 = 7;

/// `CLK_LOCAL_MEM_FENCE` and `CLK_GLOBAL_MEM_FENCE`.
const LOCAL_FENCE: u64 = 1;
const GLOBAL_FENCE: u64 = 2;

pub(super) fn to_named<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer] = call.args[..] else { return None };
    let (space, class) = match call.name {
        "__to_global" => ("Global", CROSS_WORKGROUP),
        "__to_local" => ("Local", WORKGROUP),
        _ => ("Private", FUNCTION),
    };
    Some(Replacement::Value(cast(call, pointer, space, class, call.result)))
}

/// `get_fence(p)`: whether an access to it is ordered among those to global memory, or to local.
pub(super) fn get_fence<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer] = call.args[..] else { return None };
    let ty = call.type_of().pointer(AddressSpace::Global);
    let global = cast(call, pointer, "Global", CROSS_WORKGROUP, ty);
    let is_global = call.builder.icmp(IntPredicate::LLVMIntNE, global, ty.null(), "");
    let fence = call.builder.select(is_global, call.result.int(GLOBAL_FENCE), call.result.int(LOCAL_FENCE), "");
    Some(Replacement::Value(fence))
}

fn cast<'m>(call: &Call<'_, 'm>, pointer: Value<'m>, space: &str, class: u32, to: Type<'m>) -> Value<'m> {
    let args = [pointer, call.word(class)];
    let parameters = format!("{}i", mangled_pointer(pointer, "v"));
    call.spirv(&format!("GenericCastToPtrExplicit_To{space}"), to, &args, &parameters).value()
}
