//! Wraps the parts of LLVM's C interface that inkwell cannot query without panicking: types of image and sampler
//! arguments, function metadata, data layouts. The handles live as long as the module they come from.
//!
//! Not for the meaning of the results (`signature`, `ir_types`).

use std::ffi::{CStr, CString, c_uint};
use std::marker::PhantomData;

use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;

use crate::llvm::SPIR_KERNEL;

/// A value of a module: a function, global variable, argument, instruction or constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Value<'m>(LLVMValueRef, PhantomData<&'m ()>);

/// A type of a module's context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Type<'m>(LLVMTypeRef, PhantomData<&'m ()>);

/// The data layout of a module.
#[derive(Clone, Copy)]
pub(super) struct Layout<'m>(LLVMTargetDataRef, PhantomData<&'m ()>);

/// An operand of a metadata node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Text(String),
    Number(u64),
    Other,
}

/// All functions of a module, including declarations, in order.
pub(super) fn functions<'m>(module: &'m Module) -> Vec<Value<'m>> {
    // SAFETY: the module is alive; LLVM ends the list with null.
    list(unsafe { LLVMGetFirstFunction(module.as_mut_ptr()) }, |f| unsafe { LLVMGetNextFunction(f) })
}

/// All global variables of a module, in order.
pub(super) fn globals<'m>(module: &'m Module) -> Vec<Value<'m>> {
    // SAFETY: the module is alive; LLVM ends the list with null.
    list(unsafe { LLVMGetFirstGlobal(module.as_mut_ptr()) }, |g| unsafe { LLVMGetNextGlobal(g) })
}

fn list<'m>(first: LLVMValueRef, next: impl Fn(LLVMValueRef) -> LLVMValueRef) -> Vec<Value<'m>> {
    let chain = std::iter::successors((!first.is_null()).then_some(first), |&value| {
        let following = next(value);
        (!following.is_null()).then_some(following)
    });
    chain.map(|value| Value(value, PhantomData)).collect()
}

/// The module's data layout.
pub(super) fn layout<'m>(module: &'m Module) -> Layout<'m> {
    // SAFETY: the module is alive and owns its layout.
    Layout(unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) }, PhantomData)
}

/// The size in bytes of a pointer to address space 0.
pub(super) fn pointer_bytes(module: &Module) -> u32 {
    // SAFETY: the layout belongs to the module, which is alive.
    unsafe { LLVMPointerSize(layout(module).0) }
}

/// The sized struct type of that name, such as `struct.params`.
pub(super) fn named_struct<'m>(module: &'m Module, name: &str) -> Option<Type<'m>> {
    let name = CString::new(name).ok()?;
    // SAFETY: the context outlives its module; null means that there is none.
    let ty = unsafe { LLVMGetTypeByName2(LLVMGetModuleContext(module.as_mut_ptr()), name.as_ptr()) };
    // SAFETY: `ty` is a struct type of that context.
    (!ty.is_null() && unsafe { LLVMIsOpaqueStruct(ty) } == 0).then_some(Type(ty, PhantomData))
}

/// Copies a string that LLVM owns.
///
/// # Safety
/// `data` is null or points to `length` readable bytes.
///
/// # Safety
/// `data` is null or points to `length` readable bytes.
unsafe fn text(data: *const std::ffi::c_char, length: usize) -> String {
    if data.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }).into_owned()
}

