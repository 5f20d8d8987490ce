//! The first pass: at which cells do accesses conflict? Exact for barriers: every cell at which two accesses conflict is found, no other.
//!
//! A cell holds words (see [`super::groups`]): the last plain write; the readers of the last interval; with atomics also the atomic writers and
//! the atomic readers of the last interval. That is enough. As long as nothing conflicted at the cell, its last write is ordered behind
//! all before, so what conflicts with an earlier access conflicts with that write as well. Readers of an interval are one item or *several*,
//! and then any writer of the interval conflicts; readers of several groups conflict with any writer. A cell with a conflict is
//! *flagged* and not looked at again.

use super::groups::{GROUPS, SEVERAL, ShadowGroup};
use super::launch::Memory;
use crate::lower::host::table::Mode;

/// In the word of the last write: the cell is flagged.
pub const FLAGGED: u64 = GROUPS;

pub const WRITE: usize = 0;
pub const READ: usize = 1;
pub const ATOMIC: usize = 2;
pub const ATOMIC_READ: usize = 3;

/// A cell: without atomics two words, with atomics four.
pub type Cell<const N: usize> = [u64; N];

/// Who accesses now.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    pub slot: &'a ShadowGroup,
    pub memory: Memory,
    /// What the cell will remember.
    pub word: u64,
    /// Below: of earlier launches or groups.
    pub valid: u64,
}

impl<'a> Now<'a> {
    #[inline(always)]
    pub fn new(slot: &'a ShadowGroup, memory: Memory, item: u32) -> Now<'a> {
        Now { slot, memory, word: slot.word(memory, item), valid: slot.valid(memory) }
    }

    /// Whether what the word stands for and an access now are concurrent.
    #[inline]
    fn meets(&self, word: u64) -> bool {
        if word < self.valid {
            return false;
        }
        if word & GROUPS != 0 || self.slot.is_foreign(word) {
            return true;
        }
        // Same group: the same interval, and not the same item alone.
        (word ^ self.word) >> 32 == 0 && word & !GROUPS != self.word
    }

    /// Whether the word, which is valid, is of another group.
    #[inline(always)]
    pub fn is_foreign(&self, word: u64) -> bool {
        self.slot.is_foreign(word)
    }

    /// The word that stands for the same and for an access now.
    #[inline(always)]
    pub fn with(&self, word: u64) -> u64 {
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

/// What an access found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// The cell is flagged from now on.
    Conflict,
    /// Local memory that the group has not written is read.
    Uninitialised,
}

/// Whether the access is the same as the last one there in all that matters: the common case.
#[inline]
pub fn is_known<const N: usize>(cell: &Cell<N>, now: &Now<'_>, mode: Mode) -> bool {
    match mode {
        Mode::Read => {
            cell[WRITE] == now.word
                || (cell[READ] & !SEVERAL == now.word && (now.memory != Memory::Local || cell[WRITE] >= now.valid))
        }
        Mode::Write => cell[WRITE] == now.word,
        Mode::Atomic | Mode::AtomicRead => false,
    }
}

/// An access by an item.
pub fn access<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>, mode: Mode) -> Found {
    let write = cell[WRITE];
    if write >= now.valid && write & FLAGGED != 0 {
        return Found::Nothing;
    }
    if conflicts(cell, now, mode) {
        flag(cell, now);
        return Found::Conflict;
    }
    let written = write >= now.valid || (N > ATOMIC && cell[ATOMIC] >= now.valid);
    match mode {
        Mode::Read => cell[READ] = now.with(cell[READ]),
        Mode::Write => cell[WRITE] = now.word,
        Mode::Atomic => cell[ATOMIC.min(N - 1)] = now.with(cell[ATOMIC.min(N - 1)]),
        Mode::AtomicRead => cell[ATOMIC_READ.min(N - 1)] = now.with(cell[ATOMIC_READ.min(N - 1)]),
    }
    let reads = matches!(mode, Mode::Read | Mode::AtomicRead);
    if reads && now.memory == Memory::Local && !written && !now.slot.forgetful {
        Found::Uninitialised
    } else {
        Found::Nothing
    }
}

/// An access by a copy of the group: `now` is the group's copier, `copy` the word of the copy's own interval. It meets what is concurrent when the
/// copy begins; what comes until it is waited for, is seen by whoever comes. Afterwards nobody in the group meets it.
pub fn copy<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>, copy: u64, mode: Mode) -> Found {
    let write = cell[WRITE];
    if write >= now.valid && write & FLAGGED != 0 {
        return Found::Nothing;
    }
    if conflicts(cell, now, mode) {
        flag(cell, now);
        return Found::Conflict;
    }
    if mode == Mode::Write {
        cell[WRITE] = copy;
        return Found::Nothing;
    }
    let read = cell[READ];
    // Readers of the group's current interval stay: a writer in it meets them, but not the copy.
    if !now.meets(read) {
        cell[READ] = copy;
    } else if now.slot.is_foreign(read) {
        cell[READ] = copy | GROUPS;
    }
    let written = write >= now.valid || (N > ATOMIC && cell[ATOMIC] >= now.valid);
    let unknown = now.memory == Memory::Local && !written && !now.slot.forgetful;
    if unknown { Found::Uninitialised } else { Found::Nothing }
}

fn conflicts<const N: usize>(cell: &Cell<N>, now: &Now<'_>, mode: Mode) -> bool {
    let meets = |kind: usize| kind < N && now.meets(cell[kind.min(N - 1)]);
    match mode {
        Mode::Read => meets(WRITE) || meets(ATOMIC),
        Mode::Write => meets(WRITE) || meets(READ) || meets(ATOMIC) || meets(ATOMIC_READ),
        Mode::Atomic => meets(WRITE) || meets(READ),
        Mode::AtomicRead => meets(WRITE),
    }
}

/// Marks the cell as one where accesses conflict.
pub fn flag<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>) {
    cell[WRITE] = now.word | FLAGGED;
}
