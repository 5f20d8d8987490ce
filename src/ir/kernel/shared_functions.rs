//! Gives each entry point of SPIR-V a kernel of its own, where several name the same function.
//!
//! Translators keep the last name. The others, too, become kernels in clang's form: stubs that call the function's
//! body.

use std::collections::HashMap;

use super::canonical::BODY_PREFIX;
use super::module::is_kernel;
use super::spirv::words::{Id, Words};
use crate::llvm::{AttributeIndex, Function, MetadataKind, SPIR_FUNC, SPIR_KERNEL, View};

/// Adds the kernels that a translated module lacks.
pub fn split(view: View<'_>, words: &Words) {
    let mut names: HashMap<Id, Vec<String>> = HashMap::new();
    for entry in words.entry_points() {
        names.entry(entry.function).or_default().push(entry.name);
    }
    // The order of ids, as that of functions, is the same in every run.
    let mut shared: Vec<(Id, Vec<String>)> = names.into_iter().filter(|(_, names)| names.len() > 1).collect();
    shared.sort_unstable();
    for (_, names) in shared {
        let kept = names.iter().find_map(|name| view.function(name).filter(|f| is_kernel(*f)));
        let Some(body) = kept.filter(|f| f.return_type().is_void()).map(|kept| split_off(view, kept)) else { continue };
        for name in names.iter().filter(|name| view.function(name).is_none()) {
            add_stub(view, body, name);
        }
    }
}

/// Returns what the stub of a kernel calls; a kernel that is no stub becomes that.
fn split_off<'m>(view: View<'m>, kernel: Function<'m>) -> Function<'m> {
    let name = format!("{BODY_PREFIX}{}", kernel.name());
    if let Some(body) = view.function(&name) {
        return if body.value_type() == kernel.value_type() { body } else { kernel };
    }
    kernel.set_name(&name);
    kernel.set_call_conv(SPIR_FUNC);
    kernel
}

/// Adds a kernel that does what a body does.
fn add_stub<'m>(view: View<'m>, body: Function<'m>, name: &str) {
    let stub = view.add_function(name, body.value_type());
    stub.set_call_conv(SPIR_KERNEL);
    let parameters = (0..body.param_count()).map(AttributeIndex::Parameter);
    let places: Vec<AttributeIndex> = parameters.chain([AttributeIndex::Function]).collect();
    for place in &places {
        body.attributes(*place).all().into_iter().for_each(|attribute| stub.attributes(*place).add(attribute));
    }
    for (own, original) in stub.params().into_iter().zip(body.params()) {
        own.set_name(&original.name());
    }
    for (kind, node) in body.all_metadata().into_iter().filter(|(kind, _)| *kind != MetadataKind::DEBUG) {
        stub.set_metadata(kind, node);
    }
    let builder = view.builder();
    builder.at_end(stub.append_block("entry"));
    let call = builder.call(body, &stub.params(), "");
    for place in places.into_iter().filter(|place| *place != AttributeIndex::Function) {
        body.attributes(place).all().into_iter().for_each(|attribute| call.attributes(place).add(attribute));
    }
    builder.ret(None);
}
