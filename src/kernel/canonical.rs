//! Produces the canonical form: one module per entry kernel, in which sites are enumerated and probes are woven.
//!
//! clang 21 and later put a kernel's body into `__clang_ocl_kern_imp_<name>` and call it from a stub. Here the body
//! replaces the stub, every other function becomes an internal helper (or is dropped if the kernel does not reach it),
//! and what would hinder later passes is removed: `optnone`, `noinline`, TBAA. Nothing is optimised.

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMLinkage, LLVMOpcode};

use super::ir::{self, Function};
use crate::error::{Error, Result};
use crate::llvm::{SPIR_FUNC, SPIR_KERNEL};

/// Name prefix of the function in which clang 21 and later keep a kernel's body.
pub const BODY_PREFIX: &str = "__clang_ocl_kern_imp_";

/// The names of the kernels that `module` defines, in order.
pub fn kernels(module: &Module<'_>) -> Vec<String> {
    // SAFETY: the module is alive.
    let is_kernel = |f: &Function| f.has_body() && unsafe { LLVMGetFunctionCallConv(f.0) } == SPIR_KERNEL;
    ir::functions(module).into_iter().filter(is_kernel).map(Function::name).collect()
}

/// Drops everything that `entry` does not reach, so that the other kernels of a file only cost parsing time.
///
/// # Errors
/// `Caller` if there is no such kernel; `Internal` if the pass fails.
pub fn keep_only(module: &Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    let names = kernels(module);
    if !names.iter().any(|n| n == entry) {
        return Err(no_such_kernel(entry, &names));
    }
    let body_name = format!("{BODY_PREFIX}{entry}");
    for f in ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry && f.name() != body_name) {
        // SAFETY: alive.
        unsafe {
            LLVMSetLinkage(f.0, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetVisibility(f.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
        }
    }
    module
        .run_passes("globaldce", machine, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("dropping unreached functions failed: {e}")))
}

