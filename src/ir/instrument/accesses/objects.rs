//! Enumerates the memory objects that a kernel's pointers may lead to: arguments, and variables in local, constant and
//! private memory.

use std::collections::HashMap;

use kassay_base::error::{Error, Result};
use kassay_model::interface::{AddressSpace, Arg, ArgKind, Interface};
use kassay_model::native::table::{Object, Space, Storage};

use super::emit::Emitter;
use super::values;
use crate::cfg::points_to::{PointsTo, Root};
use crate::llvm::{self, DataLayout, Function, Global, Inst, Opcode, Operand, Type, Value, View};

/// Minimum alignment in bytes of buffers, local memory and local arguments in a launch: the size of OpenCL C's largest
/// type (6.1.5).
pub const LAUNCH_ALIGN: u64 = 128;

/// Unused bytes between two local variables: where a pointer may lead to several of them, an index beyond one is not to
/// hit another.
const RED_ZONE: u64 = 1 << 16;

/// Largest shadow cell in bytes.
const LARGEST_GRANULE: u32 = 16;

/// The possible targets of a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Only kassay's own memory: the probe buffer, contexts.
    Internal,
    /// One of these objects.
    Known(Vec<u32>),
    Unknown,
}

struct ObjectInfo<'m> {
    object: Object,
    /// A pointer to its first byte.
    base: Value<'m>,
    /// Its size in bytes, if known before the launch.
    bytes: Option<u64>,
    /// Alignment of its first byte in bytes.
    align: u64,
    /// Writes are allowed only if the launch says so.
    read_only: bool,
    granule: u32,
    /// Where a private variable lies in the memory of placed ones, if it is one ([`super::private`]).
    placed: Option<u64>,
    /// Whether some access may go to this object or to others.
    mixed: bool,
}

/// The memory objects of one kernel, with the granularity at which each is accessed.
pub struct Objects<'m> {
    layout: DataLayout<'m>,
    pointers: PointsTo<'m>,
    /// Names of private variables in the source.
    names: HashMap<Value<'m>, String>,
    entries: Vec<ObjectInfo<'m>>,
    by_root: HashMap<Root<'m>, u32>,
    arguments: u32,
    local_bytes: u64,
    /// Whether some access may go to any private memory.
    anywhere: bool,
}

