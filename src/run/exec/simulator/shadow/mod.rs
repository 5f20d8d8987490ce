//! The race detector: shadow memory that records, for every cell of global and local memory, the last accesses.
//!
//! A race (SIMULEE 3.2; docs/simulator.md): two work-items access the same bytes, at least one writes, not both
//! accesses are atomic, and nothing orders them. A barrier orders accesses to the memory that its flags name, within
//! its group, or in all groups if it is one of the grid. If code synchronises by atomics, fences or sub-group barriers,
//! the happens-before relation of the OpenCL 3.0 memory model (API specification, section 3.3.6) decides, for the
//! schedule that is run.
//!
//! A launch is run up to twice, in the same order. [`Pass::Find`] is fast: a cell keeps summaries of its last accesses,
//! and cells at which accesses conflicted are flagged. If there are any ([`Shadow::suspects`]), [`Pass::Record`] keeps
//! full lists for those cells and yields [`Shadow::conflicts`].
//!
//! Not thread-safe: groups run one at a time, but may be interleaved (each in a slot of its own).

mod cell_arrays;
mod cells;
mod clocks;
mod fast_path;
mod first_pass;
mod flags;
mod footprint;
mod groups;
mod happens_before;
mod launch;
mod lazy_array;
mod recorder;
mod report;
mod second_pass;
mod sites;

use kassay_base::error::{Error, Result};
use kassay_model::native::table::{Mode, NativeTable, Scope};

use crate::exec::simulator::observation::Conflict;
pub use fast_path::{CheckKind, FastPath};
use first_pass::{FirstPass, SiteAccess};
use flags::Flags;
pub use footprint::{Footprint, FootprintCounter};
pub use groups::ShadowGroup as Group;
use groups::{Groups, ITEM, PendingCopy, StampReset, is_waited_for};
use happens_before::SyncFeatures;
pub use launch::{Accessor, Area, Grid, Memory, Part, Place, Strided};
use recorder::Recorder;
use sites::Site;

/// The purpose of a run of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Finds the cells at which accesses conflict, and reads of uninitialised memory.
    Find,
    /// Knows from the previous pass which cells matter, and records which accesses conflicted there.
    Record,
}

/// The race detector of one kernel; its memory is reused for one launch after the other.
#[derive(Debug)]
pub struct Shadow {
    sites: Vec<Site>,
    /// By object: whether some site may write to it.
    written: Vec<bool>,
    groups: Groups,
    first_pass: FirstPass,
    flags: Flags,
    /// In the second pass.
    recorder: Option<Box<Recorder>>,
    grid: Grid,
    areas: Vec<Area>,
    /// The kinds of synchronisation that the kernel uses, as far as its code shows.
    code: SyncFeatures,
    /// The same, as far as the first pass has observed.
    seen: SyncFeatures,
    /// Number of work-items of a sub-group.
    sub_group: u32,
    /// Whether steps of warps order accesses.
    lockstep: bool,
}

impl Shadow {
    /// A race detector for code with this table.
    pub fn new(table: &NativeTable) -> Shadow {
        let sub_groups = table.barriers.iter().any(|b| b.sub_group);
        let edges = table.synchronises || sub_groups || table.accesses.iter().any(|a| a.ordering.is_some());
        let sites = sites::sites(table);
        let code = SyncFeatures {
            edges,
            narrow: sites::has_narrower_scopes(table, Scope::Device),
            fences: false,
            restores: sites.iter().any(Site::restores),
            sub_groups: sites::has_narrower_scopes(table, Scope::WorkGroup),
        };
        Shadow {
            written: (0..table.objects.len() as u32).map(|o| sites::may_write(table, o)).collect(),
            sites,
            groups: Groups::new(),
            first_pass: FirstPass::new(sites::has_atomics(table)),
            flags: Flags::default(),
            recorder: None,
            grid: Grid { global: [1; 3], local: [1; 3], offset: [0; 3] },
            areas: Vec::new(),
            code,
            seen: code,
            sub_group: table.sub_group(),
            lockstep: false,
        }
    }

    /// Whether steps of warps order accesses from the next launch on.
    pub fn set_lockstep(&mut self, lockstep: bool) {
        self.lockstep = lockstep;
    }

