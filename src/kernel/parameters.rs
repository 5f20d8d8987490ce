//! Appends a parameter to functions: a function's type changes, so its body moves into a new function.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex};

use super::ir::{Block, Function};

/// Returns whether every use of `function` is a direct call of it, so that its type can change.
pub fn only_called(function: Function) -> bool {
    // SAFETY: the function is alive; the list of uses ends with null.
    unsafe {
        let mut next = LLVMGetFirstUse(function.0);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if LLVMIsACallInst(user).is_null() || LLVMGetCalledValue(user) != function.0 {
                return false;
            }
            next = LLVMGetNextUse(next);
        }
        true
    }
}

/// Moves the body of `function` into a function of the same name with one more, last argument of type `extra`. Blocks
/// and instructions remain the same objects. The old function is left without body and name, for the caller to delete.
/// Returns its calls: those that remain have to be rewritten with [`call_with`].
pub fn append(function: Function, extra: LLVMTypeRef, name: &str) -> (Function, Vec<LLVMValueRef>) {
    // SAFETY: the function is alive and has a body; every use of it that is left is a call, which the caller rewrites;
    // arguments are replaced by arguments of the same type.
    unsafe {
        let module = LLVMGetGlobalParent(function.0);
        let old_type = LLVMGlobalGetValueType(function.0);
        let count = LLVMCountParamTypes(old_type);
        let mut params: Vec<LLVMTypeRef> = vec![std::ptr::null_mut(); count as usize];
        LLVMGetParamTypes(old_type, params.as_mut_ptr());
        params.push(extra);
        let new_type = LLVMFunctionType(LLVMGetReturnType(old_type), params.as_mut_ptr(), count + 1, 0);
        let new = LLVMAddFunction(module, c"".as_ptr(), new_type);
        LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(function.0));
        LLVMSetLinkage(new, LLVMGetLinkage(function.0));
        for index in [LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex].into_iter().chain(1..=count) {
            for attribute in attributes(function.0, index) {
                LLVMAddAttributeAtIndex(new, index, attribute);
            }
        }
        let mut entries_len = 0;
        let entries = LLVMGlobalCopyAllMetadata(function.0, &mut entries_len);
        for i in 0..entries_len as u32 {
            let kind = LLVMValueMetadataEntriesGetKind(entries, i);
            LLVMGlobalSetMetadata(new, kind, LLVMValueMetadataEntriesGetMetadata(entries, i));
        }
        LLVMDisposeValueMetadataEntries(entries);
        for i in 0..count {
            let (old, replacement) = (LLVMGetParam(function.0, i), LLVMGetParam(new, i));
            let mut len = 0;
            let text = LLVMGetValueName2(old, &mut len);
            let text = std::slice::from_raw_parts(text.cast::<u8>(), len).to_vec();
            LLVMReplaceAllUsesWith(old, replacement);
            LLVMSetValueName2(replacement, text.as_ptr().cast(), text.len());
        }
        LLVMSetValueName2(LLVMGetParam(new, count), name.as_ptr().cast(), name.len());
        for Block(block) in function.blocks() {
            LLVMRemoveBasicBlockFromParent(block);
            LLVMAppendExistingBasicBlock(new, block);
        }
        let old_name = function.name();
        let mut calls = Vec::new();
        let mut next = LLVMGetFirstUse(function.0);
        while !next.is_null() {
            calls.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
        LLVMSetValueName2(function.0, c"".as_ptr(), 0);
        LLVMSetValueName2(new, old_name.as_ptr().cast(), old_name.len());
        (Function(new), calls)
    }
}

unsafe fn attributes(function: LLVMValueRef, index: u32) -> Vec<LLVMAttributeRef> {
    // SAFETY: the function is alive; the vector has room for as many as LLVM says there are.
    unsafe {
        let count = LLVMGetAttributeCountAtIndex(function, index);
        let mut all: Vec<LLVMAttributeRef> = vec![std::ptr::null_mut(); count as usize];
        LLVMGetAttributesAtIndex(function, index, all.as_mut_ptr());
        all
    }
}

unsafe fn call_attributes(call: LLVMValueRef, index: u32) -> Vec<LLVMAttributeRef> {
    // SAFETY: as above, of a call.
    unsafe {
        let count = LLVMGetCallSiteAttributeCount(call, index);
        let mut all: Vec<LLVMAttributeRef> = vec![std::ptr::null_mut(); count as usize];
        LLVMGetCallSiteAttributes(call, index, all.as_mut_ptr());
        all
    }
}

/// Replaces `call` by a call of `callee` with one additional last argument.
pub(crate) fn call_with(call: LLVMValueRef, callee: Function, argument: LLVMValueRef) {
    // SAFETY: the call is alive and was of a function that `callee` extends by one argument; the builder is disposed of; the old
    // call has no uses left when it is erased.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(callee.0));
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, call);
        let count = LLVMGetNumArgOperands(call);
        let mut arguments: Vec<LLVMValueRef> = (0..count).map(|i| LLVMGetOperand(call, i)).collect();
        arguments.push(argument);
        let ty = LLVMGlobalGetValueType(callee.0);
        let new = LLVMBuildCall2(builder, ty, callee.0, arguments.as_mut_ptr(), count + 1, c"".as_ptr());
        LLVMSetInstructionCallConv(new, LLVMGetInstructionCallConv(call));
        for index in [LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex].into_iter().chain(1..=count) {
            for attribute in call_attributes(call, index) {
                LLVMAddCallSiteAttribute(new, index, attribute);
            }
        }
        LLVMReplaceAllUsesWith(call, new);
        LLVMInstructionEraseFromParent(call);
        LLVMDisposeBuilder(builder);
    }
}

/// Adds the description of a last parameter, a pointer to `space`, to a kernel's argument metadata (if it has any), so
/// that its lists stay as long as the parameter list. `ty` is spelt as in OpenCL C.
pub fn describe(kernel: Function, name: &str, ty: &str, space: u32) {
    let texts = [
        ("kernel_arg_access_qual", "none"),
        ("kernel_arg_type", ty),
        ("kernel_arg_base_type", ty),
        ("kernel_arg_type_qual", ""),
        ("kernel_arg_name", name),
    ];
    // SAFETY: the kernel is alive; nodes are copied operand by operand.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(kernel.0));
        for (kind, text) in texts {
            let extra = LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
            extend_node(kernel, context, kind, extra);
        }
        let space = LLVMConstInt(LLVMInt32TypeInContext(context), u64::from(space), 0);
        extend_node(kernel, context, "kernel_arg_addr_space", LLVMValueAsMetadata(space));
    }
}

unsafe fn extend_node(kernel: Function, context: LLVMContextRef, name: &str, extra: LLVMMetadataRef) {
    // SAFETY: see `describe`.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
        let mut len = 0;
        let entries = LLVMGlobalCopyAllMetadata(kernel.0, &mut len);
        for i in 0..len as u32 {
            if LLVMValueMetadataEntriesGetKind(entries, i) != kind {
                continue;
            }
            let node = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));
            let mut operands: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            let mut all: Vec<LLVMMetadataRef> = operands.into_iter().map(|o| LLVMValueAsMetadata(o)).collect();
            all.push(extra);
            let extended = LLVMMDNodeInContext2(context, all.as_mut_ptr(), all.len());
            LLVMGlobalSetMetadata(kernel.0, kind, extended);
        }
        LLVMDisposeValueMetadataEntries(entries);
    }
}
