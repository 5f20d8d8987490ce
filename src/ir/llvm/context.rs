//! Contexts, and the instructions that were erased from their modules.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use inkwell::context::AsContextRef;
use llvm_sys::core::{LLVMDeleteInstruction, LLVMModuleCreateWithNameInContext};

use super::erased::{Erased, address, erased, key};
use super::ffi;
use super::handles::{Block, ContextHandle, Inst, ModuleHandle, Value};
use super::narrow::GlobalValue;
use super::view::View;

/// What holds the types, constants and modules that go together: inkwell's context, in whose modules instructions can
/// be erased ([`Inst::erase`]).
///
/// Handles are copied freely, so an erased instruction must not be freed while one of them may be left. It stays,
/// in no block and using nothing, until its context goes, which all handles are gone before.
#[derive(Debug)]
pub struct Context(inkwell::context::Context);

impl Context {
    /// Creates a context without modules.
    pub fn create() -> Context {
        let context = Context(inkwell::context::Context::create());
        erased().insert(context.key(), Erased::default());
        context
    }

    fn key(&self) -> usize {
        self.0.raw() as usize
    }
}

impl Deref for Context {
    type Target = inkwell::context::Context;

    fn deref(&self) -> &inkwell::context::Context {
        &self.0
    }
}

// SAFETY: what inkwell's context is to them.
unsafe impl<'c> AsContextRef<'c> for &'c Context {
    fn as_ctx_ref(&self) -> llvm_sys::prelude::LLVMContextRef {
        self.0.raw()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let own = erased().remove(&self.key()).unwrap_or_default();
        for inst in own.instructions {
            // SAFETY: each was put there once, by `bury`, when it had been taken from its block. Modules, and with them
            // all handles, borrow the context, so none is left; the context itself still lives.
            unsafe { LLVMDeleteInstruction(inst as *mut llvm_sys::LLVMValue) }
        }
    }
}

/// Lets go of all that an instruction in no block uses, and leaves it to its context.
///
/// # Panics
/// If the context was not made by [`Context::create`].
pub(super) fn bury<'m>(inst: Inst<'m>) {
    let context = inst.ty().context();
    for (index, operand) in inst.operands().into_iter().enumerate() {
        if let Some(unbound) = stand_in(operand, context) {
            // SAFETY: the operand exists, and the new one has its type and outlives the instruction.
            unsafe { ffi::LLVMSetOperand(inst.into(), index as u32, unbound) }
        }
    }
    match erased().get_mut(&key(context)) {
        Some(own) => own.instructions.insert(address(inst)),
        None => panic!("{} is erased in a context that is not kassay's", inst.text()),
    };
}

/// Returns what an erased instruction has in place of an operand that a module owns.
fn stand_in<'m>(operand: Value<'m>, context: ContextHandle<'m>) -> Option<Value<'m>> {
    if operand.is_block() {
        return Some(ffi::LLVMBasicBlockAsValue(nowhere(context)));
    }
    let is_of_context = operand.is_constant() && GlobalValue::of(operand).is_none() && operand.operands().is_empty();
    (!is_of_context && operand.ty().is_first_class()).then(|| operand.ty().poison())
}

/// Returns the block to which a context's erased terminators lead, in a module that the context owns.
fn nowhere(context: ContextHandle<'_>) -> Block<'_> {
    let known = erased().get(&key(context)).and_then(|own| own.nowhere);
    if let Some(block) = known.and_then(|address| NonNull::new(address as *mut _)) {
        return Block(block, PhantomData);
    }
    // SAFETY: the context lives; it owns the module, and disposes of it when it goes.
    let module = unsafe { LLVMModuleCreateWithNameInContext(c"erased".as_ptr(), context.0.as_ptr()) };
    let view = View::of_handle(ModuleHandle(NonNull::new(module).expect("LLVM makes modules"), PhantomData));
    let ty = view.types().void().function(&[], false);
    let block = view.add_function("nowhere", ty).append_block("");
    if let Some(own) = erased().get_mut(&key(context)) {
        own.nowhere = Some(block.0.as_ptr() as usize);
    }
    block
}
