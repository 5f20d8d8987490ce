//! Rewrites `atomic_min` and `atomic_max` on pointers without an address space as what OpenCL C 2.0 has for these.
//!
//! The translators of SPIR-V name every atomic instruction after OpenCL C 1.2, where such pointers do not exist. LLVM 22's
//! SPIR-V backend turns the others into instructions, but leaves these two to the device's library, which lacks them.

use inkwell::module::Module;

use crate::kernel::builtins::{demangle, mangle};
use crate::llvm::{Function, Inst, View};

/// Each name of OpenCL C 1.2, also that for 64 bits, with the one of 2.0.
const NAMES: [(&str, &str); 4] = [
    ("atomic_min", "atomic_fetch_min_explicit"),
    ("atomic_max", "atomic_fetch_max_explicit"),
    ("atom_min", "atomic_fetch_min_explicit"),
    ("atom_max", "atomic_fetch_max_explicit"),
];
/// How the mangled parameters begin: a pointer to a volatile object in the generic address space.
const GENERIC: &str = "PU3AS4V";
/// The order and scope that the atomics of 1.2 have: `memory_order_relaxed` and `memory_scope_device`.
const RELAXED: u64 = 0;
const DEVICE: u64 = 2;

/// Rewrites all calls of these in the module.
pub fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for builtin in view.functions() {
        let Some(name) = explicit_name(&builtin.name()).filter(|_| !builtin.has_body()) else { continue };
        for call in view.instructions().into_iter().filter(|call| call.called_function() == Some(builtin)) {
            replace(view, call, builtin, &name);
        }
        if !builtin.is_used() {
            // SAFETY: nothing uses it, and the loop goes on with the next function.
            unsafe { builtin.delete() };
        }
    }
}

fn explicit_name(name: &str) -> Option<String> {
    let (base, parameters) = demangle(name)?;
    let (_, explicit) = NAMES.into_iter().find(|(old, _)| *old == base)?;
    // The type of the object and that of the operand.
    let types = parameters.strip_prefix(GENERIC).filter(|types| types.len() == 2)?;
    let order_and_scope = "12memory_order12memory_scope";
    Some(mangle(explicit, &format!("{GENERIC}U7_Atomic{types}{order_and_scope}")))
}

fn replace<'m>(view: View<'m>, call: Inst<'m>, builtin: Function<'m>, name: &str) {
    let [pointer, operand] = call.args()[..] else { return };
    let int = view.types().int(32);
    let types = [pointer.ty(), operand.ty(), int, int];
    let explicit = view.function_or_declared(name, call.value().ty().function(&types, false));
    explicit.set_call_conv(builtin.call_conv());
    let builder = view.builder();
    builder.before(call);
    let new = builder.call(explicit, &[pointer, operand, int.int(RELAXED), int.int(DEVICE)], "");
    new.set_call_conv(builtin.call_conv());
    drop(builder);
    // SAFETY: the list has each call once, the loop goes on with the next one, and the builder is gone.
    unsafe { call.replace_and_erase(new.value()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_without_an_address_space_change() {
        let explicit = "_Z25atomic_fetch_max_explicitPU3AS4VU7_Atomicjj12memory_order12memory_scope";
        assert_eq!(explicit_name("_Z10atomic_maxPU3AS4Vjj").as_deref(), Some(explicit));
        let explicit = "_Z25atomic_fetch_min_explicitPU3AS4VU7_Atomicll12memory_order12memory_scope";
        assert_eq!(explicit_name("_Z8atom_minPU3AS4Vll").as_deref(), Some(explicit));
        assert_eq!(explicit_name("_Z10atomic_maxPU3AS1Vjj"), None);
        assert_eq!(explicit_name("_Z10atomic_addPU3AS4Vii"), None);
    }
}
