//! The private memory of a work-item that does not lie on its stack: placed variables, and what it allocates at run
//! time.
//!
//! Code knows both by addresses at which there is no memory ([`private`]); here is what they stand for.

use kassay_base::error::Result;
use kassay_model::native::abi::private;
use kassay_model::native::table::{NativeTable, Placed};

use super::memory::Reservation;

/// Maximum of a work-item's allocations together, in bytes. What does not fit has no memory: accesses to it are faults.
pub const MAX_ALLOCATED_BYTES: u64 = 1 << 20;

/// Alignment in bytes of allocations: that of the largest type.
const ALIGNMENT: u64 = 128;

/// Size of a cache line in bytes, and number of cache lines in a page.
const CACHE_LINE: u64 = 64;
const LINES_PER_PAGE: u64 = 64;

/// The memory that a program needs for each work-item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrivateNeeds {
    /// For placed variables, in bytes.
    pub placed: u64,
    /// For allocations, in bytes.
    pub allocated: u64,
}

impl PrivateNeeds {
    /// The needs of a program with this table.
    pub fn of(table: &NativeTable) -> PrivateNeeds {
        let allocated = if table.allocates { MAX_ALLOCATED_BYTES } else { 0 };
        PrivateNeeds { placed: table.placed_bytes, allocated }
    }

    /// What suffices for either.
    pub fn or(self, other: PrivateNeeds) -> PrivateNeeds {
        PrivateNeeds { placed: self.placed.max(other.placed), allocated: self.allocated.max(other.allocated) }
    }

    /// Both together, in bytes.
    pub fn bytes(self) -> u64 {
        self.placed.saturating_add(self.allocated)
    }
}

/// Something that a work-item has allocated.
#[derive(Debug, Clone, Copy)]
struct Allocation {
    object: u32,
    bytes: u64,
    /// Where it lies in the memory for allocations.
    offset: u64,
}

/// An object in private memory, and where an address lies with respect to it.
#[derive(Debug, Clone, Copy)]
pub struct Near {
    pub object: u32,
    /// Its size in bytes; 0 if it does not live (any more).
    pub bytes: u64,
    /// Distance of the address from its first byte.
    pub offset: i64,
    /// The memory of its first byte.
    pub base: *mut u8,
}

/// The memory of one work-item; reused for one after the other.
#[derive(Debug)]
pub struct PrivateMemory {
    placed: *mut u8,
    /// Where allocations begin.
    heap: *mut u8,
    needs: PrivateNeeds,
    allocations: Vec<Allocation>,
    _memory: Reservation,
}

