//! The first pass: applies accesses to the shadow cells.

use kassay_base::error::Result;
use kassay_model::native::table::Mode;

use super::cell_arrays::{CellArray, CellArrays};
use super::cells::{self, Cell, CellResult, CurrentAccess};
use super::fast_path::{CheckKind, FastPath};
use super::flags::Flags;
use super::groups::{PendingCopy, ShadowGroup};
use super::launch::{Accessor, Area, Memory, Part, Place, Strided};
use super::sites::Site;

/// Shadow memory for kernels without atomics, or with them.
#[derive(Debug)]
pub enum FirstPass {
    Plain(CellArrays<Cell<2>>),
    Atomic(CellArrays<Cell<4>>),
}

/// An access by a work-item, as far as the first pass is concerned.
#[derive(Debug, Clone, Copy)]
pub struct SiteAccess<'a> {
    pub number: u32,
    pub site: &'a Site,
    pub place: Place,
    pub bytes: u64,
}

/// Evaluates the same expression for either variant.
macro_rules! either {
    ($finder:expr, $places:ident => $body:expr) => {
        match $finder {
            FirstPass::Plain($places) => $body,
            FirstPass::Atomic($places) => $body,
        }
    };
}

impl FirstPass {
    /// Shadow memory with or without words for atomics.
    pub fn new(atomics: bool) -> FirstPass {
        if atomics { FirstPass::Atomic(CellArrays::default()) } else { FirstPass::Plain(CellArrays::default()) }
    }

    /// Whether the kernel has atomics.
    pub fn has_atomics(&self) -> bool {
        matches!(self, FirstPass::Atomic(_))
    }

    /// Begins a launch.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn begin(&mut self, areas: &[Area]) -> Result<()> {
        either!(self, places => places.begin(areas))
    }

    /// Begins to use a slot.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn open(&mut self, slot: u32) -> Result<()> {
        either!(self, places => places.open(slot))
    }

    /// Zeroes all cells.
    pub fn clear(&mut self) {
        either!(self, places => places.clear());
    }

    /// The fast path for accesses to `bytes` bytes by a group of `slot`, which may touch `part`.
    pub fn fast_path(&mut self, slot: u32, mode: Mode, bytes: u64, part: Part) -> FastPath {
        let kind = CheckKind::of(mode, self.has_atomics());
        let slow = FastPath::without_cells(CheckKind::Slow);
        either!(self, places => places.object(part.object).map_or(slow, |o| fast_path(o, slot, kind, bytes, part)))
    }

    /// Records an access by a work-item; returns whether all memory that it reads was initialised.
    #[inline]
    pub fn access(&mut self, slot: &ShadowGroup, accessor: Accessor, touch: SiteAccess<'_>, flags: &mut Flags) -> bool {
        either!(self, places => item(places, slot, accessor, touch, flags))
    }

    /// Records one side of a copy that begins; `word` is that of the copy's own interval. Returns whether all
    /// memory that it reads was initialised.
    pub fn copy(
        &mut self,
        slot: &ShadowGroup,
        number: u32,
        word: u64,
        side: (u32, Mode, Strided),
        flags: &mut Flags,
    ) -> bool {
        either!(self, places => copy(places, slot, number, word, side, flags))
    }
}

fn fast_path<const N: usize>(
    object: &mut CellArray<Cell<N>>,
    slot: u32,
    kind: CheckKind,
    bytes: u64,
    part: Part,
) -> FastPath {
    let area = object.area;
    let granule = u64::from(area.granule);
    let is_inside = part.start.is_multiple_of(granule) && part.start.saturating_add(part.bytes) <= area.bytes;
    let (first, shift) = (part.start / granule, area.granule.trailing_zeros());
    let wanted = area.cells().saturating_sub(first);
    let cells = object.range(slot, first, wanted);
    let is_there = is_inside && cells.len() as u64 == wanted && !cells.is_empty();
    if !is_there || bytes != granule || area.memory == Memory::Image {
        return FastPath::without_cells(CheckKind::Slow);
    }
    FastPath::new(kind, &area, shift, cells)
}

#[inline]
fn item<const N: usize>(
    places: &mut CellArrays<Cell<N>>,
    slot: &ShadowGroup,
    accessor: Accessor,
    touch: SiteAccess<'_>,
    flags: &mut Flags,
) -> bool {
    let Some(object) = places.object(touch.place.object) else { return true };
    let area = object.area;
    let now = CurrentAccess::new(slot, (area.memory, area.starts_empty()), accessor.item);
    let mode = touch.site.first_mode(area.memory);
    let (first, count) = object.touched(touch.place.offset, touch.bytes);
    let mut initialised = true;
    for (cell, number) in object.range(accessor.slot, first, count).iter_mut().zip(first..) {
        if !cells::is_known(cell, &now, mode) {
            match cells::access(cell, &now, mode) {
                CellResult::Nothing => {}
                CellResult::Conflict => flags.set(touch.number, touch.place.object, number),
                CellResult::Uninitialised => initialised = false,
            }
        }
    }
    if !slot.pending_copies.is_empty() {
        for (cell, number) in object.range(accessor.slot, first, count).iter_mut().zip(first..) {
            let granule = u64::from(area.granule);
            let place = Place { object: touch.place.object, offset: number * granule };
            if slot.pending_copies.iter().any(|flight| conflicts_with_copy(flight, place, granule, mode)) {
                cells::flag(cell, &now);
                flags.set(touch.number, touch.place.object, number);
            }
        }
    }
    initialised
}

fn copy<const N: usize>(
    places: &mut CellArrays<Cell<N>>,
    slot: &ShadowGroup,
    number: u32,
    word: u64,
    (site, mode, side): (u32, Mode, Strided),
    flags: &mut Flags,
) -> bool {
    let Some(object) = places.object(side.place.object) else { return true };
    let area = object.area;
    let now = CurrentAccess::new(slot, (area.memory, area.starts_empty()), slot.copier());
    let mut initialised = true;
    for place in side.places() {
        let (first, count) = object.touched(place.offset, side.element);
        for (cell, number) in object.range(number, first, count).iter_mut().zip(first..) {
            let in_flight = |flight| conflicts_with_copy(flight, place, side.element, mode);
            match cells::copy(cell, &now, word, mode) {
                CellResult::Conflict => flags.set(site, place.object, number),
                _ if slot.pending_copies.iter().any(in_flight) => {
                    cells::flag(cell, &now);
                    flags.set(site, place.object, number);
                }
                CellResult::Nothing => {}
                CellResult::Uninitialised => initialised = false,
            }
        }
    }
    initialised
}

/// Returns whether an access conflicts with a pending copy.
fn conflicts_with_copy(flight: &PendingCopy, place: Place, bytes: u64, mode: Mode) -> bool {
    let writes = matches!(mode, Mode::Write | Mode::Atomic);
    flight.destination.touches(place, bytes) || (writes && flight.source.touches(place, bytes))
}
