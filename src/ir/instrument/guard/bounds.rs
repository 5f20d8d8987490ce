//! Guards accesses against going out of bounds: such an access is skipped, a skipped load yields zero, and a
//! fault is recorded.

use std::collections::HashSet;

use kassay_base::error::Result;

use super::emit::Emitter;
use super::guarded_instructions::{Access, Length, Range};
use super::pointers::{self, Distance, Object};
use crate::instrument::layout::{GuardLayout, argument};
use crate::llvm::IntPredicate::{LLVMIntNE, LLVMIntULT};
use crate::llvm::{Block, Inst, Opcode, Value};

/// From this scale on, unsigned 32-bit indices are compared in 32 bits: a buffer with more elements than they can count
/// would exceed 16 GiB.
const NARROW_SCALE: u64 = 4;

/// Guards one access; `code` is the fault that is recorded if it is out of bounds.
pub fn guard<'m>(emitter: &Emitter<'m>, layout: GuardLayout, access: &Access<'m>, code: u32) -> Result<()> {
    let bounds = Bounds { emitter, layout };
    emitter.builder.before(access.inst);
    let mut fits: Option<Value<'m>> = None;
    for range in &access.ranges {
        let one = bounds.fits(range)?;
        fits = Some(fits.map_or(one, |others| emitter.builder.and(others, one, "")));
    }
    let Some(fits) = fits else { return Ok(()) };
    match access.count {
        Some(operand) => make_empty(emitter, access, operand, fits, code),
        None => skip(emitter, access.inst, fits, code),
    }
}

/// Branches around the access. The fault is recorded in front of the branch: blocks on both paths would slow vectorised
/// loops down more.
pub fn skip<'m>(emitter: &Emitter<'m>, inst: Inst<'m>, fits: Value<'m>, code: u32) -> Result<()> {
    fault_unless(emitter, fits, code)?;
    let join = inst.block();
    let head = Block::split_before(inst, "");
    let inside = join.insert_before("kassay.access");
    let b = &emitter.builder;
    b.at_end(head);
    b.cond_br(fits, inside, join);
    inst.remove();
    b.at_end(inside);
    b.insert(inst);
    b.br(join);
    if inst.is_used() && inst.ty().is_struct() {
        join_fields(emitter, inst, inside, head);
    } else if inst.is_used() {
        b.before_records(join.walk().next().expect("the block has a terminator"));
        let phi = b.phi(inst.ty(), &[], "");
        emitter.replace(inst, phi);
        phi.add_incoming(&[(inst.value(), inside), (Emitter::nothing(inst.ty()), head)]);
    }
    Ok(())
}

/// Makes later code use what an access in the block `inside` yields, or nothing: by a `phi` for each field, because
/// LLVM 22's SPIR-V backend emits no valid one of a struct (which a `cmpxchg` yields).
fn join_fields<'m>(emitter: &Emitter<'m>, inst: Inst<'m>, inside: Block<'m>, head: Block<'m>) {
    let b = &emitter.builder;
    let next = inside.terminator().successors()[0].walk().next().expect("the block has a terminator");
    b.before_records(next);
    let phis: Vec<Inst<'m>> = inst.ty().fields().into_iter().map(|ty| b.phi(ty, &[], "")).collect();
    let whole = (0..).zip(&phis).fold(inst.ty().null(), |all, (at, phi)| b.insert_field(all, at, *phi, ""));
    emitter.replace(inst, whole);
    b.before(inside.terminator());
    for (at, phi) in (0..).zip(phis) {
        phi.add_incoming(&[(b.extract_field(inst, at, ""), inside), (Emitter::nothing(phi.ty()), head)]);
    }
}

/// Records a fault unless `fits` is true.
fn fault_unless<'m>(emitter: &Emitter<'m>, fits: Value<'m>, code: u32) -> Result<()> {
    let fault_if = emitter.runtime("__kassay_fault_if")?;
    let bad = emitter.bool_to_int(emitter.builder.not(fits, ""));
    emitter.call(fault_if, &[emitter.fault.value(), bad, emitter.const_i32(code)]);
    Ok(())
}

