//! Builds IR in the kernel; shared by all guards.

use std::cell::RefCell;
use std::collections::HashMap;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::error::Result;
use crate::instrument::runtime;
use crate::kernel::ir::{Block, Function, Inst};

/// A builder for the kernel that is being guarded, with the private words of a work-item.
pub struct Emitter<'a, 'c> {
    pub module: &'a Module<'c>,
    pub kernel: Function,
    pub builder: LLVMBuilderRef,
    pub context: LLVMContextRef,
    pub int: LLVMTypeRef,
    pub long: LLVMTypeRef,
    /// The kernel's last argument.
    pub probe: LLVMValueRef,
    pub slot: LLVMValueRef,
    /// Variables: remaining iterations, and the latest fault.
    pub fuel: LLVMValueRef,
    pub fault: LLVMValueRef,
    /// The last instruction of the prologue that the guards add; values built before it dominate the rest
    /// of the kernel.
    entry_anchor: LLVMValueRef,
    /// Replacements of values that were read from the kernel before it changed and must no longer be used.
    replaced: RefCell<HashMap<LLVMValueRef, LLVMValueRef>>,
    /// Values already built at the entry, by what they were made from.
    entry_values: RefCell<HashMap<(LLVMValueRef, u64, u64, u64), LLVMValueRef>>,
}

