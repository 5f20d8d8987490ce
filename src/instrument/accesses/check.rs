//! Checks accesses. The check is inline where the bounds of every object that the pointer may lead to are available;
//! otherwise, and always where races are looked for, it is a hook.

use std::cell::Cell;

use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntUGT, LLVMIntULE, LLVMIntULT};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::emit::{Emitter, EntryValue};
use super::memory_instructions::Access;
use super::objects::{Objects, Origin};
use crate::kernel::ir::Inst;
use crate::lower::host::abi::hook;
use crate::lower::host::table::Mode;

/// The requirements on a pointer before an access.
pub struct PointerCheck<'o> {
    pub site: u32,
    pub origin: &'o Origin,
    pub length: Length,
    pub align: u32,
    pub writes: bool,
    /// The expected value of a compare-exchange, as an `i64`.
    pub expected: Option<LLVMValueRef>,
}

/// The length of an access in bytes.
#[derive(Clone, Copy)]
pub enum Length {
    Fixed(u64),
    /// Known at run time only: an `i64`.
    Dynamic(LLVMValueRef),
}

/// Replaces the address of an access by the checked one.
pub fn weave(emitter: &Emitter<'_, '_>, objects: &Objects, access: &Access) {
    let writes = matches!(access.mode, Mode::Write | Mode::Atomic);
    let Access { site, bytes, align, ref origin, .. } = *access;
    let expected = expected(emitter, access);
    let check = PointerCheck { site, origin, length: Length::Fixed(bytes), align, writes, expected };
    // SAFETY: alive; the operand is the pointer.
    unsafe {
        let pointer = LLVMGetOperand(access.inst.0, access.operand);
        let checked = checked(emitter, objects, access.inst, pointer, &check);
        LLVMSetOperand(access.inst.0, access.operand, checked);
    }
}

/// Returns the expected value of a compare-exchange. `None` for other accesses, and for values of more than 8 bytes,
/// for which failing exchanges are not told apart from succeeding ones.
fn expected(e: &Emitter<'_, '_>, access: &Access) -> Option<LLVMValueRef> {
    if access.inst.opcode() != LLVMOpcode::LLVMAtomicCmpXchg || access.bytes > 8 {
        return None;
    }
    e.before(access.inst);
    // SAFETY: alive; the operand is what the instruction compares with: an integer of at most 64 bits, or a pointer.
    unsafe {
        let value = LLVMGetOperand(access.inst.0, 1);
        Some(match LLVMGetTypeKind(LLVMTypeOf(value)) {
            LLVMTypeKind::LLVMPointerTypeKind => LLVMBuildPtrToInt(e.builder, value, e.long, c"".as_ptr()),
            _ => LLVMBuildZExtOrBitCast(e.builder, value, e.long, c"".as_ptr()),
        })
    }
}

/// Builds the check before `at` and returns the address to access instead of `pointer`.
pub fn checked(
    e: &Emitter<'_, '_>,
    objects: &Objects,
    at: Inst,
    pointer: LLVMValueRef,
    check: &PointerCheck<'_>,
) -> LLVMValueRef {
    let possible: &[u32] = match check.origin {
        Origin::Known(all) => all,
        _ => &[],
    };
    let hooked = e.races && (possible.is_empty() || possible.iter().any(|o| objects.is_shared(*o)));
    let needs_hook = |o: u32| check.writes && objects.is_read_only(o) || e.races && objects.is_shared(o);
    let call = || {
        let site = e.const_i32(check.site);
        let plain = e.flat(pointer);
        let result = match check.length {
            Length::Dynamic(bytes) => e.hook(hook::SPAN, e.pointer, &[plain, site, bytes]),
            Length::Fixed(_) if hooked => match check.expected {
                Some(expected) => e.hook(hook::COMPARE_EXCHANGE, e.pointer, &[plain, site, expected]),
                None => e.hook(hook::ACCESS, e.pointer, &[plain, site]),
            },
            Length::Fixed(_) => e.hook(hook::CHECK, e.pointer, &[plain, site]),
        };
        e.cast_like(result, pointer)
    };
    e.before(at);
    let tests: Vec<LLVMValueRef> =
        possible.iter().filter(|o| !needs_hook(**o)).map(|o| is_within(e, objects, at, pointer, *o, check)).collect();
    // SAFETY: alive; tests are booleans; the phi stands at the head of the block that both ways lead to.
    unsafe {
        let Some(fits) = tests.into_iter().reduce(|a, b| LLVMBuildOr(e.builder, a, b, c"".as_ptr())) else {
            return call();
        };
        let bad = LLVMBuildNot(e.builder, fits, c"".as_ptr());
        let other = Cell::new(std::ptr::null_mut());
        let (head, side) = e.emit_if(at, bad, || other.set(call()));
        e.before(at);
        let phi = LLVMBuildPhi(e.builder, LLVMTypeOf(pointer), c"".as_ptr());
        LLVMAddIncoming(phi, [pointer, other.get()].as_mut_ptr(), [head.0, side.0].as_mut_ptr(), 2);
        phi
    }
}

/// Builds the test whether the access is aligned and lies within the object.
fn is_within(
    e: &Emitter<'_, '_>,
    objects: &Objects,
    at: Inst,
    pointer: LLVMValueRef,
    object: u32,
    check: &PointerCheck<'_>,
) -> LLVMValueRef {
    let (base, known, base_align) = objects.bounds(object);
    let size = known.map_or_else(|| e.extent_bytes(object), |bytes| e.const_i64(bytes));
    let limit = match (check.length, known) {
        (Length::Fixed(bytes), Some(size)) => e.const_i64((size + 1).saturating_sub(bytes)),
        (Length::Fixed(bytes), None) => places(e, object, size, bytes),
        (Length::Dynamic(_), _) => size,
    };
    e.before(at);
    // SAFETY: alive; all are `i64` but for the pointers.
    unsafe {
        let b = e.builder;
        let address = e.address(pointer);
        let offset = LLVMBuildSub(b, address, e.address(base), c"".as_ptr());
        let mut fits = match check.length {
            Length::Fixed(_) => e.compare(LLVMIntULT, offset, limit),
            Length::Dynamic(bytes) => {
                let some = e.compare(LLVMIntULE, bytes, size);
                let last = LLVMBuildSub(b, size, bytes, c"".as_ptr());
                let before = e.compare(LLVMIntULE, offset, last);
                LLVMBuildAnd(b, some, before, c"".as_ptr())
            }
        };
        if check.align > 1 {
            let bits = if base_align >= u64::from(check.align) { offset } else { address };
            let rest = LLVMBuildAnd(b, bits, e.const_i64(u64::from(check.align) - 1), c"".as_ptr());
            let aligned = e.compare(LLVMIntEQ, rest, e.const_i64(0));
            fits = LLVMBuildAnd(b, fits, aligned, c"".as_ptr());
        }
        fits
    }
}

/// Number of positions in `size` bytes at which an access of `bytes` fits; computed once, at the entry.
fn places(e: &Emitter<'_, '_>, object: u32, size: LLVMValueRef, bytes: u64) -> LLVMValueRef {
    e.entry_value(EntryValue::Places(object, bytes), || {
        let less = e.const_i64(bytes - 1);
        // SAFETY: alive; all are `i64`.
        unsafe {
            let some = e.compare(LLVMIntUGT, size, less);
            let rest = LLVMBuildSub(e.builder, size, less, c"".as_ptr());
            LLVMBuildSelect(e.builder, some, rest, e.const_i64(0), c"kassay.places".as_ptr())
        }
    })
}
