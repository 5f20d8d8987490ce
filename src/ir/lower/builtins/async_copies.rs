//! Rewrites `async_work_group_copy` and its strided form so that LLVM 22's SPIR-V backend lowers them correctly.
//!
//! The backend gives the plain copy's stride a 32-bit constant where the address width requires 64 bits, and types the
//! pointers by their pointee (an array) instead of by the copied element; Intel's runtime then finds no builtin of that
//! signature. So plain copies become strided copies with stride 1, and the pointers become addresses of elements.

use inkwell::module::Module;

use super::pointers::{element_address, element_type};
use crate::kernel::builtins::{demangle, mangle, types};
use crate::llvm::{AttributeIndex, Function, Inst, Type, Types, Value, View};

const PLAIN: &str = "async_work_group_copy";
const STRIDED: &str = "async_work_group_strided_copy";
/// The last parameter, the event, in the mangled name.
const EVENT: &str = "9ocl_event";

/// Rewrites all calls of asynchronous copies in the module.
pub fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for builtin in view.functions() {
        let name = builtin.name();
        let Some(strided) = strided_name(&name).filter(|_| !builtin.has_body()) else { continue };
        let Some(element) = element(view.types(), &name) else { continue };
        for call in view.instructions() {
            if call.called_function() == Some(builtin) {
                replace(view, call, builtin, &strided, element);
            }
        }
        if !builtin.is_used() {
            // SAFETY: nothing uses it, and the loop goes on with the next function.
            unsafe { builtin.delete() };
        }
    }
}

/// Returns the strided builtin's mangled name; for the plain one, a `size_t` (`m`) is added before the event.
fn strided_name(name: &str) -> Option<String> {
    match demangle(name)? {
        (STRIDED, _) => Some(name.to_owned()),
        (PLAIN, parameters) => {
            let parameters = parameters.strip_suffix(EVENT)?;
            parameters.ends_with('m').then(|| mangle(STRIDED, &format!("{parameters}m{EVENT}")))
        }
        _ => None,
    }
}

/// Returns the type of the copied elements, which the first parameter points to.
fn element<'m>(types: Types<'m>, name: &str) -> Option<Type<'m>> {
    let (_, parameters) = demangle(name).filter(|(base, _)| [PLAIN, STRIDED].contains(base))?;
    element_type(types, types::parse(parameters)?.first()?.pointee()?)
}

/// Replaces a call of `builtin`.
fn replace<'m>(view: View<'m>, call: Inst<'m>, builtin: Function<'m>, name: &str, element: Type<'m>) {
    // Destination, source, count, the stride perhaps, and the event.
    let (to, from, count, stride, event) = match call.args()[..] {
        [to, from, count, event] => (to, from, count, count.ty().int(1), event),
        [to, from, count, stride, event] => (to, from, count, stride, event),
        _ => return,
    };
    let builder = view.builder();
    builder.before(call);
    let (to, from) = (element_address(&builder, element, to), element_address(&builder, element, from));
    let arguments = [to, from, count, stride, event];
    let ty = builtin.return_type().function(&arguments.map(Value::ty), false);
    let strided = declaration(view, name, ty, builtin);
    let new = builder.call_as(ty, strided, &arguments, "");
    new.set_call_conv(call.call_conv().unwrap_or_default());
    drop(builder);
    call.replace_and_erase(new);
}

/// Declares a builtin that has the calling convention of another one.
pub(super) fn declaration<'m>(view: View<'m>, name: &str, ty: Type<'m>, like: Function<'m>) -> Function<'m> {
    if let Some(f) = view.function(name) {
        return f;
    }
    let f = view.add_function(name, ty);
    f.set_call_conv(like.call_conv());
    f.attributes(AttributeIndex::Function).add_flag("convergent");
    f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_are_read() {
        let plain = "_Z21async_work_group_copyPU3AS3Dv4_iPU3AS1KS_m9ocl_event";
        let strided = "_Z29async_work_group_strided_copyPU3AS3Dv4_iPU3AS1KS_mm9ocl_event";
        assert_eq!(strided_name(plain).as_deref(), Some(strided));
        assert_eq!(strided_name(strided).as_deref(), Some(strided));
        assert_eq!(strided_name("async_work_group_copy"), None);
    }
}
