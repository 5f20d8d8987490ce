//! Turns pointers in structs that are passed by value into parameters.

use std::collections::{BTreeSet, HashMap};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, Interface, Step, Type};

use crate::kernel::parameters;
use crate::llvm::{self, AttributeIndex, DataLayout, Function, Inst, Opcode, TypeKind, View};

/// Attribute of parameters that may point to the same memory as another parameter.
const SHARED: &str = "kassay-shared";

/// Returns whether a launch may pass the memory of another parameter to the one at `position`.
pub fn may_share(kernel: Function<'_>, position: u32) -> bool {
    kernel.attributes(AttributeIndex::Parameter(position)).text(SHARED).is_some()
}

/// Notes that launches pass parameters of `kernel` memory of other parameters.
pub fn note_sharing(kernel: Function<'_>, positions: &BTreeSet<u32>) {
    for position in positions.iter().copied().filter(|position| !may_share(kernel, *position)) {
        kernel.attributes(AttributeIndex::Parameter(position)).add_text(SHARED, "");
    }
}

/// A pointer inside a type.
pub(super) struct PointerMember<'t> {
    pub(super) path: Vec<Step>,
    pub(super) offset: u64,
    pub(super) name: &'t str,
    pub(super) pointee: Option<&'t Type>,
}

/// Adds a parameter for each pointer to global or constant memory in the structs that the kernel takes by value.
/// Pointers to other memory, which no launch can supply, become opaque parts of their struct.
pub fn append(module: &Module<'_>, interface: &mut Interface) -> Result<()> {
    for position in 0..interface.args.len() {
        let ArgKind::Value(ty) = &interface.args[position].kind else { continue };
        let found = pointers(ty);
        if found.is_empty() {
            continue;
        }
        let kernel = View::of(module)
            .function(&interface.name)
            .ok_or_else(|| Error::internal(format!("the kernel {} is gone", interface.name)))?;
        let ty = kernel.by_value_type(position as u32);
        let spaces = ty.map(|ty| spaces(ty, View::of(module).layout())).unwrap_or_default();
        let mut added = Vec::new();
        let mut unsupported = Vec::new();
        for pointer in &found {
            let space = match spaces.get(&pointer.offset) {
                Some(AddressSpace::Global | AddressSpace::Generic) => AddressSpace::Global,
                Some(AddressSpace::Constant) => AddressSpace::Constant,
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
                evidence: if pointer.pointee.is_some() { Evidence::Recorded } else { Evidence::Nothing },
                access: Access::None,
                is_const: false,
                is_restrict: false,
                is_volatile: false,
            });
        }
        if let Some(ty) = ty.filter(|_| !added.is_empty()) {
            load_as_pointers(View::of(module));
            append_parameters(kernel, position as u32, ty, &spaces, &added);
        }
        if let ArgKind::Value(ty) = &mut interface.args[position].kind {
            unsupported.iter().for_each(|path| replace_pointer(ty, path, &opaque));
        }
        interface.args.extend(added);
    }
    Ok(())
}

/// Returns the pointers inside a type. Those in unions are ignored, because they may be something else.
pub(super) fn pointers(ty: &Type) -> Vec<PointerMember<'_>> {
    let mut found = Vec::new();
    collect(ty, &mut Vec::new(), 0, &mut found);
    found
}

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
pub(super) fn member_path(path: &[Step]) -> String {
    let step = |s: &Step| match s {
        Step::Field(name) => format!(".{name}"),
        Step::Index(i) => format!("[{i}]"),
    };
    path.iter().map(step).collect()
}

/// Makes the pointer at the end of `path` what `new` makes of it; in an array, those of all elements.
pub(super) fn replace_pointer(ty: &mut Type, path: &[Step], new: &impl Fn(&Type) -> Type) {
    match (ty, path) {
        (Type::Array(element, _), [Step::Index(_), rest @ ..]) => replace_pointer(element, rest, new),
        (Type::Struct(s), [Step::Field(name), rest @ ..]) => {
            if let Some(field) = s.fields.iter_mut().find(|f| f.name == *name) {
                replace_pointer(&mut field.ty, rest, new);
            }
        }
        (ty @ Type::Pointer { .. }, []) => *ty = new(ty),
        _ => {}
    }
}

/// What stays of a pointer of which no launch can say where it leads.
pub(super) fn opaque(pointer: &Type) -> Type {
    Type::Opaque { name: pointer.name(), size: pointer.size() }
}

/// Returns the address spaces of the pointers in a type, by offset in bytes.
pub(super) fn spaces<'m>(ty: llvm::Type<'m>, layout: DataLayout<'m>) -> HashMap<u64, AddressSpace> {
    let mut all = HashMap::new();
    walk(ty, layout, 0, &mut all);
    all
}

