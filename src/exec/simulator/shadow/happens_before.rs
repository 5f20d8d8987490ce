//! Happens-before of a launch as it ran (OpenCL 3.0 API specification 3.3.6), in the second pass.
//!
//! An access is named by its item's counter (raised by every release) and by its group's interval. What an item knows of others: counters of
//! items, and intervals of groups that are over. Both are kept apart for local, global and image memory, because barriers and
//! fences name the memory that they order; an atomic orders the memory that it lies in. Scopes are read leniently: a release and an
//! acquire synchronise if each one's scope includes the other's item; in local memory every scope includes the group.
//! A compare-and-exchange that fails counts as one that succeeds.

use std::cell::Cell;
use std::collections::HashMap;

use super::clocks::Clock;
use super::groups::ShadowGroup;
use super::launch::Memory;
use crate::lower::host::abi::SUB_GROUP;
use crate::lower::host::table::{Ordering, Scope};

/// The interval of accesses by copies: no barrier ends it.
pub const COPY: u32 = u32::MAX;

/// Where an access stands in its item's and group's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Number of the item in the launch.
    pub item: u32,
    /// How many groups began before its own.
    pub group: u32,
    /// Of the memory that is accessed.
    pub interval: u32,
    pub clock: u32,
}

/// What is known about one kind of memory.
#[derive(Debug, Clone, Default)]
struct Knowledge {
    items: Clock,
    /// By group (how many began before): intervals that are over.
    groups: Clock,
}

impl Knowledge {
    fn join(&mut self, other: &Knowledge) {
        self.items.join(&other.items);
        self.groups.join(&other.groups);
    }
}

/// By memory.
type Known = [Knowledge; 3];

fn join(ours: &mut Known, theirs: &Known, flags: u32) {
    for memory in named(flags) {
        ours[memory as usize].join(&theirs[memory as usize]);
    }
}

fn named(flags: u32) -> impl Iterator<Item = Memory> {
    Memory::ALL.into_iter().filter(move |m| flags & m.flag() != 0)
}

/// An item, as scopes see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Someone {
    group: u32,
    item: u32,
}

impl Someone {
    fn of(number: u32, stride: u32) -> Someone {
        Someone { group: number / stride, item: number % stride }
    }

    fn sub_group(self) -> u32 {
        self.item / SUB_GROUP as u32
    }
}

fn includes(scope: Scope, a: Someone, b: Someone) -> bool {
    match scope {
        Scope::WorkItem => a == b,
        Scope::SubGroup => a.group == b.group && a.sub_group() == b.sub_group(),
        Scope::WorkGroup => a.group == b.group,
        Scope::Device | Scope::AllDevices => true,
    }
}

/// What was released, by whom and how far.
#[derive(Debug, Clone)]
struct Release {
    scope: Scope,
    by: Someone,
    known: Known,
}

/// Adds a release, joined with one that reaches the same items.
fn add(releases: &mut Vec<Release>, release: &Release, narrow: bool) {
    let same = |r: &&mut Release| {
        r.scope == release.scope
            && (!narrow || (r.by.group == release.by.group && r.by.sub_group() == release.by.sub_group()))
    };
    match releases.iter_mut().find(same) {
        Some(known) => join(&mut known.known, &release.known, u32::MAX),
        None => releases.push(release.clone()),
    }
}

/// What a reader of an atomic may acquire: of the last write, and, if that was a read-modify-write, of those before.
#[derive(Debug, Default)]
struct Message {
    releases: Vec<Release>,
    /// By item: its own among them, with which its own later stores go on. Only kept where that can matter.
    own: HashMap<u32, Vec<Release>>,
}

/// An item that synchronises otherwise than by barriers of the group.
#[derive(Debug)]
struct Item {
    clock: u32,
    known: Known,
    /// By fences; atomic writes behind them pass it on.
    released: Vec<Release>,
    /// Read from atomics; acquire fences behind take it.
    read: Vec<Release>,
}

#[derive(Debug, Default)]
struct Group {
    /// What items know that have not synchronised on their own.
    known: Known,
    items: Vec<u32>,
    /// By barriers of a scope wider than the group.
    released: Vec<Release>,
    copies: u32,
}

/// An atomic's place: the group, if it is local; the object and the cell.
pub type Location = (Option<u32>, u32, u64);

/// What the first pass saw of synchronisation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Anything beside barriers of groups.
    pub edges: bool,
    /// Scopes narrower than the device.
    pub narrow: bool,
    /// Fences, or barriers of a wider scope than their group.
    pub fences: bool,
    /// Atomic stores that do not release all.
    pub restores: bool,
    /// Atomics of scopes narrower than the group, so that not all items of a group are alike to them.
    pub sub_groups: bool,
}

