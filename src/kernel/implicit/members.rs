//! Turns pointers in structs that are passed by value into parameters.

use std::collections::HashMap;
use std::ffi::CString;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::error::{Error, Result};
use crate::kernel::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Interface, Step, Type};
use crate::kernel::ir::{self, Function};
use crate::kernel::parameters;

/// LLVM's numbers for address spaces on SPIR-V.
const GLOBAL: u32 = 1;
const CONSTANT: u32 = 2;
const GENERIC: u32 = 4;

/// Attribute of parameters that may point to the same memory as another parameter.
const SHARED: &str = "kassay-shared";

/// Returns whether a launch may pass the memory of another parameter to the one at `position`.
pub fn may_share(kernel: Function, position: u32) -> bool {
    // SAFETY: alive; attributes of parameters count from 1.
    unsafe {
        !LLVMGetStringAttributeAtIndex(kernel.0, position + 1, SHARED.as_ptr().cast(), SHARED.len() as u32).is_null()
    }
}

/// A pointer inside a type.
struct PointerMember<'t> {
    path: Vec<Step>,
    offset: u64,
    name: &'t str,
    pointee: Option<&'t Type>,
}

/// Adds a parameter for each pointer to global or constant memory in the structs that the kernel takes by value.
/// Pointers to other memory, which no launch can supply, become opaque parts of their struct.
pub fn append(module: &Module<'_>, interface: &mut Interface) -> Result<()> {
    for position in 0..interface.args.len() {
        let ArgKind::Value(ty) = &interface.args[position].kind else { continue };
        let mut found = Vec::new();
        collect(ty, &mut Vec::new(), 0, &mut found);
        if found.is_empty() {
            continue;
        }
        let kernel = ir::function(module, &interface.name)
            .ok_or_else(|| Error::internal(format!("the kernel {} is gone", interface.name)))?;
        let spaces = spaces(module, kernel, position as u32);
        let mut added = Vec::new();
        let mut unsupported = Vec::new();
        for pointer in &found {
            let space = match spaces.get(&pointer.offset) {
                Some(&(GLOBAL | GENERIC)) => AddressSpace::Global,
                Some(&CONSTANT) => AddressSpace::Constant,
                _ => {
                    unsupported.push(pointer.path.clone());
                    continue;
                }
            };
            let parent = &interface.args[position];
            let next = (interface.args.len() + added.len()) as u32;
            added.push(Arg {
                name: Some(format!("{}{}", parent.label(), member_path(&pointer.path))),
                position: next,
                source: ArgSource::Member {
                    parameter: position as u32,
                    offset: pointer.offset,
                    path: pointer.path.clone(),
                },
                type_name: pointer.name.to_owned(),
                kind: ArgKind::Buffer { element: pointer.pointee.cloned(), space },
                access: Access::None,
                is_const: false,
                is_restrict: false,
                is_volatile: false,
            });
        }
        append_parameters(kernel, position as u32, &added);
        if let ArgKind::Value(ty) = &mut interface.args[position].kind {
            unsupported.iter().for_each(|path| make_opaque(ty, path));
        }
        interface.args.extend(added);
    }
    Ok(())
}

/// Collects the pointers inside a type. Those in unions are ignored, because they may be something else.
fn collect<'t>(ty: &'t Type, path: &mut Vec<Step>, offset: u64, found: &mut Vec<PointerMember<'t>>) {
    match ty {
        Type::Pointer { name, pointee } => {
            found.push(PointerMember { path: path.clone(), offset, name, pointee: pointee.as_deref() });
        }
        Type::Array(element, len) if has_pointer(element) => {
            for i in 0..*len {
                path.push(Step::Index(i));
                collect(element, path, offset + i * element.size(), found);
                path.pop();
            }
        }
        Type::Struct(s) if !s.is_union => {
            for field in &s.fields {
                path.push(Step::Field(field.name.clone()));
                collect(&field.ty, path, offset + field.offset, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn has_pointer(ty: &Type) -> bool {
    match ty {
        Type::Pointer { .. } => true,
        Type::Array(element, _) => has_pointer(element),
        Type::Struct(s) => !s.is_union && s.fields.iter().any(|f| has_pointer(&f.ty)),
        _ => false,
    }
}

/// The path to a member in OpenCL C's notation: `.inner.p[1]`.
fn member_path(path: &[Step]) -> String {
    let step = |s: &Step| match s {
        Step::Field(name) => format!(".{name}"),
        Step::Index(i) => format!("[{i}]"),
    };
    path.iter().map(step).collect()
}

/// Makes the pointer at the end of `path` opaque; in an array, those of all elements.
fn make_opaque(ty: &mut Type, path: &[Step]) {
    match (ty, path) {
        (Type::Array(element, _), [Step::Index(_), rest @ ..]) => make_opaque(element, rest),
        (Type::Struct(s), [Step::Field(name), rest @ ..]) => {
            if let Some(field) = s.fields.iter_mut().find(|f| f.name == *name) {
                make_opaque(&mut field.ty, rest);
            }
        }
        (ty @ Type::Pointer { .. }, []) => {
            *ty = Type::Opaque { name: ty.name(), size: ty.size() };
        }
        _ => {}
    }
}

/// The address spaces of the pointers in a by-value struct parameter, by offset in bytes.
fn spaces(module: &Module<'_>, kernel: Function, position: u32) -> HashMap<u64, u32> {
    let mut all = HashMap::new();
    if let Some(ty) = by_value(kernel, position) {
        // SAFETY: alive.
        let layout = unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) };
        walk(ty, layout, 0, &mut all);
    }
    all
}

fn walk(ty: LLVMTypeRef, layout: LLVMTargetDataRef, offset: u64, all: &mut HashMap<u64, u32>) {
    // SAFETY: alive; each question is asked of the type that has the answer.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMPointerTypeKind => {
                all.insert(offset, LLVMGetPointerAddressSpace(ty));
            }
            LLVMTypeKind::LLVMArrayTypeKind => {
                let element = LLVMGetElementType(ty);
                let holds_pointers = !matches!(
                    LLVMGetTypeKind(element),
                    LLVMTypeKind::LLVMIntegerTypeKind | LLVMTypeKind::LLVMFloatTypeKind
                );
                if holds_pointers {
                    let step = LLVMABISizeOfType(layout, element);
                    (0..LLVMGetArrayLength2(ty)).for_each(|i| walk(element, layout, offset + i * step, all));
                }
            }
            LLVMTypeKind::LLVMStructTypeKind => {
                for i in 0..LLVMCountStructElementTypes(ty) {
                    let at = offset + LLVMOffsetOfElement(layout, ty, i);
                    walk(LLVMStructGetTypeAtIndex(ty, i), layout, at, all);
                }
            }
            _ => {}
        }
    }
}