    /// The maximum number of groups of `items` work-items that can be distinguished in a launch.
    pub fn most_groups(&self, items: u64) -> u64 {
        ITEM / items.saturating_add(1)
    }

    /// Begins a launch; `areas` by object of the table. [`Pass::Record`] must follow [`Pass::Find`] of the same launch,
    /// with the same schedule and the same contents of memory.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    pub fn begin(&mut self, grid: Grid, areas: &[Area], pass: Pass) -> Result<()> {
        let product = |sizes: [u64; 3]| sizes.into_iter().fold(1, u64::saturating_mul);
        let items = product(grid.local);
        if self.groups.begin_launch(items as u32) == StampReset::Clear {
            self.clear();
        }
        self.grid = grid;
        self.areas.clear();
        self.areas.extend_from_slice(areas);
        match pass {
            Pass::Find => {
                self.recorder = None;
                self.seen = self.code;
                self.seen.edges |= self.lockstep;
                self.flags.begin(areas, self.sites.len());
                // Objects that are never written need no cells, except where it matters whether they were written.
                let is_written = |o: usize, a: &Area| a.shared || self.written.get(o).is_none_or(|w| *w);
                let needed = |(o, a): (usize, &Area)| {
                    if is_written(o, a) || a.starts_empty() { *a } else { Area { bytes: 0, ..*a } }
                };
                self.first_pass.begin(&areas.iter().enumerate().map(needed).collect::<Vec<_>>())
            }
            Pass::Record => {
                self.recorder = Some(Box::new(Recorder::new(self.sites.clone(), areas, self.seen, self.sub_group)?));
                Ok(())
            }
        }
    }

    /// Begins the group with this linear number (of its id as the kernel sees it, dimension 0 fastest). Its local
    /// memory is that of `slot`, which no other group uses meanwhile. Slot numbers should be small: memory grows with
    /// the largest.
    ///
    /// # Errors
    /// `Internal`: more groups than [`Shadow::most_groups`]. `Environment`: not enough memory.
    pub fn begin_group(&mut self, slot: u32, group: u64) -> Result<()> {
        self.complete_pending_write();
        if self.groups.are_used_up() {
            return Err(Error::internal("more work-groups than the race detector can tell apart"));
        }
        let reset = self.groups.begin(slot, group);
        self.apply_reset(reset);
        if let (Some(recorder), Some(slot)) = (&mut self.recorder, self.groups.slot(slot)) {
            recorder.order().begin_group(slot);
            return Ok(());
        }
        self.first_pass.open(slot)
    }

    /// How accesses of `site` to `bytes` bytes are checked, from now until the launch ends, if a group of `slot` makes
    /// them in `part`, from whose start their offsets count.
    pub fn fast_path(&mut self, slot: u32, site: u32, bytes: u64, part: Part) -> FastPath {
        let index = part.object as usize;
        let (Some(site), Some(area)) = (self.sites.get(site as usize), self.areas.get(index)) else {
            return FastPath::without_cells(CheckKind::Slow);
        };
        if self.recorder.is_some() {
            return FastPath::without_cells(CheckKind::Slow);
        }
        if !area.starts_empty() && !area.shared && self.written.get(index) == Some(&false) {
            return FastPath::without_cells(CheckKind::Unchecked);
        }
        if self.lockstep {
            return FastPath::without_cells(CheckKind::Slow);
        }
        self.first_pass.fast_path(slot, site.first_mode(area.memory), bytes, part)
    }

    /// The state that [`FastPath::pass`] needs of the group of `slot`; its address is the same for all groups there.
    pub fn group(&self, slot: u32) -> *const Group {
        self.groups.slot(slot).map_or(std::ptr::null(), std::ptr::from_ref)
    }

    /// The group ended, or was abandoned.
    pub fn end_group(&mut self, slot: u32) {
        self.complete_pending_write();
        if let (Some(recorder), Some(slot)) = (&mut self.recorder, self.groups.slot(slot)) {
            recorder.order().end_group(slot);
        }
        self.groups.end(slot);
    }

    /// All work-items of the group have arrived at a barrier (or at an exchange of the group: with its flags, or 0).
    /// `flags` as in `cl_mem_fence_flags`, `scope` as in `memory_scope` of `opencl-c-base.h`.
    pub fn barrier(&mut self, slot: u32, flags: u32, scope: u32) {
        self.complete_pending_write();
        let scope = sites::scope(scope);
        self.seen.fences |= scope >= Scope::Device;
        let reset = self.groups.advance(slot, flags);
        self.apply_reset(reset);
        if let (Some(recorder), Some(slot)) = (&mut self.recorder, self.groups.slot(slot)) {
            recorder.order().barrier(slot, flags, scope);
        }
    }

    /// All work-items of the launch have arrived at a barrier of the grid; the groups run in these slots.
    pub fn grid_barrier(&mut self, slots: &[u32], flags: u32) {
        self.complete_pending_write();
        let reset = self.groups.advance_all(slots, flags);
        self.apply_reset(reset);
        if let Some(recorder) = &mut self.recorder {
            for slot in slots.iter().filter_map(|slot| self.groups.slot(*slot)) {
                recorder.order().barrier(slot, flags, Scope::WorkGroup);
            }
        }
    }

    /// All work-items of a sub-group (given by its number in the group) have arrived at its barrier.
    pub fn sub_group_barrier(&mut self, slot: u32, sub_group: u32, flags: u32) {
        let size = self.sub_group;
        self.items_barrier(slot, sub_group * size, u64::MAX >> (u64::BITS - size.clamp(1, u64::BITS)), flags);
    }

    /// These lanes of a warp (a sub-group, given by its number in the group) have synchronised.
    pub fn warp_barrier(&mut self, slot: u32, warp: u32, lanes: u32, flags: u32) {
        self.items_barrier(slot, warp * self.sub_group, lanes.into(), flags);
    }

    /// Those of 64 work-items from `first` on that `which` has have synchronised.
    pub fn items_barrier(&mut self, slot: u32, first: u32, which: u64, flags: u32) {
        self.complete_pending_write();
        if let (Some(recorder), Some(slot)) = (&mut self.recorder, self.groups.slot(slot)) {
            recorder.order().items_barrier(slot, first, which, flags);
        }
    }

    /// A work-item executes a fence; numbers as in `opencl-c-base.h`.
    pub fn fence(&mut self, accessor: Accessor, flags: u32, order: u32, scope: u32) {
        self.complete_pending_write();
        self.seen.edges |= self.first_pass.has_atomics();
        self.seen.fences = true;
        self.seen.narrow |= sites::scope(scope) < Scope::Device;
        if let Some(recorder) = &mut self.recorder {
            recorder.fence(&self.groups, accessor, flags, order, scope);
        }
    }

    /// A work-item is about to make the access `site` to `bytes` bytes at `place`, in bounds. Returns `false` if it
    /// reads memory to which nothing was written: local memory by no work-item of its group, an uninitialised buffer by
    /// none at all (only in [`Pass::Find`]), else `true`.
    ///
    /// # Safety
    /// `address` is that of the bytes that the access reads or writes, which stay readable until the next call of any
    /// method. The bytes written are examined during that call, before anything else writes there.
    #[inline]
    pub unsafe fn access(
        &mut self,
        accessor: Accessor,
        site: u32,
        place: Place,
        bytes: u64,
        address: *const u8,
    ) -> bool {
        if bytes == 0 {
            return true;
        }
        if self.recorder.is_some() {
            self.record(accessor, site, place, bytes, address);
            return true;
        }
        let (Some(known), Some(slot)) = (self.sites.get(site as usize), self.groups.slot(accessor.slot)) else {
            return true;
        };
        self.first_pass.access(slot, accessor, SiteAccess { number: site, site: known, place, bytes }, &mut self.flags)
    }

    #[cold]
    fn record(&mut self, accessor: Accessor, site: u32, place: Place, bytes: u64, address: *const u8) {
        self.complete_pending_write();
        if let Some(recorder) = &mut self.recorder {
            recorder.access(&self.groups, &self.flags, &self.areas, (accessor, site, place), (bytes, address));
        }
    }

    /// An asynchronous copy of a group begins (called once, not by every work-item): its writes belong to the site
    /// `write_site`, its reads to the next one. No work-item of the group may access the same memory until
    /// [`Shadow::wait`] for its event. Returns whether all local memory that the copy reads was initialised. In
    /// conflicts, a copy is an access of the group's first work-item.
    pub fn async_copy(
        &mut self,
        slot: u32,
        write_site: u32,
        (destination, source): (Strided, Strided),
        event: u64,
    ) -> bool {
        self.complete_pending_write();
        self.seen.edges = true;
        let read_site = write_site + 1;
        if let Some(recorder) = &mut self.recorder {
            if let Some(slot) = self.groups.slot(slot) {
                recorder.order().begin_copy(slot, event);
            }
            recorder.copy(&self.groups, &self.flags, &self.areas, slot, (read_site, source));
            recorder.copy(&self.groups, &self.flags, &self.areas, slot, (write_site, destination));
            return true;
        }
        let (word, reset) = self.groups.copy(slot);
        self.apply_reset(reset);
        let Some(known) = self.groups.slot(slot) else { return true };
        let initialised = self.first_pass.copy(known, slot, word, (read_site, Mode::Read, source), &mut self.flags);
        self.first_pass.copy(known, slot, word, (write_site, Mode::Write, destination), &mut self.flags);
        if let Some(slot) = self.groups.slot_mut(slot) {
            slot.pending_copies.push(PendingCopy { event, destination, source });
        }
        initialised
    }

    /// All work-items of the group have waited for the copies with these events, which ascend; `None`: for all.
    pub fn wait(&mut self, slot: u32, events: Option<&[u64]>) {
        self.complete_pending_write();
        if let Some(slot) = self.groups.slot_mut(slot) {
            slot.pending_copies.retain(|copy| !is_waited_for(events, copy.event));
        }
        if let (Some(recorder), Some(slot)) = (&mut self.recorder, self.groups.slot(slot)) {
            recorder.order().wait(slot, events);
        }
    }

    /// After [`Pass::Find`]: whether the launch must be run again with [`Pass::Record`]. In the absence of atomics and
    /// fences that synchronise, narrow scopes, sub-group barriers and asynchronous copies, this means that there are
    /// conflicts; otherwise, that there may be.
    pub fn suspects(&self) -> bool {
        !self.flags.is_empty()
    }

    /// In [`Pass::Find`]: whether [`Shadow::suspects`] means that there are conflicts, as far as the run has shown.
    pub fn is_certain(&self) -> bool {
        !(self.seen.edges || self.seen.narrow || self.seen.sub_groups)
    }

    /// Whether the current pass has definitely found a conflict.
    #[inline]
    pub fn has_conflict(&self) -> bool {
        match &self.recorder {
            Some(recorder) => recorder.has_conflicts(),
            None => !self.flags.is_empty() && self.is_certain(),
        }
    }

    /// After [`Pass::Record`]: all conflicts, ordered by sites, the access of the smaller site first. All pairs of
    /// sites are included and counts are exact if there are fewer than 2^19 conflicting cells (a cell of local memory
    /// counts once, whichever group it belongs to). Beyond that, the first 1024 conflicting cells of each site are
    /// still included; counts are then lower bounds, and a pair may be missing if it conflicts only at other cells.
    ///
    /// Pairs that are reported as benign certainly are. That values differ is only known of the two sites at the cell,
    /// not of the two accesses.
    pub fn conflicts(&mut self) -> Vec<Conflict> {
        self.complete_pending_write();
        self.recorder.as_ref().map(|recorder| recorder.conflicts(&self.grid, &self.groups)).unwrap_or_default()
    }

    /// After [`Pass::Record`]: whether some accesses are ordered only because of the values that atomics happened to
    /// read, so that there may be conflicts under another schedule. (Without suspects there are no such accesses.)
    pub fn depends_on_atomics(&mut self) -> bool {
        self.complete_pending_write();
        self.recorder.as_ref().is_some_and(|recorder| recorder.depends_on_atomics())
    }

    /// Examines the value that the last write wrote.
    #[inline]
    fn complete_pending_write(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.complete_pending_write(&self.groups, &self.flags, &self.areas);
        }
    }

    /// Zeroes all cells if stamps were reset.
    fn apply_reset(&mut self, reset: StampReset) {
        if reset == StampReset::Clear {
            self.clear();
        }
    }

    /// Forgets everything, because stamps were reset.
    #[cold]
    fn clear(&mut self) {
        self.first_pass.clear();
    }
}

