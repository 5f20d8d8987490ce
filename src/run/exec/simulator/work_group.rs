//! A running work-group: its contexts, its local memory, its work-items and what they wait for.

use std::ptr::NonNull;

use kassay_base::error::Result;
use kassay_model::native::abi::{Extent, GroupContext, ItemContext};
use kassay_model::native::table::Space;
use kassay_suite::schedule::Preemption;

use super::access_cache::CachedSite;
use super::events::Events;
use super::fault_log::ItemIds;
use super::fiber::Task;
use super::launch::{Home, PreparedLaunch, Region};
use super::memory::{OffsetAllocator, Reservation};
use super::program::Site;
use super::run_state::RunState;
use super::shadow::Group;
use super::warp_state::{Step, Stepping, WarpCall};

/// What a work-item is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Has not begun.
    Fresh,
    /// Runs, or can continue.
    Ready,
    /// Waits for others at the barrier [`Item::at`].
    Waiting,
    /// Waits until the work-items of its warp make their next access together.
    Stepping,
    /// Has used up a slice of fuel; continues after all others have had their turn.
    Spinning,
    /// Has used up all its fuel in the loop [`Item::at`]; continues only if others may have changed what it waits for.
    Exhausted,
    /// Has exceeded the time limit.
    Late,
    Finished,
}

/// A point at which work-items synchronise: barrier site and iteration.
pub type SyncPoint = (u32, u64);

/// A work-item. Its context comes first, so that compiled code's pointer to its context is a pointer to this. Hooks use
/// it through [`super::item_ref::ItemRef`].
#[repr(C)]
pub struct Item {
    pub context: ItemContext,
    pub run: *mut RunState,
    pub slot: *mut GroupSlot,
    /// By access site.
    pub site_cache: *const CachedSite,
    /// The race detector's state of the group.
    pub group: *const Group,
    pub arguments: *const *const u8,
    /// The number of accesses to global and local memory so far.
    pub accesses: u64,
    /// The number of the access before which it is interrupted.
    pub stop_at: u64,
    /// The fuel it may use beyond its current slice; `u64::MAX`: unlimited.
    pub fuel_left: u64,
    /// Whether it asked for more than that.
    pub spent: bool,
    /// That of the fiber on which it runs.
    pub task: *mut Task<Item>,
    /// The number of its slot.
    pub slot_number: u32,
    /// The local linear id.
    pub index: u32,
    /// Its position in the order of the group.
    pub place: u32,
    pub state: State,
    /// The number of its fiber; only valid while it has begun and not finished.
    pub fiber: u32,
    pub at: SyncPoint,
    /// How many exchanges it took part in: of the group, and of its sub-group.
    pub exchanges: [u32; 2],
    pub warp: WarpCall,
    pub step: Step,
}

impl Item {
    /// Whether it has ended by a `return` that the code notes.
    pub fn has_returned(&self) -> bool {
        self.state == State::Finished && self.context.returned != 0
    }
}

/// The work-items of a group, or sub-group, that have arrived at a synchronisation point.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrivals {
    pub count: u32,
    /// Those that the first passed to a barrier.
    pub flags: u32,
    first: SyncPoint,
    /// Whether they have arrived at different points.
    pub mixed: bool,
    /// How often all have been together.
    pub meetings: u64,
    /// Whether one of them waits for all groups of the launch.
    pub of_grid: bool,
}

impl Arrivals {
    /// Returns whether at least one has arrived, and all are at `at`.
    pub fn are_at(&self, at: SyncPoint) -> bool {
        self.count > 0 && !self.mixed && self.first == at
    }

    /// Where the first of them is.
    pub fn point(&self) -> SyncPoint {
        self.first
    }

    /// Adds a work-item that has arrived at `at`.
    pub fn add(&mut self, at: SyncPoint) {
        if self.count == 0 {
            self.first = at;
        }
        self.mixed |= self.first != at;
        self.count += 1;
    }

