//! A work-group that is being run: its contexts, its local memory, its items and what they wait for.

use super::access_cache::Watch;
use super::events::Events;
use super::exec_thread::ExecThread;
use super::fiber::Task;
use super::launch::{Prepared, Region};
use super::memory::{Places, Reserved};
use super::shadow::Group;
use crate::error::Result;
use crate::lower::host::abi::{Extent, GroupContext, ItemContext, SUB_GROUP};
use crate::lower::host::table::Space;
use crate::suite::schedule::Preemption;

/// What an item is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not begun.
    Fresh,
    /// Runs, or may go on.
    Ready,
    /// Waits for others at the barrier [`Item::at`].
    Waiting,
    /// Has spent a slice of fuel, and goes on when all others had their turn.
    Spinning,
    /// Has spent all its fuel at the loop [`Item::at`]; goes on only if others may have changed what it waits for.
    Exhausted,
    /// Is over its time.
    Late,
    Finished,
}

/// A point where items meet: site and iteration.
pub type Meeting = (u32, u64);

/// A work-item. Its context comes first, so that what code calls its item is this.
#[repr(C)]
pub struct Item {
    pub context: ItemContext,
    pub thread: *mut ExecThread,
    pub slot: *mut GroupSlot,
    /// By site of accesses.
    pub watches: *const Watch,
    /// What the race detector knows of the group.
    pub group: *const Group,
    /// By object of the table.
    pub extents: *const Extent,
    pub arguments: *const *const u8,
    /// Accesses to global and local memory so far.
    pub accesses: u64,
    /// The number of the access before which it is interrupted.
    pub stop_at: u64,
    /// What it may burn beyond the slice it has; `u64::MAX`: as much as it likes.
    pub fuel_left: u64,
    /// Whether it asked for more than that.
    pub spent: bool,
    /// Of the fiber that it runs on.
    pub task: *mut Task,
    /// Its slot's number.
    pub slot_number: u32,
    /// Local linear id, and where it stands in the order.
    pub index: u32,
    pub place: u32,
    pub state: State,
    /// Its fiber, by number; only while it is begun and not at its end.
    pub fiber: u32,
    pub at: Meeting,
    /// How many exchanges it took part in: of the group, of its sub-group.
    pub exchanges: [u32; 2],
}

/// Items of a group, or sub-group, that have arrived at a point.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrivals {
    pub count: u32,
    first: Meeting,
    /// Whether they are at several points.
    pub mixed: bool,
}

impl Arrivals {
    /// Whether those that have arrived are all at `at`, and there are some.
    pub fn are_at(&self, at: Meeting) -> bool {
        self.count > 0 && !self.mixed && self.first == at
    }

    pub fn add(&mut self, at: Meeting) {
        if self.count == 0 {
            self.first = at;
        }
        self.mixed |= self.first != at;
        self.count += 1;
    }
}

/// Bytes of a value that items exchange, at most (`double16`).
pub const MOST_EXCHANGED: usize = 128;

/// A place for one group at a time.
pub struct GroupSlot {
    pub context: GroupContext,
    pub extents: Vec<Extent>,
    /// See [`Prepared::owners`].
    pub owners: Vec<u32>,
    /// By site of accesses: as they are looked at in the run with the number `watched`.
    watches: Vec<Watch>,
    watched: u64,
    /// All that this group may access.
    pub regions: Vec<Region>,
    /// What the code's `arguments` points to.
    arguments: Vec<*const u8>,
    /// Addresses of local arguments, by position.
    words: Vec<u64>,
    local: Reserved,
    /// Local memory to clear for each group.
    clear: Vec<(*mut u8, usize)>,
    pub items: Vec<Item>,
    /// Items of the current group.
    pub count: u32,
    /// Linear number of the group, as the kernel sees its id.
    pub group: u64,
    /// Its own number.
    pub number: u32,
    /// By place in the order: the item.
    pub order: Vec<u32>,
    pub cursor: u32,
    /// The item that a preemption names to run next.
    pub jump: Option<u32>,
    pub finished: u32,
    /// The place of the item that ran last.
    pub last: u32,
    pub group_arrivals: Arrivals,
    pub sub_arrivals: Vec<Arrivals>,
    /// Of asynchronous copies.
    pub events: Events,
    /// Values that items exchange: two turns of the group's, then two of the sub-groups'.
    pub exchanged: Vec<u8>,
    /// Those of the current group that are still to come.
    pub preemptions: Vec<Preemption>,
    /// The group cannot go on.
    pub over: bool,
}

// SAFETY: the pointers lead to the slot's own memory, and to that of the launch, which outlives it.
unsafe impl Send for GroupSlot {}

impl GroupSlot {
    /// A slot for groups of `prepared`. `local`: memory of an earlier slot, to be used again.
    ///
    /// # Errors
    /// `Environment` if there is no memory.
    pub fn new(prepared: &Prepared, number: u32, local: Reserved) -> Result<Box<GroupSlot>> {
        let sizes = prepared.context.enqueued_local_size;
        let count = sizes.iter().product::<u64>();
        let mut slot = Box::new(GroupSlot {
            context: prepared.context.clone(),
            extents: prepared.extents.clone(),
            owners: prepared.owners.clone(),
            watches: Vec::new(),
            watched: 0,
            regions: prepared.regions.clone(),
            arguments: prepared.arguments.clone(),
            words: vec![0; prepared.arguments.len()],
            local,
            clear: Vec::new(),
            items: (0..count).map(|_| blank()).collect(),
            count: 0,
            group: 0,
            number,
            order: Vec::new(),
            cursor: 0,
            jump: None,
            finished: 0,
            last: 0,
            group_arrivals: Arrivals::default(),
            events: Events::default(),
            sub_arrivals: vec![Arrivals::default(); count.div_ceil(SUB_GROUP) as usize],
            exchanged: vec![0; if prepared.exchanges { count as usize * MOST_EXCHANGED * 4 } else { 0 }],
            preemptions: Vec::new(),
            over: false,
        });
        slot.place_locals(prepared)?;
        slot.context.extents = slot.extents.as_ptr();
        slot.context.local_size = [0; 3];
        let (context, extents, arguments) = (&raw const slot.context, slot.extents.as_ptr(), slot.arguments.as_ptr());
        let own = &raw mut *slot;
        for item in &mut slot.items {
            item.context.group = context;
            item.extents = extents;
            item.arguments = arguments;
            item.slot = own;
            item.slot_number = number;
        }
        Ok(slot)
    }

