//! Builds IR in the kernel; shared by all kinds of hooks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;

use inkwell::module::Module;
use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMGetModuleDataLayout, LLVMTargetDataRef};

use super::blocks;
use crate::kernel::ir::{Block, Function, Inst};
use crate::lower::host::abi::{Extent, GroupContext, ItemContext, hook};

/// LLVM's encoding of effects confined to memory that the module cannot access: reads and writes (`ModRef` of the
/// location `InaccessibleMem`, two bits each; ModRef.h).
const INACCESSIBLE_MEMORY: u64 = 3 << 2;

/// A builder for the kernel that is being woven.
pub struct Emitter<'a, 'c> {
    pub module: &'a Module<'c>,
    pub kernel: Function,
    pub context: LLVMContextRef,
    pub builder: LLVMBuilderRef,
    pub layout: LLVMTargetDataRef,
    pub races: bool,
    pub int: LLVMTypeRef,
    pub long: LLVMTypeRef,
    pub pointer: LLVMTypeRef,
    /// The work-item's context: the kernel's last argument.
    pub item: LLVMValueRef,
    /// The variable that holds the remaining iterations.
    pub fuel: LLVMValueRef,
    /// The initial store to `fuel`, in front of the first instruction of the source. Entry values are built before it,
    /// and nothing splits the block above it.
    entry_anchor: LLVMValueRef,
    group: LLVMValueRef,
    entry_values: RefCell<HashMap<EntryValue, LLVMValueRef>>,
}

/// A value that is computed once, at the kernel's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryValue {
    /// Base of the static local variables.
    LocalBase,
    Extents,
    /// Address of a static local variable, by object.
    Local(u32),
    /// Size of an object in bytes.
    Bytes(u32),
    /// Number of positions in an object at which an access of the given bytes fits.
    Places(u32, u64),
}

