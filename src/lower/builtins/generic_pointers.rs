//! `to_global`, `to_local` and `to_private` (OpenCL C 2.0, 6.13.9), which give a null pointer where a generic pointer is none of these.

use super::call::{Call, Replacement, mangled_pointer};

pub(super) fn to_named<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer] = call.args[..] else { return None };
    // Storage classes (SPIR-V 3.7): CrossWorkgroup, Workgroup, Function.
    let (space, class) = match call.name {
        "__to_global" => ("Global", 5),
        "__to_local" => ("Local", 4),
        _ => ("Private", 7),
    };
    let name = format!("GenericCastToPtrExplicit_To{space}");
    let args = [pointer, call.word(class)];
    let named = call.spirv(&name, call.result, &args, &format!("{}i", mangled_pointer(pointer, "v")));
    Some(Replacement::Value(named.value()))
}
