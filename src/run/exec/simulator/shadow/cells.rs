//! The first pass over a single cell: detects whether accesses conflict there. Exact for barriers: it finds every cell
//! at which two accesses conflict, and no other.
//!
//! A cell holds words (see [`super::groups`]): the last plain write and the readers of the last interval; with atomics,
//! also the atomic writers and the atomic readers of the last interval. That is sufficient. As long as nothing has
//! conflicted at the cell, its last write is ordered after all accesses before it, so an access that conflicts with an
//! earlier access conflicts with that write as well. The readers of an interval are one work-item or *several*, in
//! which case any writer of the interval conflicts; readers of several groups conflict with any writer. A cell with a
//! conflict is *flagged* and not examined again.

use kassay_model::native::table::Mode;

use super::groups::{GROUPS, SEVERAL, ShadowGroup};
use super::launch::Memory;

/// Set in the word of the last write if the cell is flagged.
pub const FLAGGED: u64 = GROUPS;

/// Index of the word for the last plain write.
pub const WRITE: usize = 0;
/// Index of the word for the last readers.
pub const READ: usize = 1;
/// Index of the word for the last atomic writers.
pub const ATOMIC: usize = 2;
/// Index of the word for the last atomic readers.
pub const ATOMIC_READ: usize = 3;

/// A cell: two words without atomics, four with them.
pub type Cell<const N: usize> = [u64; N];

/// The access that is being made.
#[derive(Debug, Clone, Copy)]
pub struct CurrentAccess<'a> {
    pub slot: &'a ShadowGroup,
    pub memory: Memory,
    /// Whether a read finds no value unless something was written before it.
    pub starts_empty: bool,
    /// The word by which the cell will remember it.
    pub word: u64,
    /// Words below this are of earlier launches or groups, or in order with everything from now on.
    pub valid: u64,
}

impl<'a> CurrentAccess<'a> {
    #[inline(always)]
    /// The access of the group's work-item with local linear id `item` to a memory, which may start empty.
    pub fn new(slot: &'a ShadowGroup, (memory, starts_empty): (Memory, bool), item: u32) -> CurrentAccess<'a> {
        CurrentAccess { slot, memory, starts_empty, word: slot.word(memory, item), valid: slot.valid(memory) }
    }

    /// Returns whether the accesses that a word stands for are concurrent with this one.
    #[inline]
    fn is_concurrent(&self, word: u64) -> bool {
        if word < self.valid {
            return false;
        }
        if word & GROUPS != 0 || self.slot.is_foreign(word) {
            return true;
        }
        // Same group: concurrent if in the same interval, unless the word stands for this work-item alone.
        (word ^ self.word) >> 32 == 0 && word & !GROUPS != self.word
    }

    /// Returns whether a word, which must be valid, is of another group.
    #[inline(always)]
    pub fn is_foreign(&self, word: u64) -> bool {
        self.slot.is_foreign(word)
    }

    /// The word that stands for the accesses of `word` and this one.
    #[inline(always)]
    pub fn merged_with(&self, word: u64) -> u64 {
        if word < self.valid {
            self.word
        } else if word & GROUPS != 0 {
            word
        } else if self.slot.is_foreign(word) {
            self.word | GROUPS
        } else if (word ^ self.word) >> 32 != 0 || word == self.word {
            self.word
        } else {
            word | SEVERAL
        }
    }
}

/// The result of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellResult {
    Nothing,
    /// The cell is flagged from now on.
    Conflict,
    /// It reads memory to which nothing was written.
    Uninitialised,
}

/// Returns whether the access equals the last one of its kind in all that matters, which is the common case.
#[inline]
pub fn is_known<const N: usize>(cell: &Cell<N>, now: &CurrentAccess<'_>, mode: Mode) -> bool {
    match mode {
        Mode::Read => {
            cell[WRITE] == now.word
                || (cell[READ] & !SEVERAL == now.word && (!now.starts_empty || cell[WRITE] >= now.valid))
        }
        Mode::Write => cell[WRITE] == now.word,
        Mode::Atomic | Mode::AtomicRead => false,
    }
}

/// Records an access by a work-item.
pub fn access<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>, mode: Mode) -> CellResult {
    let write = cell[WRITE];
    if write >= now.valid && write & FLAGGED != 0 {
        return CellResult::Nothing;
    }
    if conflicts(cell, now, mode) {
        flag(cell, now);
        return CellResult::Conflict;
    }
    let begun = now.slot.begun(now.memory);
    let written = write >= begun || (N > ATOMIC && cell[ATOMIC] >= begun);
    match mode {
        Mode::Read => cell[READ] = now.merged_with(cell[READ]),
        Mode::Write => cell[WRITE] = now.word,
        Mode::Atomic => cell[ATOMIC.min(N - 1)] = now.merged_with(cell[ATOMIC.min(N - 1)]),
        Mode::AtomicRead => cell[ATOMIC_READ.min(N - 1)] = now.merged_with(cell[ATOMIC_READ.min(N - 1)]),
    }
    let reads = matches!(mode, Mode::Read | Mode::AtomicRead);
    if reads && now.starts_empty && !written && !now.slot.has_forgotten(now.memory) {
        CellResult::Uninitialised
    } else {
        CellResult::Nothing
    }
}

/// Records an access by an asynchronous copy of the group: `now` is the access of the group's copier, `copy` the word
/// of the copy's own interval. It conflicts with accesses that are concurrent when the copy begins. Accesses before the
/// copy is waited for check for pending copies themselves; afterwards, no access of the group conflicts with it.
pub fn copy<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>, copy: u64, mode: Mode) -> CellResult {
    let write = cell[WRITE];
    if write >= now.valid && write & FLAGGED != 0 {
        return CellResult::Nothing;
    }
    if conflicts(cell, now, mode) {
        flag(cell, now);
        return CellResult::Conflict;
    }
    if mode == Mode::Write {
        cell[WRITE] = copy;
        return CellResult::Nothing;
    }
    let read = cell[READ];
    // Readers of the group's current interval are kept: a writer in that interval conflicts with them, but not with
    // the copy.
    if !now.is_concurrent(read) {
        cell[READ] = copy;
    } else if now.slot.is_foreign(read) {
        cell[READ] = copy | GROUPS;
    }
    let begun = now.slot.begun(now.memory);
    let written = write >= begun || (N > ATOMIC && cell[ATOMIC] >= begun);
    let unknown = now.starts_empty && !written && !now.slot.has_forgotten(now.memory);
    if unknown { CellResult::Uninitialised } else { CellResult::Nothing }
}

fn conflicts<const N: usize>(cell: &Cell<N>, now: &CurrentAccess<'_>, mode: Mode) -> bool {
    let concurrent = |kind: usize| kind < N && now.is_concurrent(cell[kind.min(N - 1)]);
    match mode {
        Mode::Read => concurrent(WRITE) || concurrent(ATOMIC),
        Mode::Write => concurrent(WRITE) || concurrent(READ) || concurrent(ATOMIC) || concurrent(ATOMIC_READ),
        Mode::Atomic => concurrent(WRITE) || concurrent(READ),
        Mode::AtomicRead => concurrent(WRITE),
    }
}

/// Marks the cell as one at which accesses conflict.
pub fn flag<const N: usize>(cell: &mut Cell<N>, now: &CurrentAccess<'_>) {
    cell[WRITE] = now.word | FLAGGED;
}