    /// Returns whether so many are all that are awaited, at one point.
    pub fn are_all(&self, awaited: u32) -> bool {
        self.count > 0 && self.count == awaited && !self.mixed
    }

    /// Lets those go that have met.
    pub fn release(&mut self) {
        *self = Arrivals { meetings: self.meetings + 1, ..Arrivals::default() };
    }
}

/// The maximum size in bytes of a value that work-items exchange (`double16`).
pub const MAX_EXCHANGED_BYTES: usize = 128;

/// Room for a value that a work-item exchanges. Code loads vectors from it with instructions that want their alignment.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub struct Exchanged([u8; MAX_EXCHANGED_BYTES]);

/// The resources of one running group; reused for one group after the other.
pub struct GroupSlot {
    pub context: GroupContext,
    pub extents: Vec<Extent>,
    /// See [`PreparedLaunch::homes`].
    pub homes: Vec<Home>,
    /// By access site; filled for the run with the number `cached_run`.
    site_cache: Vec<CachedSite>,
    cached_run: u64,
    /// All memory that this group may access.
    pub regions: Vec<Region>,
    /// What the code's `arguments` points to.
    arguments: Vec<*const u8>,
    /// Addresses of local arguments, by position.
    words: Vec<u64>,
    local: Reservation,
    /// Local memory to clear for each group.
    clear: Vec<(*mut u8, usize)>,
    pub items: Vec<Item>,
    /// Number of work-items in the current group.
    pub count: u32,
    /// Linear number of the group's id as the kernel sees it.
    pub group: u64,
    /// The slot's own number.
    pub number: u32,
    /// Work-items by position in the order.
    pub order: Vec<u32>,
    /// Whether that is another order than the natural one.
    is_reordered: bool,
    pub cursor: u32,
    /// The work-item that a preemption names to run next.
    pub jump: Option<u32>,
    pub finished: u32,
    /// Position of the work-item that ran last.
    pub last: u32,
    pub group_arrivals: Arrivals,
    pub sub_arrivals: Vec<Arrivals>,
    /// Events of asynchronous copies.
    pub events: Events,
    /// Values that work-items exchange: two alternating buffers for the group, then two for the sub-groups.
    pub exchanged: Vec<Exchanged>,
    /// The current group's preemptions.
    pub preemptions: Vec<Preemption>,
    /// Whether a work-item of the current group has called a function of warps.
    pub uses_warps: bool,
    /// The last step of one of its warps in lockstep.
    pub last_step: Option<Stepping>,
    /// Whether the group cannot continue.
    pub over: bool,
}