impl Drop for Emitter<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: created in `new`, used nowhere else.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a, 'c> Emitter<'a, 'c> {
    /// Builds the prologue of `kernel`, whose last argument is the item's context and which has an entry block with a
    /// terminator.
    pub fn new(module: &'a Module<'c>, kernel: Function, races: bool) -> Emitter<'a, 'c> {
        // SAFETY: alive; the entry block has a terminator, the kernel at least the item as an argument.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let (int, long) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
            let pointer = LLVMPointerTypeInContext(context, 0);
            let builder = LLVMCreateBuilderInContext(context);
            let entry = Block(LLVMGetEntryBasicBlock(kernel.0));
            let first = entry.instructions().into_iter().find(|i| LLVMIsAAllocaInst(i.0).is_null());
            LLVMPositionBuilderBeforeInstrAndDbgRecords(builder, first.unwrap_or_else(|| entry.terminator()).0);
            let location = line_zero(context, kernel);
            LLVMSetCurrentDebugLocation2(builder, location);
            let fuel = LLVMBuildAlloca(builder, long, c"kassay.fuel".as_ptr());
            let entry_anchor = LLVMBuildStore(builder, LLVMConstInt(long, 0, 0), fuel);
            let mut emitter = Emitter {
                module,
                kernel,
                context,
                builder,
                layout: LLVMGetModuleDataLayout(module.as_mut_ptr()),
                races,
                int,
                long,
                pointer,
                item: LLVMGetLastParam(kernel.0),
                fuel,
                entry_anchor,
                group: std::ptr::null_mut(),
                entry_values: RefCell::default(),
            };
            emitter.at_entry();
            let item = emitter.item;
            emitter.group =
                emitter.load_invariant(pointer, item, std::mem::offset_of!(ItemContext, group) as u64, c"kassay.group");
            let initial = emitter.byte_offset(item, std::mem::offset_of!(ItemContext, fuel) as u64);
            let initial = LLVMBuildLoad2(builder, long, initial, c"".as_ptr());
            LLVMSetOperand(entry_anchor, 0, initial);
            emitter
        }
    }

    /// Positions the builder at the kernel's entry, so that what is built next dominates the rest of the kernel.
    fn at_entry(&self) {
        // SAFETY: alive.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, self.entry_anchor);
            LLVMSetCurrentDebugLocation2(self.builder, line_zero(self.context, self.kernel));
        }
    }

    /// Positions the builder before an instruction, with its debug location.
    pub fn before(&self, inst: Inst) {
        // SAFETY: alive and inside a block.
        unsafe {
            LLVMPositionBuilderBeforeInstrAndDbgRecords(self.builder, inst.0);
            self.set_location(inst);
        }
    }

    /// Positions the builder at the end of a block, with the debug location of `like`.
    pub fn at_end(&self, block: Block, like: Inst) {
        // SAFETY: alive.
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            self.set_location(like);
        }
    }

    unsafe fn set_location(&self, inst: Inst) {
        // SAFETY: alive.
        unsafe {
            let own = LLVMInstructionGetDebugLoc(inst.0);
            let location = if own.is_null() { line_zero(self.context, self.kernel) } else { own };
            LLVMSetCurrentDebugLocation2(self.builder, location);
        }
    }

    /// Returns the entry value of this key; built on first use.
    pub fn entry_value(&self, key: EntryValue, make: impl FnOnce() -> LLVMValueRef) -> LLVMValueRef {
        if let Some(value) = self.entry_values.borrow().get(&key) {
            return *value;
        }
        self.at_entry();
        let value = make();
        self.entry_values.borrow_mut().insert(key, value);
        value
    }

    /// Adds a variable of the work-item, initialised at the entry.
    pub fn variable(&self, initial: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; the fuel's variable stands in the entry block.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, self.fuel);
            let variable = LLVMBuildAlloca(self.builder, LLVMTypeOf(initial), c"".as_ptr());
            self.at_entry();
            LLVMBuildStore(self.builder, initial, variable);
            variable
        }
    }

    /// Adds an uninitialised variable of `bytes` bytes, aligned to 16.
    pub fn buffer(&self, bytes: u64) -> LLVMValueRef {
        // SAFETY: alive; as above.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, self.fuel);
            let ty = LLVMArrayType2(LLVMInt8TypeInContext(self.context), bytes);
            let variable = LLVMBuildAlloca(self.builder, ty, c"".as_ptr());
            LLVMSetAlignment(variable, 16);
            variable
        }
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

    /// Returns `base` advanced by `offset` bytes.
    pub fn byte_offset(&self, base: LLVMValueRef, offset: u64) -> LLVMValueRef {
        // SAFETY: alive; the callers' offsets lie within what `base` points to.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            LLVMBuildInBoundsGEP2(self.builder, byte, base, &mut self.const_i64(offset), 1, c"".as_ptr())
        }
    }

    /// Loads a field of a context that does not change while the item runs.
    fn load_invariant(&self, ty: LLVMTypeRef, base: LLVMValueRef, offset: u64, name: &std::ffi::CStr) -> LLVMValueRef {
        // SAFETY: alive; the metadata kind takes an empty node.
        unsafe {
            let load = LLVMBuildLoad2(self.builder, ty, self.byte_offset(base, offset), name.as_ptr());
            let kind = "invariant.load";
            let kind = LLVMGetMDKindIDInContext(self.context, kind.as_ptr().cast(), kind.len() as u32);
            let empty = LLVMMetadataAsValue(self.context, LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0));
            LLVMSetMetadata(load, kind, empty);
            load
        }
    }

    /// Base address of the group's static local variables.
    pub fn local_base(&self) -> LLVMValueRef {
        let offset = std::mem::offset_of!(GroupContext, local_base) as u64;
        self.entry_value(EntryValue::LocalBase, || {
            self.load_invariant(self.pointer, self.group, offset, c"kassay.local")
        })
    }

    /// Size in bytes of an object whose memory the launch provides.
    pub fn extent_bytes(&self, object: u32) -> LLVMValueRef {
        let offset = std::mem::offset_of!(GroupContext, extents) as u64;
        let extents = self.entry_value(EntryValue::Extents, || {
            self.load_invariant(self.pointer, self.group, offset, c"kassay.extents")
        });
        let at = u64::from(object) * size_of::<Extent>() as u64 + std::mem::offset_of!(Extent, bytes) as u64;
        self.entry_value(EntryValue::Bytes(object), || self.load_invariant(self.long, extents, at, c"kassay.bytes"))
    }

    /// Loads a variable of type `ty`.
    pub fn load(&self, ty: LLVMTypeRef, variable: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive; `variable` holds a `ty`.
        unsafe { LLVMBuildLoad2(self.builder, ty, variable, c"".as_ptr()) }
    }

    /// Compares two integers of the same type.
    pub fn compare(&self, how: LLVMIntPredicate, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and of one type.
        unsafe { LLVMBuildICmp(self.builder, how, a, b, c"".as_ptr()) }
    }

    /// Casts a pointer to the address space of `like`.
    pub fn cast_like(&self, pointer: LLVMValueRef, like: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and pointers.
        unsafe { LLVMBuildPointerCast(self.builder, pointer, LLVMTypeOf(like), c"".as_ptr()) }
    }

    /// Casts a pointer to address space 0.
    pub fn flat(&self, pointer: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and a pointer.
        unsafe { LLVMBuildPointerCast(self.builder, pointer, self.pointer, c"".as_ptr()) }
    }

    /// Converts a pointer to an `i64`.
    pub fn address(&self, pointer: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and a pointer.
        unsafe { LLVMBuildPtrToInt(self.builder, pointer, self.long, c"".as_ptr()) }
    }

    /// Calls a hook; `result` is its return type, `arguments` are those after the item.
    pub fn hook(&self, name: &str, result: LLVMTypeRef, arguments: &[LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: alive; the hook is declared with the types of these arguments.
        unsafe {
            let mut all = vec![self.item];
            all.extend(arguments);
            let mut types: Vec<LLVMTypeRef> = all.iter().map(|a| LLVMTypeOf(*a)).collect();
            let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
            let callee = self.declaration(name, ty);
            LLVMBuildCall2(self.builder, ty, callee, all.as_mut_ptr(), all.len() as u32, c"".as_ptr())
        }
    }

    /// The type of hooks without a result.
    pub fn void(&self) -> LLVMTypeRef {
        // SAFETY: the context is alive.
        unsafe { LLVMVoidTypeInContext(self.context) }
    }

    unsafe fn declaration(&self, name: &str, ty: LLVMTypeRef) -> LLVMValueRef {
        // SAFETY: alive; attributes belong to the context.
        unsafe {
            let c_name = CString::new(name).unwrap_or_default();
            let known = LLVMGetNamedFunction(self.module.as_mut_ptr(), c_name.as_ptr());
            if !known.is_null() {
                return known;
            }
            let new = LLVMAddFunction(self.module.as_mut_ptr(), c_name.as_ptr(), ty);
            let add = |attribute: &str, value: u64| {
                let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
                let attribute = LLVMCreateEnumAttribute(self.context, kind, value);
                LLVMAddAttributeAtIndex(new, LLVMAttributeFunctionIndex, attribute);
            };
            add("nounwind", 0);
            if [hook::CHECK, hook::DIVISION, hook::FUEL, hook::INNER].contains(&name) {
                add("cold", 0);
            }
            // None of these accesses the kernel's memory; the fuel hook does, because it lets other items run.
            if [hook::CHECK, hook::DIVISION, hook::COMPARISON, hook::INNER].contains(&name) {
                add("memory", INACCESSIBLE_MEMORY);
            }
            new
        }
    }

    /// Splits the block of `at` so that what `build` emits is executed only if `test`, which is built at the end of the
    /// first part, is true. Returns the predecessors of `at`'s block: the first part and the conditional block.
    pub fn emit_if(&self, at: Inst, test: LLVMValueRef, build: impl FnOnce()) -> (Block, Block) {
        // SAFETY: alive; all new blocks get terminators.
        unsafe {
            let head = blocks::split_before(self.context, at);
            let tail = at.block();
            let side = Block(LLVMInsertBasicBlockInContext(self.context, tail.0, c"".as_ptr()));
            self.at_end(head, at);
            LLVMBuildCondBr(self.builder, test, side.0, tail.0);
            self.at_end(side, at);
            build();
            LLVMBuildBr(self.builder, tail.0);
            (head, side)
        }
    }
}

/// Line 0 of the kernel; null if it has no debug information.
unsafe fn line_zero(context: LLVMContextRef, kernel: Function) -> LLVMMetadataRef {
    // SAFETY: alive.
    unsafe {
        let subprogram = LLVMGetSubprogram(kernel.0);
        match subprogram.is_null() {
            true => std::ptr::null_mut(),
            false => LLVMDIBuilderCreateDebugLocation(context, 0, 0, subprogram, std::ptr::null_mut()),
        }
    }
}
