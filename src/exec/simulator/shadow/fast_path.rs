//! The short way of the first pass: accesses to one cell that meet nobody, which is nearly all of them. All that can be known of a site before
//! the launch is looked up once, in its [`FastPath`].
//!
//! The short way does what [`super::cells::access`] does, or nothing: whatever is not plainly in order is left to the long way.

use super::cells::{ATOMIC, ATOMIC_READ, Cell, FLAGGED, Now, READ, WRITE};
use super::groups::{GROUPS, ShadowGroup};
use super::launch::Memory;
use crate::lower::host::table::Mode;

/// How a site's accesses are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By the long way.
    Long,
    /// Not at all: nothing can race there.
    Free,
    Read,
    Write,
    /// The same where cells know atomics.
    ReadBesideAtomics,
    WriteBesideAtomics,
    Atomic,
}

impl Way {
    /// Of an access that covers one cell.
    pub(super) fn of(mode: Mode, atomics: bool) -> Way {
        match (mode, atomics) {
            (Mode::Read, false) => Way::Read,
            (Mode::Write, false) => Way::Write,
            (Mode::Read, true) => Way::ReadBesideAtomics,
            (Mode::Write, true) => Way::WriteBesideAtomics,
            (Mode::Atomic, true) => Way::Atomic,
            (Mode::Atomic | Mode::AtomicRead, _) => Way::Long,
        }
    }
}

/// A site in a launch, for the groups of one slot.
#[derive(Debug, Clone, Copy)]
pub struct FastPath {
    way: Way,
    memory: Memory,
    /// Of a cell's bytes.
    shift: u8,
    /// The object's first cell.
    cells: *mut u64,
}

impl FastPath {
    /// Without cells.
    pub const fn blind(way: Way) -> FastPath {
        FastPath { way, memory: Memory::Global, shift: 0, cells: std::ptr::null_mut() }
    }

    /// `cells`: those of an object, of `1 << shift` bytes each.
    pub(super) fn new<const N: usize>(way: Way, memory: Memory, shift: u32, cells: &mut [Cell<N>]) -> FastPath {
        FastPath { way, memory, shift: shift as u8, cells: cells.as_mut_ptr().cast() }
    }

    /// The item of `group` with that local linear id accesses the object's bytes from `offset` on. Whether that is all there is to do; if
    /// not, nothing has happened yet, and the access must go the long way.
    ///
    /// # Safety
    /// The lens was made for this launch and slot; `group` is what runs there; the access is in the object's bounds and aligned.
    #[inline(always)]
    pub unsafe fn pass(&self, group: *const ShadowGroup, item: u32, offset: u64) -> bool {
        if self.way == Way::Free {
            return true;
        }
        if self.way == Way::Long {
            return false;
        }
        // SAFETY: as promised; a way that looks has cells, and an access in bounds has its own.
        unsafe {
            let group = &*group;
            if !group.flights.is_empty() {
                return false;
            }
            let now = Now::new(group, self.memory, item);
            let index = (offset >> self.shift) as usize;
            let (plain, beside) = (self.cells.cast::<Cell<2>>(), self.cells.cast::<Cell<4>>());
            match self.way {
                Way::Free | Way::Long => false,
                Way::Read => read(&mut *plain.add(index), &now),
                Way::Write => write(&mut *plain.add(index), &now),
                Way::ReadBesideAtomics => read(&mut *beside.add(index), &now),
                Way::WriteBesideAtomics => write(&mut *beside.add(index), &now),
                Way::Atomic => atomic(&mut *beside.add(index), &now),
            }
        }
    }
}

/// Whether the last write, which is not stale, comes before an access now.
#[inline(always)]
fn is_before(word: u64, now: &Now<'_>) -> bool {
    word & FLAGGED == 0 && (word ^ now.word) >> 32 != 0 && !now.is_foreign(word)
}

/// Whether readers (or atomics) and a writer now do not meet.
#[inline(always)]
fn is_apart(word: u64, now: &Now<'_>) -> bool {
    word < now.valid || word == now.word || (word & GROUPS == 0 && is_before(word, now))
}

#[inline(always)]
fn read<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>) -> bool {
    let last = cell[WRITE];
    if last == now.word {
        return true;
    }
    // What was never written may be read, but not in local memory.
    let fine = if last < now.valid { now.memory != Memory::Local } else { is_before(last, now) };
    if !fine || (N > ATOMIC && cell[ATOMIC.min(N - 1)] >= now.valid) {
        return false;
    }
    let readers = cell[READ];
    let all = now.with(readers);
    if all != readers {
        cell[READ] = all;
    }
    true
}

#[inline(always)]
fn write<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>) -> bool {
    let last = cell[WRITE];
    if last == now.word {
        return true;
    }
    let fine = (last < now.valid || is_before(last, now)) && is_apart(cell[READ], now);
    let atomics = N > ATOMIC && (cell[ATOMIC.min(N - 1)] >= now.valid || cell[ATOMIC_READ.min(N - 1)] >= now.valid);
    if !fine || atomics {
        return false;
    }
    cell[WRITE] = now.word;
    true
}

#[inline(always)]
fn atomic<const N: usize>(cell: &mut Cell<N>, now: &Now<'_>) -> bool {
    let last = cell[WRITE];
    let fine = (last < now.valid || last == now.word || is_before(last, now)) && is_apart(cell[READ], now);
    if fine {
        let word = &mut cell[ATOMIC.min(N - 1)];
        *word = now.with(*word);
    }
    fine
}
