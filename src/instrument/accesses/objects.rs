//! Enumerates the memory objects that a kernel's pointers may lead to: arguments, and variables in local, constant and
//! private memory.

use std::collections::HashMap;

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::values;
use crate::cfg::points_to::{Pointers, Root};
use crate::error::{Error, Result};
use crate::instrument::guard::pointers::{opcode, size_of};
use crate::kernel::inline_frames;
use crate::kernel::interface::{AddressSpace, Arg, ArgKind, Interface};
use crate::kernel::ir::Function;
use crate::lower::host::table::{Object, Space, Storage};

/// LLVM's numbers of OpenCL's address spaces, on SPIR and SPIR-V.
const GLOBAL: u32 = 1;
const CONSTANT: u32 = 2;
const LOCAL: u32 = 3;

/// Minimum alignment in bytes of buffers, local memory and local arguments in a launch: the size of OpenCL C's largest
/// type (6.1.5).
pub const LAUNCH_ALIGN: u64 = 128;

/// Unused bytes between two local variables.
const RED_ZONE: u64 = 64;

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

struct ObjectInfo {
    object: Object,
    /// A pointer to its first byte.
    base: LLVMValueRef,
    /// Its size in bytes, if known before the launch.
    bytes: Option<u64>,
    /// Alignment of its first byte in bytes.
    align: u64,
    /// Writes are allowed only if the launch says so.
    read_only: bool,
    granule: u32,
}

/// The memory objects of one kernel, with the granularity at which each is accessed.
pub struct Objects {
    layout: LLVMTargetDataRef,
    pointers: Pointers,
    names: HashMap<LLVMValueRef, String>,
    entries: Vec<ObjectInfo>,
    by_root: HashMap<Root, u32>,
    arguments: u32,
    local_bytes: u64,
}

impl Objects {
    /// Reads the kernel, whose arguments are those of `interface`, then the probe buffer if present, then
    /// the item's context.
    pub fn find(module: &Module<'_>, kernel: Function, interface: &Interface) -> Result<Objects> {
        // SAFETY: alive; arguments are below the count; the list of variables ends with null.
        unsafe {
            let arguments = interface.args.len() as u32;
            let closed: Vec<u32> = (arguments..LLVMCountParams(kernel.0)).collect();
            let mut objects = Objects {
                layout: LLVMGetModuleDataLayout(module.as_mut_ptr()),
                pointers: Pointers::find_without_sharing(&[kernel], &closed),
                names: inline_frames::variable_names(kernel),
                entries: Vec::new(),
                by_root: HashMap::new(),
                arguments,
                local_bytes: 0,
            };
            for arg in &interface.args {
                let entry = objects.argument(arg, LLVMGetParam(kernel.0, arg.position));
                objects.add(Root::Argument(arg.position), entry);
            }
            let mut variable = LLVMGetFirstGlobal(module.as_mut_ptr());
            while !variable.is_null() {
                if address_space(variable) == LOCAL && !LLVMGetFirstUse(variable).is_null() {
                    let entry = objects.local(variable, interface)?;
                    objects.add(Root::Variable(variable), entry);
                }
                variable = LLVMGetNextGlobal(variable);
            }
            Ok(objects)
        }
    }

    fn add(&mut self, root: Root, entry: ObjectInfo) -> u32 {
        let index = self.entries.len() as u32;
        self.entries.push(entry);
        self.by_root.insert(root, index);
        index
    }

    fn argument(&self, arg: &Arg, param: LLVMValueRef) -> ObjectInfo {
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
        ObjectInfo { object, base: param, bytes, align, read_only, granule }
    }

