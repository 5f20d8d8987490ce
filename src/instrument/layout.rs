//! The layout of the probe buffer: which words and bits belong to whom.

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
