//! Computes the happens-before relation of a launch as it ran (OpenCL 3.0 API specification, section 3.3.6), in the
//! second pass.
//!
//! An access is identified by its work-item's counter (raised by every release) and by its group's interval. A
//! work-item's knowledge of others consists of counters of work-items, and of completed intervals of groups. Both are
//! kept separately for local, global and image memory, because barriers and fences name the memory that they order; an
//! atomic orders the memory in which it lies. Scopes are interpreted leniently: a release and an acquire synchronise if
//! each one's scope includes the other's work-item; in local memory every scope includes the group. A compare-exchange
//! that fails is an atomic read: the hook reports it as an access of mode `AtomicRead`.

use std::cell::Cell;

use kassay_model::native::table::{Ordering, Scope};
use rustc_hash::FxHashMap;

use super::clocks::Clock;
use super::groups::{ShadowGroup, is_waited_for};
use super::launch::Memory;

/// The interval of accesses by copies, which no barrier ends.
pub const COPY: u32 = u32::MAX;

/// The position of an access in the history of its work-item and group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// Number of the work-item in the launch.
    pub item: u32,
    /// Number of groups that began before its own.
    pub group: u32,
    /// The interval, for the memory that is accessed.
    pub interval: u32,
    /// The work-item's counter.
    pub clock: u32,
    /// The number of barriers of the grid before it, for the memory that is accessed.
    pub phase: u32,
}

/// What is known about one kind of memory.
#[derive(Debug, Clone, Default)]
struct MemoryClocks {
    items: Clock,
    /// By group (number of groups that began before it): completed intervals.
    groups: Clock,
}

impl MemoryClocks {
    fn join(&mut self, other: &MemoryClocks) {
        self.items.join(&other.items);
        self.groups.join(&other.groups);
    }
}

/// By memory.
type Clocks = [MemoryClocks; 3];

fn join(ours: &mut Clocks, theirs: &Clocks, flags: u32) {
    for memory in named(flags) {
        ours[memory as usize].join(&theirs[memory as usize]);
    }
}

fn named(flags: u32) -> impl Iterator<Item = Memory> {
    Memory::ALL.into_iter().filter(move |m| flags & m.flag() != 0)
}

/// A work-item, as scopes see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ItemId {
    group: u32,
    sub_group: u32,
    item: u32,
}

impl ItemId {
    /// Work-item `number`, where groups have `stride` numbers and sub-groups `size` work-items.
    fn of(number: u32, stride: u32, size: u32) -> ItemId {
        let item = number % stride;
        ItemId { group: number / stride, sub_group: item / size, item }
    }
}

fn includes(scope: Scope, a: ItemId, b: ItemId) -> bool {
    match scope {
        Scope::WorkItem => a == b,
        Scope::SubGroup => a.group == b.group && a.sub_group == b.sub_group,
        Scope::WorkGroup => a.group == b.group,
        Scope::Device | Scope::AllDevices => true,
    }
}

/// What a work-item released, and with which scope.
#[derive(Debug, Clone)]
struct Release {
    scope: Scope,
    by: ItemId,
    known: Clocks,
}

/// Adds a release, joining it with an existing one that reaches the same work-items.
fn add_release(releases: &mut Vec<Release>, release: &Release, narrow: bool) {
    let same = |r: &&mut Release| {
        r.scope == release.scope
            && (!narrow || (r.by.group == release.by.group && r.by.sub_group == release.by.sub_group))
    };
    match releases.iter_mut().find(same) {
        Some(known) => join(&mut known.known, &release.known, u32::MAX),
        None => releases.push(release.clone()),
    }
}

/// What a reader of an atomic may acquire: the releases of the last write and, if that was a read-modify-write, of
/// those before it.
#[derive(Debug, Default)]
struct ReleaseSequence {
    releases: Vec<Release>,
    /// By work-item: its own releases among them, which its own later stores continue. Only kept where that can matter.
    own: FxHashMap<u32, Vec<Release>>,
}

/// A work-item that synchronises by other means than barriers of the group.
#[derive(Debug)]
struct Item {
    clock: u32,
    known: Clocks,
    /// Releases by fences; later atomic writes pass them on.
    released: Vec<Release>,
    /// Releases read from atomics; later acquire fences take effect on them.
    read: Vec<Release>,
}

