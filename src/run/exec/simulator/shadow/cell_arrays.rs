//! Arrays of shadow cells: one element per cell, once for global memory, per slot for local memory.

use kassay_base::error::Result;

use super::launch::{Area, Memory};
use super::lazy_array::{LazyArray, Plain};

/// The cells of one object.
#[derive(Debug)]
pub struct CellArray<T> {
    pub area: Area,
    shift: u32,
    /// Cells of global memory, or of slot 0.
    first: LazyArray<T>,
    /// Cells of the other slots.
    others: Vec<LazyArray<T>>,
}

impl<T: Plain> CellArray<T> {
    /// The cells that `bytes` bytes from `offset` on touch: number of the first, and how many.
    #[inline]
    pub fn touched(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let first = offset >> self.shift;
        (first, ((offset + bytes.max(1) - 1) >> self.shift) - first + 1)
    }

    #[inline]
    /// Whether the object lies in local memory, so that each slot has cells of its own.
    pub fn is_local(&self) -> bool {
        self.area.memory == Memory::Local
    }

    /// The cells of `slot`, as far as they exist.
    #[inline]
    pub fn range(&mut self, slot: u32, first: u64, count: u64) -> &mut [T] {
        if slot == 0 || !self.is_local() {
            return self.first.range(first, count);
        }
        match self.others.get_mut(slot as usize - 1) {
            Some(lazy) => lazy.range(first, count),
            None => &mut [],
        }
    }

    /// Adapts to the object's size in a launch. The contents are kept if the array is large enough.
    fn shape(&mut self, area: Area) -> Result<()> {
        self.area = area;
        self.shift = area.granule.trailing_zeros();
        if area.memory != Memory::Local {
            self.others.clear();
        }
        if self.first.len() < area.cells() {
            self.first = LazyArray::default();
            self.first = LazyArray::new(area.cells())?;
        }
        Ok(())
    }

    /// Makes sure that `slot` has cells.
    fn open(&mut self, slot: u32) -> Result<()> {
        if !self.is_local() {
            return Ok(());
        }
        if self.others.len() < slot as usize {
            self.others.resize_with(slot as usize, LazyArray::default);
        }
        if let Some(lazy) = (slot as usize).checked_sub(1).and_then(|s| self.others.get_mut(s))
            && lazy.len() < self.area.cells()
        {
            *lazy = LazyArray::new(self.area.cells())?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.first.clear();
        self.others.iter_mut().for_each(LazyArray::clear);
    }
}

/// The cells of all objects.
#[derive(Debug, Default)]
pub struct CellArrays<T> {
    objects: Vec<CellArray<T>>,
}

impl<T: Plain> CellArrays<T> {
    /// Begins a launch.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn begin(&mut self, areas: &[Area]) -> Result<()> {
        self.objects.resize_with(areas.len(), || CellArray {
            area: Area { memory: Memory::Global, bytes: 0, granule: 1, uninitialised: false, shared: false },
            shift: 0,
            first: LazyArray::default(),
            others: Vec::new(),
        });
        self.objects.iter_mut().zip(areas).try_for_each(|(object, area)| object.shape(*area))
    }

    /// Begins to use a slot.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn open(&mut self, slot: u32) -> Result<()> {
        self.objects.iter_mut().try_for_each(|object| object.open(slot))
    }

    /// The cells of an object of the table.
    #[inline]
    pub fn object(&mut self, object: u32) -> Option<&mut CellArray<T>> {
        self.objects.get_mut(object as usize)
    }

    /// Zeroes all cells.
    pub fn clear(&mut self) {
        self.objects.iter_mut().for_each(CellArray::clear);
    }
}
