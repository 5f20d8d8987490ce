//! The fast path of the first pass: single-cell accesses that conflict with nothing, which is nearly all of them.
//! Everything that can be known of a site before the launch is looked up once, in its [`FastPath`].
//!
//! The fast path does exactly what [`super::cells::access`] does, or nothing: any access that is not clearly free of
//! conflicts is left to the slow path.

use kassay_model::native::table::Mode;

use super::cells::{ATOMIC, ATOMIC_READ, Cell, CurrentAccess, FLAGGED, READ, WRITE};
use super::groups::{GROUPS, ShadowGroup};
use super::launch::{Area, Memory};

/// How a site's accesses are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    /// By the slow path.
    Slow,
    /// Not at all: no access there can race.
    Unchecked,
    /// By the fast path, as a read.
    Read,
    /// By the fast path, as a write.
    Write,
    /// The same, if cells have words for atomics.
    ReadWithAtomics,
    /// As a write, if cells have words for atomics.
    WriteWithAtomics,
    /// As an atomic.
    Atomic,
}

impl CheckKind {
    /// The kind for an access that covers one cell.
    pub(super) fn of(mode: Mode, atomics: bool) -> CheckKind {
        match (mode, atomics) {
            (Mode::Read, false) => CheckKind::Read,
            (Mode::Write, false) => CheckKind::Write,
            (Mode::Read, true) => CheckKind::ReadWithAtomics,
            (Mode::Write, true) => CheckKind::WriteWithAtomics,
            (Mode::Atomic, true) => CheckKind::Atomic,
            (Mode::Atomic | Mode::AtomicRead, _) => CheckKind::Slow,
        }
    }
}

/// A site in a launch, for the groups of one slot.
#[derive(Debug, Clone, Copy)]
pub struct FastPath {
    kind: CheckKind,
    memory: Memory,
    /// See [`Area::starts_empty`].
    starts_empty: bool,
    /// Binary logarithm of the size of a cell in bytes.
    shift: u8,
    /// The first cell of the object's part of the memory.
    cells: *mut u64,
}

impl FastPath {
    /// A path that does not look at cells.
    pub const fn without_cells(kind: CheckKind) -> FastPath {
        FastPath { kind, memory: Memory::Global, starts_empty: false, shift: 0, cells: std::ptr::null_mut() }
    }

    /// A path for an object with these `cells` of an area, of `1 << shift` bytes each.
    pub(super) fn new<const N: usize>(kind: CheckKind, area: &Area, shift: u32, cells: &mut [Cell<N>]) -> FastPath {
        let (memory, starts_empty) = (area.memory, area.starts_empty());
        FastPath { kind, memory, starts_empty, shift: shift as u8, cells: cells.as_mut_ptr().cast() }
    }

    /// Checks an access by the work-item of `group` with local linear id `item` to the object's bytes from `offset` on.
    /// Returns whether the access is completely handled; if not, nothing has been changed, and the access must take the
    /// slow path.
    ///
    /// # Safety
    /// This path was made for the current launch and slot; `group` is what runs there; the access is in the object's
    /// bounds and aligned.
    #[inline(always)]
    pub unsafe fn pass(&self, group: *const ShadowGroup, item: u32, offset: u64) -> bool {
        if self.kind == CheckKind::Unchecked {
            return true;
        }
        if self.kind == CheckKind::Slow {
            return false;
        }
        // SAFETY: the caller guarantees that `group` is alive and the access in bounds, so `index` is one of the
        // object's cells; every kind that reaches a cell was made with `cells`, of the width that its variant states.
        unsafe {
            let group = &*group;
            if !group.pending_copies.is_empty() {
                return false;
            }
            let now = CurrentAccess::new(group, (self.memory, self.starts_empty), item);
            let index = (offset >> self.shift) as usize;
            let (plain, with_atomics) = (self.cells.cast::<Cell<2>>(), self.cells.cast::<Cell<4>>());
            match self.kind {
                CheckKind::Unchecked | CheckKind::Slow => false,
                CheckKind::Read => read(&mut *plain.add(index), &now),
                CheckKind::Write => write(&mut *plain.add(index), &now),
                CheckKind::ReadWithAtomics => read(&mut *with_atomics.add(index), &now),
                CheckKind::WriteWithAtomics => write(&mut *with_atomics.add(index), &now),
                CheckKind::Atomic => atomic(&mut *with_atomics.add(index), &now),
            }
        }
    }
}

/// Returns whether the last write, which must not be stale, happens before this access.
#[inline(always)]
fn is_before(word: u64, now: &CurrentAccess<'_>) -> bool {
    word & FLAGGED == 0 && (word ^ now.word) >> 32 != 0 && !now.is_foreign(word)
}

/// Returns whether earlier readers (or atomics) do not conflict with a writer now.
#[inline(always)]
fn is_conflict_free(word: u64, now: &CurrentAccess<'_>) -> bool {
    word < now.valid || word == now.word || (word & GROUPS == 0 && is_before(word, now))
}

#[inline(always)]
fn read<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>) -> bool {
    let last = cell[WRITE];
    if last == now.word {
        return true;
    }
    // Memory that was not written in this launch may be read, unless nothing was written there before, either.
    let fine = if last < now.valid { !now.starts_empty } else { is_before(last, now) };
    if !fine || (N > ATOMIC && cell[ATOMIC.min(N - 1)] >= now.valid) {
        return false;
    }
    let readers = cell[READ];
    let all = now.merged_with(readers);
    if all != readers {
        cell[READ] = all;
    }
    true
}

#[inline(always)]
fn write<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>) -> bool {
    let last = cell[WRITE];
    if last == now.word {
        return true;
    }
    let fine = (last < now.valid || is_before(last, now)) && is_conflict_free(cell[READ], now);
    let atomics = N > ATOMIC && (cell[ATOMIC.min(N - 1)] >= now.valid || cell[ATOMIC_READ.min(N - 1)] >= now.valid);
    if !fine || atomics {
        return false;
    }
    cell[WRITE] = now.word;
    true
}

#[inline(always)]
fn atomic<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>) -> bool {
    let last = cell[WRITE];
    let fine = (last < now.valid || last == now.word || is_before(last, now)) && is_conflict_free(cell[READ], now);
    if fine {
        let word = &mut cell[ATOMIC.min(N - 1)];
        *word = now.merged_with(*word);
    }
    fine
}
