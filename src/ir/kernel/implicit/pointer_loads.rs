//! Finds where a kernel loads the pointers that lie in one of its buffers.

use std::collections::{HashMap, HashSet};

use kassay_model::interface::POINTER_BYTES;

use super::members;
use crate::kernel::parameters::only_called;
use crate::llvm::{AddressSpace, Inst, Opcode, Type, Value};

/// The pointers in the elements of a buffer.
pub(super) struct Pointers {
    /// Where each lies in an element, in bytes, and whether it leads to elements of the same buffer.
    pub(super) offsets: Vec<(u64, bool)>,
    pub(super) element_bytes: u64,
}

/// A pointer that comes out of a buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded<'m> {
    /// Where in its element it lies, in bytes.
    pub(super) offset: u64,
    /// The load, or the copy of a part of an element.
    pub(super) by: Inst<'m>,
    /// Where a copy takes it: a private variable and the bytes from its start.
    pub(super) copied_to: Option<(Value<'m>, u64)>,
    /// The pointer's type.
    pub(super) ty: Type<'m>,
}

/// Where in an element a pointer into the buffer leads; `None` if that is not known.
type Offset = Option<u64>;

/// What is derived from the pointer to the buffer.
struct Flow<'a, 'm> {
    pointers: &'a Pointers,
    derived: HashMap<Value<'m>, Offset>,
    /// Private variables that hold such pointers.
    slots: HashSet<Value<'m>>,
    work: Vec<Value<'m>>,
}

impl Pointers {
    /// Returns the places at which pointers are read out of the buffer that `parameter` points to; `None` unless it is
    /// plain which ones, in the kernel and in all helpers, and nothing but the host puts them there.
    pub(super) fn find_loads<'m>(&self, parameter: Value<'m>) -> Option<Vec<Loaded<'m>>> {
        let mut flow = Flow { pointers: self, derived: HashMap::new(), slots: HashSet::new(), work: Vec::new() };
        flow.add(parameter, Some(0));
        while let Some(value) = flow.work.pop() {
            let offset = flow.derived[&value];
            value.user_instructions().into_iter().try_for_each(|user| flow.step(value, offset, user))?;
        }
        flow.is_closed(parameter).then_some(())?;
        let mut found = Vec::new();
        for (value, offset) in &flow.derived {
            for user in value.user_instructions() {
                self.read(user, *value, *offset, &mut found)?;
            }
        }
        // One whose source was derived in two ways is there twice.
        let mut seen = HashSet::new();
        found.retain(|loaded| seen.insert((loaded.by, loaded.offset)));
        Some(found)
    }

    /// Adds the pointers that an instruction reads through `from`; `None` if it is not plain which.
    fn read<'m>(&self, inst: Inst<'m>, from: Value<'m>, offset: Offset, found: &mut Vec<Loaded<'m>>) -> Option<()> {
        if inst.is(Opcode::LLVMLoad) {
            let ty = inst.ty();
            if ty.is_pointer() {
                let offset = self.place(offset).filter(|_| leads_to_buffers(ty))?;
                found.push(Loaded { offset, by: inst, copied_to: None, ty });
                return Some(());
            }
            let layout = from.function()?.view().layout();
            // Pointers as numbers, or as parts of something larger.
            let bytes = layout.store_size(ty);
            let overlaps =
                |at: u64| self.offsets.iter().any(|(place, _)| at < place + POINTER_BYTES && *place < at + bytes);
            return (!offset.is_none_or(overlaps) || bytes < POINTER_BYTES).then_some(());
        }
        if let Some((to, bytes)) = copied(inst, from) {
            // The pointers of a part of one element, which a private variable takes.
            let (from, end) = (offset?, offset?.checked_add(bytes?)?);
            let variable = variable(to).filter(|_| end <= self.element_bytes)?;
            let spaces = members::spaces(variable.allocated_type()?, variable.function().view().layout());
            for (place, leads_back) in &self.offsets {
                if *place < from || place + POINTER_BYTES > end {
                    continue;
                }
                let ty = variable.function().view().pointer_type(*spaces.get(&(place - from))?);
                leads_to_buffers(ty).then_some(())?;
                // Where it leads from the copy is not followed.
                (!leads_back).then_some(())?;
                found.push(Loaded { offset: *place, by: inst, copied_to: Some((to, place - from)), ty });
            }
        }
        Some(())
    }

    /// The place of the pointer that lies there.
    fn place(&self, offset: Offset) -> Option<u64> {
        match (offset, &self.offsets[..]) {
            (Some(offset), all) => all.iter().find(|(place, _)| *place == offset).map(|(place, _)| *place),
            (None, [(only, _)]) => Some(*only),
            _ => None,
        }
    }
}

