//! Inserts opaque calls where an optimiser would otherwise read "undefined" as "any value", or remove what a guarded
//! run would observe: uninitialised variables, division by zero, over-wide shifts, out-of-range conversions, loop
//! iterations, accesses that may be out of bounds.

use std::collections::HashSet;
use std::ffi::CString;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};

use crate::kernel::ir::{self, Block, Function, Inst};

/// Prefix of every opaque function.
const PREFIX: &str = "__kassay_";
/// The value of an uninitialised scalar or vector.
pub const UNINITIALISED: &str = "__kassay_uninitialised.";
const UNINITIALISED_AGGREGATE: &str = "__kassay_uninitialised_aggregate.";
const UNINITIALISED_MEMORY: &str = "__kassay_uninitialised_memory";

/// Aggregates up to this many bytes are initialised as a value, so that their fields can be promoted.
const MAX_AGGREGATE: u64 = 64;

/// LLVM's encodings of the `memory` attribute: no memory at all; only memory that is inaccessible to IR.
const MEMORY_NONE: u64 = 0;
const MEMORY_INACCESSIBLE: u64 = 0b1100;

/// What the optimiser may assume about calls of an opaque function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The result depends on the arguments alone.
    Pure,
    /// Each call is observable, in order with those of other opaque functions, and may end the run.
    Observable,
    /// It may also read and write any memory.
    Any,
}

/// Builds calls of opaque functions.
pub struct OpaqueCalls<'m, 'c> {
    module: &'m Module<'c>,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    data: LLVMTargetDataRef,
}