impl<'m> Objects<'m> {
    /// Reads the kernel, whose arguments are those of `interface`, then the probe buffer if present, then
    /// the item's context.
    pub fn find(view: View<'m>, kernel: Function<'m>, interface: &Interface) -> Result<Objects<'m>> {
        let arguments = interface.args.len() as u32;
        let closed: Vec<u32> = (arguments..kernel.param_count()).collect();
        let mut objects = Objects {
            layout: view.layout(),
            pointers: PointsTo::find_with_numbers(&[kernel], &closed),
            names: variable_names(kernel),
            entries: Vec::new(),
            by_root: HashMap::new(),
            arguments,
            local_bytes: 0,
            anywhere: false,
        };
        for arg in &interface.args {
            let param = kernel.param(arg.position);
            let param = param.ok_or_else(|| Error::internal(format!("argument {} is gone", arg.position)))?;
            let entry = objects.argument(arg, param);
            objects.add(Root::Argument(arg.position), entry);
        }
        for variable in view.globals() {
            if variable.ty().space() == Some(llvm::AddressSpace::Local) && variable.is_used() {
                let entry = objects.local(variable, interface)?;
                objects.add(Root::Variable(variable.value()), entry);
            }
        }
        Ok(objects)
    }

    fn add(&mut self, root: Root<'m>, entry: ObjectInfo<'m>) -> u32 {
        let index = self.entries.len() as u32;
        self.entries.push(entry);
        self.by_root.insert(root, index);
        index
    }

    fn argument(&self, arg: &Arg, param: Value<'m>) -> ObjectInfo<'m> {
        let name = arg.name.clone().unwrap_or_else(|| format!("argument {}", arg.position));
        let mut bytes = None;
        let (space, storage, element) = match &arg.kind {
            ArgKind::Buffer { element, space } => {
                let space = if *space == AddressSpace::Constant { Space::Constant } else { Space::Global };
                (space, Storage::Argument(arg.position), element.as_ref().map_or(1, |e| e.size()))
            }
            ArgKind::Local { element } => {
                (Space::Local, Storage::Argument(arg.position), element.as_ref().map_or(1, |e| e.size()))
            }
            ArgKind::Image(_) => (Space::Global, Storage::Argument(arg.position), 1),
            ArgKind::Sampler => (Space::Constant, Storage::Argument(arg.position), 1),
            ArgKind::Value(ty) => {
                bytes = Some(ty.size());
                (Space::Private, Storage::Private { bytes: ty.size() }, ty.size())
            }
            ArgKind::Unsupported(_) => {
                bytes = Some(0);
                (Space::Private, Storage::Private { bytes: 0 }, 1)
            }
        };
        let read_only = space == Space::Constant || (arg.is_const && matches!(arg.kind, ArgKind::Buffer { .. }));
        let align = if bytes.is_some() { 1 } else { LAUNCH_ALIGN };
        let object = Object { name, space, storage, element: element.clamp(1, u64::from(u32::MAX)) as u32 };
        // A texel may be a single byte.
        let granule = if matches!(arg.kind, ArgKind::Image(_)) { 1 } else { LARGEST_GRANULE };
        ObjectInfo { object, base: param, bytes, align, read_only, granule, placed: None, mixed: false }
    }

    /// Lays out a static local variable after the previous ones.
    fn local(&mut self, variable: Global<'m>, interface: &Interface) -> Result<ObjectInfo<'m>> {
        let full_name = variable.name();
        let bytes = self.layout.element_size(variable.value_type());
        let bytes = bytes.ok_or_else(|| Error::internal(format!("the local variable {full_name} has no size")))?;
        let align = alignment(variable.value()).clamp(16, LAUNCH_ALIGN);
        let offset = match self.local_bytes {
            0 => 0,
            taken => (taken + RED_ZONE).next_multiple_of(align),
        };
        self.local_bytes = offset + bytes;
        let known = interface.local_variables.iter().map(|v| v.name.as_str());
        let is_scoped = |name: &&str| full_name == *name || full_name.ends_with(&format!(".{name}"));
        let name = known.filter(is_scoped).max_by_key(|n| n.len()).unwrap_or(&full_name).to_owned();
        let element = self.element(variable.value_type());
        let object = Object { name, space: Space::Local, storage: Storage::Local { bytes, offset }, element };
        let (base, granule) = (variable.value(), LARGEST_GRANULE);
        let (placed, mixed) = (None, false);
        Ok(ObjectInfo { object, base, bytes: Some(bytes), align, read_only: false, granule, placed, mixed })
    }

    /// Size in bytes of the innermost array element of a type.
    fn element(&self, mut ty: Type<'m>) -> u32 {
        while let Some((element, _)) = ty.elements().filter(|_| ty.is_array()) {
            ty = element;
        }
        self.layout.element_size(ty).unwrap_or(1).clamp(1, u64::from(u32::MAX)) as u32
    }

    /// Returns the object of a root; a variable that is seen for the first time is added. `None` if the root has no
    /// known object.
    fn object(&mut self, root: Root<'m>) -> Option<u32> {
        if let Some(known) = self.by_root.get(&root) {
            return Some(*known);
        }
        let (Root::Private(variable) | Root::Variable(variable)) = root else { return None };
        let is_private = matches!(root, Root::Private(_));
        let (ty, count) = match is_private {
            true => {
                let variable = variable.as_opcode(Opcode::LLVMAlloca)?;
                (variable.allocated_type()?, values::fixed_count(variable))
            }
            false => (variable.as_global()?.value_type(), Some(1)),
        };
        // `None`: known at run time only.
        let bytes = match count {
            Some(count) => Some(self.layout.element_size(ty)?.checked_mul(count)?),
            None => None,
        };
        let align = alignment(variable).max(1);
        let name = self.names.get(&variable).cloned().unwrap_or_else(|| variable.name());
        let (space, storage, read_only) = match is_private {
            true => (Space::Private, bytes.map_or(Storage::Allocated, |bytes| Storage::Private { bytes }), false),
            false if space_of(variable) == Some(llvm::AddressSpace::Global) => {
                (Space::Global, Storage::Constant { bytes: bytes? }, false)
            }
            false => (Space::Constant, Storage::Constant { bytes: bytes? }, true),
        };
        let object = Object { name, space, storage, element: self.element(ty) };
        let (granule, placed, mixed) = (LARGEST_GRANULE, None, false);
        Some(self.add(root, ObjectInfo { object, base: variable, bytes, align, read_only, granule, placed, mixed }))
    }

    /// Returns the possible targets of a pointer.
    pub fn origin(&mut self, pointer: Value<'m>) -> Origin {
        let roots = self.pointers.roots(pointer);
        let internal = |r: &Root<'_>| matches!(r, Root::Argument(position) if *position >= self.arguments);
        if !roots.is_empty() && roots.iter().all(internal) {
            return Origin::Internal;
        }
        let known: Option<Vec<u32>> = roots.into_iter().map(|r| self.object(r)).collect();
        match known {
            Some(all) if !all.is_empty() => Origin::Known(all),
            _ => Origin::Unknown,
        }
    }

    /// Returns whether an access of `bytes` bytes through `pointer`, `lead` bytes behind an address aligned to `align`,
    /// provably lies within one variable.
    pub fn is_in_bounds(&self, pointer: Value<'m>, bytes: u64, align: u64, lead: u64) -> bool {
        let (base, Some(distance)) = values::base_and_offset(self.layout, pointer) else { return false };
        let Ok(from) = u64::try_from(distance) else { return false };
        let ends_within = |size: u64| from.checked_add(bytes).is_some_and(|end| end <= size);
        let ty = match base.as_instruction() {
            Some(inst) if values::fixed_count(inst) == Some(1) => inst.allocated_type(),
            _ => base.as_global().map(Global::value_type),
        };
        let Some(ty) = ty else {
            // An argument passed by value.
            let own = self.entries.iter().find(|e| base.opcode().is_none() && e.base == base);
            return own.and_then(|entry| entry.bytes).is_some_and(ends_within);
        };
        let Some(size) = self.layout.element_size(ty) else { return false };
        ends_within(size) && from.wrapping_sub(lead) % align.max(1) == 0 && align <= alignment(base).max(1)
    }

    /// Returns whether a pointer is computed directly from a private variable.
    pub fn is_variable(&self, pointer: Value<'m>) -> bool {
        values::base_and_offset(self.layout, pointer).0.opcode() == Some(Opcode::LLVMAlloca)
    }

    /// Returns the address space that a pointer belongs to in the source.
    pub fn space(&self, pointer: Value<'m>, origin: &Origin) -> Space {
        if let Origin::Known(all) = origin
            && let [first, rest @ ..] = &all[..]
        {
            let space = |o: &u32| self.entries[*o as usize].object.space;
            if rest.iter().all(|o| space(o) == space(first)) {
                return space(first);
            }
        }
        let (base, _) = values::base_and_offset(self.layout, pointer);
        match space_of(base) {
            Some(llvm::AddressSpace::Global) => Space::Global,
            Some(llvm::AddressSpace::Constant) => Space::Constant,
            Some(llvm::AddressSpace::Local) => Space::Local,
            _ => Space::Generic,
        }
    }

    /// Records an access, which limits the granularity of the shadow cells.
    pub fn note_access(&mut self, origin: &Origin, space: Space, bytes: u64, align: u32) {
        let divisor = if bytes == 0 { 1 } else { 1u64 << bytes.trailing_zeros() };
        let granule = (divisor.min(u64::from(align)).clamp(1, u64::from(LARGEST_GRANULE))) as u32;
        self.anywhere |= *origin == Origin::Unknown && matches!(space, Space::Private | Space::Generic);
        for (i, entry) in self.entries.iter_mut().enumerate() {
            let touched = match origin {
                Origin::Internal => false,
                Origin::Known(all) => all.contains(&(i as u32)),
                Origin::Unknown => space == Space::Generic || entry.object.space == space,
            };
            if touched {
                entry.mixed |= matches!(origin, Origin::Known(all) if all.len() > 1);
                entry.granule = entry.granule.min(granule);
            }
        }
    }

    /// Returns whether writes to the object are allowed only if the launch says so.
    pub fn is_read_only(&self, object: u32) -> bool {
        self.entries[object as usize].read_only
    }

    /// Returns whether the simulator shadows the object: memory that several items see and write.
    pub fn is_shared(&self, object: u32) -> bool {
        let object = &self.entries[object as usize].object;
        matches!(object.space, Space::Global | Space::Local) && !matches!(object.storage, Storage::Constant { .. })
    }

    /// Returns whether the object's size and address are known at run time only, to the simulator.
    pub fn is_allocated(&self, object: u32) -> bool {
        self.entries[object as usize].object.storage == Storage::Allocated
    }

    /// Returns the private variables of fixed size: object, its memory, whether accesses to it may also go elsewhere.
    pub fn variables(&self) -> Vec<(u32, Value<'m>, bool)> {
        let is_memory = |i: u32, base: Value<'m>| match base.is_parameter() {
            true => base.function().is_some_and(|f| f.is_by_value(i)),
            false => base.as_opcode(Opcode::LLVMAlloca).is_some(),
        };
        let is_variable = |(i, e): &(u32, &ObjectInfo<'m>)| {
            matches!(e.object.storage, Storage::Private { .. }) && is_memory(*i, e.base)
        };
        let all = (0u32..).zip(&self.entries).filter(is_variable);
        all.map(|(i, e)| (i, e.base, e.mixed)).collect()
    }

    /// Returns the number of the object that an `alloca` makes; it is added if no access was found to go there.
    pub fn variable(&mut self, variable: Inst<'m>) -> Option<u32> {
        self.object(Root::Private(variable.value()))
    }

    /// Returns whether some access may go to any private memory.
    pub fn has_wild_accesses(&self) -> bool {
        self.anywhere
    }

    /// Records that a private variable is placed at `offset`; `address`: its address for the kernel.
    pub fn set_placed(&mut self, object: u32, offset: u64, address: Value<'m>) {
        let entry = &mut self.entries[object as usize];
        (entry.placed, entry.base, entry.align) = (Some(offset), address, LAUNCH_ALIGN);
    }

    /// Returns the memory of a placed variable; moves the emitter.
    pub fn placed(&self, e: &Emitter<'m>, object: u32) -> Option<Value<'m>> {
        let entry = &self.entries[object as usize];
        entry.placed.map(|offset| e.placed(object, offset, entry.bytes.unwrap_or(0)))
    }

    /// Returns a pointer to the first byte, the size if known before the launch, and the alignment of the first byte.
    pub fn bounds(&self, object: u32) -> (Value<'m>, Option<u64>, u64) {
        let entry = &self.entries[object as usize];
        (entry.base, entry.bytes, entry.align)
    }

    /// Returns the static local variables that were not moved yet: object, variable and offset.
    pub fn locals(&self) -> Vec<(u32, Global<'m>, u64)> {
        let all = (0u32..).zip(&self.entries);
        all.filter_map(|(i, e)| match e.object.storage {
            Storage::Local { offset, .. } => Some((i, e.base.as_global()?, offset)),
            _ => None,
        })
        .collect()
    }

    /// Sets the address of an object's variable after it was moved.
    pub fn set_base(&mut self, object: u32, base: Value<'m>) {
        self.entries[object as usize].base = base;
    }

    /// The module's data layout.
    pub fn layout(&self) -> DataLayout<'m> {
        self.layout
    }

    /// Bytes of local memory for static variables.
    pub fn local_bytes(&self) -> u64 {
        self.local_bytes
    }

    /// Size in bytes of a shadow cell, by object.
    pub fn granules(&self) -> Vec<u32> {
        self.entries.iter().map(|e| e.granule).collect()
    }

    /// The objects, in order of their numbers.
    pub fn table(&self) -> Vec<Object> {
        self.entries.iter().map(|e| e.object.clone()).collect()
    }

    /// Size in bytes of a value of this type in memory; `None` if memory cannot hold it.
    pub fn stored_size(&self, ty: Type<'m>) -> Option<u64> {
        self.layout.element_size(ty).map(|_| self.layout.store_size(ty))
    }
}

/// Returns the address space that a pointer points to.
fn space_of(pointer: Value<'_>) -> Option<llvm::AddressSpace> {
    pointer.ty().space().filter(|_| pointer.ty().is_pointer())
}

/// Returns the alignment of a variable in bytes; 0 if it says none.
fn alignment(variable: Value<'_>) -> u64 {
    variable.alignment().unwrap_or(0).into()
}

/// Returns the source names of a function's variables that live in memory, by their `alloca`.
fn variable_names(function: Function<'_>) -> HashMap<Value<'_>, String> {
    let mut names = HashMap::new();
    for (place, variable) in function.instructions().into_iter().flat_map(Inst::declared_variables) {
        // A local variable's name is operand 1 of its node (LLVM 22, DebugInfoMetadata.h).
        if let Some(name) = variable.operands().get(1).and_then(Operand::text) {
            names.entry(place).or_insert_with(|| name.to_owned());
        }
    }
    names
}
