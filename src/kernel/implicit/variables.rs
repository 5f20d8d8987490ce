//! Turns program-scope variables in global memory into parameters.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMLinkage, LLVMTypeKind};

use crate::error::{Error, Result};
use crate::kernel::builtins::SPIRV_BUILT_IN;
use crate::kernel::constant_uses;
use crate::kernel::debug_types::DebugTypes;
use crate::kernel::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Interface, Type};
use crate::kernel::ir::{self, Block, Function, Inst};
use crate::kernel::{ir_types, parameters, raw};

/// LLVM's number for the global address space on SPIR-V.
const GLOBAL: u32 = 1;

/// The largest supported variable, in bytes.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;

/// Turns the variables in global memory that the kernel uses and may write into parameters.
pub fn append(module: &Module<'_>, interface: &mut Interface) -> Result<()> {
    let variables = writable(module);
    if variables.is_empty() {
        return Ok(());
    }
    let debug = DebugTypes::read(&module.print_to_string().to_string_lossy());
    for variable in variables {
        let full_name = Inst(variable).name();
        let initial = initial_contents(module, variable, &full_name)?;
        let label = unscoped(module, &full_name);
        let declared = debug.variable(&label, &full_name).filter(|ty| ty.size() == initial.len() as u64);
        let from_ir = || {
            let global = raw::globals(module).into_iter().find(|g| g.name() == full_name)?;
            ir_types::from_ir(global.value_type(), raw::layout(module))
        };
        let element = declared.or_else(from_ir).map(innermost_element);
        let position = interface.args.len() as u32;
        let type_name = element.as_ref().map_or_else(|| "void*".to_owned(), |t| format!("{}*", t.name()));
        add_parameter(module, &interface.name, variable, &label, &type_name)?;
        interface.args.push(Arg {
            name: Some(label),
            position,
            source: ArgSource::Variable { initial: Arc::new(initial) },
            type_name,
            kind: ArgKind::Buffer { element, space: AddressSpace::Global },
            access: Access::None,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
        });
    }
    Ok(())
}

/// The element type of an array, however deeply nested.
fn innermost_element(mut ty: Type) -> Type {
    while let Type::Array(element, _) = ty {
        ty = *element;
    }
    ty
}

/// The name of a static variable without its function's.
fn unscoped(module: &Module<'_>, full_name: &str) -> String {
    let functions = ir::functions(module).into_iter().map(Function::name);
    let scopes = functions.filter_map(|f| full_name.strip_prefix(&f)?.strip_prefix('.').map(str::to_owned));
    scopes.min_by_key(String::len).unwrap_or_else(|| full_name.to_owned())
}

/// The variables in global memory that are used and not constant.
fn writable(module: &Module<'_>) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: alive; the list ends with null.
    unsafe {
        let mut next = LLVMGetFirstGlobal(module.as_mut_ptr());
        while !next.is_null() {
            let space = LLVMGetPointerAddressSpace(LLVMTypeOf(next));
            let is_built_in = Inst(next).name().starts_with(SPIRV_BUILT_IN);
            if space == GLOBAL && LLVMIsGlobalConstant(next) == 0 && !LLVMGetFirstUse(next).is_null() && !is_built_in {
                all.push(next);
            }
            next = LLVMGetNextGlobal(next);
        }
    }
    all
}

