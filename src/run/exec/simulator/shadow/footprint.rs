//! Measures how much memory a launch touches, and how many work-items share it: guidance for the search for inputs
//! (SIMULEE 3.1).

use kassay_base::error::Result;

use super::cell_arrays::CellArrays;
use super::launch::{Accessor, Area, Place, Strided};
use crate::exec::simulator::observer::Observer;
use crate::exec::simulator::program::Site;

/// Addresses of global and local memory that a launch touched.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Footprint {
    /// Number of distinct cells that were accessed.
    pub addresses: u64,
    /// Sum over all cells of the number of work-items that accessed the cell (counted up to 2 per cell).
    pub threads: u64,
    /// Distance in bytes between the lowest and the highest touched address of an object: the largest of all objects.
    pub range: u64,
}

/// Set in a cell that several work-items touched.
const SEVERAL: u64 = 1 << 63;

/// Counts cells and work-items as they are touched.
#[derive(Debug, Default)]
pub struct FootprintCounter {
    /// The work-item of the launch that touched each cell first, counted from 1; those of a group follow each other,
    /// and one more stands for its copies. In local memory it may be of a group that is over.
    places: CellArrays<u64>,
    /// Number of them for each group.
    stride: u64,
    /// By slot: the linear number of its group.
    groups: Vec<u64>,
    addresses: u64,
    threads: u64,
    /// By object: its lowest touched byte, and the one after the highest.
    ranges: Vec<Option<(u64, u64)>>,
}

impl FootprintCounter {
    /// The footprint of the launch so far.
    pub fn total(&self) -> Footprint {
        let range = self.ranges.iter().flatten().map(|(low, high)| high - low).max().unwrap_or_default();
        Footprint { addresses: self.addresses, threads: self.threads, range }
    }

    /// Counts an access by a work-item of the group in a slot.
    fn touch(&mut self, slot: u32, item: u64, place: Place, bytes: u64) {
        let (Some(cells), Some(group)) = (self.places.object(place.object), self.groups.get(slot as usize)) else {
            return;
        };
        let group = group * self.stride..(group + 1) * self.stride;
        let me = group.start + item + 1;
        let is_local = cells.is_local();
        let (first, count) = cells.touched(place.offset, bytes);
        for cell in cells.range(slot, first, count) {
            let known = *cell & !SEVERAL;
            if known == 0 || is_local && !group.contains(&(known - 1)) {
                *cell = me;
                self.addresses += 1;
                self.threads += 1;
            } else if *cell & SEVERAL == 0 && known != me {
                *cell |= SEVERAL;
                self.threads += 1;
            }
        }
        if let Some(range) = self.ranges.get_mut(place.object as usize) {
            let (low, high) = range.unwrap_or((place.offset, place.offset + bytes));
            *range = Some((low.min(place.offset), high.max(place.offset + bytes)));
        }
    }
}

impl Observer for FootprintCounter {
    fn begin(&mut self, areas: &[Area], items: u64) -> Result<()> {
        self.places.clear();
        self.places.begin(areas)?;
        self.stride = items + 1;
        self.addresses = 0;
        self.threads = 0;
        self.ranges = vec![None; areas.len()];
        Ok(())
    }

    fn watches(&self, _site: &Site) -> bool {
        true
    }

    fn begin_group(&mut self, slot: u32, group: u64) -> Result<()> {
        if self.groups.len() <= slot as usize {
            self.groups.resize(slot as usize + 1, 0);
        }
        self.groups[slot as usize] = group;
        self.places.open(slot)
    }

    fn access(&mut self, by: Accessor, _site: u32, place: Place, bytes: u64) {
        self.touch(by.slot, u64::from(by.item), place, bytes);
    }

    fn copy(&mut self, slot: u32, to: Strided, from: Strided) {
        for side in [from, to] {
            side.places().for_each(|place| self.touch(slot, self.stride - 1, place, side.element));
        }
    }
}
