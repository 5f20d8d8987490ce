//! Measures how much memory a launch touches, and how many work-items share it: guidance for the search for inputs
//! (SIMULEE 3.1).

use super::cell_arrays::CellArrays;
use super::groups::{ITEM, SEVERAL};
use super::launch::Area;
use crate::error::Result;
use crate::exec::simulator::observation::Footprint;

/// Counts cells and work-items as they are touched.
#[derive(Debug, Default)]
pub struct FootprintCounter {
    /// The work-items that touched each cell since the launch (for local memory: the group) began.
    places: CellArrays<u64>,
    addresses: u64,
    threads: u64,
    /// By object: its lowest touched byte, and the one after the highest.
    ranges: Vec<Option<(u64, u64)>>,
}

impl FootprintCounter {
    /// Begins a launch.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn begin(&mut self, areas: &[Area]) -> Result<()> {
        self.places.begin(areas)?;
        self.addresses = 0;
        self.threads = 0;
        self.ranges = vec![None; areas.len()];
        Ok(())
    }

    /// Begins to use a slot.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn open(&mut self, slot: u32) -> Result<()> {
        self.places.open(slot)
    }

    /// Zeroes all cells.
    pub fn clear(&mut self) {
        self.places.clear();
    }

    /// Counts an access by the work-item with this number to an object; words below `valid` are of earlier launches
    /// or groups.
    pub fn touch(&mut self, slot: u32, valid: u64, item: u32, object: u32, (offset, bytes): (u64, u64)) {
        let Some(cells) = self.places.object(object) else { return };
        let (first, count) = cells.touched(offset, bytes);
        let me = valid + u64::from(item);
        for cell in cells.range(slot, first, count) {
            if *cell < valid {
                *cell = me;
                self.addresses += 1;
                self.threads += 1;
            } else if *cell & ITEM != u64::from(item) && *cell & SEVERAL == 0 {
                *cell |= SEVERAL;
                self.threads += 1;
            }
        }
        if let Some(range) = self.ranges.get_mut(object as usize) {
            let (low, high) = range.unwrap_or((offset, offset + bytes));
            *range = Some((low.min(offset), high.max(offset + bytes)));
        }
    }

    /// The footprint of the launch so far.
    pub fn total(&self) -> Footprint {
        let range = self.ranges.iter().flatten().map(|(low, high)| high - low).max().unwrap_or_default();
        Footprint { addresses: self.addresses, threads: self.threads, range }
    }
}