fn by_value(kernel: Function, position: u32) -> Option<LLVMTypeRef> {
    let name = "byval";
    // SAFETY: alive; attributes of parameters count from 1; the type is asked of the attribute that has one.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMGetEnumAttributeAtIndex(kernel.0, position + 1, kind);
        (!attribute.is_null()).then(|| LLVMGetTypeAttributeValue(attribute))
    }
}

/// Appends the parameters, and redirects the kernel to a copy of the struct that holds them.
fn append_parameters(mut kernel: Function, position: u32, added: &[Arg]) {
    let Some(ty) = by_value(kernel, position).filter(|_| !added.is_empty()) else { return };
    let number = |arg: &Arg| if arg.address_space() == AddressSpace::Constant { CONSTANT } else { GLOBAL };
    // SAFETY: alive; nothing calls a kernel; the struct is copied in full at the kernel's beginning, in front of all its uses; the
    // builder is disposed of.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(kernel.0));
        for arg in added {
            let space = number(arg);
            let old = kernel;
            let label = arg.label();
            kernel = parameters::append(old, LLVMPointerTypeInContext(context, space), &label).0;
            LLVMDeleteFunction(old.0);
            parameters::describe(kernel, &label, &arg.type_name, space);
            let shared =
                LLVMCreateStringAttribute(context, SHARED.as_ptr().cast(), SHARED.len() as u32, c"".as_ptr(), 0);
            LLVMAddAttributeAtIndex(kernel.0, arg.position + 1, shared);
        }
        let layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(kernel.0));
        let Some(entry) = kernel.blocks().into_iter().next() else { return };
        let builder = LLVMCreateBuilderInContext(context);
        let parameter = LLVMGetParam(kernel.0, position);
        if let Some(first) = entry.instructions().first() {
            LLVMPositionBuilderBefore(builder, first.0);
        }
        let name = CString::new(format!("{}.given", text(parameter))).unwrap_or_default();
        let copy = LLVMBuildAlloca(builder, ty, name.as_ptr());
        let align = LLVMABIAlignmentOfType(layout, ty).max(8);
        LLVMSetAlignment(copy, align);
        LLVMReplaceAllUsesWith(parameter, copy);
        let mut begin = entry.instructions().into_iter();
        if let Some(first) = begin.find(|i| i.opcode() != LLVMOpcode::LLVMAlloca) {
            LLVMPositionBuilderBefore(builder, first.0);
        }
        let long = LLVMInt64TypeInContext(context);
        let size = LLVMConstInt(long, LLVMABISizeOfType(layout, ty), 0);
        LLVMBuildMemCpy(builder, copy, align, parameter, LLVMABIAlignmentOfType(layout, ty), size);
        let spaces = {
            let mut all = HashMap::new();
            walk(ty, layout, 0, &mut all);
            all
        };
        for arg in added {
            let ArgSource::Member { offset, .. } = arg.source else { continue };
            let byte = LLVMInt8TypeInContext(context);
            let mut steps = [LLVMConstInt(long, offset, 0)];
            let place = LLVMBuildGEP2(builder, byte, copy, steps.as_mut_ptr(), 1, c"".as_ptr());
            let mut pointer = LLVMGetParam(kernel.0, arg.position);
            if spaces.get(&offset) == Some(&GENERIC) {
                let generic = LLVMPointerTypeInContext(context, GENERIC);
                pointer = LLVMBuildAddrSpaceCast(builder, pointer, generic, c"".as_ptr());
            }
            LLVMBuildStore(builder, pointer, place);
        }
        LLVMDisposeBuilder(builder);
    }
}

fn text(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: alive; LLVM tells how many bytes there are.
    unsafe {
        let data = LLVMGetValueName2(value, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(data.cast::<u8>(), len)).into_owned()
    }
}
