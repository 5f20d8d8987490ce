//! Memory of the concolic interpreter: bytes, overlaid by cells with the terms that were stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value;
use crate::solve::expression::{Term, Terms};

/// Largest size in bytes that a buffer may grow to, unless it is larger from the start.
pub const MAX_BUFFER_BYTES: u64 = 1 << 22;

/// Local memory that every device has (OpenCL 1.2, table 4.3: `CL_DEVICE_LOCAL_MEM_SIZE`).
const LEAST_LOCAL: u64 = 1 << 15;

/// Largest size of a cell, in bytes.
const MAX_CELL_BYTES: u64 = 8;

/// The work-item that stored, and the length of its path at that point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    pub item: u32,
    pub length: u32,
}

/// Bytes that were stored together.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub size: u64,
    /// All of its bits; `None` if they are those in memory whatever the input.
    pub term: Option<Term>,
    /// Offset from the start of the region that it was stored to, if that depends on the input.
    pub address: Option<Term>,
    pub writer: Option<Writer>,
}

/// Contents of a region where nothing was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    /// The bytes in memory, whatever the input.
    Known,
    /// The contents of the argument at this position, which are part of the input.
    Input(usize),
}

/// The memory of a region.
#[derive(Debug, Clone)]
pub struct MemoryBlock {
    pub bytes: Arc<Vec<u8>>,
    /// Largest size in bytes that it may grow to.
    limit: u64,
    pub initial: Initial,
    pub cells: BTreeMap<u64, Cell>,
    /// One past the last byte that was accessed.
    pub access_end: u64,
}

impl MemoryBlock {
    /// Creates a block of constant size.
    pub fn fixed(bytes: Vec<u8>) -> MemoryBlock {
        let limit = bytes.len() as u64;
        MemoryBlock { bytes: Arc::new(bytes), limit, initial: Initial::Known, cells: BTreeMap::new(), access_end: 0 }
    }

    /// Creates a buffer, which grows as far as it is accessed.
    pub fn buffer(bytes: Arc<Vec<u8>>, initial: Initial) -> MemoryBlock {
        let limit = MAX_BUFFER_BYTES.max(bytes.len() as u64);
        MemoryBlock { bytes, limit, initial, cells: BTreeMap::new(), access_end: 0 }
    }

    /// Creates local memory of an argument. It grows like a buffer, up to the size that every device has.
    pub fn local(bytes: u64) -> MemoryBlock {
        let limit = LEAST_LOCAL.max(bytes);
        let bytes = Arc::new(vec![0; bytes as usize]);
        MemoryBlock { bytes, limit, initial: Initial::Known, cells: BTreeMap::new(), access_end: 0 }
    }

    /// Resets local memory for another work-group.
    pub fn reset(&mut self) {
        Arc::make_mut(&mut self.bytes).fill(0);
        self.cells.clear();
    }

    /// Returns the offset of an access, and grows the block if needed; `None` if the access is out of bounds.
    pub fn access(&mut self, offset: i64, size: u64) -> Option<u64> {
        let start = u64::try_from(offset).ok()?;
        let end = start.checked_add(size).filter(|end| *end <= self.limit)?;
        self.access_end = self.access_end.max(end);
        if (self.bytes.len() as u64) < end {
            Arc::make_mut(&mut self.bytes).resize(end as usize, 0);
        }
        Some(start)
    }

    /// Reads bytes at an offset returned by [`MemoryBlock::access`].
    pub fn read(&self, at: u64, size: u64) -> &[u8] {
        self.bytes.get(at as usize..(at + size) as usize).unwrap_or_default()
    }

    /// Writes bytes at an offset returned by [`MemoryBlock::access`]; cells are not changed.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        if let Some(to) = Arc::make_mut(&mut self.bytes).get_mut(at as usize..at as usize + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    /// Returns the cells that overlap a range, in order.
    pub fn overlapping(&self, at: u64, size: u64) -> Vec<(u64, Cell)> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let from = at.saturating_sub(MAX_CELL_BYTES - 1);
        let near = self.cells.range(from..at + size);
        near.filter(|(begin, cell)| *begin + cell.size > at).map(|(begin, cell)| (*begin, *cell)).collect()
    }

    /// Removes the cells in a range; of cells that reach beyond it, the other bytes are kept.
    pub fn clear(&mut self, terms: &mut Terms, at: u64, size: u64) {
        for (begin, cell) in self.overlapping(at, size) {
            self.cells.remove(&begin);
            for byte in (begin..begin + cell.size).filter(|b| !(at..at + size).contains(b)) {
                let term = cell.term.map(|t| value::extract(terms, t, byte - begin, 1));
                let address = cell.address.map(|a| value::plus(terms, a, byte - begin));
                self.cells.insert(byte, Cell { size: 1, term, address, ..cell });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::expression::{Node, Sort};

    #[test]
    fn buffers_grow_and_fixed_blocks_do_not() {
        let mut fixed = MemoryBlock::fixed(vec![1; 8]);
        assert_eq!(fixed.access(4, 4), Some(4));
        assert_eq!(fixed.access(5, 4), None);
        assert_eq!(fixed.access(-1, 1), None);
        let mut buffer = MemoryBlock::buffer(Arc::new(vec![1; 8]), Initial::Input(0));
        assert_eq!(buffer.access(100, 4), Some(100));
        assert_eq!(buffer.read(100, 4), [0; 4]);
        assert_eq!(buffer.access(i64::MAX, 4), None);
        assert_eq!(buffer.access_end, 104);
    }

    #[test]
    fn a_partial_overwrite_keeps_the_other_bytes() {
        let mut terms = Terms::default();
        let x = terms.symbol("x", Sort::Bits(32));
        let mut block = MemoryBlock::fixed(vec![0; 16]);
        block.cells.insert(4, Cell { size: 4, term: Some(x), address: None, writer: None });
        block.clear(&mut terms, 6, 2);
        let left: Vec<u64> = block.cells.keys().copied().collect();
        assert_eq!(left, [4, 5]);
        assert!(block.cells.values().all(|c| c.size == 1));
        let low = block.cells[&4].term.expect("a term");
        assert!(matches!(terms.node(low), Node::Apply(..)));
        assert_eq!(block.overlapping(5, 8).len(), 1);
    }
}
