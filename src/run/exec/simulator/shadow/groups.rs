//! Running groups, and stamps for the intervals between their barriers.
//!
//! A stamp is the number of an interval; a barrier gives its group a new one for each memory that its flags name.
//! Stamps grow from launch to launch, so what earlier launches left in shadow memory is known to be stale. Work-items
//! are numbered over the whole launch, group after group, so a work-item's number determines its group. A stamp and a
//! work-item's number form a *word*, which is what shadow cells hold.

use super::launch::{Memory, Strided};

/// The bits of a word that hold the work-item's number.
pub const ITEM: u64 = (1 << 30) - 1;
/// Set in a word that stands for readers or atomics: several work-items, all in the word's interval.
pub const SEVERAL: u64 = 1 << 30;
/// Set in such a word: work-items of several groups, in any intervals.
pub const GROUPS: u64 = 1 << 31;

/// Both sides of an asynchronous copy that has not been waited for.
#[derive(Debug, Clone, Copy)]
pub struct PendingCopy {
    /// Several copies may have one.
    pub event: u64,
    pub destination: Strided,
    pub source: Strided,
}

/// Whether a wait for these events, which ascend, is one for this event; `None` stands for all.
pub fn is_waited_for(events: Option<&[u64]>, event: u64) -> bool {
    events.is_none_or(|events| events.binary_search(&event).is_ok())
}

/// A group that runs in a slot.
#[derive(Debug, Clone, Default)]
pub struct ShadowGroup {
    /// By memory: the current interval's stamp combined with the number of the group's first work-item.
    words: [u64; 3],
    /// By memory: words below this were left by earlier launches or, in local memory, earlier groups; or all accesses
    /// that they stand for happened before a barrier of the grid.
    valid: [u64; 3],
    /// The same without barriers of the grid.
    begun: [u64; 3],
    /// The number of the group's first work-item.
    pub first: u32,
    /// Number of work-items in a group, plus one that stands for copies.
    pub stride: u32,
    /// The number of groups that began before this one in the launch.
    pub sequence: u32,
    /// By memory: the number of completed intervals.
    pub intervals: [u32; 3],
    /// By memory: the number of barriers of the grid that it has passed.
    phases: [u32; 3],
    /// Whether stamps were reset while it ran, so that cells forgot what it had written.
    was_reset: bool,
    /// Whether they were reset since the launch began.
    launch_was_reset: bool,
    /// Whether a group runs in the slot.
    pub active: bool,
    /// Asynchronous copies that it has not waited for.
    pub pending_copies: Vec<PendingCopy>,
}

impl ShadowGroup {
    /// The word by which a cell remembers a work-item's access now.
    #[inline]
    pub fn word(&self, memory: Memory, item: u32) -> u64 {
        self.words[memory as usize] + u64::from(item)
    }

    #[inline]
    /// Words below this are stale in `memory`.
    pub fn valid(&self, memory: Memory) -> u64 {
        self.valid[memory as usize]
    }

    /// Words below this stand for nothing that was written to `memory` as it is now.
    pub fn begun(&self, memory: Memory) -> u64 {
        self.begun[memory as usize]
    }

    /// Returns whether cells may have forgotten what was written to `memory`.
    pub fn has_forgotten(&self, memory: Memory) -> bool {
        if memory == Memory::Local { self.was_reset } else { self.launch_was_reset }
    }

    /// The work-item that stands for the group's copies.
    pub fn copier(&self) -> u32 {
        self.stride - 1
    }

    /// Returns whether a word, which must be valid, is of another group.
    #[inline]
    pub fn is_foreign(&self, word: u64) -> bool {
        ((word & ITEM) as u32).wrapping_sub(self.first) >= self.stride
    }

    /// The number of the current interval in `memory`.
    pub fn interval(&self, memory: Memory) -> u32 {
        self.intervals[memory as usize]
    }

    /// The number of barriers of the grid that it has passed, as far as they order `memory`.
    pub fn phase(&self, memory: Memory) -> u32 {
        self.phases[memory as usize]
    }
}

/// All slots, and the stamps.
#[derive(Debug)]
pub struct Groups {
    #[expect(clippy::vec_box, reason = "hooks point to slots, so that they must not move")]
    slots: Vec<Box<ShadowGroup>>,
    /// The next stamp.
    next: u32,
    /// The launch's first stamp.
    launch: u32,
    stride: u32,
    /// Whether stamps were reset since the launch began.
    was_reset: bool,
    /// Linear numbers of the groups that have begun, in that order, which is the order in which work-items
    /// are numbered.
    started: Vec<u64>,
}

/// What to do after stamps have been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum StampReset {
    NotNeeded,
    /// All shadow memory must be zeroed, because stamps were reset.
    Clear,
}

/// If a launch begins with a stamp from this on, stamps are reset.
const RESET_FROM: u32 = 1 << 31;

impl Groups {
    /// No slots; stamps begin with 1.
    pub fn new() -> Groups {
        Groups { slots: Vec::new(), next: 1, launch: 1, stride: 1, was_reset: false, started: Vec::new() }
    }

