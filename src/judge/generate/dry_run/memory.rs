//! Memory of the dry run: buffers of which only the pages exist that are accessed, with a record of the accesses.

use kassay_run::exec::simulator::shadow::Footprint;

/// Size limit of buffers, in bytes: an access farther away has a wild address.
const FARTHEST: u64 = 1 << 24;

/// Bytes of a page. Strides that a kernel takes as arguments lead far apart, and what lies between is never looked at.
const PAGE: usize = 1 << 10;
/// Cells of a page of records.
const CELLS: usize = 1 << 8;

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
    /// What it begins with; zero after that, unless there are `contents`.
    initial: Vec<u8>,
    pages: Vec<Option<Box<[u8]>>>,
    /// Its fixed size in bytes; without one, it grows.
    pub limit: Option<u64>,
    pub contents: Option<&'a ContentsFn<'a>>,
    /// The bytes of each of its parts, if pointers in buffers lead to the beginnings of such; else 0.
    pub part: u64,
    /// End of the access that goes farthest into a part.
    pub high_in_part: u64,
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
    cells: Vec<Option<Box<[Cell; CELLS]>>>,
}

/// Returns the parts of `at..at + length` that lie on one page each: the page, where the part begins there, and its
/// length.
fn parts(at: usize, length: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let end = at + length;
    let mut at = at;
    std::iter::from_fn(move || {
        let (page, start) = (at / PAGE, at % PAGE);
        let length = (end - at).min(PAGE - start);
        at += length;
        (length > 0).then_some((page, start, length))
    })
}

impl<'a> Allocation<'a> {
    /// Creates an allocation that nothing has accessed yet.
    pub fn new(initial: Vec<u8>, limit: Option<u64>) -> Allocation<'a> {
        Allocation {
            initial,
            pages: Vec::new(),
            limit,
            contents: None,
            part: 0,
            high_in_part: 0,
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
        self.initial.clear();
        self.pages.clear();
        self.cells.clear();
    }

    /// Returns a page that exists from then on.
    fn page(&mut self, number: usize) -> &mut [u8] {
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let (initial, contents, limit) = (&self.initial, self.contents, self.limit);
        self.pages[number].get_or_insert_with(|| {
            let from = number * PAGE;
            if let Some(contents) = contents {
                return contents(from as u64, (from + PAGE) as u64).into();
            }
            let room =
                limit.map_or(PAGE, |limit| PAGE.min(usize::try_from(limit).unwrap_or(PAGE).saturating_sub(from)));
            let mut page: Vec<u8> = initial.iter().skip(from).take(room).copied().collect();
            page.resize(room, 0);
            page.into()
        })
    }

    /// Returns the bytes at a place of an access.
    pub fn read(&mut self, at: usize, length: usize) -> Vec<u8> {
        let mut all = Vec::with_capacity(length);
        for (page, start, length) in parts(at, length) {
            all.extend_from_slice(self.page(page).get(start..start + length).unwrap_or_default());
        }
        all
    }

    /// Sets the bytes at a place of an access.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let mut rest = bytes;
        for (page, start, length) in parts(at, bytes.len()) {
            let (now, later) = rest.split_at(length);
            rest = later;
            if let Some(to) = self.page(page).get_mut(start..start + length) {
                to.copy_from_slice(now);
            }
        }
    }

    /// Records an access and returns where it is; `None` if it is out of bounds or too far away.
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
        if let Some(in_part) = start.checked_rem(self.part) {
            self.high_in_part = self.high_in_part.max(in_part + size);
        }
        if self.limit.is_some_and(|limit| end > limit) {
            return None;
        }
        if self.is_shared {
            self.note(start, end, mode, actor);
        }
        Some(start as usize)
    }

    fn note(&mut self, start: u64, end: u64, mode: Mode, actor: Actor) {
        let (first, last) = ((start / self.granule) as usize, end.div_ceil(self.granule) as usize);
        if self.cells.len() * CELLS < last {
            self.cells.resize(last.div_ceil(CELLS), None);
        }
        let mine = (actor.item + 1, actor.interval);
        let mut conflicts = false;
        for at in first..last {
            let page = self.cells[at / CELLS].get_or_insert_with(|| Box::new([Cell::default(); CELLS]));
            let cell = &mut page[at % CELLS];
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
        let pages =
            (0u64..).zip(&self.cells).filter_map(|(number, page)| Some((number * CELLS as u64, page.as_ref()?)));
        for (i, cell) in pages.flat_map(|(first, page)| (first..).zip(page.iter())) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const ACTOR: Actor = Actor { item: 0, group_items: 4, interval: 0 };

    #[test]
    fn pages_hold_what_was_written_and_else_the_contents() {
        let contents = |from: u64, to: u64| (from..to).map(|at| (at % 251) as u8).collect();
        let mut memory = Allocation::new(Vec::new(), None);
        memory.contents = Some(&contents);
        memory.is_shared = true;
        // Across the end of a page, and far after it.
        for at in [PAGE - 3, 5 * PAGE, FARTHEST as usize - 8] {
            let place = memory.access(at as i64, 8, Mode::Write, ACTOR).unwrap();
            assert_eq!(memory.read(place, 8), contents(at as u64, at as u64 + 8));
            memory.write(place, &[1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(memory.read(place, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
            assert_eq!(memory.read(place - 2, 2), contents(at as u64 - 2, at as u64));
        }
        assert_eq!(memory.access(FARTHEST as i64 - 7, 8, Mode::Read, ACTOR), None);
        assert_eq!(memory.access(-4, 4, Mode::Read, ACTOR), None);
        assert_eq!((memory.low, memory.high), (-4, FARTHEST));
        assert_eq!(memory.pages.iter().flatten().count(), 5);
        let mut footprint = Footprint::default();
        memory.add_to(&mut footprint);
        assert_eq!((footprint.addresses, footprint.threads), (24, 24));
        assert_eq!(footprint.range, FARTHEST - 1 - (PAGE as u64 - 3));
    }

    #[test]
    fn memory_of_a_size_begins_with_what_it_is_given_and_ends_there() {
        let mut memory = Allocation::new(vec![7, 8], Some(6));
        assert_eq!(memory.access(0, 6, Mode::Read, ACTOR), Some(0));
        assert_eq!(memory.read(0, 6), [7, 8, 0, 0, 0, 0]);
        assert_eq!(memory.access(3, 4, Mode::Read, ACTOR), None);
        memory.reset();
        assert_eq!(memory.read(0, 6), [0; 6]);
    }
}
