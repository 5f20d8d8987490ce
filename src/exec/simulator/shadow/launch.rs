//! What the detector must know of a launch: its grid, what lies in memory, who accesses.

use crate::lower::host::table::{HostTable, Space};

/// Kinds of memory that barriers and fences order apart (`cl_mem_fence_flags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    Local,
    Global,
    Image,
}

impl Memory {
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

/// What an object of the table is in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub memory: Memory,
    /// Bytes; of local memory: of one group. 0: never accessed.
    pub bytes: u64,
    /// Bytes of a cell, a power of two: accesses are taken to cover whole cells.
    pub granule: u32,
}

impl Area {
    /// Of an object that is no image. Private and constant memory needs no shadow.
    pub fn of(table: &HostTable, object: u32, bytes: u64) -> Area {
        let index = object as usize;
        let space = table.objects.get(index).map_or(Space::Private, |o| o.space);
        let granule = table.granule.get(index).copied().filter(|g| g.is_power_of_two()).unwrap_or(1);
        let (memory, bytes) = match space {
            Space::Local => (Memory::Local, bytes),
            Space::Global | Space::Generic => (Memory::Global, bytes),
            Space::Private | Space::Constant => (Memory::Global, 0),
        };
        Area { memory, bytes, granule }
    }

    /// Of an image: `bytes` as the simulator stores it, cells of one texel or a part of it.
    pub fn image(bytes: u64, granule: u32) -> Area {
        Area { memory: Memory::Image, bytes, granule: if granule.is_power_of_two() { granule } else { 1 } }
    }

    /// Cells that it needs.
    pub(super) fn cells(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.granule))
    }
}

/// Sizes of a launch, unused dimensions 1 (offset 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub global: [u64; 3],
    /// As enqueued: the last groups may be smaller.
    pub local: [u64; 3],
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

    /// The global id of the group's item with that local linear id; of numbers behind the last item: of the group's first item.
    pub(super) fn global_id(&self, group: u64, item: u64) -> [u64; 3] {
        let id = self.group_id(group);
        let size = self.group_size(id);
        let item = if item < size.iter().product() { item } else { 0 };
        let local = split(item, size);
        std::array::from_fn(|d| id[d] * self.local[d] + local[d] + self.offset[d])
    }
}

/// A linear number as three, dimension 0 fastest.
fn split(linear: u64, sizes: [u64; 3]) -> [u64; 3] {
    let [x, y] = [sizes[0].max(1), sizes[1].max(1)];
    [linear % x, linear / x % y, linear / x / y]
}

/// A work-item that accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who {
    /// Where its group's local memory is: the number that [`super::Shadow::begin_group`] was given.
    pub slot: u32,
    /// Local linear id.
    pub item: u32,
    /// How many accesses to global and local memory it has made before.
    pub number: u64,
}

/// Where an access goes: an object of the table, and where in it, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub object: u32,
    pub offset: u64,
}

/// `count` elements of `element` bytes, `stride` elements from one's begin to the next one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    pub place: Place,
    pub count: u64,
    pub element: u64,
    pub stride: u64,
}