    /// Begins a launch whose groups have at most `items` work-items.
    pub fn begin_launch(&mut self, items: u32) -> StampReset {
        self.slots.iter_mut().for_each(|slot| slot.active = false);
        let reset = if self.next >= RESET_FROM { StampReset::Clear } else { StampReset::NotNeeded };
        if reset == StampReset::Clear {
            self.next = 1;
        }
        self.launch = self.next;
        self.was_reset = false;
        self.stride = items + 1;
        self.started.clear();
        reset
    }

    /// Begins the group with linear number `group` in a slot.
    pub fn begin(&mut self, slot: u32, group: u64) -> StampReset {
        let index = slot as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Box::default);
        }
        self.slots[index].active = false;
        let (stamp, reset) = self.take_stamp();
        let sequence = self.started.len() as u32;
        let first = sequence.wrapping_mul(self.stride);
        let old = u64::from(self.launch) << 32;
        let begun = Memory::ALL.map(|m| if m == Memory::Local { u64::from(stamp) << 32 } else { old });
        *self.slots[index] = ShadowGroup {
            words: [u64::from(stamp) << 32 | u64::from(first); 3],
            valid: begun,
            begun,
            first,
            stride: self.stride,
            sequence,
            launch_was_reset: self.was_reset,
            active: true,
            ..ShadowGroup::default()
        };
        self.started.push(group);
        reset
    }

    /// Returns whether the numbers for work-items are used up, so that no further group can be distinguished.
    pub fn are_used_up(&self) -> bool {
        (self.started.len() as u64 + 1) * u64::from(self.stride) > ITEM
    }

    /// The linear number, as the kernel sees its id, of the group that began after `group` others.
    pub fn linear(&self, group: u64) -> u64 {
        usize::try_from(group).ok().and_then(|n| self.started.get(n).copied()).unwrap_or(group)
    }

    /// Ends the group of a slot.
    pub fn end(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.active = false;
            slot.pending_copies.clear();
        }
    }

    /// Begins a new interval for each memory that `flags` name.
    pub fn advance(&mut self, slot: u32, flags: u32) -> StampReset {
        if !Memory::ALL.iter().any(|m| flags & m.flag() != 0) {
            return StampReset::NotNeeded;
        }
        let (stamp, reset) = self.take_stamp();
        let Some(slot) = self.slots.get_mut(slot as usize) else { return reset };
        for memory in Memory::ALL.into_iter().filter(|m| flags & m.flag() != 0) {
            slot.words[memory as usize] = u64::from(stamp) << 32 | u64::from(slot.first);
            slot.intervals[memory as usize] += 1;
        }
        reset
    }

    /// Begins a new interval for each memory that `flags` name, in all these slots at the same time: what happened
    /// before is in order with everything after, in each group.
    pub fn advance_all(&mut self, slots: &[u32], flags: u32) -> StampReset {
        let (stamp, reset) = self.take_stamp();
        for number in slots {
            let Some(slot) = self.slots.get_mut(*number as usize) else { continue };
            for memory in Memory::ALL.into_iter().filter(|m| flags & m.flag() != 0) {
                slot.words[memory as usize] = u64::from(stamp) << 32 | u64::from(slot.first);
                slot.intervals[memory as usize] += 1;
                // Local memory is each group's own.
                if memory != Memory::Local {
                    slot.valid[memory as usize] = u64::from(stamp) << 32;
                    slot.phases[memory as usize] += 1;
                }
            }
        }
        reset
    }

    /// The word of a copy of the group, in an interval of its own.
    pub fn copy(&mut self, slot: u32) -> (u64, StampReset) {
        let (stamp, reset) = self.take_stamp();
        let item = self.slots.get(slot as usize).map_or(0, |s| s.first + s.copier());
        (u64::from(stamp) << 32 | u64::from(item), reset)
    }

    /// Takes a new stamp. If none is left, stamps are reset in the middle of a launch, and everything known
    /// is forgotten.
    fn take_stamp(&mut self) -> (u32, StampReset) {
        let reset = if self.next == u32::MAX { StampReset::Clear } else { StampReset::NotNeeded };
        if reset == StampReset::Clear {
            self.launch = 1;
            self.next = 2;
            self.was_reset = true;
            for slot in self.slots.iter_mut().filter(|s| s.active) {
                slot.words = [1 << 32 | u64::from(slot.first); 3];
                slot.valid = [1 << 32; 3];
                slot.begun = [1 << 32; 3];
                slot.was_reset = true;
                slot.launch_was_reset = true;
            }
        }
        let stamp = self.next;
        self.next += 1;
        (stamp, reset)
    }

    #[inline]
    /// The group in a slot.
    pub fn slot(&self, slot: u32) -> Option<&ShadowGroup> {
        self.slots.get(slot as usize).map(|slot| &**slot)
    }

    /// The group in a slot, mutably.
    pub fn slot_mut(&mut self, slot: u32) -> Option<&mut ShadowGroup> {
        self.slots.get_mut(slot as usize).map(|slot| &mut **slot)
    }

    /// Returns whether the group that began after `sequence` others is still running.
    pub fn runs(&self, sequence: u32) -> bool {
        self.slots.iter().any(|s| s.active && s.sequence == sequence)
    }

    /// Continues as if all stamps below `next` had been taken.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u32) {
        self.next = next;
    }
}
