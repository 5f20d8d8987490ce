//! Guards accesses against going out of bounds: such an access is skipped, a skipped load yields zero, and a
//! fault is recorded.

use std::collections::HashSet;

use llvm_sys::LLVMIntPredicate::{LLVMIntNE, LLVMIntULT};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::emit::Emitter;
use super::guarded_instructions::{Access, Length, Range};
use super::pointers::{Distance, Object, opcode, space};
use crate::error::Result;
use crate::instrument::layout::{GuardLayout, argument};
use crate::kernel::ir::Inst;

/// From this scale on, unsigned 32-bit indices are compared in 32 bits: a buffer with more elements than they can count
/// would exceed 16 GiB.
const NARROW_SCALE: u64 = 4;

/// Guards one access; `code` is the fault that is recorded if it is out of bounds.
pub fn guard(emitter: &Emitter<'_, '_>, layout: GuardLayout, access: &Access, code: u32) -> Result<()> {
    let bounds = Bounds { emitter, layout };
    emitter.before(access.inst.0);
    let mut fits = None;
    for range in &access.ranges {
        let one = bounds.fits(range)?;
        // SAFETY: alive; both are `i1`.
        fits = Some(match fits {
            None => one,
            Some(others) => unsafe { LLVMBuildAnd(emitter.builder, others, one, c"".as_ptr()) },
        });
    }
    let Some(fits) = fits else { return Ok(()) };
    match access.count {
        Some(operand) => make_empty(emitter, access, operand, fits, code),
        None => skip(emitter, access.inst, fits, code),
    }
}

/// Branches around the access. The fault is recorded in front of the branch: blocks on both paths would slow vectorised
/// loops down more.
pub fn skip(emitter: &Emitter<'_, '_>, inst: Inst, fits: LLVMValueRef, code: u32) -> Result<()> {
    fault_unless(emitter, fits, code)?;
    let join = inst.block();
    let head = emitter.split_before(inst);
    let inside = emitter.block_before(join, c"kassay.access");
    // SAFETY: alive; every new block gets one terminator; the phi has both ways into the block and stands at its head.
    unsafe {
        let b = emitter.builder;
        emitter.at_end(head);
        LLVMBuildCondBr(b, fits, inside.0, join.0);
        LLVMInstructionRemoveFromParent(inst.0);
        emitter.at_end(inside);
        LLVMInsertIntoBuilder(b, inst.0);
        LLVMBuildBr(b, join.0);
        if LLVMGetFirstUse(inst.0).is_null() {
            return Ok(());
        }
        emitter.before(LLVMGetFirstInstruction(join.0));
        let ty = LLVMTypeOf(inst.0);
        let phi = LLVMBuildPhi(b, ty, c"".as_ptr());
        emitter.replace(inst.0, phi);
        let mut values = [inst.0, LLVMConstNull(ty)];
        LLVMAddIncoming(phi, values.as_mut_ptr(), [inside.0, head.0].as_mut_ptr(), 2);
    }
    Ok(())
}

/// Records a fault unless `fits` is true.
fn fault_unless(emitter: &Emitter<'_, '_>, fits: LLVMValueRef, code: u32) -> Result<()> {
    let fault_if = emitter.runtime("__kassay_fault_if")?;
    // SAFETY: alive; an `i1`.
    let bad = unsafe { LLVMBuildNot(emitter.builder, fits, c"".as_ptr()) };
    let bad = emitter.bool_to_int(bad);
    emitter.call(fault_if, &mut [emitter.fault, bad, emitter.const_i32(code)]);
    Ok(())
}

/// Sets the element count of an asynchronous copy to zero if it is out of bounds.
fn make_empty(emitter: &Emitter<'_, '_>, access: &Access, operand: u32, fits: LLVMValueRef, code: u32) -> Result<()> {
    fault_unless(emitter, fits, code)?;
    // SAFETY: alive; the operand is an integer.
    unsafe {
        let count = LLVMGetOperand(access.inst.0, operand);
        let none = LLVMConstNull(LLVMTypeOf(count));
        let count = LLVMBuildSelect(emitter.builder, fits, count, none, c"".as_ptr());
        LLVMSetOperand(access.inst.0, operand, count);
    }
    Ok(())
}

