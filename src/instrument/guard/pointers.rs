//! Traces pointers to the objects that they may point into, and to their distance from the object's start where it can
//! be computed.

use std::collections::{HashMap, HashSet};

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::SLOT;
use crate::kernel::ir::{self, Function, Inst};

/// LLVM's numbers of OpenCL's address spaces.
const PRIVATE: u32 = 0;
const GLOBAL: u32 = 1;
const LOCAL: u32 = 3;
const GENERIC: u32 = 4;

/// An object of known or launch-dependent size that a pointer may point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Object {
    /// A buffer or local memory passed as an argument, by position; the launch sets its size.
    Argument(LLVMValueRef, u32),
    /// A variable (or an argument passed by value) and its size in bytes.
    Variable(LLVMValueRef, u64),
}

impl Object {
    /// A pointer to the object's first byte.
    pub fn pointer(self) -> LLVMValueRef {
        match self {
            Object::Argument(pointer, _) | Object::Variable(pointer, _) => pointer,
        }
    }
}

/// A traced pointer.
#[derive(Debug, Clone)]
pub struct Address {
    pub pointer: LLVMValueRef,
    /// The objects that it may point into.
    pub objects: Vec<Object>,
    /// The distance in bytes from the start of the only object; `None`: it has to be computed as the difference
    /// of the pointers.
    pub distance: Option<Distance>,
}

/// A linear combination of values, plus a constant.
#[derive(Debug, Clone, Default)]
pub struct Distance {
    pub terms: Vec<(LLVMValueRef, i64)>,
    pub constant: i64,
}

/// The objects of a kernel.
pub struct Objects {
    layout: LLVMTargetDataRef,
    all: Vec<Object>,
    /// Index into `all` by pointer.
    index_of: HashMap<LLVMValueRef, usize>,
    probe: LLVMValueRef,
}

impl Objects {
    /// Collects everything that `kernel`, whose last argument is the probe buffer, can point into.
    pub fn of(module: LLVMModuleRef, kernel: Function) -> Objects {
        // SAFETY: alive; arguments are below the count; the list of globals ends with null.
        unsafe {
            let layout = LLVMGetModuleDataLayout(module);
            let mut all = Vec::new();
            for position in 0..LLVMCountParams(kernel.0).saturating_sub(1) {
                let argument = LLVMGetParam(kernel.0, position);
                all.extend(argument_object(kernel, argument, position, layout));
            }
            let instructions = kernel.blocks().into_iter().flat_map(ir::Block::instructions);
            all.extend(instructions.filter(|i| i.opcode() == LLVMOpcode::LLVMAlloca).filter_map(|i| {
                let count = LLVMGetOperand(i.0, 0);
                let count = (!LLVMIsAConstantInt(count).is_null()).then(|| LLVMConstIntGetZExtValue(count))?;
                Some(Object::Variable(i.0, size_of(LLVMGetAllocatedType(i.0), layout)? * count))
            }));
            let mut global = LLVMGetFirstGlobal(module);
            while !global.is_null() {
                all.extend(size_of(LLVMGlobalGetValueType(global), layout).map(|n| Object::Variable(global, n)));
                global = LLVMGetNextGlobal(global);
            }
            // If two have the same pointer, the first takes precedence.
            let index_of = all.iter().enumerate().rev().map(|(at, object)| (object.pointer(), at)).collect();
            Objects { layout, all, index_of, probe: LLVMGetLastParam(kernel.0) }
        }
    }

    /// Size in bytes of a value of this type in memory; `None` if memory cannot hold it (images, events).
    pub fn stored_size(&self, ty: LLVMTypeRef) -> Option<u64> {
        // SAFETY: alive and sized.
        size_of(ty, self.layout).map(|_| unsafe { LLVMStoreSizeOfType(self.layout, ty) })
    }

