//! Instructions that access memory or rearrange values: variables, loads, stores, atomics, shuffles, indices.

use super::ffi;
use super::handles::{Inst, Type, Value};
use super::narrow::*;
use super::{AtomicOrdering, AtomicRmwOperation, Opcode};

/// What an atomic instruction synchronises with, by LLVM's number. See `View::sync_scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncScope(pub(super) u32);

impl<'m> Inst<'m> {
    /// Returns the type of the variable that an `alloca` makes (of one element, if it makes more).
    pub fn allocated_type(self) -> Option<Type<'m>> {
        Alloca::of(self).map(|alloca| ffi::LLVMGetAllocatedType(alloca))
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
        Access::of(self).is_some_and(|access| ffi::LLVMGetVolatile(access) != 0)
    }

    /// # Panics
    /// Unless it is a load, store or atomic instruction.
    pub fn set_volatile(self, is_volatile: bool) {
        let access = Access::of(self).unwrap_or_else(|| panic!("{} accesses nothing", self.text()));
        ffi::LLVMSetVolatile(access, is_volatile.into());
    }

    /// Returns the ordering of a load, store, fence or `atomicrmw`; of a `cmpxchg`, that where it succeeds.
    pub fn ordering(self) -> Option<AtomicOrdering> {
        match Ordered::of(self) {
            Some(inst) => Some(ffi::LLVMGetOrdering(inst)),
            None => CompareExchange::of(self).map(|inst| ffi::LLVMGetCmpXchgSuccessOrdering(inst)),
        }
    }

    /// Returns the ordering of a `cmpxchg` where it fails.
    pub fn failure_ordering(self) -> Option<AtomicOrdering> {
        CompareExchange::of(self).map(|inst| ffi::LLVMGetCmpXchgFailureOrdering(inst))
    }

    /// Whether it is an atomic access or a fence.
    pub fn is_atomic(self) -> bool {
        self.ordering().is_some_and(|ordering| ordering != AtomicOrdering::LLVMAtomicOrderingNotAtomic)
    }

    /// Returns what an atomic access or fence synchronises with.
    pub fn sync_scope(self) -> Option<SyncScope> {
        Atomic::of(self).map(|inst| SyncScope(ffi::LLVMGetAtomicSyncScopeID(inst)))
    }

    /// Whether it is an atomic access or fence that synchronises with the scope of that name.
    pub fn is_in_scope(self, name: &str) -> bool {
        let own = self.sync_scope();
        own.is_some() && own == Some(SyncScope(ffi::sync_scope(self.ty().context(), name)))
    }

    /// Sets the ordering; of a `cmpxchg`, that where it succeeds. Whether the instruction can have it, verifying says.
    ///
    /// # Panics
    /// Unless it is an atomic access or fence, and stays one.
    pub fn set_ordering(self, ordering: AtomicOrdering) {
        self.assert_atomic(ordering);
        // SAFETY: an ordering of what is atomic.
        unsafe {
            match Ordered::of(self) {
                Some(inst) => ffi::LLVMSetOrdering(inst, ordering),
                None => {
                    let exchange = CompareExchange::of(self).into_iter();
                    exchange.for_each(|inst| ffi::LLVMSetCmpXchgSuccessOrdering(inst, ordering));
                }
            }
        }
    }

    /// Sets the ordering of a `cmpxchg` where it fails.
    ///
    /// # Panics
    /// If it is none, or would not be atomic any more.
    pub fn set_failure_ordering(self, ordering: AtomicOrdering) {
        self.assert_atomic(ordering);
        let inst = CompareExchange::of(self).unwrap_or_else(|| panic!("{} cannot fail", self.text()));
        // SAFETY: an ordering of what is atomic.
        unsafe { ffi::LLVMSetCmpXchgFailureOrdering(inst, ordering) }
    }

    fn assert_atomic(self, ordering: AtomicOrdering) {
        let is_atomic = self.is_atomic() && ordering != AtomicOrdering::LLVMAtomicOrderingNotAtomic;
        assert!(is_atomic, "{} has no ordering", self.text());
    }

    /// Sets what an atomic access or fence synchronises with.
    ///
    /// # Panics
    /// If it is none.
    pub fn set_sync_scope(self, scope: SyncScope) {
        let inst = Atomic::of(self).unwrap_or_else(|| panic!("{} synchronises with nothing", self.text()));
        ffi::LLVMSetAtomicSyncScopeID(inst, scope.0);
    }

    /// Sets what an `atomicrmw` does. Whether it can do that with its operand, verifying says.
    ///
    /// # Panics
    /// If it is none.
    pub fn set_rmw_operation(self, operation: AtomicRmwOperation) {
        let inst = ReadModifyWrite::of(self).unwrap_or_else(|| panic!("{} modifies nothing", self.text()));
        // SAFETY: an operation of an `atomicrmw`.
        unsafe { ffi::LLVMSetAtomicRMWBinOp(inst, operation) }
    }

    /// Returns what an `atomicrmw` does.
    pub fn rmw_operation(self) -> Option<AtomicRmwOperation> {
        ReadModifyWrite::of(self).map(|inst| ffi::LLVMGetAtomicRMWBinOp(inst))
    }

    /// Returns the lanes that a `shufflevector` takes, counted through both vectors; `None` where any will do.
    pub fn shuffle_mask(self) -> Option<Vec<Option<u32>>> {
        let shuffle = Shuffle::of(self)?;
        // What stands for any lane is negative.
        Some((0..).map_while(|i| ffi::mask_lane(shuffle, i)).map(|lane| u32::try_from(lane).ok()).collect())
    }

    /// Returns the constant indices of an `extractvalue` or `insertvalue`.
    pub fn aggregate_indices(self) -> Option<Vec<u32>> {
        let inst = Indexed::of(self)?;
        let (first, count) = (ffi::LLVMGetIndices(inst), ffi::LLVMGetNumIndices(inst) as usize);
        // SAFETY: LLVM gives the indices with their number.
        Some(unsafe { std::slice::from_raw_parts(first, count) }.to_vec())
    }
}

impl<'m> Value<'m> {
    /// Returns the alignment in bytes of a global, variable or access; 0 for a global that says none.
    pub fn alignment(self) -> Option<u32> {
        Aligned::of(self).map(|value| ffi::LLVMGetAlignment(value))
    }

    /// # Panics
    /// If it is no global, variable or access, or `bytes` is no power of two.
    pub fn set_alignment(self, bytes: u32) {
        let value = Aligned::of(self).unwrap_or_else(|| panic!("{} has no alignment", self.text()));
        assert!(bytes.is_power_of_two(), "an alignment of {bytes} bytes");
        // SAFETY: a power of two.
        unsafe { ffi::LLVMSetAlignment(value, bytes) }
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
