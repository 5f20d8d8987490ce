//! `to_global`, `to_local` and `to_private` (OpenCL C 2.0, 6.13.9), which give a null pointer where a generic pointer
//! is none of these; and `get_fence`.

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

/// `get_fence(p)`: whether an access to it is ordered among those to global memory, or to local; private memory needs
/// no fence.
pub(super) fn get_fence<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer] = call.args[..] else { return None };
    let fence_of = |space: AddressSpace, name: &str, class: u32, fence: u64, otherwise: Value<'m>| {
        let ty = call.type_of().pointer(space);
        let named = cast(call, pointer, name, class, ty);
        let is_named = call.builder.icmp(IntPredicate::LLVMIntNE, named, ty.null(), "");
        call.builder.select(is_named, call.result.int(fence), otherwise, "")
    };
    let local = fence_of(AddressSpace::Local, "Local", WORKGROUP, LOCAL_FENCE, call.result.null());
    Some(Replacement::Value(fence_of(AddressSpace::Global, "Global", CROSS_WORKGROUP, GLOBAL_FENCE, local)))
}

fn cast<'m>(call: &Call<'_, 'm>, pointer: Value<'m>, space: &str, class: u32, to: Type<'m>) -> Value<'m> {
    let args = [pointer, call.word(class)];
    let parameters = format!("{}i", mangled_pointer(pointer, "v"));
    call.spirv(&format!("GenericCastToPtrExplicit_To{space}"), to, &args, &parameters).value()
}