    /// Traces a pointer. `None` for pointers into the probe buffer, which are kassay's own.
    pub fn trace(&self, pointer: LLVMValueRef) -> Option<Address> {
        let mut distance = Some(Distance::default());
        let mut at = pointer;
        loop {
            if let Some(object) = self.find(at) {
                return Some(Address { pointer, objects: vec![object], distance });
            }
            if at == self.probe || ir::as_instruction(at).and_then(Inst::callee).as_deref() == Some(SLOT) {
                return None;
            }
            match opcode(at) {
                Some(LLVMOpcode::LLVMGetElementPtr) => {
                    distance = distance.and_then(|d| add_gep_offset(self.layout, at, d));
                }
                Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast) => {}
                _ => break,
            }
            // SAFETY: alive; all of these have an operand.
            at = unsafe { LLVMGetOperand(at, 0) };
        }
        let mut objects = Vec::new();
        if !self.collect(at, &mut objects, &mut HashSet::new()) {
            objects = self.in_space(at);
        }
        Some(Address { pointer, objects, distance: None })
    }

    fn find(&self, value: LLVMValueRef) -> Option<Object> {
        self.index_of.get(&value).map(|at| self.all[*at])
    }

    /// Adds the objects that `value` may point into to `found`; returns false if they are unknown. Null
    /// points into nothing.
    fn collect(&self, value: LLVMValueRef, found: &mut Vec<Object>, seen: &mut HashSet<LLVMValueRef>) -> bool {
        if !seen.insert(value) {
            return true;
        }
        if let Some(object) = self.find(value) {
            if !found.contains(&object) {
                found.push(object);
            }
            return true;
        }
        // SAFETY: alive; operand numbers are those of the opcode.
        unsafe {
            match opcode(value) {
                Some(
                    LLVMOpcode::LLVMGetElementPtr
                    | LLVMOpcode::LLVMBitCast
                    | LLVMOpcode::LLVMAddrSpaceCast
                    | LLVMOpcode::LLVMFreeze,
                ) => self.collect(LLVMGetOperand(value, 0), found, seen),
                Some(LLVMOpcode::LLVMSelect) => (1..3).all(|i| self.collect(LLVMGetOperand(value, i), found, seen)),
                Some(LLVMOpcode::LLVMPHI) => {
                    (0..LLVMCountIncoming(value)).all(|i| self.collect(LLVMGetIncomingValue(value, i), found, seen))
                }
                _ => LLVMIsNull(value) != 0 || LLVMIsUndef(value) != 0,
            }
        }
    }

    /// Returns all objects of the pointer's address space; a generic pointer may point into all but constants.
    fn in_space(&self, pointer: LLVMValueRef) -> Vec<Object> {
        let space = space(pointer);
        let fits = |o: u32| o == space || (space == GENERIC && [PRIVATE, GLOBAL, LOCAL].contains(&o));
        self.all.iter().copied().filter(|o| fits(self::space(o.pointer()))).collect()
    }
}

/// Adds the offset that a `getelementptr` computes to `distance`; `None` if it cannot be expressed.
pub fn add_gep_offset(layout: LLVMTargetDataRef, gep: LLVMValueRef, mut distance: Distance) -> Option<Distance> {
    // SAFETY: alive and a GEP, whose indices follow its types.
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(gep);
        for i in 1..LLVMGetNumOperands(gep) as u32 {
            let index = LLVMGetOperand(gep, i);
            if LLVMGetTypeKind(LLVMTypeOf(index)) != LLVMTypeKind::LLVMIntegerTypeKind
                || LLVMGetIntTypeWidth(LLVMTypeOf(index)) > 64
            {
                return None;
            }
            let number = (!LLVMIsAConstantInt(index).is_null()).then(|| LLVMConstIntGetSExtValue(index));
            if i > 1 {
                match LLVMGetTypeKind(ty) {
                    LLVMTypeKind::LLVMStructTypeKind => {
                        let field = u32::try_from(number?).ok()?;
                        let offset = LLVMOffsetOfElement(layout, ty, field);
                        distance.constant = distance.constant.checked_add(i64::try_from(offset).ok()?)?;
                        ty = LLVMStructGetTypeAtIndex(ty, field);
                        continue;
                    }
                    LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                        ty = LLVMGetElementType(ty);
                    }
                    _ => return None,
                }
            }
            let scale = i64::try_from(size_of(ty, layout)?).ok()?;
            match number {
                Some(n) => distance.constant = distance.constant.checked_add(n.checked_mul(scale)?)?,
                None => distance.terms.push((index, scale)),
            }
        }
        Some(distance)
    }
}

/// The opcode of an instruction or a constant expression.
pub fn opcode(value: LLVMValueRef) -> Option<LLVMOpcode> {
    // SAFETY: alive; asked of what it is for.
    unsafe {
        if !LLVMIsAInstruction(value).is_null() {
            Some(LLVMGetInstructionOpcode(value))
        } else if !LLVMIsAConstantExpr(value).is_null() {
            Some(LLVMGetConstOpcode(value))
        } else {
            None
        }
    }
}

/// The address space of a pointer.
pub fn space(pointer: LLVMValueRef) -> u32 {
    // SAFETY: alive and a pointer.
    unsafe { LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) }
}

/// The object that an argument points to: a copy of its own if it is passed by value, else memory of the launch.
unsafe fn argument_object(
    kernel: Function,
    argument: LLVMValueRef,
    position: u32,
    layout: LLVMTargetDataRef,
) -> Option<Object> {
    // SAFETY: alive; attributes of parameters count from 1.
    unsafe {
        if LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMTypeKind::LLVMPointerTypeKind {
            return None;
        }
        let name = "byval";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMGetEnumAttributeAtIndex(kernel.0, position + 1, kind);
        if attribute.is_null() {
            return Some(Object::Argument(argument, position));
        }
        Some(Object::Variable(argument, size_of(LLVMGetTypeAttributeValue(attribute), layout)?))
    }
}

/// Distance in bytes of two adjacent array elements of this type; `None` for types that memory cannot hold.
pub fn size_of(ty: LLVMTypeRef, layout: LLVMTargetDataRef) -> Option<u64> {
    // SAFETY: alive; the size is asked of sized types only.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMTargetExtTypeKind => None,
            LLVMTypeKind::LLVMArrayTypeKind => {
                size_of(LLVMGetElementType(ty), layout).map(|_| LLVMABISizeOfType(layout, ty))
            }
            _ if LLVMTypeIsSized(ty) != 0 => Some(LLVMABISizeOfType(layout, ty)),
            _ => None,
        }
    }
}