/// Sets the element count of an asynchronous copy to zero if it is out of bounds.
fn make_empty<'m>(emitter: &Emitter<'m>, access: &Access<'m>, operand: u32, fits: Value<'m>, code: u32) -> Result<()> {
    fault_unless(emitter, fits, code)?;
    let count = access.inst.operand(operand);
    access.inst.set_operand(operand, emitter.builder.select(fits, count, count.ty().null(), ""));
    Ok(())
}

struct Bounds<'e, 'm> {
    emitter: &'e Emitter<'m>,
    layout: GuardLayout,
}

impl<'m> Bounds<'_, 'm> {
    /// Builds the test whether the range lies within one of its objects.
    fn fits(&self, range: &Range<'m>) -> Result<Value<'m>> {
        if let ([object], Some(distance)) = (&range.address.objects[..], &range.address.distance) {
            return self.at_distance(*object, distance, &range.length);
        }
        let b = &self.emitter.builder;
        let pointer = self.emitter.current(range.address.pointer);
        drop_no_wrap_flags(pointer);
        let at = b.ptr_to_int(pointer, self.emitter.long, "");
        let mut any: Option<Value<'m>> = None;
        for object in &range.address.objects {
            let mut start = object.pointer();
            if start.ty().address_space() != pointer.ty().address_space() {
                start = b.address_space_cast(start, pointer.ty(), "");
            }
            let start = b.ptr_to_int(start, self.emitter.long, "");
            let offset = b.sub(at, start, "");
            let one = self.at_offset(*object, offset, &range.length)?;
            any = Some(any.map_or(one, |others| b.or(others, one, "")));
        }
        Ok(any.unwrap_or_else(|| b.types().bool().int(0)))
    }

    fn at_distance(&self, object: Object<'m>, distance: &Distance<'m>, length: &Length<'m>) -> Result<Value<'m>> {
        let mut all = distance.clone();
        all.terms.iter_mut().for_each(|(value, _)| *value = self.emitter.current(*value));
        let fixed = match length {
            Length::Fixed(size) => Some(*size),
            Length::At(index, step, size) => {
                all.terms.push((self.emitter.current(*index), i64::try_from(*step).unwrap_or(i64::MAX)));
                Some(*size)
            }
            Length::Elements { .. } => None,
        };
        if let (Some(size), [(index, scale)], Ok(first)) = (fixed, &all.terms[..], u64::try_from(all.constant))
            && let Ok(scale) = u64::try_from(*scale)
            && first < scale
        {
            return self.index(object, *index, scale, first + size);
        }
        let offset = self.sum(&all);
        match (fixed, length) {
            (Some(size), _) => self.at_offset(object, offset, &Length::Fixed(size)),
            (None, length) => self.at_offset(object, offset, length),
        }
    }

    /// Builds the test whether `index` is one of the positions 0, `step`, 2 * `step` … at which an access ends within
    /// the object. As an unsigned number, a negative index is too large, and no product can overflow.
    fn index(&self, object: Object<'m>, index: Value<'m>, step: u64, end: u64) -> Result<Value<'m>> {
        let emitter = self.emitter;
        let places = self.places(object, step, end)?;
        let narrow = match index.opcode() {
            Some(Opcode::LLVMSExt) => index.operand(0).map(|operand| (operand, 1 << 31)),
            Some(Opcode::LLVMZExt) if step >= NARROW_SCALE => index.operand(0).map(|operand| (operand, u32::MAX)),
            _ => Some((index, 1 << 31)),
        };
        if let Some((value, most)) = narrow.filter(|(v, _)| v.ty().int_width() == Some(32)) {
            let key = (object.pointer(), step, end, u64::from(most));
            let places = emitter.entry_value(key, || {
                let at_most = emitter.runtime("__kassay_at_most")?;
                Ok(emitter.call(at_most, &[places, emitter.const_i32(most)]))
            })?;
            return Ok(emitter.compare(LLVMIntULT, value, places));
        }
        Ok(emitter.compare(LLVMIntULT, self.widened(index), places))
    }

    fn at_offset(&self, object: Object<'m>, offset: Value<'m>, length: &Length<'m>) -> Result<Value<'m>> {
        let emitter = self.emitter;
        let (count, stride, size) = match length {
            Length::Fixed(size) => {
                let places = self.places(object, 1, *size)?;
                return Ok(emitter.compare(LLVMIntULT, offset, places));
            }
            Length::At(index, step, size) => {
                let at = self.widened(emitter.current(*index));
                let further = emitter.builder.mul(at, emitter.const_i64(*step), "");
                let offset = emitter.builder.add(offset, further, "");
                return self.at_offset(object, offset, &Length::Fixed(*size));
            }
            Length::Elements { count, stride, size } => {
                (emitter.current(*count), stride.map(|s| emitter.current(s)), *size)
            }
        };
        let stride = stride.map_or_else(|| emitter.const_i64(1), |s| self.widened(s));
        let extent = self.extent(object)?;
        let fits = emitter.runtime("__kassay_span_fits")?;
        let arguments = [extent, offset, self.widened(count), stride, emitter.const_i64(size)];
        let fits = emitter.call(fits, &arguments);
        Ok(emitter.compare(LLVMIntNE, fits, emitter.const_i32(0)))
    }

    /// Number of positions in an object, as computed by `__kassay_places`.
    fn places(&self, object: Object<'m>, step: u64, end: u64) -> Result<Value<'m>> {
        let emitter = self.emitter;
        if let Object::Variable(_, extent) = object {
            return Ok(emitter.const_i64(extent.checked_sub(end).map_or(0, |rest| rest / step.max(1) + 1)));
        }
        let extent = self.extent(object)?;
        emitter.entry_value((object.pointer(), step, end, 0), || {
            let places = emitter.runtime("__kassay_places")?;
            Ok(emitter.call(places, &[extent, emitter.const_i64(end), emitter.const_i64(step)]))
        })
    }

    fn extent(&self, object: Object<'m>) -> Result<Value<'m>> {
        match object {
            Object::Variable(_, extent) => Ok(self.emitter.const_i64(extent)),
            Object::Argument(pointer, position) => self.emitter.entry_value((pointer, 0, 0, 0), || {
                let extent = self.emitter.runtime("__kassay_extent")?;
                let word = self.emitter.const_i32(self.layout.argument(position) + argument::EXTENT);
                Ok(self.emitter.call(extent, &[self.emitter.parameters, word]))
            }),
        }
    }

    fn sum(&self, distance: &Distance<'m>) -> Value<'m> {
        let b = &self.emitter.builder;
        let mut sum = self.emitter.const_i64(distance.constant as u64);
        for (value, scale) in &distance.terms {
            let product = b.mul(self.widened(*value), self.emitter.const_i64(*scale as u64), "");
            sum = b.add(sum, product, "");
        }
        sum
    }

    /// Sign-extends a value to 64 bits, as address computations do with their indices.
    fn widened(&self, value: Value<'m>) -> Value<'m> {
        match value.ty().int_width() {
            Some(64) => value,
            _ => self.emitter.builder.sext(value, self.emitter.long, ""),
        }
    }
}

/// Drops the no-wrap flags of the address computations of `pointer`: the check is computed from the pointer, and must
/// also be correct when the pointer leaves its object.
fn drop_no_wrap_flags(pointer: Value<'_>) {
    let (mut todo, mut seen) = (vec![pointer], HashSet::new());
    while let Some(value) = todo.pop() {
        let Some(inst) = value.as_instruction().filter(|inst| seen.insert(*inst)) else { continue };
        if inst.is(Opcode::LLVMGetElementPtr) {
            inst.drop_poison_flags();
        }
        todo.extend(pointers::sources(value).into_iter().flatten());
    }
}