/// Turns `module` into the canonical form of its kernel `entry`.
///
/// # Errors
/// `Caller` if there is no such kernel; `Internal` if the result does not verify.
pub fn canonicalise(module: &Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    let names = kernels(module);
    if !names.iter().any(|n| n == entry) {
        return Err(no_such_kernel(entry, &names));
    }
    let kernel = take_body(module, entry);
    for f in ir::functions(module) {
        if !f.has_body() {
            continue;
        }
        remove_attribute(f, "optnone");
        remove_attribute(f, "noinline");
        if f == kernel {
            continue;
        }
        remove_attribute(f, "alwaysinline");
        // SAFETY: alive. A plain `inline` helper is `available_externally`, on which the SPIR-V backend crashes.
        unsafe {
            LLVMSetLinkage(f.0, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetVisibility(f.0, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
        }
    }
    strip_tbaa(module);
    module
        .run_passes("globaldce", machine, PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("dropping unreached functions failed: {e}")))?;
    demote_other_kernels(module, kernel);
    name_bodies_after_kernels(module);
    verify(module, "canonical form")
}

/// The error for an entry kernel that the module lacks.
pub fn no_such_kernel(entry: &str, names: &[String]) -> Error {
    Error::caller(format!("there is no kernel `{entry}`"))
        .help(format!("name one of: {}", if names.is_empty() { "(none)".to_owned() } else { names.join(", ") }))
}

/// Verifies a module after a pass. A module that does not verify is kassay's own fault, hence an `Internal` error.
pub fn verify(module: &Module<'_>, after: &str) -> Result<()> {
    module
        .verify()
        .map_err(|e| Error::internal(format!("the module does not verify after: {after}")).details(e.to_string()))
}

/// Replaces the stub of `entry` by the kernel's body.
fn take_body(module: &Module<'_>, entry: &str) -> Function {
    let stub = ir::function(module, entry).expect("the caller found it");
    let Some(body) = ir::function(module, &format!("{BODY_PREFIX}{entry}")).filter(|b| b.has_body()) else {
        return stub;
    };
    // SAFETY: both functions are alive and have the same type; the stub's instructions (a call of the body among them) go
    // with it, and nothing else may call a stub.
    unsafe {
        add_missing_metadata(stub, body);
        LLVMReplaceAllUsesWith(stub.0, body.0);
        LLVMDeleteFunction(stub.0);
        LLVMSetValueName2(body.0, entry.as_ptr().cast(), entry.len());
        LLVMSetFunctionCallConv(body.0, SPIR_KERNEL);
        LLVMSetLinkage(body.0, LLVMLinkage::LLVMExternalLinkage);
    }
    remove_attribute(body, "alwaysinline");
    body
}

/// Copies to `to` the metadata of `from` whose kinds it lacks (`reqd_work_group_size` and the argument descriptions),
/// except the debug subprogram.
unsafe fn add_missing_metadata(from: Function, to: Function) {
    // SAFETY: the caller's functions are alive; the entries are freed once.
    unsafe {
        let mut count = 0;
        let entries = LLVMGlobalCopyAllMetadata(from.0, &mut count);
        let mut have_count = 0;
        let have = LLVMGlobalCopyAllMetadata(to.0, &mut have_count);
        let kinds: Vec<u32> = (0..have_count as u32).map(|i| LLVMValueMetadataEntriesGetKind(have, i)).collect();
        for i in 0..count as u32 {
            let kind = LLVMValueMetadataEntriesGetKind(entries, i);
            if kind != 0 && !kinds.contains(&kind) {
                LLVMGlobalSetMetadata(to.0, kind, LLVMValueMetadataEntriesGetMetadata(entries, i));
            }
        }
        LLVMDisposeValueMetadataEntries(entries);
        LLVMDisposeValueMetadataEntries(have);
    }
}

/// Turns other kernels, which the entry can only call, into ordinary helpers.
fn demote_other_kernels(module: &Module<'_>, kernel: Function) {
    for f in ir::functions(module) {
        // SAFETY: alive; every call site's convention follows its callee's.
        unsafe {
            if f != kernel && f.has_body() && LLVMGetFunctionCallConv(f.0) == SPIR_KERNEL {
                LLVMSetFunctionCallConv(f.0, SPIR_FUNC);
            }
        }
    }
    for f in ir::functions(module) {
        for inst in f.blocks().into_iter().flat_map(ir::Block::instructions) {
            if inst.opcode() != LLVMOpcode::LLVMCall {
                continue;
            }
            // SAFETY: alive and a call.
            unsafe {
                let callee = LLVMGetCalledValue(inst.0);
                if !LLVMIsAFunction(callee).is_null() && LLVMIsDeclaration(callee) == 0 {
                    LLVMSetInstructionCallConv(inst.0, LLVMGetFunctionCallConv(callee));
                }
            }
        }
    }
}

/// Renames the bodies of kernels that the entry calls to the kernels' own names, which the source and the results use.
fn name_bodies_after_kernels(module: &Module<'_>) {
    for f in ir::functions(module) {
        let name = f.name();
        if let Some(kernel) = name.strip_prefix(BODY_PREFIX).filter(|kernel| ir::function(module, kernel).is_none()) {
            // SAFETY: alive; the name is copied.
            unsafe { LLVMSetValueName2(f.0, kernel.as_ptr().cast(), kernel.len()) };
        }
    }
}

fn strip_tbaa(module: &Module<'_>) {
    let kinds = [ir::metadata_kind(module, "tbaa"), ir::metadata_kind(module, "tbaa.struct")];
    for inst in ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(ir::Block::instructions) {
        for kind in kinds {
            // SAFETY: alive; a null node removes the attachment.
            unsafe { LLVMSetMetadata(inst.0, kind, std::ptr::null_mut()) };
        }
    }
}

/// Removes an enum attribute from a function (not from its calls).
pub fn remove_attribute(f: Function, name: &str) {
    let index: LLVMAttributeIndex = LLVMAttributeFunctionIndex;
    // SAFETY: alive; removing an absent attribute does nothing.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        LLVMRemoveEnumAttributeAtIndex(f.0, index, kind);
    }
}

/// Adds an enum attribute to a function.
pub fn add_attribute(f: Function, name: &str) {
    // SAFETY: alive; the attribute belongs to the function's context.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(f.0));
        LLVMAddAttributeAtIndex(f.0, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
    }
}
