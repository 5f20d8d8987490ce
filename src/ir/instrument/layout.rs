//! Defines the layout of the probe buffer.

use kassay_suite::launch::NdRange;

/// Words before the first slot, reserved for launch parameters (see [`header`]).
pub const HEADER_WORDS: u64 = 16;

/// Granularity of the slots of the probe buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slots {
    /// One per work-group: the bits that any item of the group has set.
    Groups,
    /// One per work-item; the slots of a group are adjacent.
    Items,
    /// For hosts of a user's own: one per work-group, as many as the buffer has room for; all groups beyond these share
    /// the last one. The host writes the buffer's length into the header ([`header::LENGTH`]), the kernel its number
    /// (`id`) and the launch's range.
    Bounded {
        /// The number that the kernel writes into the header ([`header::ID`]).
        id: u32,
    },
    /// Likewise, with a slot per work-item, as with `Items`. Work-items beyond the last slot record nothing.
    BoundedItems {
        /// The number that the kernel writes into the header ([`header::ID`]).
        id: u32,
    },
}

impl Slots {
    /// Returns whether each work-item has a slot of its own, so that a tally counts work-items.
    pub fn are_per_item(self) -> bool {
        matches!(self, Slots::Items | Slots::BoundedItems { .. })
    }

    /// Returns the number that the kernel writes into the header, if it writes one.
    pub fn stamp(self) -> Option<u32> {
        match self {
            Slots::Bounded { id } | Slots::BoundedItems { id } => Some(id),
            Slots::Groups | Slots::Items => None,
        }
    }
}

/// The coverage part of the probe buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageLayout {
    /// How many slots there are, and whose.
    pub slots: Slots,
    /// Words of coverage bits per slot.
    pub words: u32,
    /// With slots per work-group: additional words after them that record the barriers that some item did *not* reach,
    /// one for each word with barrier bits (which are the first words).
    pub missed_words: u32,
    /// Number of barrier bits, which come first.
    pub barrier_bits: u32,
}

impl CoverageLayout {
    /// Number of words per slot.
    pub fn stride(&self) -> u32 {
        // With slots per work-item there are none of the latter.
        self.words + self.missed_words
    }

    /// Number of words of the buffer for a launch of this many groups and items; `None` on overflow.
    pub fn buffer_words(&self, groups: u64, items: u64) -> Option<u64> {
        let slots = if self.slots.are_per_item() { items } else { groups };
        slots.checked_mul(u64::from(self.stride()))?.checked_add(HEADER_WORDS)
    }

    /// As [`buffer_words`](CoverageLayout::buffer_words), for a launch with a fixed work-group size. With slots per
    /// work-item, each group has as many as the first one.
    pub fn words_for(&self, range: &NdRange) -> Option<u64> {
        self.buffer_words(range.groups(), range.groups().checked_mul(range.first_group_items())?)
    }

    /// Mask of the barrier bits in a word.
    pub fn barrier_mask(&self, word: u32) -> u32 {
        let bits = self.barrier_bits.saturating_sub(word * 32).min(32);
        if bits == 32 { u32::MAX } else { (1 << bits) - 1 }
    }
}

/// Allocates bits, starting at bit 0 of word 0.
#[derive(Debug, Default)]
pub struct Bits {
    next: u32,
}

impl Bits {
    /// Allocates `count` adjacent bits and returns the first: within one word, or from the start of one if they are
    /// more.
    pub fn take(&mut self, count: u32) -> u32 {
        if self.next % 32 + count > 32 {
            self.next = self.next.next_multiple_of(32);
        }
        self.next += count;
        self.next - count
    }

    /// Number of words that hold the bits allocated so far.
    pub fn words(&self) -> u32 {
        self.next.div_ceil(32)
    }
}

/// The probe buffer of guarded modules (those with mutants): a header of [`HEADER_WORDS`], four words for each of the
/// kernel's own arguments, [`SLOT_WORDS`] for each slot, then the group map.
///
/// A *slot* is one run of the kernel within a launch; a launch that is not batched has one. All sizes are in 32-bit
/// words; 64-bit numbers are stored with the low word first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLayout {
    /// Number of arguments of the kernel, without the probe buffer.
    pub args: u32,
}

/// The function that returns a work-item's slot, `global uint *(global uint *probe)`: guards and mutants call it, and
/// [`super::ids`] defines it, which maps work-groups to slots.
pub const SLOT_FUNCTION: &str = "__kassay_slot";

/// The function that returns the parameters of a work-item's run, with the layout of the header and of the arguments
/// after it, `global uint *(global uint *probe)`: guards call it, and [`super::ids`] defines it. Only in joint
/// launches is it not the probe buffer.
pub const PARAMETERS_FUNCTION: &str = "__kassay_parameters";

