//! Instructions that access memory or rearrange values: variables, loads, stores, atomics, shuffles, indices.

use super::ffi;
use super::handles::{Inst, Type, Value};
use super::{AtomicOrdering, AtomicRmwOperation, Opcode};

/// What an atomic instruction synchronises with, by LLVM's number. See `View::sync_scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncScope(pub(super) u32);

impl<'m> Inst<'m> {
    /// Returns the type of the variable that an `alloca` makes (of one element, if it makes more).
    pub fn allocated_type(self) -> Option<Type<'m>> {
        // SAFETY: only an `alloca` is asked.
        self.is(Opcode::LLVMAlloca).then(|| unsafe { ffi::LLVMGetAllocatedType(self) })
    }

    /// Returns the pointer through which a load, store or atomic instruction accesses memory.
    pub fn accessed_pointer(self) -> Option<Value<'m>> {
        match self.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => Some(self.operand(0)),
            Opcode::LLVMStore => Some(self.operand(1)),
            _ => None,
        }
    }

    /// Whether it is a load, store or atomic instruction that is volatile.
    pub fn is_volatile(self) -> bool {
        // SAFETY: only an access is asked.
        self.is_access() && unsafe { ffi::LLVMGetVolatile(self) } != 0
    }

    /// # Panics
    /// Unless it is a load, store or atomic instruction.
    pub fn set_volatile(self, is_volatile: bool) {
        assert!(self.is_access(), "{} accesses nothing", self.text());
        // SAFETY: an access.
        unsafe { ffi::LLVMSetVolatile(self, is_volatile.into()) }
    }

    /// Returns the ordering of a load, store, fence or `atomicrmw`; of a `cmpxchg`, that where it succeeds.
    pub fn ordering(self) -> Option<AtomicOrdering> {
        use Opcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMFence, LLVMLoad, LLVMStore};
        // SAFETY: each is asked only for what it has.
        unsafe {
            match self.opcode() {
                LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicRMW => Some(ffi::LLVMGetOrdering(self)),
                LLVMAtomicCmpXchg => Some(ffi::LLVMGetCmpXchgSuccessOrdering(self)),
                _ => None,
            }
        }
    }

    /// Returns the ordering of a `cmpxchg` where it fails.
    pub fn failure_ordering(self) -> Option<AtomicOrdering> {
        // SAFETY: only a `cmpxchg` is asked.
        self.is(Opcode::LLVMAtomicCmpXchg).then(|| unsafe { ffi::LLVMGetCmpXchgFailureOrdering(self) })
    }

    /// Whether it is an atomic access or a fence.
    pub fn is_atomic(self) -> bool {
        self.ordering().is_some_and(|ordering| ordering != AtomicOrdering::LLVMAtomicOrderingNotAtomic)
    }

    /// Returns what an atomic access or fence synchronises with.
    pub fn sync_scope(self) -> Option<SyncScope> {
        // SAFETY: only an atomic instruction is asked.
        self.is_atomic().then(|| SyncScope(unsafe { ffi::LLVMGetAtomicSyncScopeID(self) }))
    }

    /// Returns what an `atomicrmw` does.
    pub fn rmw_operation(self) -> Option<AtomicRmwOperation> {
        // SAFETY: only an `atomicrmw` is asked.
        self.is(Opcode::LLVMAtomicRMW).then(|| unsafe { ffi::LLVMGetAtomicRMWBinOp(self) })
    }

    /// Returns the lanes that a `shufflevector` takes, counted through both vectors; `None` where any will do.
    pub fn shuffle_mask(self) -> Option<Vec<Option<u32>>> {
        if !self.is(Opcode::LLVMShuffleVector) {
            return None;
        }
        // SAFETY: a shuffle, and indices below its number of lanes. What stands for any lane is negative.
        let lane = |i| u32::try_from(unsafe { ffi::LLVMGetMaskValue(self, i) }).ok();
        // SAFETY: a shuffle.
        let count = unsafe { ffi::LLVMGetNumMaskElements(self) };
        Some((0..count).map(lane).collect())
    }

    /// Returns the constant indices of an `extractvalue` or `insertvalue`.
    pub fn aggregate_indices(self) -> Option<Vec<u32>> {
        if !matches!(self.opcode(), Opcode::LLVMExtractValue | Opcode::LLVMInsertValue) {
            return None;
        }
        // SAFETY: an instruction with such indices, which LLVM gives with their number.
        unsafe {
            let count = ffi::LLVMGetNumIndices(self) as usize;
            Some(std::slice::from_raw_parts(ffi::LLVMGetIndices(self), count).to_vec())
        }
    }

    fn is_access(self) -> bool {
        self.accessed_pointer().is_some()
    }
}

impl<'m> Value<'m> {
    /// Returns the alignment in bytes of a global, variable or access; 0 for a global that says none.
    pub fn alignment(self) -> Option<u32> {
        // SAFETY: only what has an alignment is asked.
        self.has_alignment().then(|| unsafe { ffi::LLVMGetAlignment(self) })
    }

    /// # Panics
    /// If it is no global, variable or access, or `bytes` is no power of two.
    pub fn set_alignment(self, bytes: u32) {
        assert!(self.has_alignment(), "{} has no alignment", self.text());
        assert!(bytes.is_power_of_two(), "an alignment of {bytes} bytes");
        // SAFETY: something with an alignment, and a power of two.
        unsafe { ffi::LLVMSetAlignment(self, bytes) }
    }

    fn has_alignment(self) -> bool {
        let is_aligned_inst = |inst: Inst<'m>| inst.is_access() || inst.is(Opcode::LLVMAlloca);
        self.as_instruction().map_or(self.as_function().is_some() || self.as_global().is_some(), is_aligned_inst)
    }
}

impl Inst<'_> {
    /// See [`Value::alignment`].
    pub fn alignment(self) -> Option<u32> {
        self.value().alignment()
    }

    /// See [`Value::set_alignment`].
    pub fn set_alignment(self, bytes: u32) {
        self.value().set_alignment(bytes);
    }
}