impl GroupSlot {
    /// Creates a slot for groups of `prepared`; [`GroupSlot::into_memory`] ends it. `local`: memory of an earlier slot,
    /// to be reused.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn new(prepared: &PreparedLaunch, number: u32, local: Reservation) -> Result<NonNull<GroupSlot>> {
        let sizes = prepared.context.enqueued_local_size;
        let count = sizes.iter().product::<u64>();
        let mut slot = Box::new(GroupSlot {
            context: prepared.context.clone(),
            extents: prepared.extents.clone(),
            homes: prepared.homes.clone(),
            site_cache: Vec::new(),
            cached_run: 0,
            regions: prepared.regions.clone(),
            arguments: prepared.arguments.clone(),
            words: vec![0; prepared.arguments.len()],
            local,
            clear: Vec::new(),
            items: (0..count).map(|_| unstarted_item()).collect(),
            count: 0,
            group: 0,
            number,
            order: Vec::new(),
            is_reordered: false,
            cursor: 0,
            jump: None,
            finished: 0,
            last: 0,
            group_arrivals: Arrivals::default(),
            events: Events::default(),
            sub_arrivals: vec![Arrivals::default(); count.div_ceil(prepared.context.sub_group) as usize],
            exchanged: vec![
                Exchanged([0; MAX_EXCHANGED_BYTES]);
                if prepared.exchanges { count as usize * 4 } else { 0 }
            ],
            preemptions: Vec::new(),
            uses_warps: false,
            last_step: None,
            over: false,
        });
        slot.place_locals(prepared)?;
        slot.context.extents = slot.extents.as_ptr();
        slot.context.local_size = [0; 3];
        let slot = NonNull::from(Box::leak(slot));
        let own = slot.as_ptr();
        // SAFETY: the slot was just leaked, and nothing else refers to it. Its address is taken from what its owner
        // keeps, so that it stays valid.
        unsafe {
            let context = &raw const (*own).context;
            let arguments = (*own).arguments.as_ptr();
            for item in &mut (*own).items {
                item.context.group = context;
                item.arguments = arguments;
                item.slot = own;
                item.slot_number = number;
            }
        }
        Ok(slot)
    }

    /// Ends the slot and returns its memory, for the next slot to reuse.
    ///
    /// # Safety
    /// `slot` comes from [`GroupSlot::new`], and no fiber runs one of its work-items or ever will.
    pub unsafe fn into_memory(slot: NonNull<GroupSlot>) -> Reservation {
        // SAFETY: `new` leaked the slot from a box, and the caller guarantees that nothing uses it any more.
        let mut slot = unsafe { Box::from_raw(slot.as_ptr()) };
        slot.local.trim();
        slot.local
    }

    fn place_locals(&mut self, prepared: &PreparedLaunch) -> Result<()> {
        let mut offsets = OffsetAllocator::new();
        let statics = offsets.allocate(prepared.static_local);
        let arguments: Vec<(u32, u64, u64)> =
            prepared.locals.iter().map(|(position, bytes)| (*position, offsets.allocate(*bytes), *bytes)).collect();
        let base = self.local.reserve(offsets.bytes())?;
        let at = |offset: u64| base.wrapping_add(usize::try_from(offset).unwrap_or(0));
        let clear = |offset: u64, bytes: u64| (at(offset), usize::try_from(bytes).unwrap_or(0));
        self.context.local_base = at(statics);
        for (object, offset, bytes) in &prepared.static_objects {
            self.add_local(*object, at(statics + offset), *bytes);
            self.clear.push(clear(statics + offset, *bytes));
        }
        for (position, offset, bytes) in arguments {
            self.add_local(position, at(offset), bytes);
            self.clear.push(clear(offset, bytes));
            let index = position as usize;
            self.words[index] = at(offset) as u64;
            self.arguments[index] = (&raw const self.words[index]).cast();
        }
        Ok(())
    }

    fn add_local(&mut self, object: u32, base: *mut u8, bytes: u64) {
        let base = base as u64;
        self.extents[object as usize] = Extent { base, bytes };
        self.regions.push(Region::of(object, base, bytes, Space::Local));
    }

    /// Prepares for the group with linear number `group` and id `id`, whose work-items have not begun. `order`: of
    /// work-items, or empty.
    pub fn begin(&mut self, run: *mut RunState, group: u64, id: [u64; 3], order: &[u32]) {
        let context = &mut self.context;
        context.group_id = id;
        let mut size = context.enqueued_local_size;
        for d in 0..3 {
            size[d] = size[d].min(context.global_size[d] - id[d] * size[d]);
        }
        let count = size.iter().product::<u64>() as u32;
        // The launch before may have had an order of its own.
        let is_natural = order.is_empty() && !self.is_reordered;
        if context.local_size != size || self.order.len() != count as usize || !is_natural {
            context.local_size = size;
            self.is_reordered = !order.is_empty();
            self.assign_ids(count, order);
        }
        self.group = group;
        self.events.begin(group);
        self.count = count;
        for item in &mut self.items[..count as usize] {
            item.state = State::Fresh;
            item.context.leaves = 0;
            item.context.returned = 0;
            item.warp = WarpCall::default();
            item.step = Step::default();
            item.run = run;
        }
        for (start, bytes) in &self.clear {
            // SAFETY: `place_locals` took the range from this slot's local memory, and no code of the slot runs.
            unsafe { std::ptr::write_bytes(*start, 0, *bytes) };
        }
        self.cursor = 0;
        self.jump = None;
        self.finished = 0;
        self.last = 0;
        self.group_arrivals = Arrivals::default();
        self.sub_arrivals.fill(Arrivals::default());
        self.preemptions.clear();
        self.uses_warps = false;
        self.last_step = None;
        self.over = false;
    }

    /// Fills the site cache for the run with this number, unless that is done.
    pub fn fill_site_cache(&mut self, number: u64, sites: &[Site], run: &mut RunState) {
        if self.cached_run == number {
            return;
        }
        self.cached_run = number;
        let group = run.shadow().map_or(std::ptr::null(), |shadow| shadow.group(self.number));
        self.site_cache.clear();
        self.site_cache.extend((0..).zip(sites).map(|site| {
            let watched = run.observer().is_some_and(|observer| observer.watches(site.1));
            CachedSite::new(site, self.number, &self.extents, &self.homes, run.shadow(), watched)
        }));
        for item in &mut self.items {
            item.site_cache = self.site_cache.as_ptr();
            item.group = group;
        }
    }

    /// Assigns local ids and positions to `count` work-items. An order for larger groups is also used for smaller ones.
    fn assign_ids(&mut self, count: u32, order: &[u32]) {
        let size = self.context.local_size;
        self.order.clear();
        if order.is_empty() {
            self.order.extend(0..count);
        } else {
            self.order.extend(order.iter().copied().filter(|item| *item < count));
        }
        for index in 0..u64::from(count) {
            let item = &mut self.items[index as usize];
            item.index = index as u32;
            item.context.local_linear_id = index;
            item.context.local_id = [index % size[0], index / size[0] % size[1], index / (size[0] * size[1])];
        }
        for (place, item) in (0..).zip(&self.order) {
            self.items[*item as usize].place = place;
        }
    }

    /// Makes a work-item [`State::Ready`] to take its first step.
    ///
    /// # Safety
    /// `item` belongs to a live slot that has a group.
    pub unsafe fn start(item: *mut Item, fuel: u64, slice: u64) {
        // SAFETY: the caller guarantees that `item` and its slot are alive; no other reference to them exists while
        // they change.
        unsafe {
            let slot = (*item).slot;
            let context = &raw const (*slot).context;
            for d in 0..3 {
                (*item).context.global_id[d] = (*context).offset[d]
                    + (*context).group_id[d] * (*context).enqueued_local_size[d]
                    + (*item).context.local_id[d];
            }
            let first = fuel.min(slice);
            (*item).context.fuel = first as i64;
            (*item).fuel_left = if fuel == u64::MAX { fuel } else { fuel - first };
            (*item).spent = false;
            (*item).accesses = 0;
            (*item).exchanges = [0; 2];
            (*item).state = State::Ready;
            (*item).stop_at =
                if (*slot).preemptions.is_empty() { u64::MAX } else { (*slot).next_stop((*item).index, 0) };
        }
    }

    /// The first access of `item`, from number `number` on, before which it is interrupted.
    pub fn next_stop(&self, item: u32, number: u64) -> u64 {
        let item = u64::from(item);
        let stops = self.preemptions.iter().filter(|p| p.item == item && p.access >= number);
        stops.map(|p| p.access).min().unwrap_or(u64::MAX)
    }

    /// The work-item to run next: the first one that can run, in the order from the cursor on.
    pub fn pick(&mut self) -> Option<u32> {
        let can = |items: &[Item], index: u32| {
            matches!(items[index as usize].state, State::Fresh | State::Ready).then_some(index)
        };
        if let Some(jump) = self.jump.take()
            && jump < self.count
            && let Some(index) = can(&self.items, jump)
        {
            return Some(index);
        }
        let from = if self.cursor < self.count { self.cursor as usize } else { 0 };
        // Usually the one whose turn it is.
        if let Some(index) = self.order.get(from).and_then(|index| can(&self.items, *index)) {
            return Some(index);
        }
        let (before, after) = self.order.split_at(from);
        after.iter().chain(before).find_map(|index| can(&self.items, *index))
    }

    /// The work-items of the current group.
    pub fn current_items(&self) -> &[Item] {
        &self.items[..self.count as usize]
    }

    /// A work-item of the current group. The pointer may be used while its fiber runs.
    #[inline]
    pub fn item(&mut self, index: u32) -> *mut Item {
        debug_assert!(index < self.count, "a work-item of another group");
        // A pointer to the element alone would not outlive the next reference to it.
        self.items.as_mut_ptr().wrapping_add(index as usize)
    }

    /// Names a work-item in reports.
    pub fn ids(&self, item: u32) -> ItemIds {
        ItemIds { global_id: self.items[item as usize].context.global_id, group_id: self.context.group_id }
    }

    /// The local linear ids of sub-group `number`.
    pub fn sub_group(&self, number: u32) -> std::ops::Range<u32> {
        let size = self.context.sub_group as u32;
        let start = number * size;
        start..(start + size).min(self.count)
    }

    /// How many of these work-items a synchronisation point waits for: all that have not ended by a `return` of which
    /// the code notes that ([`ItemContext::returned`]).
    pub fn awaited(&self, members: &std::ops::Range<u32>) -> u32 {
        let all = members.len() as u32;
        if self.finished == 0 {
            return all;
        }
        let members = &self.items[members.start as usize..members.end as usize];
        all - members.iter().filter(|item| item.has_returned()).count() as u32
    }

    /// Wakes a work-item that waits for others which have all returned, so that it notices; returns whether there is
    /// one.
    pub fn wake_last(&mut self) -> bool {
        let all = 0..self.count;
        let is_of_grid = self.group_arrivals.of_grid;
        let of_group = (!is_of_grid && self.group_arrivals.are_all(self.awaited(&all))).then_some(all);
        let mut sub_groups = (0..).zip(&self.sub_arrivals).map(|(number, arrivals)| (self.sub_group(number), arrivals));
        let members = of_group.or_else(|| {
            sub_groups.find_map(|(members, arrivals)| arrivals.are_all(self.awaited(&members)).then_some(members))
        });
        let waiting = members.and_then(|members| {
            self.items[members.start as usize..members.end as usize]
                .iter_mut()
                .find(|item| item.state == State::Waiting)
        });
        waiting.map(|item| item.state = State::Ready).is_some()
    }

    /// The number of the sub-group of the work-item with this local linear id.
    pub fn sub_group_of(&self, index: u32) -> u32 {
        index / self.context.sub_group as u32
    }
}

fn unstarted_item() -> Item {
    Item {
        context: ItemContext {
            group: std::ptr::null(),
            fuel: 0,
            local_id: [0; 3],
            global_id: [0; 3],
            local_linear_id: 0,
            leaves: 0,
            returned: 0,
            host: std::ptr::null_mut(),
            placed: std::ptr::null_mut(),
        },
        run: std::ptr::null_mut(),
        slot: std::ptr::null_mut(),
        site_cache: std::ptr::null(),
        group: std::ptr::null(),
        arguments: std::ptr::null(),
        accesses: 0,
        stop_at: u64::MAX,
        fuel_left: 0,
        spent: false,
        task: std::ptr::null_mut(),
        slot_number: 0,
        index: 0,
        place: 0,
        state: State::Fresh,
        fiber: 0,
        at: (0, 0),
        exchanges: [0; 2],
        warp: WarpCall::default(),
        step: Step::default(),
    }
}