#[derive(Debug, Default)]
struct Group {
    /// What the work-items know that have not synchronised individually.
    known: Clocks,
    items: Vec<u32>,
    /// Releases by barriers with a scope wider than the group.
    released: Vec<Release>,
    /// Copies that it has not waited for: event, and number among its copies.
    pending: Vec<(u64, u32)>,
    /// The number of copies that it has waited for.
    waited: u32,
}

/// The location of an atomic: the group, if it is local; the object and the cell.
pub type Location = (Option<u32>, u32, u64);

/// The kinds of synchronisation that a kernel uses, as the first pass observed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncFeatures {
    /// Anything besides barriers of groups.
    pub edges: bool,
    /// Scopes narrower than the device.
    pub narrow: bool,
    /// Fences, or barriers with a scope wider than their group.
    pub fences: bool,
    /// Atomic stores that do not release everything.
    pub restores: bool,
    /// Atomics with scopes narrower than the group, which distinguish between work-items of a group.
    pub sub_groups: bool,
}

/// The happens-before relation of a launch.
#[derive(Debug, Default)]
pub struct HappensBefore {
    seen: SyncFeatures,
    /// Number of work-items of a sub-group.
    sub_group: u32,
    items: FxHashMap<u32, Item>,
    groups: FxHashMap<u32, Group>,
    release_sequences: FxHashMap<Location, ReleaseSequence>,
    /// By group, also of those that have ended: for each of its copies, which one in the order of waits it is, from 1;
    /// 0 as long as nothing has waited for it. That is the counter of the copy as others know it.
    copies: FxHashMap<u32, Vec<u32>>,
    /// Whether some work-item has acquired what another one released.
    acquired: bool,
    /// Whether, after that, accesses were ordered that no barrier of a group orders.
    depended: Cell<bool>,
}

impl HappensBefore {
    /// An empty relation for a launch with these kinds of synchronisation.
    pub fn new(seen: SyncFeatures, sub_group: u32) -> HappensBefore {
        HappensBefore { seen, sub_group, ..HappensBefore::default() }
    }

    /// Returns whether anything but barriers orders accesses.
    pub fn has_edges(&self) -> bool {
        self.seen.edges
    }

    /// Returns whether every atomic treats all work-items of a group alike.
    pub fn has_group_scopes(&self) -> bool {
        !self.seen.sub_groups
    }

    /// Begins a group.
    pub fn begin_group(&mut self, slot: &ShadowGroup) {
        if self.seen.edges {
            self.groups.insert(slot.sequence, Group::default());
        }
    }

    /// Ends a group and forgets its work-items.
    pub fn end_group(&mut self, slot: &ShadowGroup) {
        if let Some(group) = self.groups.remove(&slot.sequence) {
            group.items.iter().for_each(|item| drop(self.items.remove(item)));
            self.release_sequences.retain(|(group, ..), _| *group != Some(slot.sequence));
        }
    }

    /// The position of an access that the group's work-item makes now.
    pub fn now(&self, slot: &ShadowGroup, item: u32, memory: Memory) -> Epoch {
        let number = slot.first + item;
        let clock = self.items.get(&number).map_or(1, |i| i.clock);
        Epoch { item: number, group: slot.sequence, interval: slot.interval(memory), clock, phase: slot.phase(memory) }
    }

    /// The position of an access by the copy that began last; the counter is the copy's number, from 1.
    pub fn copying(&self, slot: &ShadowGroup) -> Epoch {
        let clock = self.copies.get(&slot.sequence).map_or(1, |copies| copies.len() as u32);
        Epoch { item: slot.first + slot.copier(), group: slot.sequence, interval: COPY, clock, phase: 0 }
    }

    /// Begins an asynchronous copy of the group.
    pub fn begin_copy(&mut self, slot: &ShadowGroup, event: u64) {
        if let Some(group) = self.groups.get_mut(&slot.sequence) {
            let copies = self.copies.entry(slot.sequence).or_default();
            group.pending.push((event, copies.len() as u32));
            copies.push(0);
        }
    }

    /// All work-items of the group have waited for its copies with these events, which ascend; `None`: for all.
    pub fn wait(&mut self, slot: &ShadowGroup, events: Option<&[u64]>) {
        let Some(group) = self.groups.get_mut(&slot.sequence) else { return };
        let copier = slot.first + slot.copier();
        let copies = self.copies.entry(slot.sequence).or_default();
        let Group { pending, waited, .. } = group;
        pending.retain(|(event, number)| {
            let ends = is_waited_for(events, *event);
            if let Some(copy) = copies.get_mut(*number as usize).filter(|_| ends) {
                *waited += 1;
                *copy = *waited;
            }
            !ends
        });
        let waited = *waited;
        let know = |known: &mut Clocks| known.iter_mut().for_each(|k| k.items.raise(copier, waited));
        know(&mut group.known);
        for item in &group.items {
            self.items.get_mut(item).into_iter().for_each(|item| know(&mut item.known));
        }
    }

