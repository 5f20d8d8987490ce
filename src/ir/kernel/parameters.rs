//! Appends a parameter to functions: a function's type changes, so its body moves into a new function.

use crate::llvm::{AddressSpace, AttributeIndex, Function, Inst, Node, Operand, Type, Value};

/// A function with one more parameter, which has taken the body of another one over.
#[derive(Debug)]
pub struct Extended<'m> {
    /// The function that has the parameter, the name and the body.
    pub function: Function<'m>,
    /// The parameter that it has more.
    pub parameter: Value<'m>,
    /// What is left of the other one: a function without body and name.
    old: Function<'m>,
}

/// Returns whether every use of `function` is a direct call of it, so that its type can change.
pub fn only_called(function: Function<'_>) -> bool {
    let is_call = |user: Value<'_>| user.as_instruction().and_then(Inst::called_function) == Some(function);
    function.value().uses().into_iter().all(is_call)
}

/// Moves the body of `function` into a function of the same name with one more, last argument of type `extra`. Blocks
/// and instructions remain the same objects. Its calls have to be rewritten with [`Extended::replace_old`].
///
/// # Panics
/// If a function cannot have a parameter of that type.
pub fn append<'m>(function: Function<'m>, extra: Type<'m>, name: &str) -> Extended<'m> {
    let (result, mut params, _) = function.value_type().signature().expect("a function's type is a function type");
    params.push(extra);
    let new = function.view().add_function("", result.function(&params, false));
    new.set_call_conv(function.call_conv());
    new.set_linkage(function.linkage());
    for index in indices(function.param_count()) {
        for attribute in function.attributes(index).all() {
            new.attributes(index).add(attribute);
        }
    }
    for (kind, node) in function.all_metadata() {
        new.set_metadata(kind, node);
    }
    let parameter = new.last_param().expect("a parameter was just added");
    for (old, replacement) in function.params().into_iter().zip(new.params()) {
        let name = old.name();
        old.replace_uses(replacement);
        replacement.set_name(&name);
    }
    parameter.set_name(name);
    for block in function.blocks() {
        new.take_block(block);
    }
    let name = function.name();
    function.set_name("");
    new.set_name(&name);
    Extended { function: new, parameter, old: function }
}

/// Returns where a function with so many parameters, and a call of it, may have attributes.
fn indices(params: u32) -> impl Iterator<Item = AttributeIndex> {
    [AttributeIndex::Function, AttributeIndex::Result].into_iter().chain((0..params).map(AttributeIndex::Parameter))
}

impl<'m> Extended<'m> {
    /// Replaces the calls of the old function, which `argument` gives what their caller passes, by calls of the new
    /// one, and deletes the old one.
    ///
    /// # Panics
    /// If an argument is missing, or the old function is not only called.
    ///
    /// # Safety
    /// No copy of the handles of the old function and of its calls is used afterwards, and no builder stands before
    /// one of these.
    pub unsafe fn replace_old(self, argument: impl Fn(Function<'m>) -> Option<Value<'m>>) {
        for call in self.old.value().user_instructions() {
            if let Some(argument) = argument(call.function()) {
                let new = self.call_like(call, argument);
                call.replace_and_erase(new);
            }
        }
        assert!(!self.old.is_used(), "a call of {} lacks its new argument", self.function.name());
        // SAFETY: its body has moved, and nothing names it; the rest as the caller promises.
        unsafe { self.old.delete() };
    }

    /// Builds in front of a call of the old function the same of the new one, with one additional last argument.
    fn call_like(&self, call: Inst<'m>, argument: Value<'m>) -> Inst<'m> {
        let builder = self.function.view().builder();
        builder.before(call);
        let mut arguments = call.args();
        arguments.push(argument);
        let new = builder.call_as(self.function.value_type(), self.function, &arguments, "");
        call.call_conv().into_iter().for_each(|convention| new.set_call_conv(convention));
        for index in indices(call.arg_count()) {
            for attribute in call.attributes(index).all() {
                new.attributes(index).add(attribute);
            }
        }
        new
    }
}

/// Adds the description of a last parameter, a pointer to `space`, to a kernel's argument metadata (if it has any), so
/// that its lists stay as long as the parameter list. `ty` is spelt as in OpenCL C.
pub fn describe(kernel: Function<'_>, name: &str, ty: &str, space: AddressSpace) {
    let texts = [
        ("kernel_arg_access_qual", "none"),
        ("kernel_arg_type", ty),
        ("kernel_arg_base_type", ty),
        ("kernel_arg_type_qual", ""),
        ("kernel_arg_name", name),
    ];
    for (kind, text) in texts {
        extend_node(kernel, kind, Operand::Text(text.to_owned()));
    }
    let space = kernel.view().int_type(32).int(space.number().into());
    extend_node(kernel, "kernel_arg_addr_space", Operand::Value(space));
}

fn extend_node<'m>(kernel: Function<'m>, kind: &str, extra: Operand<'m>) {
    let kind = kernel.view().metadata_kind(kind);
    if let Some(node) = kernel.metadata(kind) {
        let mut operands = node.operands();
        operands.push(extra);
        kernel.set_metadata(kind, Node::new(kernel.ty(), &operands));
    }
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::llvm::{Context, View};

    #[test]
    fn calls_pass_the_new_argument_and_keep_what_they_were() {
        const TEXT: &str = "
            @address = global ptr @taken
            define void @taken() { ret void }
            define spir_func i32 @helper(i32 %n) #0 { ret i32 %n }
            define spir_kernel void @k(i32 %n) !kernel_arg_name !0 {
              %v = call spir_func i32 @helper(i32 signext %n) nounwind
              ret void
            }
            attributes #0 = { \"key\"=\"value\" }
            !0 = !{!\"n\"}";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(TEXT.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        let view = View::of(&module);
        let function = |name: &str| view.function(name).expect("the function is there");
        assert!(only_called(function("helper")) && only_called(function("k")) && !only_called(function("taken")));

        let long = view.int_type(64);
        let extended = [append(function("k"), long, "more"), append(function("helper"), long, "more")];
        describe(extended[0].function, "more", "ulong", AddressSpace::Private);
        for new in extended {
            // SAFETY: handles of old functions and calls have not been kept.
            unsafe { new.replace_old(Function::last_param) };
        }
        let call = function("k").entry().first_instruction().expect("a call");
        assert_eq!(call.called_function(), Some(function("helper")));
        assert_eq!(call.args(), [function("k").param(0), function("k").last_param()].map(Option::unwrap));
        assert!(call.attributes(AttributeIndex::Parameter(0)).has("signext"));
        assert!(call.attributes(AttributeIndex::Function).has("nounwind"));
        assert_eq!(call.call_conv(), Some(function("helper").call_conv()));
        assert_eq!(function("helper").attributes(AttributeIndex::Function).text("key").as_deref(), Some("value"));
        let names = function("k").metadata(view.metadata_kind("kernel_arg_name")).expect("names of arguments");
        assert_eq!((names.operand(0).text(), names.operand(1).text()), (Some("n"), Some("more")));
        assert_eq!(view.functions().len(), 3);
        assert_eq!(module.verify(), Ok(()));
    }
}