impl Drop for OpaqueCalls<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: created in `new` and owned by this value alone.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'m, 'c> OpaqueCalls<'m, 'c> {
    /// Creates a builder for a module.
    pub fn new(module: &'m Module<'c>) -> OpaqueCalls<'m, 'c> {
        // SAFETY: the module is borrowed for as long as this value lives, and owns its data layout and context.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            OpaqueCalls { module, context, builder, data: LLVMGetModuleDataLayout(module.as_mut_ptr()) }
        }
    }

    fn instructions(&self) -> Vec<Inst> {
        ir::functions(self.module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions).collect()
    }

    /// Inserts the calls that are needed before anything is folded.
    pub fn before_inlining(&self) {
        let mut variables = 0;
        for inst in self.instructions() {
            match inst.opcode() {
                LLVMOpcode::LLVMAlloca => {
                    self.initialise(inst, variables);
                    variables += 1;
                }
                LLVMOpcode::LLVMUnreachable => {
                    // SAFETY: the borrowed module keeps its context alive.
                    let void = unsafe { LLVMVoidTypeInContext(self.context) };
                    self.call_before(inst, "__kassay_unreachable", void, &[], Effect::Any);
                }
                LLVMOpcode::LLVMCall if inst.callee().as_deref() == Some("llvm.assume") => {
                    // SAFETY: `llvm.assume` has no result, hence no users; `inst` is not used afterwards.
                    unsafe { LLVMInstructionEraseFromParent(inst.0) };
                }
                _ if may_trap(inst) => self.replace(inst),
                _ => {}
            }
        }
    }

    /// Replaces, after inlining and promotion, the calls that turned out to be unnecessary, now that constants and
    /// addresses are visible; marks accesses, exposed variables and loop iterations.
    pub fn after_inlining(&self) {
        for inst in self.instructions() {
            self.restore(inst);
        }
        for inst in self.instructions() {
            self.keep_access(inst);
        }
        for alloca in self.instructions().into_iter().filter(|i| i.opcode() == LLVMOpcode::LLVMAlloca) {
            if !self.is_only_accessed_inside(alloca) {
                self.expose(alloca);
            }
        }
        for f in ir::functions(self.module).into_iter().filter(|f| f.has_body()) {
            for header in loop_headers(f) {
                // SAFETY: the borrowed module keeps its context alive.
                let void = unsafe { LLVMVoidTypeInContext(self.context) };
                self.call_before(header.first_insertion_point(), "__kassay_iteration", void, &[], Effect::Observable);
            }
        }
    }

    /// Returns whether a variable is only used by plain accesses to parts of it.
    fn is_only_accessed_inside(&self, alloca: Inst) -> bool {
        let mut todo = vec![alloca.0];
        // SAFETY: the variable and its users belong to the borrowed module; lists of uses end with null; operands exist
        // for these opcodes.
        unsafe {
            while let Some(pointer) = todo.pop() {
                let mut next = LLVMGetFirstUse(pointer);
                while !next.is_null() {
                    let user = Inst(LLVMGetUser(next));
                    next = LLVMGetNextUse(next);
                    let inside = match user.opcode() {
                        LLVMOpcode::LLVMLoad => LLVMGetVolatile(user.0) == 0,
                        LLVMOpcode::LLVMStore => LLVMGetVolatile(user.0) == 0 && LLVMGetOperand(user.0, 0) != pointer,
                        LLVMOpcode::LLVMGetElementPtr => {
                            todo.push(user.0);
                            self.constant_offset(user).is_some()
                        }
                        LLVMOpcode::LLVMCall => {
                            let copies = user.callee().is_some_and(|name| block_pointers(&name).is_some());
                            copies && LLVMConstIntGetZExtValue(LLVMGetOperand(user.0, 3)) == 0
                        }
                        _ => false,
                    };
                    if !inside {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Keeps a variable in memory: passes would drop even volatile accesses past the end of a variable that they can
    /// split up.
    fn expose(&self, alloca: Inst) {
        // SAFETY: an instruction of the borrowed module; an alloca is never a block's last instruction.
        unsafe {
            let name = format!("__kassay_expose.{}", LLVMGetPointerAddressSpace(LLVMTypeOf(alloca.0)));
            let void = LLVMVoidTypeInContext(self.context);
            self.call_before(Inst(LLVMGetNextInstruction(alloca.0)), &name, void, &[alloca.0], Effect::Any);
        }
    }

    /// Inserts a call of the opaque function `name` before an instruction and declares it if necessary. Returns
    /// the result.
    fn call_before(
        &self,
        before: Inst,
        name: &str,
        result: LLVMTypeRef,
        args: &[LLVMValueRef],
        effect: Effect,
    ) -> LLVMValueRef {
        // SAFETY: all values belong to the borrowed module; the function's type is made from the arguments'.
        unsafe {
            let mut types: Vec<LLVMTypeRef> = args.iter().map(|a| LLVMTypeOf(*a)).collect();
            let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
            let f = ir::function(self.module, name).map_or_else(|| self.declare(name, ty, effect), |f| f.0);
            LLVMPositionBuilderBefore(self.builder, before.0);
            let mut args = args.to_vec();
            LLVMBuildCall2(self.builder, ty, f, args.as_mut_ptr(), args.len() as u32, c"".as_ptr())
        }
    }

    unsafe fn declare(&self, name: &str, ty: LLVMTypeRef, effect: Effect) -> LLVMValueRef {
        let attributes: &[(&str, u64)] = match effect {
            Effect::Pure => &[("nounwind", 0), ("willreturn", 0), ("memory", MEMORY_NONE)],
            Effect::Observable => &[("nounwind", 0), ("nomerge", 0), ("memory", MEMORY_INACCESSIBLE)],
            Effect::Any => &[("nounwind", 0), ("nomerge", 0)],
        };
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module is borrowed; attribute names come with their lengths.
        unsafe {
            let f = LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty);
            for (attribute, value) in attributes {
                let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
                let attribute = LLVMCreateEnumAttribute(self.context, kind, *value);
                LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
            }
            f
        }
    }

    /// Gives a variable an opaque initial value, identified by the variable's number.
    fn initialise(&self, alloca: Inst, number: u64) {
        // SAFETY: an instruction of the borrowed module; an alloca is never a block's last instruction.
        unsafe {
            let next = Inst(LLVMGetNextInstruction(alloca.0));
            let ty = LLVMGetAllocatedType(alloca.0);
            let id = LLVMConstInt(LLVMInt32TypeInContext(self.context), number, 0);
            let aggregate =
                matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMStructTypeKind);
            let one = LLVMIsAConstantInt(LLVMGetOperand(alloca.0, 0));
            let single = !one.is_null() && LLVMConstIntGetZExtValue(one) == 1;
            if !single || (aggregate && LLVMABISizeOfType(self.data, ty) > MAX_AGGREGATE) {
                let name = format!("{UNINITIALISED_MEMORY}.{}", LLVMGetPointerAddressSpace(LLVMTypeOf(alloca.0)));
                let void = LLVMVoidTypeInContext(self.context);
                self.call_before(next, &name, void, &[alloca.0, id], Effect::Any);
                return;
            }
            let prefix = if aggregate { UNINITIALISED_AGGREGATE } else { UNINITIALISED };
            let value = self.call_before(next, &format!("{prefix}{}", text(ty)), ty, &[id], Effect::Pure);
            LLVMPositionBuilderBefore(self.builder, next.0);
            LLVMBuildStore(self.builder, value, alloca.0);
        }
    }

    /// Replaces an instruction that may trap or yield poison by an opaque call.
    fn replace(&self, inst: Inst) {
        // SAFETY: `inst` belongs to the borrowed module and is not used afterwards; the call has its type.
        unsafe {
            let ty = LLVMTypeOf(inst.0);
            let operands = inst.operands();
            let name = format!("{PREFIX}{:?}.{}.{}", inst.opcode(), text(LLVMTypeOf(operands[0])), text(ty));
            let effect = if is_division(inst.opcode()) { Effect::Observable } else { Effect::Pure };
            let call = self.call_before(inst, &name, ty, &operands, effect);
            LLVMReplaceAllUsesWith(inst.0, call);
            LLVMInstructionEraseFromParent(inst.0);
        }
    }

    /// Turns an opaque division or shift back into an instruction if its right operand is a harmless constant.
    fn restore(&self, call: Inst) {
        let Some(name) = call.callee() else { return };
        let Some(rest) = name.strip_prefix(PREFIX) else { return };
        let opcode = RESTORABLE.into_iter().find(|opcode| rest.starts_with(&format!("{opcode:?}.")));
        let Some(opcode) = opcode else { return };
        // SAFETY: `call` belongs to the borrowed module and is not used afterwards; it was made from such an
        // instruction, so the types fit.
        unsafe {
            let (left, right) = (LLVMGetOperand(call.0, 0), LLVMGetOperand(call.0, 1));
            if !is_harmless(opcode, right) {
                return;
            }
            LLVMPositionBuilderBefore(self.builder, call.0);
            let value = LLVMBuildBinOp(self.builder, opcode, left, right, c"".as_ptr());
            LLVMReplaceAllUsesWith(call.0, value);
            LLVMInstructionEraseFromParent(call.0);
        }
    }

    /// Keeps an access as it is, in order with other accesses, by making it volatile, except for accesses to private
    /// variables that are certainly in bounds.
    fn keep_access(&self, inst: Inst) {
        // SAFETY: an instruction of the borrowed module; operands exist for these opcodes.
        unsafe {
            match inst.opcode() {
                LLVMOpcode::LLVMLoad => {
                    let size = LLVMStoreSizeOfType(self.data, LLVMTypeOf(inst.0));
                    let kept = !self.is_inside(LLVMGetOperand(inst.0, 0), size);
                    LLVMSetVolatile(inst.0, kept as i32);
                }
                LLVMOpcode::LLVMStore => {
                    let size = LLVMStoreSizeOfType(self.data, LLVMTypeOf(LLVMGetOperand(inst.0, 0)));
                    let kept = !self.is_inside(LLVMGetOperand(inst.0, 1), size);
                    LLVMSetVolatile(inst.0, kept as i32);
                }
                LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => LLVMSetVolatile(inst.0, 1),
                LLVMOpcode::LLVMCall => self.keep_block_access(inst),
                _ => {}
            }
        }
    }

    /// Makes an `llvm.memcpy`, `memmove` or `memset` volatile, unless it is certainly in bounds.
    unsafe fn keep_block_access(&self, call: Inst) {
        let Some(pointers) = call.callee().and_then(|name| block_pointers(&name)) else { return };
        // SAFETY: an intrinsic with these operands: pointer, pointer or byte, length, volatile flag.
        unsafe {
            let length = LLVMGetOperand(call.0, 2);
            let known = !LLVMIsAConstantInt(length).is_null();
            let inside = |i| known && self.is_inside(LLVMGetOperand(call.0, i), LLVMConstIntGetZExtValue(length));
            if !(0..pointers).all(inside) {
                LLVMSetOperand(call.0, 3, LLVMConstInt(LLVMInt1TypeInContext(self.context), 1, 0));
            }
        }
    }

    /// Returns whether `size` bytes at the pointer lie within one private variable, in all executions.
    fn is_inside(&self, pointer: LLVMValueRef, size: u64) -> bool {
        let (mut base, mut offset) = (pointer, 0i128);
        // SAFETY: the pointer belongs to the borrowed module; operands exist for these opcodes.
        unsafe {
            while let Some(gep) = ir::as_instruction(base).filter(|i| i.opcode() == LLVMOpcode::LLVMGetElementPtr) {
                let Some(step) = self.constant_offset(gep) else { return false };
                offset += step;
                base = LLVMGetOperand(gep.0, 0);
            }
            let Some(alloca) = ir::as_instruction(base).filter(|i| i.opcode() == LLVMOpcode::LLVMAlloca) else {
                return false;
            };
            let count = LLVMGetOperand(alloca.0, 0);
            if LLVMIsAConstantInt(count).is_null() {
                return false;
            }
            let whole = i128::from(LLVMABISizeOfType(self.data, LLVMGetAllocatedType(alloca.0)))
                * i128::from(LLVMConstIntGetZExtValue(count));
            offset >= 0 && offset + i128::from(size) <= whole
        }
    }

    /// Returns the offset of a GEP in bytes, if it is constant.
    unsafe fn constant_offset(&self, gep: Inst) -> Option<i128> {
        // SAFETY: a GEP of the borrowed module; its indices follow the pointer, and each selects within the type
        // before it.
        unsafe {
            let mut ty = LLVMGetGEPSourceElementType(gep.0);
            let mut offset = 0i128;
            for (i, index) in gep.operands().into_iter().skip(1).enumerate() {
                if LLVMIsAConstantInt(index).is_null() || LLVMGetIntTypeWidth(LLVMTypeOf(index)) > 64 {
                    return None;
                }
                let index = LLVMConstIntGetSExtValue(index);
                if i > 0 && LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind {
                    offset += i128::from(LLVMOffsetOfElement(self.data, ty, index as u32));
                    ty = LLVMStructGetTypeAtIndex(ty, index as u32);
                    continue;
                }
                if i > 0 {
                    ty = LLVMGetElementType(ty);
                }
                offset += i128::from(LLVMABISizeOfType(self.data, ty)) * i128::from(index);
            }
            Some(offset)
        }
    }
}

/// Returns how many pointers an intrinsic takes that copies or fills memory; `None` for other functions.
fn block_pointers(name: &str) -> Option<u32> {
    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
        Some(2)
    } else {
        name.starts_with("llvm.memset.").then_some(1)
    }
}

fn text(ty: LLVMTypeRef) -> String {
    // SAFETY: a type of the borrowed module's context; `take_message` frees the string.
    unsafe { ir::take_message(LLVMPrintTypeToString(ty)) }
}

const RESTORABLE: [LLVMOpcode; 7] = [
    LLVMOpcode::LLVMSDiv,
    LLVMOpcode::LLVMUDiv,
    LLVMOpcode::LLVMSRem,
    LLVMOpcode::LLVMURem,
    LLVMOpcode::LLVMShl,
    LLVMOpcode::LLVMLShr,
    LLVMOpcode::LLVMAShr,
];

fn is_division(opcode: LLVMOpcode) -> bool {
    matches!(opcode, LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMUDiv | LLVMOpcode::LLVMSRem | LLVMOpcode::LLVMURem)
}

/// Returns whether an instruction traps, or yields poison, for some operands.
fn may_trap(inst: Inst) -> bool {
    use LLVMOpcode::*;
    match inst.opcode() {
        LLVMFPToSI | LLVMFPToUI => true,
        opcode if RESTORABLE.contains(&opcode) => {
            let right = inst.operands()[1];
            !is_harmless(opcode, right) && (is_division(opcode) || !is_masked(right))
        }
        _ => false,
    }
}

/// Returns whether a constant divisor or shift amount is defined for every left operand.
fn is_harmless(opcode: LLVMOpcode, right: LLVMValueRef) -> bool {
    let lanes = lanes(right);
    let signed = matches!(opcode, LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMSRem);
    !lanes.is_empty()
        && lanes.into_iter().all(|lane| {
            // SAFETY: a constant of the module being read; values are only read from integers of up to 64 bits.
            unsafe {
                if LLVMIsAConstantInt(lane).is_null() || LLVMGetIntTypeWidth(LLVMTypeOf(lane)) > 64 {
                    return false;
                }
                let (value, width) = (LLVMConstIntGetZExtValue(lane), LLVMGetIntTypeWidth(LLVMTypeOf(lane)));
                match is_division(opcode) {
                    true => value != 0 && !(signed && LLVMConstIntGetSExtValue(lane) == -1),
                    false => value < u64::from(width),
                }
            }
        })
}

/// Returns whether a shift amount is masked as clang does for OpenCL C (6.3.j): modulo the width.
fn is_masked(amount: LLVMValueRef) -> bool {
    ir::as_instruction(amount).is_some_and(|i| {
        i.opcode() == LLVMOpcode::LLVMAnd && i.operands().into_iter().any(|mask| is_harmless(LLVMOpcode::LLVMShl, mask))
    })
}

/// Returns the value itself, or the elements of a constant vector; nothing if they are unknown.
fn lanes(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: a value of the module being read; element indices are below the count.
    unsafe {
        if LLVMIsAConstant(value).is_null() {
            return Vec::new();
        }
        let ty = LLVMTypeOf(value);
        if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMVectorTypeKind {
            return vec![value];
        }
        let is_data = !LLVMIsAConstantVector(value).is_null()
            || !LLVMIsAConstantDataVector(value).is_null()
            || !LLVMIsAConstantAggregateZero(value).is_null();
        match is_data {
            true => (0..LLVMGetVectorSize(ty)).map(|i| LLVMGetAggregateElement(value, i)).collect(),
            false => Vec::new(),
        }
    }
}

/// Returns the targets of back edges in a depth-first traversal.
fn loop_headers(f: Function) -> Vec<Block> {
    let Some(entry) = f.blocks().first().copied() else { return Vec::new() };
    let (mut seen, mut open, mut headers) = (HashSet::from([entry]), HashSet::from([entry]), Vec::new());
    let mut stack = vec![(entry, entry.terminator().successors(), 0)];
    while let Some((block, successors, next)) = stack.pop() {
        let Some(successor) = successors.get(next).copied() else {
            open.remove(&block);
            continue;
        };
        stack.push((block, successors, next + 1));
        if open.contains(&successor) && !headers.contains(&successor) {
            headers.push(successor);
        }
        if seen.insert(successor) {
            open.insert(successor);
            stack.push((successor, successor.terminator().successors(), 0));
        }
    }
    headers
}
