//! Arrays beside memory: one element per cell, of global memory once, of local memory per slot.

use super::launch::{Area, Memory};
use super::lazy_array::{Lazy, Plain};
use crate::error::Result;

/// One object's cells.
#[derive(Debug)]
pub struct Cells<T> {
    pub area: Area,
    shift: u32,
    /// Of global memory and of slot 0.
    first: Lazy<T>,
    /// Of the other slots.
    others: Vec<Lazy<T>>,
}

impl<T: Plain> Cells<T> {
    /// The numbers of the cells that `bytes` bytes from `offset` on touch: the first and how many.
    #[inline]
    pub fn touched(&self, offset: u64, bytes: u64) -> (u64, u64) {
        let first = offset >> self.shift;
        (first, ((offset + bytes.max(1) - 1) >> self.shift) - first + 1)
    }

    #[inline]
    pub fn is_local(&self) -> bool {
        self.area.memory == Memory::Local
    }

    /// The cells of `slot`.
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

    /// Takes the form that it has in a launch. What it holds stays, if it is large enough.
    fn shape(&mut self, area: Area) -> Result<()> {
        self.area = area;
        self.shift = area.granule.trailing_zeros();
        if area.memory != Memory::Local {
            self.others.clear();
        }
        if self.first.len() < area.cells() {
            self.first = Lazy::default();
            self.first = Lazy::new(area.cells())?;
        }
        Ok(())
    }

    fn open(&mut self, slot: u32) -> Result<()> {
        if !self.is_local() {
            return Ok(());
        }
        if self.others.len() < slot as usize {
            self.others.resize_with(slot as usize, Lazy::default);
        }
        if let Some(lazy) = (slot as usize).checked_sub(1).and_then(|s| self.others.get_mut(s))
            && lazy.len() < self.area.cells()
        {
            *lazy = Lazy::new(self.area.cells())?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.first.clear();
        self.others.iter_mut().for_each(Lazy::clear);
    }
}

/// All objects' cells.
#[derive(Debug, Default)]
pub struct Places<T> {
    objects: Vec<Cells<T>>,
}

impl<T: Plain> Places<T> {
    /// A launch begins.
    ///
    /// # Errors
    /// `Environment`: no memory.
    pub fn begin(&mut self, areas: &[Area]) -> Result<()> {
        self.objects.resize_with(areas.len(), || Cells {
            area: Area { memory: Memory::Global, bytes: 0, granule: 1 },
            shift: 0,
            first: Lazy::default(),
            others: Vec::new(),
        });
        self.objects.iter_mut().zip(areas).try_for_each(|(object, area)| object.shape(*area))
    }

    /// A slot is used.
    ///
    /// # Errors
    /// `Environment`: no memory.
    pub fn open(&mut self, slot: u32) -> Result<()> {
        self.objects.iter_mut().try_for_each(|object| object.open(slot))
    }

    #[inline]
    pub fn object(&mut self, object: u32) -> Option<&mut Cells<T>> {
        self.objects.get_mut(object as usize)
    }

    pub fn clear(&mut self) {
        self.objects.iter_mut().for_each(Cells::clear);
    }
}
