//! Block reads and writes of sub-groups (`cl_intel_subgroups`, `cl_intel_subgroups_char`, `…_short`, `…_long`):
//! component `k` of a work-item is the element `k * get_max_sub_group_size() + get_sub_group_local_id()` from the
//! pointer. Those of images stay as they are.

use super::call::{Call, Replacement};
use crate::kernel::builtins::mangle;
use crate::llvm::{Type, Value};

pub(super) fn read<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer] = call.args[..] else { return None };
    let elements = Elements::of(call, pointer, call.result)?;
    let load = |component| call.builder.load(elements.ty, elements.address(call, component), "").value();
    let Some(lanes) = call.result.lanes() else { return Some(Replacement::Value(load(0))) };
    let insert = |vector, lane| call.builder.insert_element(vector, load(lane), call.word(lane), "");
    Some(Replacement::Value((0..lanes).fold(call.result.poison(), insert)))
}

pub(super) fn write<'m>(call: &Call<'_, 'm>) -> Option<Replacement<'m>> {
    let [pointer, value] = call.args[..] else { return None };
    let elements = Elements::of(call, pointer, value.ty())?;
    for component in 0..value.ty().lanes().unwrap_or(1) {
        let is_vector = value.ty().lanes().is_some();
        let one = if is_vector { call.builder.lane(value, component) } else { value };
        call.builder.store(one, elements.address(call, component));
    }
    Some(Replacement::Built)
}

/// The elements that a pointer points to.
struct Elements<'m> {
    ty: Type<'m>,
    pointer: Value<'m>,
    /// The work-item's number in its sub-group, and the size of full sub-groups, as wide as a pointer.
    item: Value<'m>,
    size: Value<'m>,
}

impl<'m> Elements<'m> {
    /// `value`: what is read or written. `None` for images.
    fn of(call: &Call<'_, 'm>, pointer: Value<'m>, value: Type<'m>) -> Option<Elements<'m>> {
        call.types.first()?.pointee()?;
        let (word, wide) = (call.type_of().int(32), call.type_of().int(64));
        let ask = |name: &str| {
            let asked = call.declared(&mangle(name, "v"), word.function(&[], false), &[]);
            call.builder.zext(asked.value(), wide, "")
        };
        let (item, size) = (ask("get_sub_group_local_id"), ask("get_max_sub_group_size"));
        Some(Elements { ty: value.scalar(), pointer, item, size })
    }

    fn address(&self, call: &Call<'_, 'm>, component: u32) -> Value<'m> {
        let builder = call.builder;
        let before = builder.mul(self.size, self.size.ty().int(component.into()), "");
        builder.gep(self.ty, self.pointer, &[builder.add(before, self.item, "")], "")
    }
}