struct Bounds<'e, 'a, 'c> {
    emitter: &'e Emitter<'a, 'c>,
    layout: GuardLayout,
}

impl Bounds<'_, '_, '_> {
    /// Builds the test whether the range lies within one of its objects.
    fn fits(&self, range: &Range) -> Result<LLVMValueRef> {
        if let ([object], Some(distance)) = (&range.address.objects[..], &range.address.distance) {
            return self.at_distance(*object, distance, &range.length);
        }
        // SAFETY: alive; pointers become integers of their width.
        unsafe {
            let b = self.emitter.builder;
            let pointer = self.emitter.current(range.address.pointer);
            drop_no_wrap_flags(pointer);
            let at = LLVMBuildPtrToInt(b, pointer, self.emitter.long, c"".as_ptr());
            let mut any = None;
            for object in &range.address.objects {
                let mut start = object.pointer();
                if space(start) != space(pointer) {
                    start = LLVMBuildAddrSpaceCast(b, start, LLVMTypeOf(pointer), c"".as_ptr());
                }
                let start = LLVMBuildPtrToInt(b, start, self.emitter.long, c"".as_ptr());
                let offset = LLVMBuildSub(b, at, start, c"".as_ptr());
                let one = self.at_offset(*object, offset, &range.length)?;
                any = Some(match any {
                    None => one,
                    Some(others) => LLVMBuildOr(b, others, one, c"".as_ptr()),
                });
            }
            Ok(any.unwrap_or_else(|| LLVMConstInt(LLVMInt1TypeInContext(self.emitter.context), 0, 0)))
        }
    }

    fn at_distance(&self, object: Object, distance: &Distance, length: &Length) -> Result<LLVMValueRef> {
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
    fn index(&self, object: Object, index: LLVMValueRef, step: u64, end: u64) -> Result<LLVMValueRef> {
        let emitter = self.emitter;
        let places = self.places(object, step, end)?;
        // SAFETY: alive; casts have an operand; integers of at most 64 bits are widened.
        unsafe {
            let narrow = match opcode(index) {
                Some(LLVMOpcode::LLVMSExt) => Some((LLVMGetOperand(index, 0), 1 << 31)),
                Some(LLVMOpcode::LLVMZExt) if step >= NARROW_SCALE => Some((LLVMGetOperand(index, 0), u32::MAX)),
                _ if width(index) == 32 => Some((index, 1 << 31)),
                _ => None,
            };
            if let Some((value, most)) = narrow.filter(|(v, _)| width(*v) == 32) {
                let key = (object.pointer(), step, end, u64::from(most));
                let places = emitter.entry_value(key, || {
                    let at_most = emitter.runtime("__kassay_at_most")?;
                    Ok(emitter.call(at_most, &mut [places, emitter.const_i32(most)]))
                })?;
                return Ok(emitter.compare(LLVMIntULT, value, places));
            }
            Ok(emitter.compare(LLVMIntULT, self.widened(index), places))
        }
    }

    fn at_offset(&self, object: Object, offset: LLVMValueRef, length: &Length) -> Result<LLVMValueRef> {
        let emitter = self.emitter;
        let (count, stride, size) = match length {
            Length::Fixed(size) => {
                let places = self.places(object, 1, *size)?;
                return Ok(emitter.compare(LLVMIntULT, offset, places));
            }
            Length::At(index, step, size) => {
                // SAFETY: alive; both are `i64`.
                let offset = unsafe {
                    let further = LLVMBuildMul(
                        emitter.builder,
                        self.widened(emitter.current(*index)),
                        emitter.const_i64(*step),
                        c"".as_ptr(),
                    );
                    LLVMBuildAdd(emitter.builder, offset, further, c"".as_ptr())
                };
                return self.at_offset(object, offset, &Length::Fixed(*size));
            }
            Length::Elements { count, stride, size } => {
                (emitter.current(*count), stride.map(|s| emitter.current(s)), *size)
            }
        };
        let stride = stride.map_or_else(|| emitter.const_i64(1), |s| self.widened(s));
        let extent = self.extent(object)?;
        let fits = emitter.runtime("__kassay_span_fits")?;
        let mut arguments = [extent, offset, self.widened(count), stride, emitter.const_i64(size)];
        let fits = emitter.call(fits, &mut arguments);
        Ok(emitter.compare(LLVMIntNE, fits, emitter.const_i32(0)))
    }

    /// Number of positions in an object, as computed by `__kassay_places`.
    fn places(&self, object: Object, step: u64, end: u64) -> Result<LLVMValueRef> {
        let emitter = self.emitter;
        if let Object::Variable(_, extent) = object {
            return Ok(emitter.const_i64(extent.checked_sub(end).map_or(0, |rest| rest / step.max(1) + 1)));
        }
        let extent = self.extent(object)?;
        emitter.entry_value((object.pointer(), step, end, 0), || {
            let places = emitter.runtime("__kassay_places")?;
            Ok(emitter.call(places, &mut [extent, emitter.const_i64(end), emitter.const_i64(step)]))
        })
    }

    fn extent(&self, object: Object) -> Result<LLVMValueRef> {
        match object {
            Object::Variable(_, extent) => Ok(self.emitter.const_i64(extent)),
            Object::Argument(pointer, position) => self.emitter.entry_value((pointer, 0, 0, 0), || {
                let extent = self.emitter.runtime("__kassay_extent")?;
                let word = self.emitter.const_i32(self.layout.argument(position) + argument::EXTENT);
                Ok(self.emitter.call(extent, &mut [self.emitter.probe, word]))
            }),
        }
    }

    fn sum(&self, distance: &Distance) -> LLVMValueRef {
        // SAFETY: alive; all are `i64`.
        unsafe {
            let b = self.emitter.builder;
            let mut sum = self.emitter.const_i64(distance.constant as u64);
            for (value, scale) in &distance.terms {
                let value = self.widened(*value);
                let product = LLVMBuildMul(b, value, self.emitter.const_i64(*scale as u64), c"".as_ptr());
                sum = LLVMBuildAdd(b, sum, product, c"".as_ptr());
            }
            sum
        }
    }

    /// Sign-extends a value to 64 bits, as address computations do with their indices.
    fn widened(&self, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: alive and an integer of at most 64 bits.
        unsafe {
            match width(value) {
                64 => value,
                _ => LLVMBuildSExt(self.emitter.builder, value, self.emitter.long, c"".as_ptr()),
            }
        }
    }
}

