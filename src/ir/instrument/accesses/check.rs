//! Checks accesses. The check is inline where the bounds of every object that the pointer may lead to are available;
//! otherwise, and always where races are looked for, it is a hook.

use kassay_model::native::abi::hook;
use kassay_model::native::table::Mode;

use super::emit::{Emitter, EntryValue};
use super::memory_instructions::Access;
use super::objects::{Objects, Origin};
use super::proofs::{Proof, record};
use crate::llvm::IntPredicate::{LLVMIntEQ, LLVMIntUGT, LLVMIntULE, LLVMIntULT};
use crate::llvm::{Inst, Opcode, Value};

/// The requirements on a pointer before an access.
pub struct PointerCheck<'o, 'm> {
    pub site: u32,
    pub origin: &'o Origin,
    pub length: Length<'m>,
    pub align: u32,
    /// Bytes by which it lies behind an address with this alignment.
    pub lead: u32,
    pub writes: bool,
    /// Whether it is the access itself: else only its bounds are checked.
    pub is_watched: bool,
    /// The expected value of a compare-exchange, as an `i64`.
    pub expected: Option<Value<'m>>,
}

/// The length of an access in bytes.
#[derive(Clone, Copy)]
pub enum Length<'m> {
    Fixed(u64),
    /// Known at run time only: an `i64`.
    Dynamic(Value<'m>),
}

/// Replaces the address of an access by the checked one.
pub fn weave<'m>(emitter: &Emitter<'m>, objects: &Objects<'m>, access: &Access<'m>) {
    let writes = matches!(access.mode, Mode::Write | Mode::Atomic);
    let Access { site, bytes, align, lead, ref origin, .. } = *access;
    let expected = expected(emitter, access);
    let check =
        PointerCheck { site, origin, length: Length::Fixed(bytes), align, lead, writes, is_watched: true, expected };
    let pointer = access.inst.operand(access.operand);
    let checked = checked(emitter, objects, access.inst, pointer, &check);
    access.inst.set_operand(access.operand, checked);
}

/// Returns the expected value of a compare-exchange. `None` for other accesses, and for values of more than 8 bytes,
/// for which failing exchanges are not told apart from succeeding ones.
fn expected<'m>(e: &Emitter<'m>, access: &Access<'m>) -> Option<Value<'m>> {
    if !access.inst.is(Opcode::LLVMAtomicCmpXchg) || access.bytes > 8 {
        return None;
    }
    e.before(access.inst);
    let value = access.inst.operand(1);
    Some(match value.ty().is_pointer() {
        true => e.address(value),
        false => e.builder.zext_or_bit_cast(value, e.long, ""),
    })
}

/// Builds the check before `at` and returns the address to access instead of `pointer`.
pub fn checked<'m>(
    e: &Emitter<'m>,
    objects: &Objects<'m>,
    at: Inst<'m>,
    pointer: Value<'m>,
    check: &PointerCheck<'_, 'm>,
) -> Value<'m> {
    let possible: &[u32] = match check.origin {
        Origin::Known(all) => all,
        _ => &[],
    };
    let hooked = e.races && check.is_watched && (possible.is_empty() || possible.iter().any(|o| objects.is_shared(*o)));
    let needs_hook =
        |o: u32| objects.is_allocated(o) || check.writes && objects.is_read_only(o) || e.races && objects.is_shared(o);
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
        e.builder.pointer_cast(result, pointer.ty(), "")
    };
    let proof = Proof::Checked(match check.length {
        Length::Fixed(bytes) => bytes,
        Length::Dynamic(_) => u64::MAX,
    });
    e.before(at);
    let mut found: Option<Within<'m>> = None;
    for object in possible.iter().filter(|o| !needs_hook(**o)) {
        let next = within(e, objects, at, pointer, *object, check);
        found = Some(match found {
            None => next,
            Some(others) => Within {
                fits: e.builder.or(others.fits, next.fits, ""),
                memory: match others.memory == next.memory {
                    true => next.memory,
                    false => e.builder.select(next.fits, next.memory, others.memory, ""),
                },
            },
        });
    }
    let Some(Within { fits, memory }) = found else {
        let result = call();
        record(e.view, result, proof);
        return result;
    };
    let bad = e.builder.not(fits, "");
    let mut other = pointer;
    let (head, side) = e.emit_if(at, bad, || other = call());
    e.before(at);
    let result = e.builder.phi(pointer.ty(), &[(memory, head), (other, side)], "").value();
    record(e.view, result, proof);
    result
}

/// Whether an access lies within an object, and the memory that it goes to if so.
struct Within<'m> {
    fits: Value<'m>,
    memory: Value<'m>,
}

/// Builds the test whether the access is aligned and lies within the object.
fn within<'m>(
    e: &Emitter<'m>,
    objects: &Objects<'m>,
    at: Inst<'m>,
    pointer: Value<'m>,
    object: u32,
    check: &PointerCheck<'_, 'm>,
) -> Within<'m> {
    let (base, known, base_align) = objects.bounds(object);
    let placed = objects.placed(e, object);
    let size = known.map_or_else(|| e.extent_bytes(object), |bytes| e.const_i64(bytes));
    let limit = match (check.length, known) {
        (Length::Fixed(bytes), Some(size)) => e.const_i64((size + 1).saturating_sub(bytes)),
        (Length::Fixed(bytes), None) => places(e, object, size, bytes),
        (Length::Dynamic(_), _) => size,
    };
    e.before(at);
    let b = &e.builder;
    let address = e.address(pointer);
    let offset = b.sub(address, e.address(base), "");
    let memory = match placed {
        Some(first) => e.builder.pointer_cast(b.byte_offset(first, offset, ""), pointer.ty(), ""),
        None => pointer,
    };
    let mut fits = match check.length {
        Length::Fixed(_) => e.compare(LLVMIntULT, offset, limit),
        Length::Dynamic(bytes) => {
            let some = e.compare(LLVMIntULE, bytes, size);
            let last = b.sub(size, bytes, "");
            let before = e.compare(LLVMIntULE, offset, last);
            b.and(some, before, "")
        }
    };
    if check.align > 1 {
        let bits = if base_align >= u64::from(check.align) { offset } else { e.address(memory) };
        let bits = if check.lead == 0 { bits } else { b.sub(bits, e.const_i64(check.lead.into()), "") };
        let rest = b.and(bits, e.const_i64(u64::from(check.align) - 1), "");
        let aligned = e.compare(LLVMIntEQ, rest, e.const_i64(0));
        fits = b.and(fits, aligned, "");
    }
    Within { fits, memory }
}

/// Number of positions in `size` bytes at which an access of `bytes` fits; computed once, at the entry.
fn places<'m>(e: &Emitter<'m>, object: u32, size: Value<'m>, bytes: u64) -> Value<'m> {
    e.entry_value(EntryValue::Places(object, bytes), || {
        let less = e.const_i64(bytes - 1);
        let some = e.compare(LLVMIntUGT, size, less);
        let rest = e.builder.sub(size, less, "");
        e.builder.select(some, rest, e.const_i64(0), "kassay.places")
    })
}