impl PrivateMemory {
    /// Reserves memory. `number`: that of the fiber on which the work-items run; the memory begins at different cache
    /// lines of a page for different numbers, as stacks do.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn new(number: usize, needs: PrivateNeeds) -> Result<PrivateMemory> {
        let mut memory = Reservation::default();
        let (mut placed, mut heap) = (std::ptr::null_mut(), std::ptr::null_mut());
        if needs.bytes() > 0 {
            // Two cache lines at a time, to keep the alignment of the largest type.
            let shift = (number as u64).wrapping_mul(14) % LINES_PER_PAGE * CACHE_LINE;
            let before = (needs.placed + shift).next_multiple_of(ALIGNMENT);
            let base = memory.reserve(before.saturating_add(needs.allocated))?;
            placed = base.wrapping_add(shift as usize);
            heap = base.wrapping_add(before as usize);
        }
        Ok(PrivateMemory { placed, heap, needs, allocations: Vec::new(), _memory: memory })
    }

    /// Prepares for the next work-item, and returns where its placed variables lie.
    pub fn begin(&mut self) -> *mut u8 {
        self.allocations.clear();
        self.placed
    }

    /// Allocates `bytes` bytes for `object`, and returns their address for code.
    pub fn allocate(&mut self, object: u32, bytes: u64) -> u64 {
        let number = self.allocations.len() as u64;
        if number >= private::MAX_ALLOCATIONS {
            // After all allocations, where nothing lives.
            return private::END - private::STEP / 2;
        }
        let offset = self.allocations.last().map_or(0, |last| (last.offset + last.bytes).next_multiple_of(ALIGNMENT));
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.needs.allocated);
        self.allocations.push(Allocation { object, bytes: if fits { bytes } else { 0 }, offset });
        private::allocation(number)
    }

    /// The number of living allocations.
    pub fn allocated(&self) -> u64 {
        self.allocations.len() as u64
    }

    /// Ends all allocations but the first `count`.
    pub fn release(&mut self, count: u64) {
        self.allocations.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    }

    /// The object next to an address; `placed` are those of the program. `None` if the address is not one of private
    /// memory, or next to nothing that lives.
    pub fn near(&self, placed: &[Placed], address: u64) -> Option<Near> {
        let in_step = |from: u64| (((address - from) / private::STEP) as usize, (address - from) % private::STEP);
        let distance = |within: u64| within as i64 - (private::STEP / 2) as i64;
        if (private::BEGIN..private::ALLOCATIONS).contains(&address) {
            let (number, within) = in_step(private::BEGIN);
            let known = placed.get(number)?;
            let base = self.placed.wrapping_add(known.offset as usize);
            return Some(Near { object: known.object, bytes: known.bytes, offset: distance(within), base });
        }
        if (private::ALLOCATIONS..private::END).contains(&address) {
            let (number, within) = in_step(private::ALLOCATIONS);
            let known = self.allocations.get(number)?;
            let base = self.heap.wrapping_add(known.offset as usize);
            return Some(Near { object: known.object, bytes: known.bytes, offset: distance(within), base });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> PrivateMemory {
        PrivateMemory::new(3, PrivateNeeds { placed: 1000, allocated: 4096 }).unwrap()
    }

    #[test]
    fn addresses_are_those_of_the_next_object() {
        let mut memory = memory();
        let base = memory.begin();
        let placed = [Placed { object: 5, bytes: 8, offset: 0 }, Placed { object: 7, bytes: 100, offset: 128 }];
        let near = |address: u64| memory.near(&placed, address).map(|n| (n.object, n.offset, n.base as u64));
        let second = base as u64 + 128;
        assert_eq!(near(private::placed(0)), Some((5, 0, base as u64)));
        assert_eq!(near(private::placed(1)), Some((7, 0, second)));
        assert_eq!(near(private::placed(1) - 4), Some((7, -4, second)));
        assert_eq!(near(private::placed(0) + (1 << 38)), Some((5, 1 << 38, base as u64)));
        assert_eq!(near(private::placed(2)), None);
        assert_eq!(near(private::allocation(0)), None);
        assert_eq!(near(base as u64), None);
    }

    #[test]
    fn allocations_end_in_the_order_that_they_began_in() {
        let mut memory = memory();
        memory.begin();
        let first = memory.allocate(1, 100);
        let second = memory.allocate(2, 8);
        let (a, b) = (memory.near(&[], first).unwrap(), memory.near(&[], second + 4).unwrap());
        assert_eq!((a.object, a.bytes, b.object, b.bytes, b.offset), (1, 100, 2, 8, 4));
        assert_eq!(b.base as u64 - a.base as u64, 128);
        memory.release(1);
        assert!(memory.near(&[], second).is_none() && memory.near(&[], first).is_some());
        assert_eq!((memory.allocate(3, 4), memory.allocated()), (second, 2));
        memory.begin();
        assert!(memory.near(&[], first).is_none());
    }

    #[test]
    fn what_does_not_fit_has_no_bytes() {
        let mut memory = memory();
        for bytes in [4097, u64::MAX] {
            memory.begin();
            let address = memory.allocate(1, bytes);
            assert_eq!(memory.near(&[], address).unwrap().bytes, 0);
            let next = memory.allocate(1, 16);
            assert_eq!(memory.near(&[], next).unwrap().bytes, 16);
        }
    }
}