    /// What the next slot can use again.
    pub fn into_memory(mut self) -> Reserved {
        self.local.relax();
        self.local
    }

    fn place_locals(&mut self, prepared: &Prepared) -> Result<()> {
        let mut places = Places::new();
        let statics = places.place(prepared.static_local);
        let arguments: Vec<(u32, u64, u64)> =
            prepared.locals.iter().map(|(position, bytes)| (*position, places.place(*bytes), *bytes)).collect();
        let base = self.local.reserve(places.bytes())?;
        let at = |offset: u64| base.wrapping_add(usize::try_from(offset).unwrap_or(0));
        let clear = |offset: u64, bytes: u64| (at(offset), usize::try_from(bytes).unwrap_or(0));
        self.context.local_base = at(statics);
        self.clear.push(clear(statics, prepared.static_local));
        for (object, offset, bytes) in &prepared.static_objects {
            self.add_local(*object, at(statics + offset), *bytes);
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
        self.regions.push(Region { base, bytes, object, space: Space::Local });
    }

    /// Gets ready for the group `id`, whose items have not begun. `order`: of items, or empty.
    pub fn begin(&mut self, thread: *mut ExecThread, group: u64, id: [u64; 3], order: &[u32]) {
        let context = &mut self.context;
        context.group_id = id;
        let mut size = context.enqueued_local_size;
        for d in 0..3 {
            size[d] = size[d].min(context.global_size[d] - id[d] * size[d]);
        }
        let count = size.iter().product::<u64>() as u32;
        if context.local_size != size || self.order.len() != count as usize || !order.is_empty() {
            context.local_size = size;
            self.arrange(count, order);
        }
        self.group = group;
        self.events.begin(group);
        self.count = count;
        for item in &mut self.items[..count as usize] {
            item.state = State::Fresh;
            item.context.leaves = 0;
            item.thread = thread;
        }
        for (start, bytes) in &self.clear {
            // SAFETY: the range lies in this slot's local memory.
            unsafe { std::ptr::write_bytes(*start, 0, *bytes) };
        }
        self.cursor = 0;
        self.jump = None;
        self.finished = 0;
        self.last = 0;
        self.group_arrivals = Arrivals::default();
        self.sub_arrivals.fill(Arrivals::default());
        self.preemptions.clear();
        self.over = false;
    }

    /// Gets ready for the accesses of a run; `make` gives the watch of a site, by extents and owners of objects.
    pub fn watch(&mut self, run: u64, group: *const Group, make: impl FnOnce(&[Extent], &[u32], &mut Vec<Watch>)) {
        if self.watched == run {
            return;
        }
        self.watched = run;
        self.watches.clear();
        make(&self.extents, &self.owners, &mut self.watches);
        for item in &mut self.items {
            item.watches = self.watches.as_ptr();
            item.group = group;
        }
    }

    /// Gives `count` items their local ids and their places. An order for larger groups holds for smaller ones too.
    fn arrange(&mut self, count: u32, order: &[u32]) {
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

    /// An item can take its first step, as [`State::Ready`].
    ///
    /// # Safety
    /// `item` is one of a live slot that has a group.
    pub unsafe fn start(item: *mut Item, fuel: u64, slice: u64) {
        // SAFETY: as promised.
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

    /// The first access of `item` from `number` on before which it is interrupted.
    pub fn next_stop(&self, item: u32, number: u64) -> u64 {
        let item = u64::from(item);
        let stops = self.preemptions.iter().filter(|p| p.item == item && p.access >= number);
        stops.map(|p| p.access).min().unwrap_or(u64::MAX)
    }

    /// The item that may run next, in the order from the cursor on.
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
        // Mostly the one whose turn it is.
        if let Some(index) = self.order.get(from).and_then(|index| can(&self.items, *index)) {
            return Some(index);
        }
        let (before, after) = self.order.split_at(from);
        after.iter().chain(before).find_map(|index| can(&self.items, *index))
    }

    /// Items of sub-group `number`.
    pub fn sub_group(&self, number: u32) -> std::ops::Range<u32> {
        let start = number * SUB_GROUP as u32;
        start..(start + SUB_GROUP as u32).min(self.count)
    }
}

fn blank() -> Item {
    Item {
        context: ItemContext {
            group: std::ptr::null(),
            fuel: 0,
            local_id: [0; 3],
            global_id: [0; 3],
            local_linear_id: 0,
            leaves: 0,
            host: std::ptr::null_mut(),
        },
        thread: std::ptr::null_mut(),
        slot: std::ptr::null_mut(),
        watches: std::ptr::null(),
        group: std::ptr::null(),
        extents: std::ptr::null(),
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
    }
}
