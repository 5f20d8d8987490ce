//! Asynchronous copies of modules that were SPIR-V: the translator makes pointers of events, which LLVM's back end then
//! takes for pointers to bytes, wherever they lie in memory.
//!
//! So no event leaves the place where it is made: each copy is waited for at once, as it may be done at once, and its
//! event is null. What waited for events is a barrier, since all work-items come there.

use super::async_copies::declaration;
use crate::kernel::builtins::{Family, family, mangle};
use crate::llvm::{AddressSpace, AttributeIndex, Function, Inst, SPIR_FUNC, Type, View};

const WAIT: &str = "wait_group_events";
/// `CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE`
const ALL_MEMORY: u64 = 3;

/// Rewrites all copies whose events are pointers, and what waits for events where there are such copies.
pub fn rewrite(view: View<'_>) {
    let is_of = |f: &Function<'_>, of: Family| !f.has_body() && family(&f.name()) == Some(of);
    let copies = view.functions().into_iter().filter(|f| is_of(f, Family::AsyncCopy));
    let untyped: Vec<_> = copies.filter(|f| f.return_type().is_pointer()).collect();
    if untyped.is_empty() {
        return;
    }
    let waits = |call: &Inst<'_>| call.called_function().is_some_and(|f| is_of(&f, Family::EventWait));
    let waits: Vec<_> = view.instructions().into_iter().filter(waits).collect();
    waits.into_iter().for_each(|wait| become_barrier(view, wait));
    for copy in untyped {
        type_event(view, copy);
    }
}

/// Puts a barrier in the place of a call that waits for events.
fn become_barrier<'m>(view: View<'m>, wait: Inst<'m>) {
    let (void, flags) = (view.void_type(), view.int_type(32));
    let ty = void.function(&[flags], false);
    let barrier = builtin(view, &mangle("barrier", "j"), ty);
    let builder = view.builder();
    builder.before(wait);
    let call = builder.call_as(ty, barrier, &[flags.int(ALL_MEMORY)], "");
    call.set_call_conv(SPIR_FUNC);
    drop(builder);
    wait.erase();
}

/// Gives a copy's builtin an event's type, and waits for what its calls begin.
fn type_event<'m>(view: View<'m>, copy: Function<'m>) {
    let event = view.target_type("spirv.Event");
    let Some((_, mut parameters, _)) = copy.value_type().signature() else { return };
    let Some(last) = parameters.last_mut() else { return };
    *last = event;
    let (name, ty) = (copy.name(), event.function(&parameters, false));
    copy.set_name("");
    let typed = declaration(view, &name, ty, copy);
    let waits = view.void_type().function(&[view.int_type(32), view.pointer_type(AddressSpace::Private)], false);
    let wait = builtin(view, &mangle(WAIT, "iP9ocl_event"), waits);
    let calls = copy.value().user_instructions();
    for call in calls.into_iter().filter(|inst| inst.called_function() == Some(copy)) {
        let Some(entry) = call.function().entry().first_instruction() else { continue };
        let builder = view.builder();
        builder.before(entry);
        let variable = builder.alloca(event, "event");
        builder.before(call);
        let mut arguments = call.args();
        if let Some(last) = arguments.last_mut() {
            *last = event.null();
        }
        let copied = builder.call_as(ty, typed, &arguments, "");
        copied.set_call_conv(call.call_conv().unwrap_or(SPIR_FUNC));
        builder.store(copied, variable);
        let done = builder.call_as(waits, wait, &[view.int_type(32).int(1), variable.value()], "");
        done.set_call_conv(SPIR_FUNC);
        drop(builder);
        call.replace_and_erase(call.ty().null());
    }
    if !copy.is_used() {
        // SAFETY: nothing uses it.
        unsafe { copy.delete() };
    }
}

/// Declares a builtin that all work-items of a group call together.
fn builtin<'m>(view: View<'m>, name: &str, ty: Type<'m>) -> Function<'m> {
    view.function(name).unwrap_or_else(|| {
        let f = view.add_function(name, ty);
        f.set_call_conv(SPIR_FUNC);
        f.attributes(AttributeIndex::Function).add_flag("convergent");
        f
    })
}