    /// Lays out a static local variable after the previous ones.
    fn local(&mut self, variable: LLVMValueRef, interface: &Interface) -> Result<ObjectInfo> {
        // SAFETY: alive and a variable.
        unsafe {
            let full_name = name_of(variable);
            let bytes = size_of(LLVMGlobalGetValueType(variable), self.layout)
                .ok_or_else(|| Error::internal(format!("the local variable {full_name} has no size")))?;
            let align = u64::from(LLVMGetAlignment(variable)).clamp(16, LAUNCH_ALIGN);
            let offset = match self.local_bytes {
                0 => 0,
                taken => (taken + RED_ZONE).next_multiple_of(align),
            };
            self.local_bytes = offset + bytes;
            let known = interface.local_variables.iter().map(|v| v.name.as_str());
            let is_scoped = |name: &&str| full_name == *name || full_name.ends_with(&format!(".{name}"));
            let name = known.filter(is_scoped).max_by_key(|n| n.len()).unwrap_or(&full_name).to_owned();
            let element = self.element(LLVMGlobalGetValueType(variable));
            let object = Object { name, space: Space::Local, storage: Storage::Local { bytes, offset }, element };
            let granule = LARGEST_GRANULE;
            Ok(ObjectInfo { object, base: variable, bytes: Some(bytes), align, read_only: false, granule })
        }
    }

    /// Size in bytes of the innermost array element of a type.
    fn element(&self, mut ty: LLVMTypeRef) -> u32 {
        // SAFETY: alive.
        unsafe {
            while LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMArrayTypeKind {
                ty = LLVMGetElementType(ty);
            }
        }
        size_of(ty, self.layout).unwrap_or(1).clamp(1, u64::from(u32::MAX)) as u32
    }

    /// Returns the object of a root; a variable that is seen for the first time is added. `None` if the root has no
    /// known object.
    fn object(&mut self, root: Root) -> Option<u32> {
        if let Some(known) = self.by_root.get(&root) {
            return Some(*known);
        }
        let (Root::Private(variable) | Root::Variable(variable)) = root else { return None };
        // SAFETY: alive; an alloca's count is its operand.
        unsafe {
            let is_private = matches!(root, Root::Private(_));
            let (ty, count) = match is_private {
                true => (LLVMGetAllocatedType(variable), values::constant(LLVMGetOperand(variable, 0))?),
                false => (LLVMGlobalGetValueType(variable), 1),
            };
            let bytes = size_of(ty, self.layout)?.checked_mul(count)?;
            let align = u64::from(LLVMGetAlignment(variable)).max(1);
            let name = self.names.get(&variable).cloned().unwrap_or_else(|| name_of(variable));
            let (space, storage, read_only) = match is_private {
                true => (Space::Private, Storage::Private { bytes }, false),
                false if address_space(variable) == GLOBAL => (Space::Global, Storage::Constant { bytes }, false),
                false => (Space::Constant, Storage::Constant { bytes }, true),
            };
            let object = Object { name, space, storage, element: self.element(ty) };
            let granule = LARGEST_GRANULE;
            Some(self.add(root, ObjectInfo { object, base: variable, bytes: Some(bytes), align, read_only, granule }))
        }
    }

    /// Returns the possible targets of a pointer.
    pub fn origin(&mut self, pointer: LLVMValueRef) -> Origin {
        let roots = self.pointers.roots(pointer);
        let internal = |r: &Root| matches!(r, Root::Argument(position) if *position >= self.arguments);
        if !roots.is_empty() && roots.iter().all(internal) {
            return Origin::Internal;
        }
        let known: Option<Vec<u32>> = roots.into_iter().map(|r| self.object(r)).collect();
        match known {
            Some(all) if !all.is_empty() => Origin::Known(all),
            _ => Origin::Unknown,
        }
    }

    /// Returns whether an aligned access of `bytes` bytes through `pointer` provably lies within one variable.
    pub fn is_in_bounds(&self, pointer: LLVMValueRef, bytes: u64, align: u64) -> bool {
        let (base, Some(distance)) = values::base_and_offset(self.layout, pointer) else { return false };
        let Ok(from) = u64::try_from(distance) else { return false };
        // SAFETY: alive; sizes are asked of variables.
        unsafe {
            let (ty, variable_align) = match opcode(base) {
                Some(LLVMOpcode::LLVMAlloca) if values::constant(LLVMGetOperand(base, 0)) == Some(1) => {
                    (LLVMGetAllocatedType(base), u64::from(LLVMGetAlignment(base)))
                }
                None if !LLVMIsAGlobalVariable(base).is_null() => {
                    (LLVMGlobalGetValueType(base), u64::from(LLVMGetAlignment(base)))
                }
                // An argument passed by value.
                None => match self.entries.iter().find(|e| e.base == base) {
                    Some(entry) => {
                        return entry.bytes.is_some_and(|size| from.checked_add(bytes).is_some_and(|end| end <= size));
                    }
                    None => return false,
                },
                _ => return false,
            };
            let Some(size) = size_of(ty, self.layout) else { return false };
            let fits = from.checked_add(bytes).is_some_and(|end| end <= size);
            fits && from % align.max(1) == 0 && align <= variable_align.max(1)
        }
    }

