//! Turns program-scope variables in global memory into parameters, and CUDA's dynamic shared memory.

use std::sync::Arc;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, Interface, Type};

use super::addresses::{self, Contents};
use super::placeholders::{Parameter, add_parameter};
use crate::kernel::builtins::SPIRV_BUILT_IN;
use crate::kernel::debug_types::DebugTypes;
use crate::kernel::signature::{is_dynamic, signless, unscoped};
use crate::kernel::{ir_types, parameters};
use crate::llvm::{DataLayout, Function, Global, Linkage, TypeKind, Value, View};

/// The largest supported variable, in bytes.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;

/// Turns the variables in global memory that the kernel uses and that are no mere constants into parameters: those
/// named `first`, in that order, before all others. If the kernel does not use one of those, it gets a parameter that
/// nothing uses, which the interface lacks.
pub fn append(module: &Module<'_>, interface: &mut Interface, first: &[String]) -> Result<()> {
    let view = View::of(module);
    let contents = match view.function(&interface.name) {
        Some(kernel) => addresses::store(view, kernel, &settable(view)),
        None => Contents::new(),
    };
    let mut variables: Vec<(String, Option<Global<'_>>)> =
        settable(view).into_iter().map(|variable| (label(view, variable), Some(variable))).collect();
    if variables.is_empty() && first.is_empty() {
        return Ok(());
    }
    let place = |label: &String| first.iter().position(|name| name == label).unwrap_or(first.len());
    let missing = first.iter().filter(|name| !variables.iter().any(|(label, _)| label == *name));
    variables.extend(missing.map(|name| (name.clone(), None)).collect::<Vec<_>>());
    variables.sort_by_key(|(label, _)| place(label));
    let debug = DebugTypes::read(&module.print_to_string().to_string_lossy());
    for (label, variable) in variables {
        match variable {
            Some(variable) => {
                let contents = contents.get(&variable.name()).cloned();
                turn(view, interface, (variable, contents), label, &debug)?;
            }
            None => add_unused(view, &interface.name, &label, AddressSpace::Global)?,
        }
    }
    Ok(())
}

/// The name of a variable in the source.
fn label(view: View<'_>, variable: Global<'_>) -> String {
    let functions: Vec<String> = view.functions().into_iter().map(Function::name).collect();
    unscoped(&functions, &variable.name()).to_owned()
}

/// Turns one variable into a parameter. With `contents`, it begins with these, and with addresses that the kernel
/// stores: nothing else writes there, and what lies there is no output.
fn turn<'m>(
    view: View<'m>,
    interface: &mut Interface,
    (variable, contents): (Global<'m>, Option<Vec<u8>>),
    label: String,
    debug: &DebugTypes,
) -> Result<()> {
    let full_name = variable.name();
    let has_addresses = contents.is_some();
    let initial = match contents {
        Some(contents) => contents,
        None => initial_contents(view.layout(), variable, &full_name)?,
    };
    let declared = debug.variable(&label, &full_name).filter(|ty| ty.size() == initial.len() as u64);
    let from_ir = || ir_types::from_ir(variable.value_type(), view.layout());
    let evidence = if declared.is_some() { Evidence::Recorded } else { Evidence::Signless };
    let element = declared.or_else(from_ir).map(innermost_element);
    let position = interface.args.len() as u32;
    let type_name = element.as_ref().map_or_else(|| "void*".to_owned(), |t| format!("{}*", t.name()));
    let is_const = variable.is_constant() || has_addresses;
    let parameter = Parameter { label: &label, type_name: &type_name, space: AddressSpace::Global, own: None };
    add_parameter(view, &interface.name, variable, parameter)?;
    // A pointer to const may be cast; this memory is what no kernel may write.
    let space = if is_const { AddressSpace::Constant } else { AddressSpace::Global };
    let kind = ArgKind::Buffer { element, space };
    let source = ArgSource::Variable { initial: Arc::new(initial), has_addresses };
    interface.args.push(Arg { is_const, ..arg(label, position, source, type_name, kind, evidence) });
    Ok(())
}

/// Gives the kernel a parameter that nothing uses.
fn add_unused(view: View<'_>, kernel: &str, label: &str, space: AddressSpace) -> Result<()> {
    let old = view.function(kernel).ok_or_else(|| Error::internal(format!("the kernel {kernel} is gone")))?;
    let new = parameters::append(old, view.pointer_type(space), label);
    parameters::describe(new.function, label, "void*", space);
    // SAFETY: nothing calls a kernel, and `old` is not used again.
    unsafe { new.replace_old(|_| None) };
    Ok(())
}

/// The element type of an array, however deeply nested.
fn innermost_element(mut ty: Type) -> Type {
    while let Type::Array(element, _) = ty {
        ty = *element;
    }
    ty
}

/// Returns whether a module has variables that would become parameters.
pub fn is_needed(module: &Module<'_>) -> bool {
    !settable(View::of(module)).is_empty() || !dynamic(View::of(module)).is_empty()
}

/// The variables in dynamic shared memory that are used.
fn dynamic(view: View<'_>) -> Vec<Global<'_>> {
    view.globals().into_iter().filter(|global| is_dynamic(*global) && global.is_used()).collect()
}

/// The variables in global memory that are used and not constant, or constant only for kernels: hosts set CUDA's
/// `__constant__` variables.
fn settable(view: View<'_>) -> Vec<Global<'_>> {
    let is_settable = |global: &Global<'_>| {
        let is_built_in = global.name().starts_with(SPIRV_BUILT_IN);
        let is_in_memory = global.ty().space() == Some(AddressSpace::Global);
        let varies = !global.is_constant() || global.is_externally_initialized();
        is_in_memory && varies && global.is_used() && !is_built_in
    };
    view.globals().into_iter().filter(is_settable).collect()
}

/// Turns CUDA's dynamic shared memory (`extern __shared__`), whose size launches say, into a parameter in local memory:
/// all such variables begin at one address, whatever their types. If there is none, the kernel gets one that nothing
/// uses and that the interface lacks, unless it has all of its own: `wanted` is the last argument in local memory.
pub fn append_dynamic(module: &Module<'_>, interface: &mut Interface, wanted: Option<&str>) -> Result<()> {
    let view = View::of(module);
    let dynamic = dynamic(view);
    let is_there = |name: &str| interface.args.iter().any(|arg| arg.name.as_deref() == Some(name));
    if let Some(name) = wanted.filter(|name| dynamic.is_empty() && !is_there(name)) {
        return add_unused(view, &interface.name, name, AddressSpace::Local);
    }
    if let Some((variable, others)) = dynamic.split_first().map(|(first, others)| (*first, others)) {
        for other in others {
            // SAFETY: of the globals alone handles are kept, which stay.
            unsafe { Value::from(*other).replace_constant(variable) };
        }
        let label = label(view, variable);
        let element = ir_types::from_ir(variable.value_type(), view.layout()).map(innermost_element);
        let type_name = element.as_ref().map_or_else(|| "void*".to_owned(), |t| format!("{}*", t.name()));
        let position = interface.args.len() as u32;
        let parameter = Parameter { label: &label, type_name: &type_name, space: AddressSpace::Local, own: None };
        add_parameter(view, &interface.name, variable, parameter)?;
        let evidence = element.as_ref().map_or(Evidence::Nothing, signless);
        let kind = ArgKind::Local { element };
        interface.args.push(arg(label, position, ArgSource::Parameter, type_name, kind, evidence));
    }
    Ok(())
}

fn arg(name: String, position: u32, source: ArgSource, type_name: String, kind: ArgKind, evidence: Evidence) -> Arg {
    Arg {
        name: Some(name),
        position,
        source,
        type_name,
        kind,
        evidence,
        access: Access::None,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
    }
}

/// The contents of a variable when the program is loaded.
fn initial_contents<'m>(layout: DataLayout<'m>, variable: Global<'m>, name: &str) -> Result<Vec<u8>> {
    let refused = |what: String, help: &str| {
        let error = Error::caller(what).help(help);
        match variable.location() {
            Some(l) => error.details(format!("declared at {}:{}", l.file, l.line)),
            None => error,
        }
    };
    let is_defined = variable.linkage() != Linkage::LLVMAvailableExternallyLinkage;
    let Some(initializer) = variable.initializer().filter(|_| is_defined) else {
        let what = format!("the program-scope variable `{name}` is declared, but nothing defines it");
        return Err(refused(what, "define it in the kernel's file"));
    };
    let size = layout.abi_size(variable.value_type());
    if size == 0 || size > MAX_VARIABLE_BYTES {
        let what =
            format!("the program-scope variable `{name}` has {size} bytes; 1 to {MAX_VARIABLE_BYTES} are possible");
        return Err(refused(what, "pass it as an argument"));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    if write(initializer, layout, &mut bytes).is_none() {
        let what = format!(
            "the program-scope variable `{name}` begins with an address, and changes, or the address is none of a variable"
        );
        return Err(refused(what, "store the address in the kernel, or pass the memory as an argument"));
    }
    Ok(bytes)
}

/// Writes a constant as it is laid out in memory; `None` if it contains something other than numbers.
fn write<'m>(value: Value<'m>, layout: DataLayout<'m>, out: &mut [u8]) -> Option<()> {
    if value.is_null() || value.is_undef() {
        return Some(());
    }
    let ty = value.ty();
    let size = |ty| usize::try_from(layout.abi_size(ty)).unwrap_or(0);
    let mut part = |i: u32, offset: usize| write(value.element(i)?, layout, out.get_mut(offset..)?);
    match ty.kind() {
        TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => {
            let (element, count) = ty.elements()?;
            let step = size(element);
            (0..count as u32).try_for_each(|i| part(i, i as usize * step))
        }
        TypeKind::LLVMStructTypeKind => {
            let fields = ty.fields().len() as u32;
            (0..fields).try_for_each(|i| part(i, usize::try_from(layout.field_offset(ty, i)).ok()?))
        }
        _ if ty.is_integer() || ty.is_float() => {
            let number = value.bits()?.as_u64()?.to_le_bytes();
            let to = out.get_mut(..size(ty))?;
            to.copy_from_slice(number.get(..to.len())?);
            Some(())
        }
        _ => None,
    }
}