fn walk<'m>(ty: llvm::Type<'m>, layout: DataLayout<'m>, offset: u64, all: &mut HashMap<u64, AddressSpace>) {
    match ty.kind() {
        TypeKind::LLVMPointerTypeKind => all.extend(ty.space().map(|space| (offset, space))),
        TypeKind::LLVMArrayTypeKind => {
            let Some((element, count)) = ty.elements() else { return };
            if !matches!(element.kind(), TypeKind::LLVMIntegerTypeKind | TypeKind::LLVMFloatTypeKind) {
                let step = layout.abi_size(element);
                (0..count).for_each(|i| walk(element, layout, offset + i * step, all));
            }
        }
        TypeKind::LLVMStructTypeKind => {
            for (i, field) in (0..).zip(ty.fields()) {
                walk(field, layout, offset + layout.field_offset(ty, i), all);
            }
        }
        _ => {}
    }
}

/// Makes loads of pointers of loads of numbers that become nothing but pointers, as optimisers write those of members:
/// where a pointer comes from is known of pointers only.
pub(super) fn load_as_pointers(view: View<'_>) {
    let builder = view.builder();
    for load in view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMLoad)) {
        let casts = load.value().user_instructions();
        let Some(ty) = casts.first().map(|cast| cast.ty()) else { continue };
        let is_pointer = |cast: &Inst<'_>| cast.is(Opcode::LLVMIntToPtr) && cast.ty() == ty;
        let is_plain = !load.is_volatile() && !load.is_atomic() && load.ty().is_integer() && ty.is_pointer();
        let size = |ty| view.layout().store_size(ty);
        if !is_plain || !casts.iter().all(is_pointer) || size(load.ty()) != size(ty) {
            continue;
        }
        builder.before(load);
        let pointer = builder.load(ty, load.operand(0), &load.name());
        pointer.set_alignment(load.alignment().unwrap_or(1));
        pointer.set_debug_location(load.debug_location());
        for cast in casts {
            cast.replace_and_erase(pointer);
        }
        // SAFETY: the builder stands before the next one.
        builder.before(pointer);
        load.erase();
    }
}

/// Appends the parameters, and redirects the kernel to a copy of the struct (of type `ty`) that holds them. `spaces`
/// are those of the pointers in the struct.
fn append_parameters<'m>(
    mut kernel: Function<'m>,
    position: u32,
    ty: llvm::Type<'m>,
    spaces: &HashMap<u64, AddressSpace>,
    added: &[Arg],
) {
    let view = kernel.view();
    for arg in added {
        let space = match arg.address_space() {
            AddressSpace::Constant => AddressSpace::Constant,
            _ => AddressSpace::Global,
        };
        let label = arg.label();
        let extended = parameters::append(kernel, view.pointer_type(space), &label);
        kernel = extended.function;
        // SAFETY: nothing calls a kernel; its handle has just been replaced by the new one's.
        unsafe { extended.replace_old(|_| None) };
        parameters::describe(kernel, &label, &arg.type_name, space);
        kernel.attributes(AttributeIndex::Parameter(arg.position)).add_text(SHARED, "");
    }
    let (Some(parameter), Some(first)) = (kernel.param(position), kernel.entry().first_instruction()) else { return };
    let (builder, layout, long) = (view.builder(), view.layout(), view.int_type(64));
    builder.before(first);
    let copy = builder.alloca(ty, &format!("{}.given", parameter.name()));
    let align = layout.alignment(ty);
    copy.set_alignment(align.max(8));
    parameter.replace_uses(copy);
    builder.after_variables(kernel);
    // In full, at the kernel's beginning, in front of all its uses.
    builder.memcpy((copy.value(), align.max(8)), (parameter, align), long.int(layout.abi_size(ty)));
    for arg in added {
        let ArgSource::Member { offset, .. } = arg.source else { continue };
        let place = builder.byte_offset(copy, long.int(offset), "");
        let Some(mut pointer) = kernel.param(arg.position) else { continue };
        if spaces.get(&offset) == Some(&AddressSpace::Generic) {
            pointer = builder.in_space(pointer, AddressSpace::Generic);
        }
        builder.store(pointer, place);
    }
}

#[cfg(test)]
mod tests {
    use crate::llvm::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    const TEXT: &str = "target datalayout = \"e-p:64:64\"
define spir_kernel void @k(ptr %s, ptr addrspace(1) %out) {
  %number = load i64, ptr %s, align 4
  %a = inttoptr i64 %number to ptr addrspace(1)
  %b = inttoptr i64 %number to ptr addrspace(1)
  store i32 1, ptr addrspace(1) %a
  store i32 2, ptr addrspace(1) %b
  %counted = load i64, ptr %s
  %c = inttoptr i64 %counted to ptr addrspace(1)
  store i64 %counted, ptr addrspace(1) %c
  ret void
}
";

    #[test]
    fn numbers_that_become_pointers_are_loaded_as_such() {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{TEXT}\0").as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        load_as_pointers(View::of(&module));
        module.verify().expect("valid IR");
        let text = module.print_to_string().to_string();
        assert!(text.contains("load ptr addrspace(1), ptr %s, align 4"), "{text}");
        // What is more than a pointer stays.
        assert_eq!(text.matches("inttoptr i64 %counted").count(), text.matches("inttoptr").count(), "{text}");
    }
}