impl<'m> Value<'m> {
    /// The value's name; empty if it has none.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: LLVM owns the bytes and tells how many there are.
        unsafe {
            let data = LLVMGetValueName2(self.0, &mut length);
            text(data, length)
        }
    }

    /// For functions: returns whether it is a kernel with a body.
    pub fn is_kernel(self) -> bool {
        // SAFETY: `functions` gives functions only.
        unsafe { LLVMGetFunctionCallConv(self.0) == SPIR_KERNEL && LLVMIsDeclaration(self.0) == 0 }
    }

    /// The parameters of a function.
    pub fn params(self) -> Vec<Value<'m>> {
        // SAFETY: the value is a function; LLVM ends the list with null.
        list(unsafe { LLVMGetFirstParam(self.0) }, |param| unsafe { LLVMGetNextParam(param) })
    }

    /// The value's type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: every value has a type.
        Type(unsafe { LLVMTypeOf(self.0) }, PhantomData)
    }

    /// The type of a global variable's contents.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: `globals` gives global variables only.
        Type(unsafe { LLVMGlobalGetValueType(self.0) }, PhantomData)
    }

    /// For functions: returns whether the parameter at `position` (from 0) has the attribute.
    pub fn param_has(self, position: u32, attribute: &str) -> bool {
        // SAFETY: the value is a function and `position` one of its parameters, which count from 1 here.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, position + 1, attribute_kind(attribute)).is_null() }
    }

    /// The value of a function's string attribute.
    pub fn attribute(self, name: &str) -> Option<String> {
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        let mut length = 0;
        // SAFETY: a function of a live module; the attribute is checked for null before its text is asked, which is as long as told.
        unsafe {
            let found = LLVMGetStringAttributeAtIndex(self.0, index, name.as_ptr().cast(), name.len() as u32);
            if found.is_null() {
                return None;
            }
            let data = LLVMGetStringAttributeValue(found, &mut length);
            Some(text(data, length as usize))
        }
    }

    /// For functions: the type of the `byval` attribute of the parameter at `position` (from 0).
    pub fn byval(self, position: u32) -> Option<Type<'m>> {
        // SAFETY: as in `param_has`; `byval` is a type attribute.
        unsafe {
            let attribute = LLVMGetEnumAttributeAtIndex(self.0, position + 1, attribute_kind("byval"));
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute), PhantomData))
        }
    }

    /// For functions: the operands of the attached metadata of that kind.
    pub fn metadata(self, kind: &str) -> Option<Vec<Operand>> {
        // SAFETY: the value is a function; the copied entries are freed below; every node read belongs to its context.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(self.0));
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as c_uint);
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(self.0, &mut count);
            let found = (0..count as c_uint).find(|&i| LLVMValueMetadataEntriesGetKind(entries, i) == kind);
            let node = found.map(|i| LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i)));
            LLVMDisposeValueMetadataEntries(entries);
            let node = node?;
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            Some(operands.into_iter().map(|value| operand(value)).collect())
        }
    }

    /// The values that use this one, once per use.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: the use list of a value in a live module; null ends it.
        unsafe {
            let mut usage = LLVMGetFirstUse(self.0);
            while !usage.is_null() {
                users.push(Value(LLVMGetUser(usage), PhantomData));
                usage = LLVMGetNextUse(usage);
            }
        }
        users
    }

    /// The function that contains an instruction; `None` for constants.
    pub fn function(self) -> Option<Value<'m>> {
        // SAFETY: only an instruction is asked for its block.
        unsafe {
            if LLVMIsAInstruction(self.0).is_null() {
                return None;
            }
            let block = LLVMGetInstructionParent(self.0);
            (!block.is_null()).then(|| Value(LLVMGetBasicBlockParent(block), PhantomData))
        }
    }

    /// The opcode of an instruction; `None` for other values.
    pub fn opcode(self) -> Option<llvm_sys::LLVMOpcode> {
        // SAFETY: only an instruction is asked.
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| LLVMGetInstructionOpcode(self.0)) }
    }

    /// The operand at `index`; `None` if the value has no such operand.
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: only users are asked, and only for operands they have.
        unsafe {
            if LLVMIsAUser(self.0).is_null() || index >= LLVMGetNumOperands(self.0).max(0) as u32 {
                return None;
            }
            let operand = LLVMGetOperand(self.0, index);
            (!operand.is_null()).then_some(Value(operand, PhantomData))
        }
    }

    /// For `getelementptr` instructions: the source element type.
    pub fn gep_element(self) -> Type<'m> {
        // SAFETY: callers have looked at the opcode.
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) }, PhantomData)
    }

    /// For calls: the callee, if it is named directly and has a body.
    pub fn callee(self) -> Option<Value<'m>> {
        // SAFETY: callers have looked at the opcode.
        unsafe {
            let callee = LLVMIsAFunction(LLVMGetCalledValue(self.0));
            (!callee.is_null() && LLVMIsDeclaration(callee) == 0).then_some(Value(callee, PhantomData))
        }
    }
}

