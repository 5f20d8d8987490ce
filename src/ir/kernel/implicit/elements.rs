//! Turns pointers in buffers that hosts fill into indices: no launch knows addresses. Pointers at one place of the
//! elements lead into one buffer, which the kernel takes as well; those to elements of the buffer that they lie in lead
//! into this.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::{
    Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, HeldIndex, Interface, Scalar, Step, Type,
};

use super::members::{self, PointerMember};
use super::placeholders::{Parameter, add_parameter};
use super::pointer_loads::{Loaded, Pointers};
use crate::kernel::inlined::LIBRARY;
use crate::llvm::{Inst, IntPredicate, Node, Value, View};

/// What the pointers are that hosts put into buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldPointers {
    /// Indices, because no launch of a suite knows addresses.
    Indices,
    /// The addresses that the user's own host program puts there.
    Addresses,
}

/// The index of a pointer that leads nowhere.
const NULL: i64 = -1;

/// Adds a parameter for what the pointers in each buffer point to, if the kernel loads them and it is plain which it
/// loads. Other pointers in buffers, and all if they are addresses, become opaque parts of their elements. `original`:
/// see [`super::append`].
///
/// # Errors
/// `Caller` if the original has indices there, but it is not plain which pointers its variant loads.
pub fn append(module: &Module<'_>, interface: &mut Interface, original: &[Arg], held: HeldPointers) -> Result<()> {
    for position in 0..interface.args.len() {
        let Some(element) = element(&interface.args[position]).cloned() else { continue };
        let pointers = members::pointers(&element);
        let Some(first) = pointers.first() else { continue };
        let fills = matches!(interface.args[position].kind, ArgKind::Buffer { .. });
        let was = original.get(position).and_then(|arg| at(self::element(arg)?, &first.path));
        let is_wanted = matches!(was, Some(Type::Scalar(_)));
        let loaded = match fills && held == HeldPointers::Indices {
            true => {
                members::load_as_pointers(View::of(module));
                find(View::of(module), interface, position, &element, &pointers)
            }
            false => None,
        };
        let new: &dyn Fn(&Type) -> Type = match loaded {
            Some(loaded) if is_wanted || !loaded.is_empty() => {
                turn(View::of(module), interface, position, &element, &pointers, &loaded)?;
                &|_| Type::Scalar(Scalar::I64)
            }
            None if is_wanted => {
                let label = interface.args[position].label();
                return Err(Error::caller(format!("it is not plain which pointers of `{label}` the kernel loads"))
                    .help("load them from the buffer's elements"));
            }
            _ => &members::opaque,
        };
        let (ArgKind::Buffer { element: Some(element), .. } | ArgKind::Local { element: Some(element) }) =
            &mut interface.args[position].kind
        else {
            continue;
        };
        pointers.iter().for_each(|pointer| members::replace_pointer(element, &pointer.path, &new));
    }
    Ok(())
}

/// The type of the elements of the memory that an argument points to.
fn element(arg: &Arg) -> Option<&Type> {
    match &arg.kind {
        ArgKind::Buffer { element, .. } | ArgKind::Local { element } => element.as_ref(),
        _ => None,
    }
}

/// The part of a type at the end of a path.
fn at<'t>(ty: &'t Type, path: &[Step]) -> Option<&'t Type> {
    match (ty, path) {
        (_, []) => Some(ty),
        (Type::Array(element, _), [Step::Index(_), rest @ ..]) => at(element, rest),
        (Type::Struct(s), [Step::Field(name), rest @ ..]) => {
            at(&s.fields.iter().find(|field| field.name == *name)?.ty, rest)
        }
        _ => None,
    }
}

/// Whether a pointer in an element leads to elements like it.
fn leads_back(pointer: &PointerMember<'_>, element: &Type) -> bool {
    match (pointer.pointee, element) {
        (Some(Type::Struct(pointee)), Type::Struct(own)) => !own.name.is_empty() && pointee.name == own.name,
        _ => false,
    }
}

