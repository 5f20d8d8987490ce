//! Adapters between the types with which a kernel calls a builtin and those of the library's function.

use kassay_base::error::{Error, Result};

use crate::llvm::{Builder, Type, Value, View};

/// Makes the library's function available under the kernel's name and type, casting pointers between address spaces.
/// Returns `false` if there is no such function.
pub fn adapt<'m>(view: View<'m>, name: &str, body: &str, ty: Type<'m>) -> Result<bool> {
    let Some(body) = view.function(body).filter(|f| f.has_body()) else { return Ok(false) };
    let wrong = || Error::internal(format!("the builtin `{name}` is called with types that it does not have"));
    let has = body.value_type();
    if has == ty && body.name() == name {
        return Ok(true);
    }
    if body.name() == name {
        body.set_name(&format!("{name}.body"));
    }
    let adapter = view.function_or_declared(name, ty);
    let builder = view.builder();
    builder.at_end(adapter.append_block(""));
    if adapter.param_count() != body.param_count() {
        return Err(wrong());
    }
    let pairs = adapter.params().into_iter().zip(body.params());
    let arguments: Option<Vec<Value<'_>>> = pairs.map(|(given, taken)| cast(&builder, given, taken.ty())).collect();
    let value = builder.call_as(has, body, &arguments.ok_or_else(wrong)?, "").value();
    let result = adapter.return_type();
    match result.is_void() {
        true => builder.ret(None),
        false => builder.ret(Some(cast(&builder, value, result).ok_or_else(wrong)?)),
    };
    Ok(true)
}

fn cast<'m>(builder: &Builder<'m>, value: Value<'m>, to: Type<'m>) -> Option<Value<'m>> {
    let fits = value.ty() == to || (value.ty().is_pointer() && to.is_pointer());
    fits.then(|| builder.address_space_cast(value, to, ""))
}
