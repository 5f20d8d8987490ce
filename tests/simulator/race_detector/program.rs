//! Runs programs of accesses, barriers, atomics and fences, in the order of a schedule, through the detector.

use std::collections::BTreeSet;

use kassay_model::native::table::{AccessSite, BarrierSite, Mode, NativeTable, Object, Ordering, Space, Storage};
use kassay_run::exec::simulator::observation::Conflict;
use kassay_run::exec::simulator::observer::Observer;
use kassay_run::exec::simulator::shadow::{
    Accessor, Area, Footprint, FootprintCounter, Grid, Part, Pass, Place, Shadow, Strided,
};

/// Items of a group; programs use only some of them, in two sub-groups.
pub const ITEMS: u32 = 18;
pub const CELLS: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    pub mode: Mode,
    /// The width of the access, in cells.
    pub cells: u64,
    pub ordering: Option<Ordering>,
    pub stores: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Access {
        group: u32,
        item: u32,
        site: u32,
        object: u32,
        cell: u64,
        value: u8,
    },
    Barrier {
        group: u32,
        flags: u32,
        scope: u32,
    },
    SubGroupBarrier {
        group: u32,
        sub_group: u32,
        flags: u32,
    },
    Fence {
        group: u32,
        item: u32,
        flags: u32,
        order: u32,
        scope: u32,
    },
    /// Copies from cells of one object to cells of another one.
    Copy {
        group: u32,
        destination: (u32, u64),
        source: (u32, u64),
        cells: u64,
        event: u64,
    },
    /// Waits for copies with these events, which ascend.
    Wait {
        group: u32,
        events: [u64; 2],
    },
}