/// The order of a launch.
#[derive(Debug, Default)]
pub struct Order {
    seen: Seen,
    items: HashMap<u32, Item>,
    groups: HashMap<u32, Group>,
    messages: HashMap<Location, Message>,
    /// Whether some item has acquired what another one released.
    acquired: bool,
    /// Whether, after that, something was in order that no barrier of a group orders.
    leaned: Cell<bool>,
}

impl Order {
    pub fn new(seen: Seen) -> Order {
        Order { seen, ..Order::default() }
    }

    /// Whether anything but barriers orders.
    pub fn has_edges(&self) -> bool {
        self.seen.edges
    }

    /// Whether all items of a group are alike to every atomic.
    pub fn has_group_scopes(&self) -> bool {
        !self.seen.sub_groups
    }

    pub fn begin_group(&mut self, slot: &ShadowGroup) {
        if self.seen.edges {
            self.groups.insert(slot.sequence, Group::default());
        }
    }

    pub fn end_group(&mut self, slot: &ShadowGroup) {
        if let Some(group) = self.groups.remove(&slot.sequence) {
            group.items.iter().for_each(|item| drop(self.items.remove(item)));
            self.messages.retain(|(group, ..), _| *group != Some(slot.sequence));
        }
    }

    /// The moment of an access that the group's item makes now.
    pub fn now(&self, slot: &ShadowGroup, item: u32, memory: Memory) -> Moment {
        let number = slot.first + item;
        let clock = self.items.get(&number).map_or(1, |i| i.clock);
        Moment { item: number, group: slot.sequence, interval: slot.interval(memory), clock }
    }

    /// Of an access by the copy that was begun last.
    pub fn copying(&self, slot: &ShadowGroup) -> Moment {
        let clock = self.groups.get(&slot.sequence).map_or(1, |g| g.copies);
        Moment { item: slot.first + slot.copier(), group: slot.sequence, interval: COPY, clock }
    }

    pub fn begin_copy(&mut self, slot: &ShadowGroup) {
        if let Some(group) = self.groups.get_mut(&slot.sequence) {
            group.copies += 1;
        }
    }

    /// All items of the group have waited for its copies.
    pub fn wait(&mut self, slot: &ShadowGroup) {
        let Some(group) = self.groups.get_mut(&slot.sequence) else { return };
        let copier = slot.first + slot.copier();
        let copies = group.copies;
        let know = |known: &mut Known| known.iter_mut().for_each(|k| k.items.raise(copier, copies));
        know(&mut group.known);
        for item in &group.items {
            self.items.get_mut(item).into_iter().for_each(|item| know(&mut item.known));
        }
    }

    /// Whether `past` happened before what `now` names; `slot` is the group of `now`.
    pub fn is_before(&self, past: &Moment, now: &Moment, slot: &ShadowGroup, memory: Memory) -> bool {
        if past.item == now.item && past.interval != COPY {
            return true;
        }
        if past.group == now.group && past.interval < slot.interval(memory) {
            return true;
        }
        if !self.seen.edges {
            return false;
        }
        let own = self.items.get(&now.item).map(|item| &item.known);
        let Some(known) = own.or_else(|| self.groups.get(&now.group).map(|g| &g.known)) else { return false };
        let known = &known[memory as usize];
        let before = (past.group != now.group && known.groups.get(past.group) > past.interval)
            || known.items.get(past.item) >= past.clock;
        if before && self.acquired && past.interval != COPY {
            self.leaned.set(true);
        }
        before
    }

    /// Whether accesses are in order only because of what atomics read in this schedule.
    pub fn leans_on_atomics(&self) -> bool {
        self.leaned.get()
    }

    /// Whether two atomics of these sites are atomic to each other.
    pub fn are_atomic(
        &self,
        a: (u32, Option<Ordering>),
        b: (u32, Option<Ordering>),
        slot: &ShadowGroup,
        at: Memory,
    ) -> bool {
        let [x, y] = [a.0, b.0].map(|number| Someone::of(number, slot.stride));
        [a.1, b.1].into_iter().all(|ordering| includes(reach(ordering, at), x, y))
    }

    /// The group's items have met at a barrier; `slot` is in its new interval.
    pub fn barrier(&mut self, slot: &ShadowGroup, flags: u32, scope: Scope) {
        let Some(group) = self.groups.get_mut(&slot.sequence) else { return };
        for number in &group.items {
            let Some(item) = self.items.get(number) else { continue };
            join(&mut group.known, &item.known, flags);
            let me = Someone::of(*number, slot.stride);
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
            let by = Someone::of(slot.first, slot.stride);
            let release = Release { scope, by, known: only(&group.known, flags) };
            add(&mut group.released, &release, self.seen.narrow);
        }
    }

