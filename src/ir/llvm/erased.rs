//! Which instructions were erased from their modules, by the contexts that keep them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::handles::{ContextHandle, Inst};

/// By the addresses of the contexts that live.
static ERASED: Mutex<BTreeMap<usize, Erased>> = Mutex::new(BTreeMap::new());

/// Addresses of what a context owns.
#[derive(Default)]
pub(super) struct Erased {
    pub(super) instructions: BTreeSet<usize>,
    /// A block to which erased terminators lead.
    pub(super) nowhere: Option<usize>,
}

pub(super) fn erased() -> MutexGuard<'static, BTreeMap<usize, Erased>> {
    ERASED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that an instruction was not erased: what its context will free must not come into a module again, nor use
/// what one owns.
///
/// # Panics
/// If it was.
pub(super) fn assert_not_erased(inst: Inst<'_>) {
    // What stands in a block was not.
    if inst.try_block().is_none() {
        let known =
            erased().get(&key(inst.ty().context())).is_some_and(|own| own.instructions.contains(&address(inst)));
        assert!(!known, "{} was erased", inst.text());
    }
}

pub(super) fn address(inst: Inst<'_>) -> usize {
    inst.value().0.as_ptr() as usize
}

pub(super) fn key(context: ContextHandle<'_>) -> usize {
    context.0.as_ptr() as usize
}