impl Step {
    pub fn group(&self) -> u32 {
        match *self {
            Step::Access { group, .. }
            | Step::Barrier { group, .. }
            | Step::SubGroupBarrier { group, .. }
            | Step::Fence { group, .. }
            | Step::Copy { group, .. }
            | Step::Wait { group, .. } => group,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Program {
    pub groups: u32,
    /// Whether groups run concurrently, each with its own local memory, or one after the other.
    pub interleaved: bool,
    /// By object: whether it is local, and the bytes of a cell.
    pub objects: Vec<(bool, u32)>,
    /// The last two sites are those of copies.
    pub sites: Vec<Site>,
    pub steps: Vec<Step>,
}

/// What the detector reports for a program.
#[derive(Debug)]
pub struct Outcome {
    pub suspects: bool,
    pub conflicts: Vec<Conflict>,
    /// The steps that read local memory which no item had written.
    pub uninitialised: BTreeSet<usize>,
    pub footprint: Footprint,
}

impl Program {
    pub fn copy_sites(&self) -> (u32, u32) {
        let last = self.sites.len() as u32 - 1;
        (last - 1, last)
    }

    pub fn bytes(&self, object: u32) -> u64 {
        CELLS * u64::from(self.objects[object as usize].1)
    }

    pub fn table(&self) -> NativeTable {
        let object = |(local, bytes): &(bool, u32)| Object {
            name: String::new(),
            space: if *local { Space::Local } else { Space::Global },
            storage: Storage::Argument(0),
            element: *bytes,
        };
        // Objects differ in their cells; spans are used for every access, so the sites' bytes do not matter.
        let access = |site: &Site| AccessSite {
            path: 0,
            mode: site.mode,
            space: Space::Generic,
            object: None,
            bytes: 1,
            align: 1,
            lead: 0,
            ordering: site.ordering,
            builtin: site.stores.then(|| "atomic_store_explicit".to_owned()),
        };
        let sub_groups = self.steps.iter().any(|s| matches!(s, Step::SubGroupBarrier { .. }));
        let barrier = BarrierSite {
            path: 0,
            builtin: "barrier".to_owned(),
            sub_group: sub_groups,
            source: 0,
            flags: None,
            grid: false,
        };
        NativeTable {
            objects: self.objects.iter().map(object).collect(),
            accesses: self.sites.iter().map(access).collect(),
            barriers: vec![barrier],
            granule: self.objects.iter().map(|(_, bytes)| *bytes).collect(),
            races: true,
            ..NativeTable::default()
        }
    }

    fn strided(&self, (object, cell): (u32, u64), cells: u64) -> Strided {
        let granule = u64::from(self.objects[object as usize].1);
        Strided { place: Place { object, offset: cell * granule }, count: cells, element: granule, stride: 1 }
    }

    fn slot(&self, group: u32) -> u32 {
        if self.interleaved { group } else { 0 }
    }

    /// Runs the program in both passes; `shadow` may have served other launches of the same table.
    pub fn run(&self, shadow: &mut Shadow) -> Outcome {
        let mut outcome = Outcome {
            suspects: false,
            conflicts: Vec::new(),
            uninitialised: BTreeSet::new(),
            footprint: Footprint::default(),
        };
        let mut counter = FootprintCounter::default();
        outcome.uninitialised = self.pass(shadow, Pass::Find, Some(&mut counter));
        outcome.suspects = shadow.suspects();
        outcome.footprint = counter.total();
        // With a footprint all accesses take the slow path, without one nearly all take the fast path.
        assert_eq!(self.pass(shadow, Pass::Find, None), outcome.uninitialised, "on the fast path");
        assert_eq!(shadow.suspects(), outcome.suspects, "on the fast path");
        if outcome.suspects {
            self.pass(shadow, Pass::Record, None);
            outcome.conflicts = shadow.conflicts();
        }
        outcome
    }

    fn pass(&self, shadow: &mut Shadow, pass: Pass, mut counter: Option<&mut FootprintCounter>) -> BTreeSet<usize> {
        let table = self.table();
        let areas: Vec<Area> =
            (0..self.objects.len() as u32).map(|object| Area::of(&table, object, self.bytes(object))).collect();
        let global = [u64::from(self.groups * ITEMS), 1, 1];
        shadow.begin(Grid { global, local: [u64::from(ITEMS), 1, 1], offset: [0; 3] }, &areas, pass).unwrap();
        if let Some(counter) = &mut counter {
            counter.begin(&areas, u64::from(ITEMS)).unwrap();
        }
        // By slot and object.
        let memory =
            || self.objects.iter().map(|(_, bytes)| vec![0_u8; (u64::from(*bytes) * CELLS) as usize]).collect();
        let mut memories: Vec<Vec<Vec<u8>>> = (0..self.groups).map(|_| memory()).collect();
        let mut uninitialised = BTreeSet::new();
        let mut running: BTreeSet<u32> = BTreeSet::new();
        for (index, step) in self.steps.iter().enumerate() {
            let group = step.group();
            if !running.contains(&group) {
                if !self.interleaved {
                    running.iter().for_each(|_| shadow.end_group(0));
                    running.clear();
                }
                shadow.begin_group(self.slot(group), u64::from(group)).unwrap();
                if let Some(counter) = &mut counter {
                    counter.begin_group(self.slot(group), u64::from(group)).unwrap();
                }
                running.insert(group);
            }
            if !self.step((shadow, counter.as_deref_mut()), step, &mut memories, index as u64) {
                uninitialised.insert(index);
            }
        }
        running.iter().for_each(|group| shadow.end_group(self.slot(*group)));
        uninitialised
    }

    fn step(
        &self,
        (shadow, counter): (&mut Shadow, Option<&mut FootprintCounter>),
        step: &Step,
        memories: &mut [Vec<Vec<u8>>],
        number: u64,
    ) -> bool {
        match *step {
            Step::Access { group, item, site, object, cell, value } => {
                let who = Accessor { slot: self.slot(group), item, number };
                let (local, granule) = self.objects[object as usize];
                let owner = if local { group as usize } else { 0 };
                let offset = cell * u64::from(granule);
                let bytes = self.sites[site as usize].cells * u64::from(granule);
                let place = Place { object, offset };
                let target = &mut memories[owner][object as usize][offset as usize..(offset + bytes) as usize];
                let is_counted = counter.map(|counter| counter.access(who, site, place, bytes)).is_some();
                let fast_path =
                    shadow.fast_path(who.slot, site, bytes, Part { object, start: 0, bytes: self.bytes(object) });
                // SAFETY: the group runs in this launch, the access is in bounds, and `target` outlives the pass.
                let fine = unsafe {
                    !is_counted && fast_path.pass(shadow.group(who.slot), item, offset)
                        || shadow.access(who, site, place, bytes, target.as_ptr())
                };
                if self.sites[site as usize].mode == Mode::Write {
                    target.fill(value);
                }
                return fine;
            }
            Step::Barrier { group, flags, scope } => shadow.barrier(self.slot(group), flags, scope),
            Step::SubGroupBarrier { group, sub_group, flags } => {
                shadow.sub_group_barrier(self.slot(group), sub_group, flags);
            }
            Step::Fence { group, item, flags, order, scope } => {
                shadow.fence(Accessor { slot: self.slot(group), item, number }, flags, order, scope);
            }
            Step::Copy { group, destination, source, cells, event } => {
                let sides = [destination, source].map(|side| self.strided(side, cells));
                if let Some(counter) = counter {
                    counter.copy(self.slot(group), sides[0], sides[1]);
                }
                return shadow.async_copy(self.slot(group), self.copy_sites().0, (sides[0], sides[1]), event);
            }
            Step::Wait { group, events } => shadow.wait(self.slot(group), Some(&events)),
        }
        true
    }
}
