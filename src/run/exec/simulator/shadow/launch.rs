//! Describes a launch to the race detector: its grid, the objects in memory, and the identity of accesses.

use kassay_model::native::table::{NativeTable, Space};

/// Kinds of memory that barriers and fences order separately (`cl_mem_fence_flags`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// `CLK_LOCAL_MEM_FENCE`.
    Local,
    /// `CLK_GLOBAL_MEM_FENCE`.
    #[default]
    Global,
    /// `CLK_IMAGE_MEM_FENCE`.
    Image,
}

impl Memory {
    /// All kinds of memory.
    pub const ALL: [Memory; 3] = [Memory::Local, Memory::Global, Memory::Image];

    /// Its bit in `cl_mem_fence_flags`.
    pub fn flag(self) -> u32 {
        match self {
            Memory::Local => 1,
            Memory::Global => 2,
            Memory::Image => 4,
        }
    }
}

/// The memory of an object of the table in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Which fences order it.
    pub memory: Memory,
    /// Size in bytes; for local memory, that of one group. 0 if it is never accessed.
    pub bytes: u64,
    /// Size of a cell in bytes, a power of two: accesses are treated as covering whole cells.
    pub granule: u32,
    /// Whether it is a buffer to which nothing was written before the launch. (Nothing is ever written to local memory
    /// before the group.)
    pub uninitialised: bool,
    /// Whether it is also the memory of other objects, which may write there.
    pub shared: bool,
}

impl Area {
    /// The area of an object that is not an image. Private and constant memory needs no shadow.
    pub fn of(table: &NativeTable, object: u32, bytes: u64) -> Area {
        let index = object as usize;
        let space = table.objects.get(index).map_or(Space::Private, |o| o.space);
        let granule = table.granule.get(index).copied().filter(|g| g.is_power_of_two()).unwrap_or(1);
        let (memory, bytes) = match space {
            Space::Local => (Memory::Local, bytes),
            Space::Global | Space::Generic => (Memory::Global, bytes),
            Space::Private | Space::Constant => (Memory::Global, 0),
        };
        Area { memory, bytes, granule, uninitialised: false, shared: false }
    }

    /// The area of an image of `bytes` bytes, as the simulator stores it, with `texel` bytes per texel.
    pub fn image(bytes: u64, texel: u32) -> Area {
        let granule = 1 << texel.trailing_zeros().min(4);
        Area { memory: Memory::Image, bytes, granule, uninitialised: false, shared: false }
    }

    /// Returns whether a read finds no value unless something was written before it.
    pub(super) fn starts_empty(&self) -> bool {
        self.memory == Memory::Local || self.uninitialised
    }

    /// Number of cells in the area.
    pub(super) fn cells(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.granule))
    }
}

/// Sizes of a launch; unused dimensions are 1 (offset 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Work-items, by dimension.
    pub global: [u64; 3],
    /// As enqueued; the last groups may be smaller.
    pub local: [u64; 3],
    /// The global offset.
    pub offset: [u64; 3],
}

impl Grid {
    pub(super) fn groups(&self) -> [u64; 3] {
        std::array::from_fn(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }

    /// The group's id, from its linear number (dimension 0 fastest).
    pub(super) fn group_id(&self, group: u64) -> [u64; 3] {
        split(group, self.groups())
    }

    /// The group's size.
    fn group_size(&self, id: [u64; 3]) -> [u64; 3] {
        std::array::from_fn(|d| self.local[d].min(self.global[d].saturating_sub(id[d] * self.local[d])))
    }

    /// The global id of the group's work-item with this local linear id; for numbers beyond the last work-item, that of
    /// the group's first one.
    pub(super) fn global_id(&self, group: u64, item: u64) -> [u64; 3] {
        let id = self.group_id(group);
        let size = self.group_size(id);
        let item = if item < size.iter().product() { item } else { 0 };
        let local = split(item, size);
        std::array::from_fn(|d| id[d] * self.local[d] + local[d] + self.offset[d])
    }
}

/// Splits a linear number into three coordinates, dimension 0 fastest.
fn split(linear: u64, sizes: [u64; 3]) -> [u64; 3] {
    let [x, y] = [sizes[0].max(1), sizes[1].max(1)];
    [linear % x, linear / x % y, linear / x / y]
}

/// The work-item that makes an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accessor {
    /// The slot that holds its group's local memory: the number that was passed to [`super::Shadow::begin_group`].
    pub slot: u32,
    /// Local linear id.
    pub item: u32,
    /// Number of accesses to global and local memory that it has made before.
    pub number: u64,
}

/// The target of an access: an object of the table and a byte offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Position of the object in the table.
    pub object: u32,
    /// In bytes from its start.
    pub offset: u64,
}

/// A part of an object's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Position of the object in the table.
    pub object: u32,
    /// Where it begins, in bytes.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// `count` elements of `element` bytes, each beginning `stride` elements after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    /// Where the first one begins.
    pub place: Place,
    /// How many elements.
    pub count: u64,
    /// Bytes of an element.
    pub element: u64,
    /// In elements; 1: they are adjacent.
    pub stride: u64,
}

impl Strided {
    fn step(&self) -> u64 {
        self.stride.saturating_mul(self.element)
    }

    /// The positions of its elements.
    pub(super) fn places(self) -> impl Iterator<Item = Place> {
        let at = move |k| self.place.offset.saturating_add(self.step().saturating_mul(k));
        (0..self.count).map(move |k| Place { object: self.place.object, offset: at(k) })
    }

    /// Returns whether `bytes` bytes at `place` overlap with one of its elements.
    pub(super) fn touches(&self, place: Place, bytes: u64) -> bool {
        if place.object != self.place.object || self.count == 0 || self.element == 0 {
            return false;
        }
        // The first element that ends after the start of `place`; it overlaps if it begins before the end of `place`.
        let skipped = (place.offset + 1).saturating_sub(self.place.offset + self.element);
        let k = if self.step() == 0 { 0 } else { skipped.div_ceil(self.step()) };
        let begin = self.place.offset.saturating_add(self.step().saturating_mul(k));
        k < self.count && begin < place.offset + bytes && begin + self.element > place.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_elements_touch_what_overlaps_with_them() {
        for (offset, count, element, stride) in [(0, 3, 4, 1), (5, 4, 2, 3), (7, 1, 8, 9), (3, 0, 4, 2), (6, 5, 4, 0)] {
            let strided = Strided { place: Place { object: 1, offset }, count, element, stride };
            for (at, bytes) in (0..40).flat_map(|at| [1, 2, 4, 8].map(|bytes| (at, bytes))) {
                let brute = strided.places().any(|p| p.offset < at + bytes && at < p.offset + element);
                let place = Place { object: 1, offset: at };
                assert_eq!(strided.touches(place, bytes), brute, "{strided:?} at {at}, {bytes} bytes");
                assert!(!strided.touches(Place { object: 0, ..place }, bytes));
            }
        }
    }

    #[test]
    fn items_have_the_ids_of_their_groups() {
        let grid = Grid { global: [10, 3, 1], local: [4, 2, 1], offset: [100, 0, 0] };
        assert_eq!(grid.groups(), [3, 2, 1]);
        assert_eq!(grid.group_id(5), [2, 1, 0]);
        assert_eq!(grid.global_id(1, 6), [106, 1, 0]);
        // The last group has 2 x 1 items.
        assert_eq!(grid.global_id(5, 1), [109, 2, 0]);
        assert_eq!(grid.global_id(5, 8), [108, 2, 0]);
    }
}
