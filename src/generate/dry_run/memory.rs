//! Memory of the dry run: buffers that grow as far as they are accessed, with a record of the accesses.

use crate::exec::simulator::observation::Footprint;

/// Size limit of buffers, in bytes: an access farther away has a wild address.
const FARTHEST: u64 = 1 << 24;

/// Accesses to one cell of memory.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The last work-item that wrote, plus 1, and its barrier interval; likewise the last that read.
    writer: (u32, u32),
    reader: (u32, u32),
    /// The greatest number of a work-item that accessed the cell, plus 1, and how many did, as far as they came in
    /// ascending order.
    touched: (u32, u32),
}

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Read,
    Write,
    Atomic,
}

/// The origin of an access: number of the work-item in the launch, work-items per group, and the current
/// barrier interval.
#[derive(Debug, Clone, Copy)]
pub struct Actor {
    pub item: u32,
    pub group_items: u32,
    pub interval: u32,
}

impl Actor {
    /// Returns whether nothing orders this access and another: they are by different work-items, which are in different
    /// groups or access in the same barrier interval.
    fn races(self, other: (u32, u32)) -> bool {
        let (item, interval) = other;
        item != 0
            && item != self.item + 1
            && ((item - 1) / self.group_items != self.item / self.group_items || interval == self.interval)
    }
}

/// Returns the bytes of a buffer in a range of offsets.
pub type ContentsFn<'a> = dyn Fn(u64, u64) -> Vec<u8> + 'a;

/// Memory of one argument, variable or `alloca`.
pub struct Allocation<'a> {
    pub bytes: Vec<u8>,
    /// Its fixed size in bytes; without one, it grows.
    pub limit: Option<u64>,
    pub contents: Option<&'a ContentsFn<'a>>,
    /// End of the farthest access, and the lowest offset if it is negative.
    pub high: u64,
    pub low: i64,
    pub read: bool,
    pub written: bool,
    /// Accesses that conflict with an unordered access of another work-item.
    pub conflicts: u64,
    /// Whether work-items share it.
    pub is_shared: bool,
    /// Bytes per cell.
    pub granule: u64,
    cells: Vec<Cell>,
}

impl<'a> Allocation<'a> {
    /// Creates an allocation that nothing has accessed yet.
    pub fn new(bytes: Vec<u8>, limit: Option<u64>) -> Allocation<'a> {
        Allocation {
            bytes,
            limit,
            contents: None,
            high: 0,
            low: 0,
            read: false,
            written: false,
            conflicts: 0,
            is_shared: false,
            granule: 1,
            cells: Vec::new(),
        }
    }

    /// Resets local memory for the next work-group.
    pub fn reset(&mut self) {
        self.bytes.fill(0);
        self.cells.clear();
    }

    /// Records an access and returns its position in `bytes`; `None` if it is out of bounds or too far away.
    pub fn access(&mut self, offset: i64, size: u64, mode: Mode, actor: Actor) -> Option<usize> {
        match mode {
            Mode::Read => self.read = true,
            Mode::Write => self.written = true,
            Mode::Atomic => (self.read, self.written) = (true, true),
        }
        let Ok(start) = u64::try_from(offset) else {
            self.low = self.low.min(offset);
            return None;
        };
        let end = start.checked_add(size).filter(|end| *end <= FARTHEST)?;
        self.high = self.high.max(end);
        if self.limit.is_some_and(|limit| end > limit) {
            return None;
        }
        if (self.bytes.len() as u64) < end {
            let to = end.next_multiple_of(256).max(self.bytes.len() as u64 * 2);
            match self.contents {
                Some(contents) => {
                    let more = contents(self.bytes.len() as u64, to);
                    self.bytes.extend(more);
                }
                None => self.bytes.resize(to as usize, 0),
            }
        }
        if self.is_shared {
            self.note(start, end, mode, actor);
        }
        Some(start as usize)
    }

    fn note(&mut self, start: u64, end: u64, mode: Mode, actor: Actor) {
        let (first, last) = (start / self.granule, end.div_ceil(self.granule));
        if (self.cells.len() as u64) < last {
            self.cells.resize(last as usize, Cell::default());
        }
        let mine = (actor.item + 1, actor.interval);
        let mut conflicts = false;
        for cell in &mut self.cells[first as usize..last as usize] {
            match mode {
                Mode::Write => {
                    conflicts |= actor.races(cell.writer) || actor.races(cell.reader);
                    cell.writer = mine;
                }
                Mode::Read => {
                    conflicts |= actor.races(cell.writer);
                    cell.reader = mine;
                }
                Mode::Atomic => {}
            }
            if mine.0 > cell.touched.0 {
                cell.touched = (mine.0, cell.touched.1 + 1);
            }
        }
        self.conflicts += u64::from(conflicts);
    }

    /// Adds the cells that were accessed to a footprint.
    pub fn add_to(&self, footprint: &mut Footprint) {
        let mut bounds: Option<(u64, u64)> = None;
        for (i, cell) in (0u64..).zip(&self.cells) {
            let threads = u64::from(cell.touched.1);
            if threads > 0 {
                footprint.addresses += 1;
                footprint.threads += threads;
                bounds = Some((bounds.map_or(i, |b| b.0), i));
            }
        }
        if let Some((first, last)) = bounds {
            footprint.range = footprint.range.max((last - first) * self.granule);
        }
    }
}