/// Width of an integer in bits; 0 for other types.
fn width(value: LLVMValueRef) -> u32 {
    // SAFETY: alive; asked of integers only.
    unsafe {
        match LLVMGetTypeKind(LLVMTypeOf(value)) {
            LLVMTypeKind::LLVMIntegerTypeKind => LLVMGetIntTypeWidth(LLVMTypeOf(value)),
            _ => 0,
        }
    }
}

/// Drops the no-wrap flags of the address computations of `pointer`: the check is computed from the pointer, and must
/// also be correct when the pointer leaves its object.
fn drop_no_wrap_flags(pointer: LLVMValueRef) {
    let (mut todo, mut seen) = (vec![pointer], HashSet::new());
    while let Some(value) = todo.pop() {
        // SAFETY: alive; operand numbers are those of the opcode.
        unsafe {
            if LLVMIsAInstruction(value).is_null() || !seen.insert(value) {
                continue;
            }
            match opcode(value) {
                Some(LLVMOpcode::LLVMGetElementPtr) => {
                    LLVMGEPSetNoWrapFlags(value, 0);
                    todo.push(LLVMGetOperand(value, 0));
                }
                Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMFreeze) => {
                    todo.push(LLVMGetOperand(value, 0));
                }
                Some(LLVMOpcode::LLVMSelect) => todo.extend((1..3).map(|i| LLVMGetOperand(value, i))),
                Some(LLVMOpcode::LLVMPHI) => {
                    todo.extend((0..LLVMCountIncoming(value)).map(|i| LLVMGetIncomingValue(value, i)));
                }
                _ => {}
            }
        }
    }
}
