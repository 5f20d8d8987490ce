//! Traces pointers to the objects that they may point into, and to their distance from the object's start where it can
//! be computed.

use std::collections::{HashMap, HashSet};

use crate::instrument::layout::{PARAMETERS_FUNCTION, SLOT_FUNCTION};
use crate::llvm::{AddressSpace, DataLayout, Function, Inst, Opcode, Type, Value, View};

/// An object of known or launch-dependent size that a pointer may point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Object<'m> {
    /// A buffer or local memory passed as an argument, by position; the launch sets its size.
    Argument(Value<'m>, u32),
    /// A variable (or an argument passed by value) and its size in bytes.
    Variable(Value<'m>, u64),
}

impl<'m> Object<'m> {
    /// Returns a pointer to the object's first byte.
    pub fn pointer(self) -> Value<'m> {
        match self {
            Object::Argument(pointer, _) | Object::Variable(pointer, _) => pointer,
        }
    }
}

/// A traced pointer.
#[derive(Debug, Clone)]
pub struct Address<'m> {
    pub pointer: Value<'m>,
    /// The objects that it may point into.
    pub objects: Vec<Object<'m>>,
    /// The distance in bytes from the start of the only object; `None`: it has to be computed as the difference
    /// of the pointers.
    pub distance: Option<Distance<'m>>,
}

/// A linear combination of values, plus a constant.
#[derive(Debug, Clone, Default)]
pub struct Distance<'m> {
    pub terms: Vec<(Value<'m>, i64)>,
    pub constant: i64,
}

/// The objects of a kernel.
pub struct Objects<'m> {
    layout: DataLayout<'m>,
    all: Vec<Object<'m>>,
    /// Index into `all` by pointer.
    index_of: HashMap<Value<'m>, usize>,
    probe: Option<Value<'m>>,
}

impl<'m> Objects<'m> {
    /// Collects everything that `kernel`, whose last argument is the probe buffer, can point into.
    pub fn of(view: View<'m>, kernel: Function<'m>) -> Objects<'m> {
        let layout = view.layout();
        let mut all = Vec::new();
        let mut arguments = kernel.params();
        let probe = arguments.pop();
        all.extend((0..).zip(arguments).filter_map(|(at, argument)| argument_object(kernel, argument, at, layout)));
        all.extend(kernel.instructions().into_iter().filter_map(|i| {
            let size = layout.element_size(i.allocated_type()?)?;
            Some(Object::Variable(i.value(), size * i.operand(0).as_u64()?))
        }));
        let globals = view.globals().into_iter();
        all.extend(globals.filter_map(|g| Some(Object::Variable(g.value(), layout.element_size(g.value_type())?))));
        // If two have the same pointer, the first takes precedence.
        let index_of = all.iter().enumerate().rev().map(|(at, object)| (object.pointer(), at)).collect();
        Objects { layout, all, index_of, probe }
    }

    /// Returns the size in bytes of a value of this type in memory; `None` if memory cannot hold it (images, events).
    pub fn stored_size(&self, ty: Type<'m>) -> Option<u64> {
        self.layout.element_size(ty).map(|_| self.layout.store_size(ty))
    }

    /// Traces a pointer. `None` for pointers into the probe buffer, which are kassay's own.
    pub fn trace(&self, pointer: Value<'m>) -> Option<Address<'m>> {
        let mut distance = Some(Distance::default());
        let mut at = pointer;
        loop {
            if let Some(object) = self.find(at) {
                return Some(Address { pointer, objects: vec![object], distance });
            }
            let callee = at.as_instruction().and_then(Inst::callee);
            if Some(at) == self.probe || matches!(callee.as_deref(), Some(SLOT_FUNCTION | PARAMETERS_FUNCTION)) {
                return None;
            }
            match at.opcode() {
                Some(Opcode::LLVMGetElementPtr) => {
                    distance = distance.and_then(|d| with_steps(self.layout, at, d));
                }
                Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => {}
                _ => break,
            }
            at = at.operand(0)?;
        }
        let mut objects = Vec::new();
        if !self.collect(at, &mut objects, &mut HashSet::new()) {
            objects = self.in_space(at);
        }
        Some(Address { pointer, objects, distance: None })
    }

    fn find(&self, value: Value<'m>) -> Option<Object<'m>> {
        self.index_of.get(&value).map(|at| self.all[*at])
    }

    /// Adds the objects that `value` may point into to `found`; returns false if they are unknown. Null
    /// points into nothing.
    fn collect(&self, value: Value<'m>, found: &mut Vec<Object<'m>>, seen: &mut HashSet<Value<'m>>) -> bool {
        if !seen.insert(value) {
            return true;
        }
        if let Some(object) = self.find(value) {
            if !found.contains(&object) {
                found.push(object);
            }
            return true;
        }
        match sources(value) {
            Some(sources) => sources.into_iter().all(|source| self.collect(source, found, seen)),
            None => value.is_null() || value.is_undef(),
        }
    }

    /// Returns all objects of the pointer's address space; a generic pointer may point into all but constants.
    fn in_space(&self, pointer: Value<'m>) -> Vec<Object<'m>> {
        use AddressSpace::{Generic, Global, Local, Private};
        let (number, space) = (pointer.ty().address_space(), pointer.ty().space());
        let fits = |object: Type<'m>| {
            object.address_space() == number
                || (space == Some(Generic) && matches!(object.space(), Some(Private | Global | Local)))
        };
        self.all.iter().copied().filter(|o| fits(o.pointer().ty())).collect()
    }
}

/// Returns the pointers from which an instruction or constant makes a pointer into one of their objects; `None` for
/// other values.
pub fn sources(value: Value<'_>) -> Option<Vec<Value<'_>>> {
    Some(match value.opcode()? {
        Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze => {
            value.operand(0).into_iter().collect()
        }
        Opcode::LLVMSelect => value.operands().split_off(1),
        Opcode::LLVMPHI => value.as_instruction()?.incoming().into_iter().map(|(value, _)| value).collect(),
        _ => return None,
    })
}

/// Adds the offset that a `getelementptr` computes to `distance`; `None` if it cannot be expressed.
pub fn with_steps<'m>(layout: DataLayout<'m>, gep: Value<'m>, mut distance: Distance<'m>) -> Option<Distance<'m>> {
    let mut ty = gep.gep_source()?;
    for (i, index) in gep.operands().into_iter().skip(1).enumerate() {
        if index.ty().int_width().is_none_or(|width| width > 64) {
            return None;
        }
        let number = index.as_i64();
        if i > 0 {
            if ty.is_struct() {
                let field = u32::try_from(number?).ok()?;
                let offset = layout.field_offset(ty, field);
                distance.constant = distance.constant.checked_add(i64::try_from(offset).ok()?)?;
                ty = ty.fields()[field as usize];
                continue;
            }
            ty = ty.elements()?.0;
        }
        let scale = i64::try_from(layout.element_size(ty)?).ok()?;
        match number {
            Some(n) => distance.constant = distance.constant.checked_add(n.checked_mul(scale)?)?,
            None => distance.terms.push((index, scale)),
        }
    }
    Some(distance)
}

/// Returns the object that an argument points to: its own copy if it is passed by value, else memory of the launch.
fn argument_object<'m>(
    kernel: Function<'m>,
    argument: Value<'m>,
    position: u32,
    layout: DataLayout<'m>,
) -> Option<Object<'m>> {
    if !argument.ty().is_pointer() {
        return None;
    }
    match kernel.by_value_type(position) {
        None => Some(Object::Argument(argument, position)),
        Some(ty) => Some(Object::Variable(argument, layout.element_size(ty)?)),
    }
}