#[cfg(test)]
mod tests {
    use kassay_model::native::table::{AccessSite, Object, Space, Storage};

    use super::*;

    const READ: u32 = 0;
    const WRITE: u32 = 1;

    fn shadow() -> Shadow {
        let access = |mode| AccessSite {
            path: 0,
            mode,
            space: Space::Global,
            object: None,
            bytes: 4,
            align: 4,
            lead: 0,
            ordering: None,
            builtin: None,
        };
        let object = |space| Object { name: String::new(), space, storage: Storage::Argument(0), element: 4 };
        Shadow::new(&NativeTable {
            objects: [Space::Global, Space::Local].map(object).to_vec(),
            accesses: [Mode::Read, Mode::Write].map(access).to_vec(),
            granule: vec![4; 2],
            ..NativeTable::default()
        })
    }

    fn begin(shadow: &mut Shadow) {
        let grid = Grid { global: [8, 1, 1], local: [4, 1, 1], offset: [0; 3] };
        let area = |memory| Area { memory, bytes: 64, granule: 4, uninitialised: false, shared: false };
        let areas = [Memory::Global, Memory::Local].map(area);
        shadow.begin(grid, &areas, Pass::Find).unwrap();
    }

    fn at(shadow: &mut Shadow, slot: u32, item: u32, site: u32, object: u32) -> bool {
        let by = Accessor { slot, item, number: 0 };
        // SAFETY: the first pass does not access the address.
        unsafe { shadow.access(by, site, Place { object, offset: 0 }, 4, std::ptr::dangling()) }
    }