/// The contents of a variable when the program is loaded.
fn initial_contents(module: &Module<'_>, variable: LLVMValueRef, name: &str) -> Result<Vec<u8>> {
    let refused = |what: String, help: &str| {
        let error = Error::caller(what).help(help);
        match ir::global_location(variable) {
            Some(l) => error.details(format!("declared at {}:{}", l.file, l.line)),
            None => error,
        }
    };
    // SAFETY: alive and a variable; its type is sized.
    unsafe {
        let initializer = LLVMGetInitializer(variable);
        if initializer.is_null() || LLVMGetLinkage(variable) == LLVMLinkage::LLVMAvailableExternallyLinkage {
            let what = format!("the program-scope variable `{name}` is declared, but nothing defines it");
            return Err(refused(what, "define it in the kernel's file"));
        }
        let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
        let ty = LLVMGlobalGetValueType(variable);
        let size = LLVMABISizeOfType(layout, ty);
        if size == 0 || size > MAX_VARIABLE_BYTES {
            let what =
                format!("the program-scope variable `{name}` has {size} bytes; 1 to {MAX_VARIABLE_BYTES} are possible");
            return Err(refused(what, "pass it as an argument"));
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        if write(initializer, ty, layout, &mut bytes).is_none() {
            let what = format!(
                "the program-scope variable `{name}` begins with an address, which is not known before the program is loaded"
            );
            return Err(refused(what, "store the address in a kernel, or pass the memory as an argument"));
        }
        Ok(bytes)
    }
}

/// Writes a constant as it is laid out in memory; `None` if it contains something other than numbers.
unsafe fn write(value: LLVMValueRef, ty: LLVMTypeRef, layout: LLVMTargetDataRef, out: &mut [u8]) -> Option<()> {
    // SAFETY: alive; element types and offsets are asked of the types that have them, numbers of constants.
    unsafe {
        if LLVMIsNull(value) != 0 || LLVMIsUndef(value) != 0 {
            return Some(());
        }
        let size = |ty| usize::try_from(LLVMABISizeOfType(layout, ty)).unwrap_or(0);
        let count = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMArrayTypeKind => LLVMGetArrayLength2(ty),
            LLVMTypeKind::LLVMVectorTypeKind => LLVMGetVectorSize(ty).into(),
            LLVMTypeKind::LLVMStructTypeKind => LLVMCountStructElementTypes(ty).into(),
            kind => {
                let bits = match kind {
                    LLVMTypeKind::LLVMHalfTypeKind => 16,
                    LLVMTypeKind::LLVMFloatTypeKind => 32,
                    LLVMTypeKind::LLVMDoubleTypeKind => 64,
                    LLVMTypeKind::LLVMIntegerTypeKind => 0,
                    _ => return None,
                };
                let integer = match bits {
                    0 => value,
                    _ => LLVMConstBitCast(value, LLVMIntTypeInContext(LLVMGetTypeContext(ty), bits)),
                };
                if LLVMIsAConstantInt(integer).is_null() || LLVMGetIntTypeWidth(LLVMTypeOf(integer)) > 64 {
                    return None;
                }
                let number = LLVMConstIntGetZExtValue(integer).to_le_bytes();
                let to = out.get_mut(..size(ty))?;
                to.copy_from_slice(number.get(..to.len())?);
                return Some(());
            }
        };
        let is_struct = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMStructTypeKind;
        for i in 0..count as u32 {
            let element = LLVMGetAggregateElement(value, i);
            if element.is_null() {
                return None;
            }
            let (inner, offset) = if is_struct {
                (LLVMStructGetTypeAtIndex(ty, i), usize::try_from(LLVMOffsetOfElement(layout, ty, i)).ok()?)
            } else {
                let inner = LLVMGetElementType(ty);
                (inner, i as usize * size(inner))
            };
            write(element, inner, layout, out.get_mut(offset..)?)?;
        }
        Some(())
    }
}

/// Turns a variable into a parameter of the kernel and of every helper that uses it or calls one that does.
fn add_parameter(
    module: &Module<'_>,
    kernel: &str,
    variable: LLVMValueRef,
    label: &str,
    type_name: &str,
) -> Result<()> {
    let only_variable = HashMap::from([(variable, variable)]);
    let uses = |f: &Function| {
        let mut all = f.blocks().into_iter().flat_map(Block::instructions);
        all.any(|inst| inst.operands().into_iter().any(|o| constant_uses::depends_on(o, &only_variable)))
    };
    let functions: Vec<Function> = ir::functions(module).into_iter().filter(|f| f.has_body()).collect();
    let mut needs: HashSet<String> = functions.iter().filter(|f| uses(f)).map(|f| f.name()).collect();
    needs.insert(kernel.to_owned());
    let callees = |f: &Function| -> Vec<String> {
        f.blocks().into_iter().flat_map(Block::instructions).filter_map(Inst::callee).collect()
    };
    let calls: Vec<(String, Vec<String>)> = functions.iter().map(|f| (f.name(), callees(f))).collect();
    while let Some(more) = calls.iter().find(|(f, all)| !needs.contains(f) && all.iter().any(|c| needs.contains(c))) {
        needs.insert(more.0.clone());
    }
    let affected: Vec<Function> = functions.into_iter().filter(|f| needs.contains(&f.name())).collect();
    if let Some(f) = affected.iter().find(|f| f.name() != kernel && !parameters::only_called(**f)) {
        return Err(Error::caller(format!(
            "the kernel takes the address of the function `{}`, which uses the program-scope variable `{label}`",
            f.name()
        ))
        .help("OpenCL C has no pointers to functions; call the function itself"));
    }
    // SAFETY: alive; the old functions go when nothing calls them any more.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let ty = LLVMPointerTypeInContext(context, GLOBAL);
        let mut calls = Vec::new();
        for old in affected {
            let name = old.name();
            let (new, old_calls) = parameters::append(old, ty, label);
            if name == kernel {
                parameters::describe(new, label, type_name, GLOBAL);
            }
            constant_uses::replace(new, &HashMap::from([(variable, LLVMGetLastParam(new.0))]))?;
            calls.extend(old_calls.into_iter().map(|call| (call, new)));
        }
        for (call, new) in calls {
            let caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
            parameters::call_with(call, new, LLVMGetLastParam(caller));
        }
    }
    for old in ir::functions(module).into_iter().filter(|f| !f.has_body() && f.name().is_empty()) {
        // SAFETY: its body has moved, and its calls are of the new function.
        unsafe { LLVMDeleteFunction(old.0) };
    }
    // SAFETY: alive; what is left of its uses are constants that nothing uses.
    unsafe {
        if ir::users(variable).iter().all(|u| ir::users(*u).is_empty() && LLVMIsAInstruction(*u).is_null()) {
            LLVMReplaceAllUsesWith(variable, LLVMGetPoison(LLVMTypeOf(variable)));
            LLVMDeleteGlobal(variable);
        }
    }
    Ok(())
}
