//! Rewrites atomic loads, atomic stores and fences as calls of SPIR-V's builtins.
//!
//! LLVM 22's SPIR-V backend makes plain `OpLoad`s and `OpStore`s of the first two, which a device may keep in a register,
//! and gives a fence no memory to order (SPIR-V 3.25: without a storage class, it orders none). It has other atomic
//! instructions right.

use inkwell::module::Module;

use crate::llvm::{AtomicOrdering, Inst, Opcode, SPIR_FUNC, Type, Value, View};

/// Memory semantics (SPIR-V 3.25): memory of work-groups, of all work-groups, and images.
const EVERYWHERE: u64 = 0x100 | 0x200 | 0x800;

/// Rewrites all of these in the module.
pub fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for inst in view.instructions().into_iter().filter(|inst| inst.is_atomic()) {
        let Some(order) = inst.ordering() else { continue };
        let int = view.types().int(32);
        let scope = int.int(scope(inst));
        match inst.opcode() {
            Opcode::LLVMLoad => {
                let Some(element) = mangled(inst.ty()) else { continue };
                let args = [inst.operand(0), scope, int.int(semantics(order))];
                call(view, inst, &format!("_Z18__spirv_AtomicLoad{}ii", pointer(inst.operand(0), element)), &args);
            }
            Opcode::LLVMStore => {
                let Some(element) = mangled(inst.operand(0).ty()) else { continue };
                let args = [inst.operand(1), scope, int.int(semantics(order)), inst.operand(0)];
                let to = pointer(inst.operand(1), element);
                call(view, inst, &format!("_Z19__spirv_AtomicStore{to}ii{element}"), &args);
            }
            Opcode::LLVMFence => {
                let args = [scope, int.int(semantics(order) | EVERYWHERE)];
                call(view, inst, "_Z21__spirv_MemoryBarrierii", &args);
            }
            _ => {}
        }
    }
}

/// Calls a builtin instead of an instruction.
fn call<'m>(view: View<'m>, inst: Inst<'m>, name: &str, args: &[Value<'m>]) {
    let types: Vec<Type<'m>> = args.iter().map(|arg| arg.ty()).collect();
    let builtin = view.function_or_declared(name, inst.ty().function(&types, false));
    builtin.set_call_conv(SPIR_FUNC);
    let builder = view.builder();
    builder.before(inst);
    let new = builder.call(builtin, args, "");
    drop(builder);
    // SAFETY: the list has each instruction once, the loop goes on with the next one, and the builder is gone.
    unsafe {
        match inst.ty().is_void() {
            true => inst.erase(),
            false => inst.replace_and_erase(new.value()),
        }
    }
}

/// Returns the mangled type of a pointer.
fn pointer(value: Value<'_>, element: &str) -> String {
    let space = value.ty().space().map_or(0, |space| space.number());
    if space == 0 { format!("P{element}") } else { format!("PU3AS{space}{element}") }
}

/// Returns the mangled name of a type that SPIR-V's atomics access.
fn mangled(ty: Type<'_>) -> Option<&'static str> {
    match ty.int_width() {
        Some(32) => Some("i"),
        Some(64) => Some("l"),
        Some(_) => None,
        None => match ty.bits().filter(|_| ty.is_float()) {
            Some(32) => Some("f"),
            Some(64) => Some("d"),
            _ => None,
        },
    }
}

/// Returns the scope (SPIR-V 3.27) of an atomic instruction, as the backend has it for other ones.
fn scope(inst: Inst<'_>) -> u64 {
    let scopes = [("singlethread", 4), ("subgroup", 3), ("workgroup", 2), ("device", 1)];
    scopes.into_iter().find(|(name, _)| inst.is_in_scope(name)).map_or(0, |(_, number)| number)
}

/// Returns the memory semantics (SPIR-V 3.25) of an ordering, without storage classes.
fn semantics(order: AtomicOrdering) -> u64 {
    use AtomicOrdering::*;
    match order {
        LLVMAtomicOrderingAcquire => 0x2,
        LLVMAtomicOrderingRelease => 0x4,
        LLVMAtomicOrderingAcquireRelease => 0x8,
        LLVMAtomicOrderingSequentiallyConsistent => 0x10,
        _ => 0,
    }
}