fn find<'m>(
    view: View<'m>,
    interface: &Interface,
    position: usize,
    element: &Type,
    pointers: &[PointerMember<'_>],
) -> Option<Vec<Loaded<'m>>> {
    let pointers = Pointers {
        offsets: pointers.iter().map(|pointer| (pointer.offset, leads_back(pointer, element))).collect(),
        element_bytes: element.size(),
    };
    pointers.find_loads(view.function(&interface.name)?.param(position as u32)?)
}

/// Makes each load of a pointer one of an index.
fn turn<'m>(
    view: View<'m>,
    interface: &mut Interface,
    position: usize,
    element: &Type,
    pointers: &[PointerMember<'_>],
    loaded: &[Loaded<'m>],
) -> Result<()> {
    let label = interface.args[position].label();
    for pointer in pointers {
        let own = leads_back(pointer, element).then_some(position as u32);
        let name = format!("{label}[]{}", members::member_path(&pointer.path));
        // In units of what it points to, as in C.
        let unit = pointer.pointee.map_or(1, Type::size).max(1);
        let place = view.add_global(&name, view.int_type(8), AddressSpace::Global);
        for load in loaded.iter().filter(|load| load.offset == pointer.offset) {
            replace(view, load, place.value(), unit, own.is_some());
        }
        let parameter = Parameter { label: &name, type_name: pointer.name, space: AddressSpace::Global, own };
        add_parameter(view, &interface.name, place, parameter)?;
        let into = own.unwrap_or(interface.args.len() as u32);
        interface.indices.push(HeldIndex { parameter: position as u32, offset: pointer.offset, into, unit });
        if own.is_none() {
            let pointee = pointer.pointee.cloned();
            interface.args.push(Arg {
                position: into,
                source: ArgSource::Element,
                evidence: if pointee.is_some() { Evidence::Recorded } else { Evidence::Nothing },
                type_name: pointer.name.to_owned(),
                kind: ArgKind::Buffer { element: pointee, space: AddressSpace::Global },
                access: Access::None,
                is_const: false,
                is_restrict: false,
                is_volatile: false,
                name: Some(name),
            });
        }
    }
    Ok(())
}

/// Replaces what was loaded as a pointer by the place in the buffer `base` that the index says which is there.
fn replace<'m>(view: View<'m>, loaded: &Loaded<'m>, base: Value<'m>, unit: u64, has_null: bool) {
    let (builder, long) = (view.builder(), view.int_type(64));
    let mark = |value: Value<'m>| {
        let node = Node::new(long, &[]);
        value.as_instruction().into_iter().for_each(|inst| inst.set_metadata(view.metadata_kind(LIBRARY), Some(node)));
        value
    };
    let place_of = |index: Inst<'m>, ty| {
        let index = index.value();
        let place = mark(builder.gep(view.int_type(8).array(unit), base, &[index], ""));
        let place = mark(builder.pointer_cast(place, ty, ""));
        match has_null {
            true => {
                let is_null = builder.icmp(IntPredicate::LLVMIntEQ, index, long.signed_int(NULL), "");
                mark(builder.select(mark(is_null), ty.null(), place, ""))
            }
            false => place,
        }
    };
    match loaded.copied_to {
        Some((copy, offset)) => {
            builder.after(loaded.by);
            builder.set_location(None);
            let slot = builder.byte_offset(copy, long.int(offset), "");
            let index = builder.load(long, slot, "");
            let store = builder.store(place_of(index, loaded.ty), slot);
            [index, store].iter().for_each(|access| access.set_alignment(1));
        }
        None => {
            let load = loaded.by;
            builder.before(load);
            // What has no place is no site.
            builder.set_location(None);
            let index = builder.load(long, load.operand(0), &load.name());
            index.set_alignment(load.alignment().unwrap_or(1));
            index.set_volatile(load.is_volatile());
            index.set_debug_location(load.debug_location());
            let place = place_of(index, load.ty());
            load.replace_and_erase(place);
        }
    }
}