/// Words per slot; see [`slot`].
pub const SLOT_WORDS: u32 = 8;

/// Positions of words in the header.
pub mod header {
    /// Total loop iterations allowed per work-item, at most `i32::MAX`.
    pub const FUEL: u32 = 0;
    /// Number of slots in this launch, at least 1.
    pub const SLOTS: u32 = 1;
    /// Nonzero if the linear number of a launched work-group is to be looked up in the group map.
    pub const MAPPED: u32 = 2;
    /// Three words: number of work-groups of one slot by dimension.
    pub const GROUPS: u32 = 3;
    /// Start of the group map, in words from the start of the buffer.
    pub const MAP: u32 = 6;
    /// With [`super::Slots::Bounded`] and [`super::Slots::BoundedItems`]: the buffer's length in words, written by the
    /// host. The kernel writes [`GROUPS`] and all that follows.
    pub const LENGTH: u32 = 7;
    /// Three words: size of the first work-group by dimension.
    pub const LOCAL: u32 = 8;
    /// Three words: number of work-items by dimension.
    pub const GLOBAL: u32 = 11;
    /// [`MAGIC_NUMBER`].
    pub const MAGIC: u32 = 14;
    /// The number of the module that ran ([`super::Slots::stamp`]).
    pub const ID: u32 = 15;

    /// Shows that a kernel with probes for hosts of a user's own has written to the buffer: the bytes `KASY`, low byte
    /// first.
    pub const MAGIC_NUMBER: u32 = 0x5953_414b;
}

/// Positions of words for an argument. Used for buffers and local arguments; 0 for others.
pub mod argument {
    /// Two words: size of one slot's buffer in bytes.
    pub const EXTENT: u32 = 0;
    /// Two words: distance between the buffers of consecutive slots in bytes; 0 if all slots share one.
    pub const STRIDE: u32 = 2;
}

/// Positions of words in a slot. The first two are inputs, the others outputs.
pub mod slot {
    /// The number of the active mutant, from 1 within its module; 0: none.
    pub const MUTANT: u32 = 0;
    /// A second active mutant, in modules woven for pairs.
    pub const SECOND: u32 = 1;
    /// The fault (each work-item reports its last; the greatest word of all of them is kept, whichever came first):
    /// [`super::FaultKind`] in the low 8 bits, the number of the guarded instruction above; 0: none.
    pub const FAULT: u32 = 2;
    /// Linear global id of a work-item that reported the word in `FAULT`; if work-items with other words report at the
    /// same time, it may be one of theirs. The number of work-items with a fault is not recorded.
    pub const FAULT_ITEM: u32 = 3;
    /// The maximum number of iterations of a work-item.
    pub const FUEL_USED: u32 = 4;
}

/// The kind of fault that a guard detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FaultKind {
    /// A work-item made more loop iterations than it may.
    Fuel = 1,
    /// An access lies outside its object.
    OutOfBounds = 2,
    /// An integer is divided by zero, or the quotient overflows.
    Division = 3,
    /// An assertion that fails, or another trap.
    Trap = 4,
}

impl FaultKind {
    /// Decodes the word [`slot::FAULT`]: the kind and the number of the guarded instruction.
    pub fn read(word: u32) -> Option<(FaultKind, u32)> {
        let kind = match word & 0xff {
            1 => FaultKind::Fuel,
            2 => FaultKind::OutOfBounds,
            3 => FaultKind::Division,
            4 => FaultKind::Trap,
            _ => return None,
        };
        Some((kind, word >> 8))
    }

    /// Returns a description. It names the cause, by which mutants are judged; suites and findings name the effect
    /// ([`kassay_suite::faults::FaultClass`]).
    pub fn words(self) -> &'static str {
        match self {
            FaultKind::Fuel => "a work-item ran out of loop iterations",
            FaultKind::OutOfBounds => "access out of bounds",
            FaultKind::Division => "division by zero, or overflowing",
            FaultKind::Trap => "failed assertion, or another trap",
        }
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

    /// Writes the number of slots of a launch, and by argument the distance of their buffers in bytes, into the
    /// beginning of a probe buffer.
    pub fn set_batch(&self, head: &mut [u32], slots: u32, strides: &[u64]) {
        head[header::SLOTS as usize] = slots;
        for (position, stride) in (0..).zip(strides) {
            let at = (self.argument(position) + argument::STRIDE) as usize;
            head[at] = *stride as u32;
            head[at + 1] = (*stride >> 32) as u32;
        }
    }

    /// Number of words of the buffer for `slots` slots and a group map of `mapped` work-groups (0: none).
    pub fn words(&self, slots: u32, mapped: u64) -> u64 {
        u64::from(self.slot(slots)) + mapped
    }
}