    /// The items of a sub-group have met at its barrier.
    pub fn sub_group_barrier(&mut self, slot: &ShadowGroup, sub_group: u32, flags: u32) {
        let size = SUB_GROUP as u32;
        let items = sub_group * size..((sub_group + 1) * size).min(slot.copier());
        let mut all = Known::default();
        for item in items.clone() {
            let known = self.release(slot, item, flags);
            join(&mut all, &known, flags);
        }
        for item in items {
            let known = &mut self.item(slot, item).known;
            named(flags).for_each(|m| known[m as usize] = all[m as usize].clone());
        }
    }

    pub fn fence(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        flags: u32,
        (acquires, releases): (bool, bool),
        scope: Scope,
    ) {
        let narrow = self.seen.narrow;
        let me = Someone::of(slot.first + item, slot.stride);
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
            add(&mut self.item(slot, item).released, &Release { scope, by: me, known }, narrow);
        }
    }

    /// An atomic is about to read.
    pub fn read(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        (location, at): (Location, Memory),
        ordering: Option<Ordering>,
    ) {
        let Some(message) = self.messages.get(&location).filter(|m| !m.releases.is_empty()) else { return };
        let releases = message.releases.clone();
        let seen = self.seen;
        self.acquired |= ordering.is_some_and(|o| o.acquire);
        let me = Someone::of(slot.first + item, slot.stride);
        let item = self.item(slot, item);
        for release in &releases {
            let reached = includes(release.scope, release.by, me) && includes(reach(ordering, at), release.by, me);
            if reached && ordering.is_some_and(|o| o.acquire) {
                join(&mut item.known, &release.known, at.flag());
            }
            if reached && seen.fences {
                add(&mut item.read, release, seen.narrow);
            }
        }
    }

    /// An atomic has written; `stores`: without reading.
    pub fn write(
        &mut self,
        slot: &ShadowGroup,
        item: u32,
        (location, at): (Location, Memory),
        ordering: Option<Ordering>,
        stores: bool,
    ) {
        let number = slot.first + item;
        let by = Someone::of(number, slot.stride);
        let mut releases = Vec::new();
        if ordering.is_some_and(|o| o.release) {
            let known = self.release(slot, item, at.flag());
            releases.push(Release { scope: reach(ordering, at), by, known });
        }
        let fenced = self.items.get(&number).into_iter().flat_map(|i| &i.released);
        let met = self.groups.get(&slot.sequence).into_iter().flat_map(|g| &g.released);
        let scope = reach(ordering, at);
        releases.extend(fenced.chain(met).map(|r| Release { by, scope: r.scope.min(scope), known: r.known.clone() }));
        if releases.is_empty() && !self.messages.contains_key(&location) {
            return;
        }
        let Seen { narrow, restores, .. } = self.seen;
        let message = self.messages.entry(location).or_default();
        if stores {
            message.own.retain(|item, _| *item == number);
            message.releases = message.own.get(&number).cloned().unwrap_or_default();
        }
        for release in &releases {
            add(&mut message.releases, release, narrow);
            if restores {
                add(message.own.entry(number).or_default(), release, narrow);
            }
        }
    }

    /// Something that is no atomic has written there.
    pub fn overwrite(&mut self, location: Location) {
        if !self.messages.is_empty() {
            self.messages.remove(&location);
        }
    }

    /// The item's own history; from here on it has one.
    fn item(&mut self, slot: &ShadowGroup, item: u32) -> &mut Item {
        let number = slot.first + item;
        let group = self.groups.entry(slot.sequence).or_default();
        self.items.entry(number).or_insert_with(|| {
            group.items.push(number);
            Item { clock: 1, known: group.known.clone(), released: Vec::new(), read: Vec::new() }
        })
    }

    /// What the item knows and did so far, of the memory that is named; what it does from here on is not in it.
    fn release(&mut self, slot: &ShadowGroup, item: u32, flags: u32) -> Known {
        let number = slot.first + item;
        let item = self.item(slot, item);
        let clock = item.clock;
        named(flags).for_each(|m| item.known[m as usize].items.raise(number, clock));
        item.clock += 1;
        only(&item.known, flags)
    }
}

/// How far an atomic reaches: relaxed ones without a scope everywhere, those in local memory at least the group.
fn reach(ordering: Option<Ordering>, at: Memory) -> Scope {
    let scope = ordering.map_or(Scope::AllDevices, |o| o.scope);
    if at == Memory::Local { scope.max(Scope::WorkGroup) } else { scope }
}

fn only(known: &Known, flags: u32) -> Known {
    let mut part = Known::default();
    named(flags).for_each(|m| part[m as usize] = known[m as usize].clone());
    part
}
