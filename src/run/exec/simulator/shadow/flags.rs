//! The set of cells that the second pass must examine.

use super::launch::Area;

/// Number of cells that are always kept, and number that each site may add beyond that.
const CELLS: u64 = 1 << 19;
const PER_SITE: u32 = 1 << 10;

/// A set of cells: by object, regardless of the slot.
#[derive(Debug, Default)]
pub struct Flags {
    /// By object, one bit per cell; empty until one is set.
    objects: Vec<Vec<u64>>,
    cells: Vec<u64>,
    total: u64,
    by_site: Vec<u32>,
}

impl Flags {
    /// Empties the set for a launch.
    pub fn begin(&mut self, areas: &[Area], sites: usize) {
        self.objects.clear();
        self.objects.resize(areas.len(), Vec::new());
        self.cells.clear();
        self.cells.extend(areas.iter().map(Area::cells));
        self.total = 0;
        self.by_site.clear();
        self.by_site.resize(sites, 0);
    }

    /// Adds a cell at which an access of `site` conflicted with another one. If there are too many cells, those of
    /// sites that added few are kept.
    pub fn set(&mut self, site: u32, object: u32, cell: u64) {
        let (Some(bits), Some(cells)) = (self.objects.get_mut(object as usize), self.cells.get(object as usize)) else {
            return;
        };
        if bits.is_empty() {
            bits.resize(cells.div_ceil(64) as usize, 0);
        }
        let Some(word) = bits.get_mut((cell / 64) as usize) else { return };
        let bit = 1 << (cell % 64);
        if *word & bit != 0 {
            return;
        }
        if let Some(brought) = self.by_site.get_mut(site as usize)
            && (self.total < CELLS || *brought < PER_SITE)
        {
            *word |= bit;
            *brought += 1;
            self.total += 1;
        }
    }

    #[inline]
    /// Returns whether the cell is in the set.
    pub fn has(&self, object: u32, cell: u64) -> bool {
        let word = self.objects.get(object as usize).and_then(|bits| bits.get((cell / 64) as usize));
        word.is_some_and(|word| word >> (cell % 64) & 1 != 0)
    }

    /// Returns whether the set has cells of the object.
    #[inline]
    pub fn any_in(&self, object: u32) -> bool {
        self.objects.get(object as usize).is_some_and(|bits| !bits.is_empty())
    }

    /// Returns whether the set has no cells.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::Memory;
    use super::*;

    #[test]
    fn late_sites_still_have_their_cells() {
        let area = Area { memory: Memory::Global, bytes: 4 << 20, granule: 4, uninitialised: false, shared: false };
        let mut flags = Flags::default();
        flags.begin(&[area], 2);
        (0..CELLS + 100).for_each(|cell| flags.set(0, 0, cell));
        assert!(flags.has(0, CELLS - 1) && !flags.has(0, CELLS));
        flags.set(1, 0, CELLS);
        assert!(flags.has(0, CELLS));
    }
}
