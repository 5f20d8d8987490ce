//! Tells the members of structs that are copied from the padding between them, which need not be initialised.

use std::iter;
use std::ops::Range;

use kassay_model::native::abi::mark;

use super::parts::is_own;
use crate::kernel::copied_members;
use crate::llvm::{Attribute, AttributeIndex, DataLayout, Function, Inst, Opcode, Type, Value, View};

/// Structs with more parts between paddings are taken as a whole, so that the code stays small.
const MAX_PARTS: usize = 64;

/// Makes copies of structs copy the members only, so that the padding of the copies is undefined.
pub fn separate<'m>(view: View<'m>, function: Function<'m>) {
    for call in function.instructions() {
        match members(view, call) {
            // What a variable of one work-item holds is not watched.
            Some(parts) if parts[0].start == 0 && !is_own(call.operand(1)) => split(view, call, &parts),
            _ => {}
        }
    }
}

/// Returns the bytes that belong to members, in order, of what a copy of a struct copies; `None` if those are all, or
/// nothing is known, and of copies that builtins make.
pub fn members<'m>(view: View<'m>, call: Inst<'m>) -> Option<Vec<Range<u64>>> {
    let is_copy = call.callee().is_some_and(|name| name.starts_with("llvm.memcpy."));
    let is_of = |builtin: &str| call.metadata(view.metadata_kind(builtin)).is_some();
    if !is_copy || [mark::BUILTIN, mark::TRUSTED].into_iter().any(is_of) {
        return None;
    }
    let bytes = call.operand(2).as_u64()?;
    let mut parts = Parts { layout: view.layout(), all: Vec::new() };
    let is_known = copied(view.layout(), call, bytes).is_some_and(|ty| parts.add(ty, 0).is_some());
    let of_type = if is_known { parts.all } else { iter::once(0..bytes).collect() };
    // The type has explicit members for some of the padding, and clang takes arrays for one member.
    let parts = match copied_members::of_copy(view, call) {
        Some(of_clang) => common(&of_type, &of_clang),
        None => of_type,
    };
    let all: u64 = parts.iter().map(|part| part.end - part.start).sum();
    (all < bytes && (1..=MAX_PARTS).contains(&parts.len())).then_some(parts)
}

/// Returns what two lists of ranges have in common; both ascend.
fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| x.start.max(y.start)..x.end.min(y.end)));
    pairs.filter(|range| !range.is_empty()).collect()
}

/// Returns the type of what a call copies, as far as one of its pointers tells.
fn copied<'m>(layout: DataLayout<'m>, call: Inst<'m>, bytes: u64) -> Option<Type<'m>> {
    [call.operand(0), call.operand(1)].into_iter().find_map(|pointer| {
        let mut ty = pointee(pointer)?;
        // A pointer to an aggregate is one to its first element, too.
        while layout.element_size(ty)? != bytes {
            ty = if ty.is_array() { ty.elements()?.0 } else { *ty.fields().first().filter(|_| ty.is_struct())? };
        }
        (ty.is_struct() || ty.is_array()).then_some(ty)
    })
}

/// Returns the type of what a pointer points to, if it is computed from a variable or by indices.
fn pointee<'m>(mut pointer: Value<'m>) -> Option<Type<'m>> {
    while let (Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast), Some(base)) =
        (pointer.opcode(), pointer.operand(0))
    {
        pointer = base;
    }
    match pointer.opcode() {
        Some(Opcode::LLVMAlloca) => pointer.as_instruction()?.allocated_type(),
        Some(Opcode::LLVMGetElementPtr) => {
            let mut ty = pointer.gep_source()?;
            // The first index counts objects of this type.
            for at in 2.. {
                let Some(index) = pointer.operand(at) else { break };
                ty = match ty.is_struct() {
                    true => *ty.fields().get(usize::try_from(index.as_u64()?).ok()?)?,
                    false => ty.elements()?.0,
                };
            }
            Some(ty)
        }
        _ => pointer.as_global().map(|variable| variable.value_type()),
    }
}

/// The bytes of an aggregate that belong to members, in order; those without padding in between are one part.
struct Parts<'m> {
    layout: DataLayout<'m>,
    all: Vec<Range<u64>>,
}

impl<'m> Parts<'m> {
    /// Adds the members of what lies at `start`; `None` if there are too many parts, or what has no size.
    fn add(&mut self, ty: Type<'m>, start: u64) -> Option<()> {
        if ty.is_struct() {
            let fields = ty.fields();
            return (0..).zip(fields).try_for_each(|(number, field)| {
                self.add(field, start.checked_add(self.layout.field_offset(ty, number))?)
            });
        }
        if ty.is_array() {
            let (element, count) = ty.elements()?;
            let step = self.layout.element_size(element)?;
            let mut own = Parts { layout: self.layout, all: Vec::new() };
            own.add(element, 0)?;
            if own.all.len() == 1 && own.all[0] == (0..step) {
                return self.append(start..start.checked_add(step.checked_mul(count)?)?);
            }
            return (0..count).try_for_each(|index| {
                let first = start + index * step;
                own.all.iter().try_for_each(|part| self.append(first + part.start..first + part.end))
            });
        }
        self.layout.element_size(ty)?;
        self.append(start..start.checked_add(self.layout.store_size(ty))?)
    }

    fn append(&mut self, part: Range<u64>) -> Option<()> {
        match self.all.last_mut() {
            _ if part.is_empty() => {}
            Some(last) if last.end >= part.start => last.end = last.end.max(part.end),
            _ => self.all.push(part),
        }
        (self.all.len() <= MAX_PARTS).then_some(())
    }
}

/// Replaces a copy by one for each of the parts.
fn split<'m>(view: View<'m>, call: Inst<'m>, parts: &[Range<u64>]) {
    let (to, from, length) = (call.operand(0), call.operand(1), call.operand(2).ty());
    let align = |operand: u32, offset: u64| {
        let given = call.attributes(AttributeIndex::Parameter(operand)).get("align").and_then(Attribute::number);
        let given = given.map_or(1, |bytes| bytes.clamp(1, 1 << 16)) as u32;
        if offset == 0 { given } else { given.min(1 << offset.trailing_zeros().min(16)) }
    };
    let builder = view.builder();
    builder.before(call);
    builder.set_location(call.debug_location());
    for part in parts {
        let offset = view.int_type(64).int(part.start);
        let place = |pointer| match part.start {
            0 => pointer,
            _ => builder.byte_offset(pointer, offset, ""),
        };
        let size = length.int(part.end - part.start);
        let copy = builder.memcpy((place(to), align(0, part.start)), (place(from), align(1, part.start)), size);
        copy.set_debug_location(call.debug_location());
    }
    drop(builder);
    call.erase();
}