impl<'m> Flow<'_, 'm> {
    /// Notes that a value points into the buffer; values of which this is new are worked on.
    fn add(&mut self, value: Value<'m>, offset: Offset) {
        let known = self.derived.get(&value).copied();
        let joined = match known {
            Some(known) if known != offset => None,
            _ => offset,
        };
        if known != Some(joined) {
            self.derived.insert(value, joined);
            self.work.push(value);
        }
    }

    /// Follows a pointer into the buffer to what an instruction makes of it; `None` if it may lead anywhere.
    fn step(&mut self, value: Value<'m>, offset: Offset, user: Inst<'m>) -> Option<()> {
        let is_first = user.operand(0) == value;
        match user.opcode() {
            Opcode::LLVMGetElementPtr => {
                let layout = user.function().view().layout();
                let size = self.pointers.element_bytes;
                let step = layout.offset_in_element(user.value(), size);
                self.add(user.value(), offset.zip(step).map(|(offset, step)| (offset + step) % size));
            }
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMPHI | Opcode::LLVMSelect => {
                self.add(user.value(), offset);
            }
            Opcode::LLVMLoad => {
                let leads_back = |place: u64| self.pointers.offsets.contains(&(place, true));
                if user.ty().is_pointer() && self.pointers.place(offset).is_some_and(leads_back) {
                    self.add(user.value(), Some(0));
                }
            }
            Opcode::LLVMStore if is_first => {
                let slot = variable(user.operand(1))?;
                self.slots.insert(slot.value());
                loads(slot.value()).into_iter().for_each(|load| self.add(load.value(), offset));
            }
            // What the kernel itself puts there may be any address.
            Opcode::LLVMStore => (!user.operand(0).ty().is_pointer()).then_some(())?,
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                (is_first && !user.operand(1).ty().is_pointer()).then_some(())?;
            }
            Opcode::LLVMICmp | Opcode::LLVMPtrToInt => {}
            Opcode::LLVMRet => {
                let calls = user.function().value().user_instructions();
                calls.into_iter().for_each(|call| self.add(call.value(), offset));
            }
            Opcode::LLVMCall => self.call(value, offset, user)?,
            _ => return None,
        }
        Some(())
    }

    fn call(&mut self, value: Value<'m>, offset: Offset, call: Inst<'m>) -> Option<()> {
        let callee = call.called_function()?;
        if copied(call, value).is_some() {
            return Some(());
        }
        if callee.has_body() {
            for (argument, parameter) in call.args().into_iter().zip(callee.params()) {
                if argument == value {
                    self.add(parameter, offset);
                }
            }
            return Some(());
        }
        // What else copies or fills may replace pointers; builtins see numbers, and pointers in no structs.
        let writes = callee.name().starts_with("llvm.mem");
        let is_pointer = self.pointers.place(offset).is_some();
        (!writes && !is_pointer).then_some(())
    }

    /// Whether all that stands for a pointer into the buffer always is one, or null.
    fn is_closed(&self, parameter: Value<'m>) -> bool {
        let is_in = |value: Value<'m>| self.derived.contains_key(&value) || value.is_null() || value.is_undef();
        let is_call_of = |user: &Inst<'m>, callee| user.called_function() == Some(callee);
        let values = self.derived.keys().all(|value| match value.as_instruction() {
            None if *value == parameter => true,
            None => {
                let Some(function) = value.function().filter(|function| only_called(*function)) else { return false };
                let index = function.params().iter().position(|own| own == value);
                let calls = function.value().user_instructions();
                let mut passed = calls.iter().filter_map(|call| call.args().get(index?).copied());
                passed.all(is_in)
            }
            Some(inst) => match inst.opcode() {
                Opcode::LLVMPHI => inst.operands().into_iter().all(is_in),
                Opcode::LLVMSelect => is_in(inst.operand(1)) && is_in(inst.operand(2)),
                Opcode::LLVMCall => inst.called_function().is_some_and(|callee| {
                    let is_return = |inst: &Inst<'m>| inst.is(Opcode::LLVMRet);
                    let mut returned = callee.instructions().into_iter().filter(is_return);
                    is_call_of(&inst, callee) && returned.all(|inst| is_in(inst.operand(0)))
                }),
                _ => true,
            },
        });
        values && self.slots.iter().all(|slot| holds_only(*slot, &is_in))
    }
}

/// Whether pointers of a type may lead to a buffer in global memory.
fn leads_to_buffers(ty: Type<'_>) -> bool {
    matches!(ty.space(), Some(AddressSpace::Global | AddressSpace::Generic))
}

/// Strips casts of a pointer.
fn strip(mut pointer: Value<'_>) -> Value<'_> {
    while let (Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast), Some(base)) =
        (pointer.opcode(), pointer.operand(0))
    {
        pointer = base;
    }
    pointer
}

/// The private variable whose start a pointer leads to.
fn variable(pointer: Value<'_>) -> Option<Inst<'_>> {
    strip(pointer).as_opcode(Opcode::LLVMAlloca)
}

/// The uses of a variable, directly or by casts of its address.
fn uses(variable: Value<'_>) -> Vec<(Value<'_>, Inst<'_>)> {
    let mut all = Vec::new();
    let mut pointers = vec![variable];
    while let Some(pointer) = pointers.pop() {
        for user in pointer.user_instructions() {
            match user.opcode() {
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => pointers.push(user.value()),
                _ => all.push((pointer, user)),
            }
        }
    }
    all
}

/// The loads of all of a variable.
fn loads(variable: Value<'_>) -> Vec<Inst<'_>> {
    uses(variable).into_iter().map(|(_, user)| user).filter(|user| user.is(Opcode::LLVMLoad)).collect()
}

/// Whether a variable is only loaded and stored to, and holds such pointers only.
fn holds_only<'m>(variable: Value<'m>, is_in: &impl Fn(Value<'m>) -> bool) -> bool {
    uses(variable).into_iter().all(|(pointer, user)| match user.opcode() {
        Opcode::LLVMLoad => user.ty().is_pointer(),
        Opcode::LLVMStore => user.operand(0) != pointer && is_in(user.operand(0)),
        Opcode::LLVMCall => user.callee().is_some_and(|name| name.starts_with("llvm.lifetime")),
        _ => false,
    })
}

/// Where a copy of memory from `from` goes, and its size in bytes, if that is known.
fn copied<'m>(inst: Inst<'m>, from: Value<'m>) -> Option<(Value<'m>, Option<u64>)> {
    let name = inst.callee()?;
    let is_copy = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove");
    let is_from = is_copy && inst.operand(1) == from && inst.operand(0) != from;
    is_from.then(|| (inst.operand(0), inst.operand(2).as_u64()))
}
