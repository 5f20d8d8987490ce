//! Applies accesses to the cell records of the second pass.

use kassay_base::error::Result;
use kassay_model::native::table::Mode;

use super::cell_arrays::CellArrays;
use super::flags::Flags;
use super::groups::Groups;
use super::happens_before::{HappensBefore, Location, SyncFeatures};
use super::launch::{Accessor, Area, Grid, Memory, Place, Strided};
use super::report::Findings;
use super::second_pass::{CellRecord, Entry, RecordContext};
use super::sites::{self, Site};
use crate::exec::simulator::observation::Conflict;

/// A plain write that is about to happen; the value written is read before anything else happens.
#[derive(Debug, Clone, Copy)]
struct Pending {
    accessor: Accessor,
    site: u32,
    place: Place,
    bytes: u64,
    address: *const u8,
}

/// The second pass of a launch.
#[derive(Debug)]
pub struct Recorder {
    sites: Vec<Site>,
    order: HappensBefore,
    /// The record number of each flagged cell, plus 1; 0 if it has none.
    numbers: CellArrays<u32>,
    records: Vec<CellRecord>,
    findings: Findings,
    pending: Option<Pending>,
}

// SAFETY: the owner of the recorder may read the pending write's address, as the caller of `Shadow::access` guaranteed.
unsafe impl Send for Recorder {}