    /// Returns whether `past` happened before `now`; `slot` is the group of `now`.
    pub fn is_before(&self, past: &Epoch, now: &Epoch, slot: &ShadowGroup, memory: Memory) -> bool {
        if past.item == now.item && past.interval != COPY {
            return true;
        }
        if past.group == now.group && past.interval < slot.interval(memory) {
            return true;
        }
        if past.interval != COPY && past.phase < slot.phase(memory) {
            return true;
        }
        if !self.seen.edges {
            return false;
        }
        let own = self.items.get(&now.item).map(|item| &item.known);
        let Some(known) = own.or_else(|| self.groups.get(&now.group).map(|g| &g.known)) else { return false };
        let known = &known[memory as usize];
        if past.interval == COPY {
            let number = (past.clock as usize).checked_sub(1);
            let waited = number.and_then(|number| self.copies.get(&past.group)?.get(number)).copied();
            return waited.is_some_and(|waited| waited > 0 && known.items.get(past.item) >= waited);
        }
        let before = (past.group != now.group && known.groups.get(past.group) > past.interval)
            || known.items.get(past.item) >= past.clock;
        if before && self.acquired {
            self.depended.set(true);
        }
        before
    }

    /// Returns whether accesses are ordered only because of the values that atomics read under this schedule.
    pub fn depends_on_atomics(&self) -> bool {
        self.depended.get()
    }

    /// Returns whether two atomics of these sites are atomic with respect to each other.
    pub fn are_atomic(
        &self,
        a: (u32, Option<Ordering>),
        b: (u32, Option<Ordering>),
        slot: &ShadowGroup,
        at: Memory,
    ) -> bool {
        let [x, y] = [a.0, b.0].map(|number| ItemId::of(number, slot.stride, self.sub_group));
        [a.1, b.1].into_iter().all(|ordering| includes(effective_scope(ordering, at), x, y))
    }

    /// The group's work-items have synchronised at a barrier; `slot` is in its new interval.
    pub fn barrier(&mut self, slot: &ShadowGroup, flags: u32, scope: Scope) {
        let Some(group) = self.groups.get_mut(&slot.sequence) else { return };
        for number in &group.items {
            let Some(item) = self.items.get(number) else { continue };
            join(&mut group.known, &item.known, flags);
            let me = ItemId::of(*number, slot.stride, self.sub_group);
            for release in item.read.iter().filter(|r| includes(r.scope, r.by, me) && includes(scope, r.by, me)) {
                self.acquired = true;
                join(&mut group.known, &release.known, flags);
            }
        }
        for memory in named(flags) {
            group.known[memory as usize].groups.raise(slot.sequence, slot.interval(memory));
        }
        for number in &group.items {
            let Some(item) = self.items.get_mut(number) else { continue };
            named(flags).for_each(|m| item.known[m as usize] = group.known[m as usize].clone());
        }
        if scope >= Scope::Device {
            let by = ItemId::of(slot.first, slot.stride, self.sub_group);
            let release = Release { scope, by, known: restricted_to(&group.known, flags) };
            add_release(&mut group.released, &release, self.seen.narrow);
        }
    }

    /// Those of 64 work-items from `first` on that `which` has have synchronised.
    pub fn items_barrier(&mut self, slot: &ShadowGroup, first: u32, which: u64, flags: u32) {
        let items = (first..slot.copier().min(first + u64::BITS)).filter(move |item| which >> (item - first) & 1 != 0);
        let mut all = Clocks::default();
        for item in items.clone() {
            let known = self.release(slot, item, flags);
            join(&mut all, &known, flags);
        }
        for item in items {
            let known = &mut self.item(slot, item).known;
            named(flags).for_each(|m| known[m as usize] = all[m as usize].clone());
        }
    }