/// # Safety
/// `value` is null or an operand of a metadata node.
unsafe fn operand(value: LLVMValueRef) -> Operand {
    if value.is_null() {
        return Operand::Other;
    }
    let mut length = 0;
    // SAFETY: LLVM answers null for what is no string; only integer constants are asked for their value.
    unsafe {
        let data = LLVMGetMDString(value, &mut length);
        if !data.is_null() {
            return Operand::Text(text(data, length as usize));
        }
        if LLVMIsAConstantInt(value).is_null() {
            return Operand::Other;
        }
        Operand::Number(LLVMConstIntGetZExtValue(value))
    }
}

fn attribute_kind(name: &str) -> c_uint {
    // SAFETY: LLVM reads as many bytes as it is told.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

impl<'m> Type<'m> {
    /// LLVM's kind of the type.
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: a type of a live module.
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// The width of an integer type in bits.
    pub fn int_width(self) -> u32 {
        // SAFETY: callers have looked at the kind.
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    /// The address space of a pointer type.
    pub fn address_space(self) -> u32 {
        // SAFETY: callers have looked at the kind.
        unsafe { LLVMGetPointerAddressSpace(self.0) }
    }

    /// For vector and array types: the element type and the number of elements.
    pub fn elements(self) -> (Type<'m>, u64) {
        // SAFETY: callers have looked at the kind.
        unsafe {
            let count = match self.kind() {
                LLVMTypeKind::LLVMVectorTypeKind => u64::from(LLVMGetVectorSize(self.0)),
                _ => LLVMGetArrayLength2(self.0),
            };
            (Type(LLVMGetElementType(self.0), PhantomData), count)
        }
    }

    /// The name of a struct type, such as `struct.params`; empty for literal structs.
    pub fn struct_name(self) -> String {
        // SAFETY: callers have looked at the kind; null means no name.
        unsafe {
            let name = LLVMGetStructName(self.0);
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }

    /// For sized struct types: each field's type and its offset in bytes.
    pub fn fields(self, layout: Layout) -> Vec<(Type<'m>, u64)> {
        // SAFETY: callers have looked at the kind and that the struct is sized; indices stay below the count.
        unsafe {
            let count = LLVMCountStructElementTypes(self.0);
            let field =
                |i| (Type(LLVMStructGetTypeAtIndex(self.0, i), PhantomData), LLVMOffsetOfElement(layout.0, self.0, i));
            (0..count).map(field).collect()
        }
    }

    /// Returns whether the type has a size.
    pub fn is_sized(self) -> bool {
        // SAFETY: a type of a live module.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    /// Size and alignment in bytes; the type must be sized.
    pub fn size(self, layout: Layout) -> (u64, u64) {
        // SAFETY: callers have asked `is_sized`.
        unsafe { (LLVMABISizeOfType(layout.0, self.0), u64::from(LLVMABIAlignmentOfType(layout.0, self.0))) }
    }

    /// The name and the integer parameters of a target extension type.
    pub fn target_ext(self) -> (String, Vec<u32>) {
        // SAFETY: callers have looked at the kind; indices stay below the count.
        unsafe {
            let name = CStr::from_ptr(LLVMGetTargetExtTypeName(self.0)).to_string_lossy().into_owned();
            let count = LLVMGetTargetExtTypeNumIntParams(self.0);
            (name, (0..count).map(|i| LLVMGetTargetExtTypeIntParam(self.0, i)).collect())
        }
    }
}
