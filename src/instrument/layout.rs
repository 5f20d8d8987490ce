//! The layout of the probe buffer: which words and bits belong to whom.

use crate::suite::launch::NdRange;

/// Words before the first slot; kept for the mutant's id and what else a launch must be told.
pub const HEADER_WORDS: u64 = 16;

/// What the slots of the probe buffer are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slots {
    /// One per work-group: bits that some item of the group has set.
    Groups,
    /// One per work-item, those of a group together.
    Items,
}

/// The part of the probe buffer that coverage owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageLayout {
    pub slots: Slots,
    /// Words of bits per slot.
    pub words: u32,
    /// With [`Slots::Groups`], words behind them that tell which barriers some item did *not* reach: one for each word that
    /// holds barrier bits, which are the first.
    pub missed_words: u32,
    /// Barrier bits: the first so many.
    pub barrier_bits: u32,
}

impl CoverageLayout {
    /// Words of one slot.
    pub fn stride(&self) -> u32 {
        match self.slots {
            Slots::Groups => self.words + self.missed_words,
            Slots::Items => self.words,
        }
    }

    /// Words of the whole buffer for a launch of so many groups and items; `None` on overflow.
    pub fn buffer_words(&self, groups: u64, items: u64) -> Option<u64> {
        let slots = match self.slots {
            Slots::Groups => groups,
            Slots::Items => items,
        };
        slots.checked_mul(u64::from(self.stride()))?.checked_add(HEADER_WORDS)
    }

    /// The same for a launch whose work-group size is decided. With slots per work-item each group has as many as the first one.
    pub fn words_for(&self, range: &NdRange) -> Option<u64> {
        self.buffer_words(range.groups(), range.groups().checked_mul(range.first_group_items())?)
    }

    /// The mask of the barrier bits in a word.
    pub fn barrier_mask(&self, word: u32) -> u32 {
        let bits = self.barrier_bits.saturating_sub(word * 32).min(32);
        if bits == 32 { u32::MAX } else { (1 << bits) - 1 }
    }
}

/// Hands out bits, from bit 0 of word 0 on.
#[derive(Debug, Default)]
pub struct Bits {
    next: u32,
}

impl Bits {
    /// `count` bits side by side in one word; returns the first.
    pub fn take(&mut self, count: u32) -> u32 {
        if self.next % 32 + count > 32 {
            self.next = self.next.next_multiple_of(32);
        }
        self.next += count;
        self.next - count
    }

    pub fn words(&self) -> u32 {
        self.next.div_ceil(32)
    }
}

/// The probe buffer of guarded modules (those with mutants): a header of [`HEADER_WORDS`], four words for each of the
/// kernel's own arguments, [`SLOT_WORDS`] for each slot, then the group map.
///
/// A *slot* is one run of the kernel within a launch: a launch without batches has one. All sizes are in 32-bit words;
/// 64-bit numbers have their low word first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLayout {
    /// Of the kernel, without the probe buffer.
    pub args: u32,
}

/// Words of a slot; see [`slot`].
pub const SLOT_WORDS: u32 = 8;

/// Words of the header, by position.
pub mod header {
    /// Loop iterations that each work-item may make in all, at most `i32::MAX`.
    pub const FUEL: u32 = 0;
    /// Slots of this launch, at least 1.
    pub const SLOTS: u32 = 1;
    /// Nonzero: the linear number of a launched work-group is looked up in the group map.
    pub const MAPPED: u32 = 2;
    /// Three words: numbers of work-groups of one slot, by dimension.
    pub const GROUPS: u32 = 3;
    /// Where the group map begins, in words from the buffer's start.
    pub const MAP: u32 = 6;
}

/// Words of an argument, by position: buffers and local arguments; 0 for others.
pub mod argument {
    /// Two words: extent of one slot's buffer in bytes.
    pub const EXTENT: u32 = 0;
    /// Two words: distance from one slot's buffer to the next in bytes; 0 where slots share it.
    pub const STRIDE: u32 = 2;
}

/// Words of a slot, by position. The first two go in, the others come out.
pub mod slot {
    /// The number of the mutant in force, from 1 on within its module; 0: none.
    pub const MUTANT: u32 = 0;
    /// A second one, in modules woven for pairs.
    pub const SECOND: u32 = 1;
    /// The fault of the first work-item that told of one (its last one): [`super::FaultKind`] in the low 8 bits, the number of the guarded
    /// instruction above; 0: none.
    pub const FAULT: u32 = 2;
    /// The number of work-items that had a fault is not kept; this is the linear global id of the one in `FAULT`.
    pub const FAULT_ITEM: u32 = 3;
    /// The most iterations that a work-item made.
    pub const FUEL_USED: u32 = 4;
}

/// What a guard stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FaultKind {
    Fuel = 1,
    OutOfBounds = 2,
    Division = 3,
}

impl FaultKind {
    /// Reads the word [`slot::FAULT`]: the kind and the number of the guarded instruction.
    pub fn read(word: u32) -> Option<(FaultKind, u32)> {
        let kind = match word & 0xff {
            1 => FaultKind::Fuel,
            2 => FaultKind::OutOfBounds,
            3 => FaultKind::Division,
            _ => return None,
        };
        Some((kind, word >> 8))
    }
}

impl GuardLayout {
    /// First word of argument `position`.
    pub fn argument(&self, position: u32) -> u32 {
        HEADER_WORDS as u32 + 4 * position
    }

    /// First word of slot `slot`.
    pub fn slot(&self, slot: u32) -> u32 {
        self.argument(self.args) + SLOT_WORDS * slot
    }

    /// Writes into the beginning of a probe buffer how many slots a launch has, and how far apart their buffers are, by
    /// argument, in bytes.
    pub fn set_batch(&self, head: &mut [u32], slots: u32, strides: &[u64]) {
        head[header::SLOTS as usize] = slots;
        for (position, stride) in (0..).zip(strides) {
            let at = (self.argument(position) + argument::STRIDE) as usize;
            head[at] = *stride as u32;
            head[at + 1] = (*stride >> 32) as u32;
        }
    }

    /// Words of the buffer for so many slots, with a map of so many work-groups (0: none).
    pub fn words(&self, slots: u32, mapped: u64) -> u64 {
        u64::from(self.slot(slots)) + mapped
    }
}