impl Recorder {
    /// A recorder without findings, for sub-groups of this size.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn new(sites: Vec<Site>, areas: &[Area], seen: SyncFeatures, sub_group: u32) -> Result<Recorder> {
        // Records are kept by place, regardless of the slot.
        let areas: Vec<Area> = areas.iter().map(|area| Area { memory: Memory::Global, ..*area }).collect();
        let mut numbers = CellArrays::default();
        numbers.begin(&areas)?;
        Ok(Recorder {
            sites,
            order: HappensBefore::new(seen, sub_group),
            numbers,
            records: Vec::new(),
            findings: Findings::default(),
            pending: None,
        })
    }

    /// The happens-before relation of the launch.
    pub fn order(&mut self) -> &mut HappensBefore {
        &mut self.order
    }

    /// A work-item is about to make an access. Any pending write has been completed.
    pub fn access(
        &mut self,
        groups: &Groups,
        flags: &Flags,
        areas: &[Area],
        (accessor, site, place): (Accessor, u32, Place),
        (bytes, address): (u64, *const u8),
    ) {
        let (Some(area), Some(slot)) = (areas.get(place.object as usize), groups.slot(accessor.slot)) else { return };
        let Some(known) = self.sites.get(site as usize).copied() else { return };
        if known.mode == Mode::Write {
            if self.order.has_edges() || flags.any_in(place.object) {
                self.pending = Some(Pending { accessor, site, place, bytes, address });
            }
            return;
        }
        let location = location(area, slot.sequence, place);
        let atomic = matches!(known.mode, Mode::Atomic | Mode::AtomicRead);
        let edges = self.order.has_edges() && atomic;
        if edges && !known.stores {
            self.order.read(slot, accessor.item, (location, area.memory), known.ordering);
        }
        if flags.any_in(place.object) {
            let entry = Entry::new(site, self.order.now(slot, accessor.item, area.memory), accessor.number, None);
            self.note(groups, flags, areas, (accessor.slot, place, bytes), |_| entry);
        }
        if edges && known.mode == Mode::Atomic {
            self.order.write(slot, accessor.item, (location, area.memory), known.ordering, known.stores);
        }
    }

    /// Completes the pending write: examines what it wrote. Must be called before anything else.
    pub fn complete_pending_write(&mut self, groups: &Groups, flags: &Flags, areas: &[Area]) {
        let Some(pending) = self.pending.take() else { return };
        let Pending { accessor, site, place, bytes, address } = pending;
        let (Some(area), Some(slot)) = (areas.get(place.object as usize), groups.slot(accessor.slot)) else { return };
        let granule = u64::from(area.granule);
        if self.order.has_edges() {
            for offset in (place.offset..place.offset + bytes.max(1)).step_by(area.granule as usize) {
                self.order.overwrite(location(area, slot.sequence, Place { offset, ..place }));
            }
        }
        if !flags.any_in(place.object) {
            return;
        }
        let epoch = self.order.now(slot, accessor.item, area.memory);
        self.note(groups, flags, areas, (accessor.slot, place, bytes), |offset| {
            let whole = offset >= place.offset && offset + granule <= place.offset + bytes && granule <= 16;
            // SAFETY: the cell lies inside the access, whose bytes the caller of `Shadow::access` guaranteed to
            // be readable.
            let value =
                whole.then(|| unsafe { value(address.add((offset - place.offset) as usize), granule as usize) });
            Entry::new(site, epoch, accessor.number, value)
        });
    }

    /// Records one side of the copy that began last.
    pub fn copy(&mut self, groups: &Groups, flags: &Flags, areas: &[Area], number: u32, (site, side): (u32, Strided)) {
        let Some(slot) = groups.slot(number) else { return };
        let entry = Entry::new(site, self.order.copying(slot), 0, None);
        let Some(area) = areas.get(side.place.object as usize) else { return };
        let writes = self.sites.get(site as usize).is_some_and(|s| s.mode == Mode::Write);
        for place in side.places() {
            if writes {
                for offset in (place.offset..place.offset + side.element).step_by(area.granule as usize) {
                    self.order.overwrite(location(area, slot.sequence, Place { offset, ..place }));
                }
            }
            self.note(groups, flags, areas, (number, place, side.element), |_| entry);
        }
    }

    /// Records an access at all its flagged cells; `entry` gets the byte offset of each cell.
    fn note(
        &mut self,
        groups: &Groups,
        flags: &Flags,
        areas: &[Area],
        (number, place, bytes): (u32, Place, u64),
        entry: impl Fn(u64) -> Entry,
    ) {
        let Recorder { sites, order, numbers, records, findings, .. } = self;
        let (Some(area), Some(slot)) = (areas.get(place.object as usize), groups.slot(number)) else { return };
        let Some(cells) = numbers.object(place.object) else { return };
        let (first, count) = cells.touched(place.offset, bytes);
        for (known, cell) in cells.range(0, first, count).iter_mut().zip(first..) {
            if !flags.has(place.object, cell) {
                continue;
            }
            if *known == 0 {
                records.push(CellRecord::default());
                *known = records.len() as u32;
            }
            let offset = cell * u64::from(area.granule);
            let place = Place { object: place.object, offset };
            let context = RecordContext { sites, groups, slot, order, memory: area.memory, place };
            if let Some(record) = records.get_mut(*known as usize - 1) {
                record.note(&context, entry(offset), findings);
            }
        }
    }

    /// All conflicts found, ordered by sites.
    pub fn conflicts(&self, grid: &Grid, groups: &Groups) -> Vec<Conflict> {
        self.findings.conflicts(grid, groups, &self.sites)
    }

    /// Returns whether there are any conflicts.
    pub fn has_conflicts(&self) -> bool {
        !self.findings.is_empty()
    }

    /// See [`HappensBefore::depends_on_atomics`].
    pub fn depends_on_atomics(&self) -> bool {
        self.order.depends_on_atomics()
    }

    /// A work-item executes a fence; numbers as in `opencl-c-base.h`.
    pub fn fence(&mut self, groups: &Groups, accessor: Accessor, flags: u32, order: u32, scope: u32) {
        if let Some(slot) = groups.slot(accessor.slot) {
            let kinds = sites::acquires_and_releases(order);
            self.order.fence(slot, accessor.item, flags, kinds, sites::scope(scope));
        }
    }
}

fn location(area: &Area, sequence: u32, place: Place) -> Location {
    let group = (area.memory == Memory::Local).then_some(sequence);
    (group, place.object, place.offset / u64::from(area.granule))
}

/// Reads `bytes` bytes, at most 16, as a number.
///
/// # Safety
/// The bytes are readable.
unsafe fn value(address: *const u8, bytes: usize) -> u128 {
    let mut value = [0; 16];
    // SAFETY: the caller guarantees that the bytes are readable; the array has room for 16, and no more are copied.
    unsafe { std::ptr::copy_nonoverlapping(address, value.as_mut_ptr(), bytes.min(16)) };
    u128::from_le_bytes(value)
}