impl Drop for Emitter<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: created in `new`, used nowhere else.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a, 'c> Emitter<'a, 'c> {
    /// Links the runtime and initialises the work-item's words at the kernel's entry. `slot_of` returns the slot in the
    /// probe buffer.
    pub fn new(module: &'a Module<'c>, kernel: Function, slot_of: Function) -> Result<Emitter<'a, 'c>> {
        runtime::link_guard(module)?;
        let begin = runtime::function(module, "__kassay_fuel")?;
        // SAFETY: alive; the entry block has a terminator, the kernel at least the probe as an argument.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let (int, long) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
            let builder = LLVMCreateBuilderInContext(context);
            let entry = LLVMGetEntryBasicBlock(kernel.0);
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
            let fuel = LLVMBuildAlloca(builder, int, c"kassay.fuel".as_ptr());
            let fault = LLVMBuildAlloca(builder, int, c"kassay.fault".as_ptr());
            let first = Block(entry).instructions().into_iter().find(|i| LLVMIsAAllocaInst(i.0).is_null());
            LLVMPositionBuilderBefore(builder, first.unwrap_or(Block(entry).terminator()).0);
            let entry_anchor = LLVMBuildStore(builder, LLVMConstInt(int, 0, 0), fault);
            let mut emitter = Emitter {
                module,
                kernel,
                builder,
                context,
                int,
                long,
                probe: LLVMGetLastParam(kernel.0),
                slot: std::ptr::null_mut(),
                fuel,
                fault,
                entry_anchor,
                replaced: RefCell::default(),
                entry_values: RefCell::default(),
            };
            emitter.at_entry();
            emitter.slot = emitter.call(slot_of, &mut [emitter.probe]);
            let initial = emitter.call(begin, &mut [emitter.probe]);
            LLVMBuildStore(builder, initial, fuel);
            Ok(emitter)
        }
    }

    /// Positions the builder at the kernel's entry, so that what is built next dominates the rest of the kernel.
    pub fn at_entry(&self) {
        self.before(self.entry_anchor);
    }

    /// Positions the builder before an instruction.
    pub fn before(&self, instruction: LLVMValueRef) {
        // SAFETY: alive and inside a block.
        unsafe { LLVMPositionBuilderBefore(self.builder, instruction) };
    }

    /// Positions the builder at the end of a block.
    pub fn at_end(&self, block: Block) {
        // SAFETY: alive.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, block.0) };
    }

    /// An `i32` constant.
    pub fn const_i32(&self, n: u32) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.int, u64::from(n), 0) }
    }

    /// An `i64` constant.
    pub fn const_i64(&self, n: u64) -> LLVMValueRef {
        // SAFETY: the type is alive.
        unsafe { LLVMConstInt(self.long, n, 0) }
    }

    /// Returns a function of the linked runtime.
    pub fn runtime(&self, name: &str) -> Result<Function> {
        runtime::function(self.module, name)
    }

    /// Adds a variable of the work-item, initialised at the entry.
    pub fn variable(&self, initial: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; the entry block begins with the fuel's variable.
        unsafe {
            self.before(self.fuel);
            let variable = LLVMBuildAlloca(self.builder, LLVMTypeOf(initial), c"".as_ptr());
            self.at_entry();
            LLVMBuildStore(self.builder, initial, variable);
            variable
        }
    }

    /// Replaces all uses of `old` by `new`, including values that were read from the
    /// kernel before ([`Emitter::current`]).
    pub fn replace(&self, old: LLVMValueRef, new: LLVMValueRef) {
        // SAFETY: alive and of one type.
        unsafe { LLVMReplaceAllUsesWith(old, new) };
        self.replaced.borrow_mut().insert(old, new);
    }

    /// Returns the current replacement of a value that was read from the kernel before any guard was woven: a guarded
    /// access is executed in a block of its own, and later code uses the `phi` after it.
    pub fn current(&self, value: LLVMValueRef) -> LLVMValueRef {
        self.replaced.borrow().get(&value).copied().unwrap_or(value)
    }

    /// Loads a variable of type `ty`.
    pub fn load(&self, ty: LLVMTypeRef, variable: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; `variable` holds a `ty`.
        unsafe { LLVMBuildLoad2(self.builder, ty, variable, c"".as_ptr()) }
    }

    /// Builds a call with the callee's calling convention.
    pub fn call(&self, callee: Function, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: alive; the callers pass what the function takes.
        unsafe {
            let ty = LLVMGlobalGetValueType(callee.0);
            let (values, count) = (arguments.as_mut_ptr(), arguments.len() as u32);
            let call = LLVMBuildCall2(self.builder, ty, callee.0, values, count, c"".as_ptr());
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee.0));
            call
        }
    }

    /// Returns the entry value of this key; built on first use.
    pub fn entry_value(
        &self,
        key: (LLVMValueRef, u64, u64, u64),
        make: impl FnOnce() -> Result<LLVMValueRef>,
    ) -> Result<LLVMValueRef> {
        if let Some(value) = self.entry_values.borrow().get(&key) {
            return Ok(*value);
        }
        // SAFETY: alive; the builder goes back to where it stood.
        let value = unsafe {
            let (block, next) = self.position();
            self.at_entry();
            let value = make();
            match next.is_null() {
                true => LLVMPositionBuilderAtEnd(self.builder, block),
                false => LLVMPositionBuilderBefore(self.builder, next),
            }
            value?
        };
        self.entry_values.borrow_mut().insert(key, value);
        Ok(value)
    }

    /// Returns the builder's position: its block, and the next instruction (null at the end of the block).
    unsafe fn position(&self) -> (LLVMBasicBlockRef, LLVMValueRef) {
        // SAFETY: alive; a marker is built and taken away again.
        unsafe {
            let block = LLVMGetInsertBlock(self.builder);
            let marker = LLVMBuildAlloca(self.builder, self.int, c"".as_ptr());
            let next = LLVMGetNextInstruction(marker);
            LLVMInstructionEraseFromParent(marker);
            (block, next)
        }
    }

    /// Splits the block of `at`: the instructions before `at` move into a new block in front of it, which takes over
    /// all incoming edges. The old block begins with `at`; the new one has no terminator.
    pub fn split_before(&self, at: Inst) -> Block {
        let tail = at.block();
        // SAFETY: alive. Replacing the block while it has no terminator changes who leads to it, and leaves alone what its
        // successors' phis say of it.
        unsafe {
            let head = Block(LLVMInsertBasicBlockInContext(self.context, tail.0, c"".as_ptr()));
            let terminator = tail.terminator();
            LLVMInstructionRemoveFromParent(terminator.0);
            LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(tail.0), LLVMBasicBlockAsValue(head.0));
            self.at_end(head);
            for inst in tail.instructions() {
                if inst == at {
                    break;
                }
                LLVMInstructionRemoveFromParent(inst.0);
                LLVMInsertIntoBuilder(self.builder, inst.0);
            }
            self.at_end(tail);
            LLVMInsertIntoBuilder(self.builder, terminator.0);
            head
        }
    }

    /// Inserts an empty block in front of `block`.
    pub fn block_before(&self, block: Block, name: &std::ffi::CStr) -> Block {
        // SAFETY: alive.
        Block(unsafe { LLVMInsertBasicBlockInContext(self.context, block.0, name.as_ptr()) })
    }

    /// Widens a boolean for the runtime's functions.
    pub fn bool_to_int(&self, condition: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; an `i1`.
        unsafe { LLVMBuildZExt(self.builder, condition, self.int, c"".as_ptr()) }
    }

    /// Compares two integers of the same type.
    pub fn compare(&self, how: llvm_sys::LLVMIntPredicate, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and of one type.
        unsafe { LLVMBuildICmp(self.builder, how, a, b, c"".as_ptr()) }
    }
}