    /// Returns whether a pointer is computed directly from a private variable.
    pub fn is_variable(&self, pointer: LLVMValueRef) -> bool {
        opcode(values::base_and_offset(self.layout, pointer).0) == Some(LLVMOpcode::LLVMAlloca)
    }

    /// Returns the address space that a pointer belongs to in the source.
    pub fn space(&self, pointer: LLVMValueRef, origin: &Origin) -> Space {
        if let Origin::Known(all) = origin
            && let [first, rest @ ..] = &all[..]
        {
            let space = |o: &u32| self.entries[*o as usize].object.space;
            if rest.iter().all(|o| space(o) == space(first)) {
                return space(first);
            }
        }
        let (base, _) = values::base_and_offset(self.layout, pointer);
        match address_space(base) {
            GLOBAL => Space::Global,
            CONSTANT => Space::Constant,
            LOCAL => Space::Local,
            _ => Space::Generic,
        }
    }

    /// Records an access, which limits the granularity of the shadow cells.
    pub fn note_access(&mut self, origin: &Origin, space: Space, bytes: u64, align: u32) {
        let divisor = if bytes == 0 { 1 } else { 1u64 << bytes.trailing_zeros() };
        let granule = (divisor.min(u64::from(align)).clamp(1, u64::from(LARGEST_GRANULE))) as u32;
        for (i, entry) in self.entries.iter_mut().enumerate() {
            let touched = match origin {
                Origin::Internal => false,
                Origin::Known(all) => all.contains(&(i as u32)),
                Origin::Unknown => space == Space::Generic || entry.object.space == space,
            };
            if touched {
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

    /// Returns a pointer to the first byte, the size if known before the launch, and the alignment of the first byte.
    pub fn bounds(&self, object: u32) -> (LLVMValueRef, Option<u64>, u64) {
        let entry = &self.entries[object as usize];
        (entry.base, entry.bytes, entry.align)
    }

    /// Returns the static local variables: object, variable and offset.
    pub fn locals(&self) -> Vec<(u32, LLVMValueRef, u64)> {
        let all = (0u32..).zip(&self.entries);
        all.filter_map(|(i, e)| match e.object.storage {
            Storage::Local { offset, .. } => Some((i, e.base, offset)),
            _ => None,
        })
        .collect()
    }

    /// Sets the address of an object's variable after it was moved.
    pub fn set_base(&mut self, object: u32, base: LLVMValueRef) {
        self.entries[object as usize].base = base;
    }

    /// The module's data layout.
    pub fn layout(&self) -> LLVMTargetDataRef {
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
    pub fn stored_size(&self, ty: LLVMTypeRef) -> Option<u64> {
        // SAFETY: alive and sized.
        size_of(ty, self.layout).map(|_| unsafe { LLVMStoreSizeOfType(self.layout, ty) })
    }
}

fn address_space(pointer: LLVMValueRef) -> u32 {
    // SAFETY: alive; the number is asked of pointers only.
    unsafe {
        match LLVMGetTypeKind(LLVMTypeOf(pointer)) {
            LLVMTypeKind::LLVMPointerTypeKind => LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)),
            _ => 0,
        }
    }
}

fn name_of(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: alive; LLVM tells how many bytes there are.
    unsafe {
        let data = LLVMGetValueName2(value, &mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(data.cast::<u8>(), len)).into_owned()
    }
}
