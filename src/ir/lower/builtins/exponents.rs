//! `ldexp` of a vector and one exponent (OpenCL C 3.0, 6.15.2): SPIR-V wants an exponent in each lane.

use super::call::{Call, Replacement};
use crate::kernel::builtins::mangle;
use crate::kernel::builtins::types::{self, Type as Mangled};

pub(super) fn ldexp<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [value, exponent] = call.args[..] else { return None };
    let lanes = value.ty().lanes().filter(|_| exponent.ty().lanes().is_none())?;
    let exponents = call.builder.splat(exponent, value.ty());
    let types = call.type_of();
    let lanewise =
        types::print(&[call.types.first()?.clone(), Mangled::Vector(lanes, Box::new(call.types.get(1)?.clone()))]);
    let function = types.int(32).vector(lanes);
    let (ty, name) = (call.result.function(&[value.ty(), function], false), mangle("ldexp", &lanewise));
    Some(Replacement::Value(call.declared(&name, ty, &[value, exponents]).value()))
}