    /// A work-item executes a fence.
    pub fn fence(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        flags: u32,
        (acquires, releases): (bool, bool),
        scope: Scope,
    ) {
        let narrow = self.seen.narrow;
        let me = ItemId::of(slot.first + item, slot.stride, self.sub_group);
        if acquires {
            self.acquired = true;
            let item = self.item(slot, item);
            let read = std::mem::take(&mut item.read);
            for release in read.iter().filter(|r| includes(r.scope, r.by, me) && includes(scope, r.by, me)) {
                join(&mut item.known, &release.known, flags);
            }
            item.read = read;
        }
        if releases {
            let known = self.release(slot, item, flags);
            add_release(&mut self.item(slot, item).released, &Release { scope, by: me, known }, narrow);
        }
    }

    /// A work-item is about to read an atomic.
    pub fn read(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        (location, at): (Location, Memory),
        ordering: Option<Ordering>,
    ) {
        let Some(release_sequence) = self.release_sequences.get(&location).filter(|m| !m.releases.is_empty()) else {
            return;
        };
        let releases = release_sequence.releases.clone();
        let seen = self.seen;
        self.acquired |= ordering.is_some_and(|o| o.acquire);
        let me = ItemId::of(slot.first + item, slot.stride, self.sub_group);
        let item = self.item(slot, item);
        for release in &releases {
            let reached =
                includes(release.scope, release.by, me) && includes(effective_scope(ordering, at), release.by, me);
            if reached && ordering.is_some_and(|o| o.acquire) {
                join(&mut item.known, &release.known, at.flag());
            }
            if reached && seen.fences {
                add_release(&mut item.read, release, seen.narrow);
            }
        }
    }

    /// A work-item has written an atomic; `stores`: without reading it.
    pub fn write(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        (location, at): (Location, Memory),
        ordering: Option<Ordering>,
        stores: bool,
    ) {
        let number = slot.first + item;
        let by = ItemId::of(number, slot.stride, self.sub_group);
        let mut releases = Vec::new();
        if ordering.is_some_and(|o| o.release) {
            let known = self.release(slot, item, at.flag());
            releases.push(Release { scope: effective_scope(ordering, at), by, known });
        }
        let fenced = self.items.get(&number).into_iter().flat_map(|i| &i.released);
        let met = self.groups.get(&slot.sequence).into_iter().flat_map(|g| &g.released);
        let scope = effective_scope(ordering, at);
        releases.extend(fenced.chain(met).map(|r| Release { by, scope: r.scope.min(scope), known: r.known.clone() }));
        if releases.is_empty() && !self.release_sequences.contains_key(&location) {
            return;
        }
        let SyncFeatures { narrow, restores, .. } = self.seen;
        let release_sequence = self.release_sequences.entry(location).or_default();
        if stores {
            release_sequence.own.retain(|item, _| *item == number);
            release_sequence.releases = release_sequence.own.get(&number).cloned().unwrap_or_default();
        }
        for release in &releases {
            add_release(&mut release_sequence.releases, release, narrow);
            if restores {
                add_release(release_sequence.own.entry(number).or_default(), release, narrow);
            }
        }
    }

    /// A non-atomic access has written there.
    pub fn overwrite(&mut self, location: Location) {
        if !self.release_sequences.is_empty() {
            self.release_sequences.remove(&location);
        }
    }

    /// The work-item's own history, which it gets if it has none.
    fn item(&mut self, slot: &ShadowGroup, item: u32) -> &mut Item {
        let number = slot.first + item;
        let group = self.groups.entry(slot.sequence).or_default();
        self.items.entry(number).or_insert_with(|| {
            group.items.push(number);
            Item { clock: 1, known: group.known.clone(), released: Vec::new(), read: Vec::new() }
        })
    }

    /// Releases what the work-item knows and has done so far, for each memory that `flags` name. What it does
    /// afterwards is not included.
    fn release(&mut self, slot: &ShadowGroup, item: u32, flags: u32) -> Clocks {
        let number = slot.first + item;
        let item = self.item(slot, item);
        let clock = item.clock;
        named(flags).for_each(|m| item.known[m as usize].items.raise(number, clock));
        item.clock += 1;
        restricted_to(&item.known, flags)
    }
}

/// The scope of an atomic: relaxed atomics without a scope reach everything, those in local memory at least the group.
fn effective_scope(ordering: Option<Ordering>, at: Memory) -> Scope {
    let scope = ordering.map_or(Scope::AllDevices, |o| o.scope);
    if at == Memory::Local { scope.max(Scope::WorkGroup) } else { scope }
}

fn restricted_to(known: &Clocks, flags: u32) -> Clocks {
    let mut part = Clocks::default();
    named(flags).for_each(|m| part[m as usize] = known[m as usize].clone());
    part
}
