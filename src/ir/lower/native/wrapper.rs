//! Builds the function that the simulator calls, which loads the kernel's arguments ([`abi::ENTRY`]).

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::native::abi;

use crate::llvm::{AddressSpace, AttributeIndex, Builder, Function, Inst, Linkage, Value, View};

/// Adds the wrapper to a woven kernel, whose last parameter is the item. Structures that are passed by value are copied
/// for each work-item.
///
/// # Errors
/// `Internal` if there is no such kernel.
pub fn add(module: &Module<'_>, entry: &str) -> Result<()> {
    let view = View::of(module);
    let kernel = view
        .function(entry)
        .filter(|f| f.has_body())
        .ok_or_else(|| Error::internal(format!("there is no kernel `{entry}` to make code of")))?;
    let Some(item) = kernel.param_count().checked_sub(1) else {
        return Err(Error::internal(format!("`{entry}` was not woven: it has no item")));
    };
    let pointer = view.pointer_type(AddressSpace::Private);
    let wrapper = view.add_function(abi::ENTRY, view.void_type().function(&[pointer, pointer], false));
    wrapper.attributes(AttributeIndex::Function).add_flag("nounwind");
    let builder = view.builder();
    builder.at_end(wrapper.append_block(""));
    let params = wrapper.params();
    let mut arguments: Vec<Value<'_>> = Vec::new();
    for i in 0..item {
        let index = view.int_type(64).int(u64::from(i));
        let cell = builder.gep(pointer, params[1], &[index], "");
        let at = builder.load(pointer, cell, "");
        arguments.push(argument(view, &builder, kernel, i, at));
    }
    arguments.push(params[0]);
    builder.call_as(kernel.value_type(), kernel, &arguments, "");
    builder.ret(None);
    kernel.set_linkage(Linkage::LLVMInternalLinkage);
    // The wrapper is small; the kernel stays a function of its own, all of whose callers are visible
    // to the optimiser.
    kernel.attributes(AttributeIndex::Function).add_flag("noinline");
    Ok(())
}

/// Builds the value of the kernel's argument `i`; `at` points to it.
fn argument<'m>(view: View<'m>, builder: &Builder<'m>, kernel: Function<'m>, i: u32, at: Inst<'m>) -> Value<'m> {
    let attributes = kernel.attributes(AttributeIndex::Parameter(i));
    let Some(ty) = attributes.get("byval").and_then(|by_value| by_value.type_value()) else {
        let value = builder.load(kernel.params()[i as usize].ty(), at, "");
        value.set_alignment(1);
        return value.value();
    };
    let align = attributes.get("align").and_then(|align| u32::try_from(align.number()?).ok()).unwrap_or(16);
    // The copy is made by the wrapper, so the call need not make one.
    attributes.remove("byval");
    let copy = builder.alloca(ty, "").value();
    copy.set_alignment(align);
    let bytes = view.int_type(64).int(view.layout().abi_size(ty));
    builder.memcpy((copy, align), (at.value(), 1), bytes);
    copy
}
