//! Rewrites atomic loads, atomic stores and fences as calls of SPIR-V's builtins.
//!
//! LLVM 22's SPIR-V backend makes plain `OpLoad`s and `OpStore`s of the first two, which a device may keep in a
//! register, and gives a fence no memory to order (SPIR-V 3.25: without a storage class, it orders none). It has other
//! atomic instructions right.

use inkwell::module::Module;

use super::barriers::{scope, semantics};
use super::call::{mangled_pointer, spirv};
use crate::llvm::{AtomicOrdering, Inst, Opcode, Type, Value, View};

/// Rewrites all of these in the module.
pub fn rewrite(module: &Module<'_>) {
    let view = View::of(module);
    for inst in view.instructions().into_iter().filter(|inst| inst.is_atomic()) {
        let Some(order) = inst.ordering() else { continue };
        let int = view.types().int(32);
        let scope = int.int(scope_of(inst).into());
        match inst.opcode() {
            Opcode::LLVMLoad => {
                let Some(element) = mangled(inst.ty()) else { continue };
                let args = [inst.operand(0), scope, int.int(semantics(order).into())];
                let parameters = format!("{}ii", mangled_pointer(inst.operand(0), element));
                call(view, inst, "AtomicLoad", &args, &parameters);
            }
            Opcode::LLVMStore => {
                let Some(element) = mangled(inst.operand(0).ty()) else { continue };
                let args = [inst.operand(1), scope, int.int(semantics(order).into()), inst.operand(0)];
                let parameters = format!("{}ii{element}", mangled_pointer(inst.operand(1), element));
                call(view, inst, "AtomicStore", &args, &parameters);
            }
            Opcode::LLVMFence => {
                let args = [scope, int.int(u64::from(semantics(order) | semantics::EVERYWHERE))];
                call(view, inst, "MemoryBarrier", &args, "ii");
            }
            _ => {}
        }
    }
}

/// Calls SPIR-V's instruction instead of one of LLVM's.
fn call<'m>(view: View<'m>, inst: Inst<'m>, name: &str, args: &[Value<'m>], parameters: &str) {
    let builder = view.builder();
    builder.before(inst);
    let new = spirv(view, &builder, name, inst.ty(), args, parameters);
    drop(builder);
    match inst.ty().is_void() {
        true => inst.erase(),
        false => inst.replace_and_erase(new.value()),
    }
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

/// Returns the scope of an atomic instruction, as the backend has it for other ones.
fn scope_of(inst: Inst<'_>) -> u32 {
    let scopes = [
        ("singlethread", scope::INVOCATION),
        ("subgroup", scope::SUBGROUP),
        ("workgroup", scope::WORKGROUP),
        ("device", scope::DEVICE),
    ];
    scopes.into_iter().find(|(name, _)| inst.is_in_scope(name)).map_or(scope::CROSS_DEVICE, |(_, number)| number)
}

/// Returns the memory semantics of an ordering, without storage classes.
fn semantics(order: AtomicOrdering) -> u32 {
    use AtomicOrdering::*;
    match order {
        LLVMAtomicOrderingAcquire => semantics::ACQUIRE,
        LLVMAtomicOrderingRelease => semantics::RELEASE,
        LLVMAtomicOrderingAcquireRelease => semantics::ACQUIRE_RELEASE,
        LLVMAtomicOrderingSequentiallyConsistent => semantics::SEQUENTIALLY_CONSISTENT,
        _ => semantics::RELAXED,
    }
}
