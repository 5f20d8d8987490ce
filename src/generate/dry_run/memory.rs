//! Memory of the dry run: buffers that grow as far as they are accessed, and who accessed what.

use crate::exec::simulator::observation::Footprint;

/// Buffers do not grow beyond this many bytes: an access farther away has a wild address.
const FARTHEST: u64 = 1 << 24;

/// What happened at one place.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// The last work-item that wrote, plus 1, and its barrier interval.
    writer: (u32, u32),
    reader: (u32, u32),
    /// The greatest number of a work-item that came here, plus 1, and how many did, as far as they came in ascending order.
    touched: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Read,
    Write,
    Atomic,
}

/// Who accesses: the number of the work-item in the launch, its group and barrier interval.
#[derive(Debug, Clone, Copy)]
pub struct Actor {
    pub item: u32,
    pub group_items: u32,
    pub interval: u32,
}

impl Actor {
    /// Whether nothing orders this one's access and that of another.
    fn races(self, other: (u32, u32)) -> bool {
        let (item, interval) = other;
        item != 0
            && item != self.item + 1
            && ((item - 1) / self.group_items != self.item / self.group_items || interval == self.interval)
    }
}

/// Gives the bytes of a buffer from one offset to another.
pub type Contents<'a> = dyn Fn(u64, u64) -> Vec<u8> + 'a;

pub struct Block<'a> {
    pub bytes: Vec<u8>,
    /// The most it can hold; without it: it grows.
    pub limit: Option<u64>,
    pub contents: Option<&'a Contents<'a>>,
    /// One past the last byte that was accessed, and the lowest offset below 0.
    pub high: u64,
    pub low: i64,
    pub read: bool,
    pub written: bool,
    /// Accesses of more than one work-item that nothing orders.
    pub conflicts: u64,
    /// Whether work-items share it.
    pub is_shared: bool,
    /// Bytes of a cell.
    pub granule: u64,
    cells: Vec<Cell>,
}

impl<'a> Block<'a> {
    pub fn new(bytes: Vec<u8>, limit: Option<u64>) -> Block<'a> {
        Block {
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

    /// What another work-group finds: local memory without contents.
    pub fn renew(&mut self) {
        self.bytes.fill(0);
        self.cells.clear();
    }

    /// The place of an access in `bytes`; `None` if it is out of bounds or far away.
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

    /// Adds what was touched to a footprint.
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
