//! The check of an access: in line, where the bounds of all objects that the pointer may lead to are at hand; by a hook otherwise,
//! and always where races are looked for.

use std::cell::Cell;

use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntUGT, LLVMIntULE, LLVMIntULT};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::emit::{Emitter, Prepared};
use super::memory_instructions::Access;
use super::objects::{Objects, Origin};
use crate::kernel::ir::Inst;
use crate::lower::host::abi::hook;
use crate::lower::host::table::Mode;

/// What is asked of a pointer.
pub struct Want<'o> {
    pub site: u32,
    pub origin: &'o Origin,
    pub length: Length,
    pub align: u32,
    pub writes: bool,
    /// What a compare-exchange expects, as an `i64`.
    pub expected: Option<LLVMValueRef>,
}

/// Bytes.
#[derive(Clone, Copy)]
pub enum Length {
    Fixed(u64),
    /// An `i64`.
    Dynamic(LLVMValueRef),
}

pub fn weave(emitter: &Emitter<'_, '_>, objects: &Objects, access: &Access) {
    let writes = matches!(access.mode, Mode::Write | Mode::Atomic);
    let Access { site, bytes, align, ref origin, .. } = *access;
    let expected = expected(emitter, access);
    let want = Want { site, origin, length: Length::Fixed(bytes), align, writes, expected };
    // SAFETY: alive; the operand is the pointer.
    unsafe {
        let pointer = LLVMGetOperand(access.inst.0, access.operand);
        let checked = checked(emitter, objects, access.inst, pointer, &want);
        LLVMSetOperand(access.inst.0, access.operand, checked);
    }
}

/// What a compare-exchange expects; `None`: it is none, or its numbers are too long to be told apart from those that fail.
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

/// Where to access instead of at `pointer`, known before `at`.
pub fn checked(
    e: &Emitter<'_, '_>,
    objects: &Objects,
    at: Inst,
    pointer: LLVMValueRef,
    want: &Want<'_>,
) -> LLVMValueRef {
    let possible: &[u32] = match want.origin {
        Origin::Known(all) => all,
        _ => &[],
    };
    let hooked = e.races && (possible.is_empty() || possible.iter().any(|o| objects.is_shared(*o)));
    let needs_hook = |o: u32| want.writes && objects.is_read_only(o) || e.races && objects.is_shared(o);
    let call = || {
        let site = e.number(want.site);
        let plain = e.plain(pointer);
        let result = match want.length {
            Length::Dynamic(bytes) => e.hook(hook::SPAN, e.pointer, &[plain, site, bytes]),
            Length::Fixed(_) if hooked => match want.expected {
                Some(expected) => e.hook(hook::COMPARE_EXCHANGE, e.pointer, &[plain, site, expected]),
                None => e.hook(hook::ACCESS, e.pointer, &[plain, site]),
            },
            Length::Fixed(_) => e.hook(hook::CHECK, e.pointer, &[plain, site]),
        };
        e.cast_like(result, pointer)
    };
    e.before(at);
    let tests: Vec<LLVMValueRef> =
        possible.iter().filter(|o| !needs_hook(**o)).map(|o| is_within(e, objects, at, pointer, *o, want)).collect();
    // SAFETY: alive; tests are booleans; the phi stands at the head of the block that both ways lead to.
    unsafe {
        let Some(fits) = tests.into_iter().reduce(|a, b| LLVMBuildOr(e.builder, a, b, c"".as_ptr())) else {
            return call();
        };
        let bad = LLVMBuildNot(e.builder, fits, c"".as_ptr());
        let other = Cell::new(std::ptr::null_mut());
        let (head, side) = e.aside(at, bad, || other.set(call()));
        e.before(at);
        let phi = LLVMBuildPhi(e.builder, LLVMTypeOf(pointer), c"".as_ptr());
        LLVMAddIncoming(phi, [pointer, other.get()].as_mut_ptr(), [head.0, side.0].as_mut_ptr(), 2);
        phi
    }
}

/// Whether the access lies within the object, aligned.
fn is_within(
    e: &Emitter<'_, '_>,
    objects: &Objects,
    at: Inst,
    pointer: LLVMValueRef,
    object: u32,
    want: &Want<'_>,
) -> LLVMValueRef {
    let (base, known, base_align) = objects.bounds(object);
    let size = known.map_or_else(|| e.extent_bytes(object), |bytes| e.wide(bytes));
    let limit = match (want.length, known) {
        (Length::Fixed(bytes), Some(size)) => e.wide((size + 1).saturating_sub(bytes)),
        (Length::Fixed(bytes), None) => places(e, object, size, bytes),
        (Length::Dynamic(_), _) => size,
    };
    e.before(at);
    // SAFETY: alive; all are `i64` but for the pointers.
    unsafe {
        let b = e.builder;
        let address = e.address(pointer);
        let offset = LLVMBuildSub(b, address, e.address(base), c"".as_ptr());
        let mut fits = match want.length {
            Length::Fixed(_) => e.compare(LLVMIntULT, offset, limit),
            Length::Dynamic(bytes) => {
                let some = e.compare(LLVMIntULE, bytes, size);
                let last = LLVMBuildSub(b, size, bytes, c"".as_ptr());
                let before = e.compare(LLVMIntULE, offset, last);
                LLVMBuildAnd(b, some, before, c"".as_ptr())
            }
        };
        if want.align > 1 {
            let bits = if base_align >= u64::from(want.align) { offset } else { address };
            let rest = LLVMBuildAnd(b, bits, e.wide(u64::from(want.align) - 1), c"".as_ptr());
            let aligned = e.compare(LLVMIntEQ, rest, e.wide(0));
            fits = LLVMBuildAnd(b, fits, aligned, c"".as_ptr());
        }
        fits
    }
}

/// At how many places in `size` bytes an access of `bytes` fits; computed once, at the entry.
fn places(e: &Emitter<'_, '_>, object: u32, size: LLVMValueRef, bytes: u64) -> LLVMValueRef {
    e.prepare(Prepared::Places(object, bytes), || {
        let less = e.wide(bytes - 1);
        // SAFETY: alive; all are `i64`.
        unsafe {
            let some = e.compare(LLVMIntUGT, size, less);
            let rest = LLVMBuildSub(e.builder, size, less, c"".as_ptr());
            LLVMBuildSelect(e.builder, some, rest, e.wide(0), c"kassay.places".as_ptr())
        }
    })
}