    #[test]
    fn launches_leave_nothing_behind_even_when_stamps_are_reset() {
        for next in [1 << 20, (1 << 31) - 1, u32::MAX - 9] {
            let mut shadow = shadow();
            shadow.groups.skip_to(next);
            for _ in 0..20 {
                begin(&mut shadow);
                shadow.begin_group(0, 0).unwrap();
                assert!(!at(&mut shadow, 0, 0, READ, 1), "the last launch wrote it");
                at(&mut shadow, 0, 0, WRITE, 0);
                at(&mut shadow, 0, 0, WRITE, 1);
                assert!(!shadow.suspects());
                shadow.end_group(0);
            }
        }
    }

    #[test]
    fn a_barrier_of_the_grid_orders_groups_and_forgets_no_writes() {
        for flags in [1, 2] {
            let mut shadow = shadow();
            let grid = Grid { global: [8, 1, 1], local: [4, 1, 1], offset: [0; 3] };
            let area = |memory| Area { memory, bytes: 64, granule: 4, uninitialised: true, shared: false };
            shadow.begin(grid, &[Memory::Global, Memory::Local].map(area), Pass::Find).unwrap();
            (0..2).for_each(|slot| shadow.begin_group(slot, u64::from(slot)).unwrap());
            at(&mut shadow, 0, 0, WRITE, 0);
            at(&mut shadow, 0, 0, WRITE, 1);
            shadow.grid_barrier(&[0, 1], flags);
            assert!(at(&mut shadow, 1, 2, READ, 0), "the other group has written it");
            assert_eq!(shadow.suspects(), flags & 2 == 0);
            assert!(!at(&mut shadow, 1, 0, READ, 1), "local memory is each group's own");
            if flags & 2 != 0 {
                at(&mut shadow, 0, 1, WRITE, 0);
                assert!(shadow.suspects(), "nothing orders that");
            }
        }
    }

    #[test]
    fn a_stamp_reset_within_a_launch_invents_no_conflicts() {
        let mut shadow = shadow();
        begin(&mut shadow);
        shadow.groups.skip_to(u32::MAX - 3);
        (0..2).for_each(|slot| shadow.begin_group(slot, u64::from(slot)).unwrap());
        at(&mut shadow, 0, 0, WRITE, 0);
        at(&mut shadow, 0, 0, WRITE, 1);
        for _ in 0..8 {
            shadow.barrier(0, 3, 1);
            assert!(at(&mut shadow, 0, 1, READ, 0) && at(&mut shadow, 0, 1, READ, 1));
        }
        assert!(!shadow.suspects());
        // What comes afterwards is detected.
        at(&mut shadow, 1, 0, WRITE, 0);
        assert!(shadow.suspects());
    }
}
