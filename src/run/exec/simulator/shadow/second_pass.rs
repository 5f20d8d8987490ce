//! The second pass over a single cell: finds out which accesses conflict at the cells that the first pass flagged.
//!
//! A flagged cell keeps a list of its accesses. If only barriers order accesses, two accesses of different work-items
//! per site and group suffice within an interval; of all groups that are over, two per site. If atomics order accesses
//! too, an access represents all earlier ones of its site and group that happened before it. So every pair of sites
//! that conflicts at a flagged cell is found.

use kassay_model::native::table::{Mode, Scope};

use super::happens_before::{COPY, Epoch, HappensBefore};
use super::launch::{Memory, Place};
use super::report::{ConflictSide, Findings};
use super::sites::Site;
use crate::exec::simulator::shadow::groups::{Groups, ShadowGroup};

/// An access that a cell remembers.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub site: u32,
    pub epoch: Epoch,
    /// Number of accesses that the work-item had made before.
    pub number: u64,
    /// The value written, if known: only for plain writes.
    pub value: Option<u128>,
    /// It represents others of its interval that wrote something else.
    mixed_interval: bool,
    /// It represents any access that wrote something else.
    mixed: bool,
}

impl Entry {
    /// The entry of one access, which represents no others.
    pub fn new(site: u32, epoch: Epoch, number: u64, value: Option<u128>) -> Entry {
        Entry { site, epoch, number, value, mixed_interval: false, mixed: false }
    }

    fn key(&self) -> (u32, u32) {
        (self.site, self.epoch.group)
    }

    fn side(&self, stride: u32) -> ConflictSide {
        let (group, item) = (self.epoch.item / stride, self.epoch.item % stride);
        ConflictSide { site: self.site, group: u64::from(group), item, number: self.number }
    }

    /// Represents `other` as well from now on.
    fn absorb(&mut self, other: &Entry) {
        let differs = self.value != other.value;
        self.mixed |= differs || other.mixed;
        if self.epoch.interval == other.epoch.interval && self.epoch.group == other.epoch.group {
            self.mixed_interval |= differs || other.mixed_interval;
        }
    }
}

/// What a flagged cell remembers.
#[derive(Debug, Default)]
pub struct CellRecord {
    /// Ordered by site and group.
    entries: Vec<Entry>,
    /// Numbers of the pairs that have conflicted here.
    reported_pairs: Vec<u32>,
}

/// The context in which an access is recorded.
#[derive(Debug, Clone, Copy)]
pub struct RecordContext<'a> {
    pub sites: &'a [Site],
    pub groups: &'a Groups,
    pub slot: &'a ShadowGroup,
    pub order: &'a HappensBefore,
    pub memory: Memory,
    pub place: Place,
}

impl RecordContext<'_> {
    fn site(&self, number: u32) -> Option<&Site> {
        self.sites.get(number as usize)
    }

    /// Returns whether the modes allow a conflict.
    fn may_conflict(&self, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.site(a), self.site(b)) else { return false };
        let writes = |mode: Mode| matches!(mode, Mode::Write | Mode::Atomic);
        (writes(a.mode) || writes(b.mode))
            && !(is_atomic(a.mode) && is_atomic(b.mode) && reaches_device(a) && reaches_device(b))
    }

    fn are_atomic(&self, a: &Entry, b: &Entry) -> bool {
        let (Some(x), Some(y)) = (self.site(a.site), self.site(b.site)) else { return false };
        let both = is_atomic(x.mode) && is_atomic(y.mode);
        let [x, y] = [(a.epoch.item, x.ordering), (b.epoch.item, y.ordering)];
        both && self.order.are_atomic(x, y, self.slot, self.memory)
    }

    fn both_write(&self, a: u32, b: u32) -> bool {
        [a, b].iter().all(|number| self.site(*number).is_some_and(|site| site.mode == Mode::Write))
    }

    fn is_before(&self, past: &Entry, now: &Entry) -> bool {
        self.order.is_before(&past.epoch, &now.epoch, self.slot, self.memory)
    }
}

fn is_atomic(mode: Mode) -> bool {
    matches!(mode, Mode::Atomic | Mode::AtomicRead)
}

/// Returns whether the scope includes every work-item.
fn reaches_device(site: &Site) -> bool {
    site.ordering.is_none_or(|o| o.scope >= Scope::Device)
}

impl CellRecord {
    /// Records an access and its conflicts with earlier ones.
    pub fn note(&mut self, context: &RecordContext<'_>, now: Entry, findings: &mut Findings) {
        if context.memory == Memory::Local {
            // The accesses of other groups there no longer exist.
            let here = |e: &Entry| e.epoch.group == now.epoch.group || context.groups.runs(e.epoch.group);
            self.entries.retain(here);
        } else if now.epoch.phase > 0 {
            // Those before a barrier of the grid are in order with everything that is still to come.
            self.entries.retain(|e| e.epoch.phase == now.epoch.phase || e.epoch.interval == COPY);
        }
        let mut begin = 0;
        while let Some(site) = self.entries.get(begin).map(|e| e.site) {
            let end = begin + self.entries[begin..].partition_point(|e| e.site == site);
            if context.may_conflict(site, now.site) {
                self.compare_with_site(context, begin..end, &now, findings);
            }
            begin = end;
        }
        self.insert(context, now);
    }

    /// Compares an access with all entries of a site.
    fn compare_with_site(
        &mut self,
        context: &RecordContext<'_>,
        run: std::ops::Range<usize>,
        now: &Entry,
        findings: &mut Findings,
    ) {
        let Some(site) = self.entries.get(run.start).map(|e| e.site) else { return };
        let both_write = context.both_write(site, now.site);
        // By scope (within a group, between groups): whether comparing can yield nothing new.
        let mut exhausted = [false, true].map(|inter_group| {
            let number = findings.number(site, now.site, inter_group);
            number.is_some_and(|n| self.reported_pairs.contains(&n) && !(both_write && findings.is_benign(n)))
        });
        exhausted[1] |= context.memory == Memory::Local;
        for past in &self.entries[run] {
            let inter_group = past.epoch.group != now.epoch.group;
            let same_copy = past.epoch == now.epoch && now.epoch.interval == COPY;
            if exhausted[usize::from(inter_group)]
                || same_copy
                || context.is_before(past, now)
                || context.are_atomic(past, now)
            {
                continue;
            }
            let mixed = if inter_group { past.mixed } else { past.mixed_interval };
            let equal = both_write && past.value.is_some() && past.value == now.value && !mixed;
            let stride = context.slot.stride;
            let number = findings.add_conflict([past.side(stride), now.side(stride)], context.place, equal);
            if !self.reported_pairs.contains(&number) {
                self.reported_pairs.push(number);
                findings.count(number);
            }
            exhausted[usize::from(inter_group)] = !(both_write && findings.is_benign(number));
        }
    }

    /// Adds an access to the list.
    fn insert(&mut self, context: &RecordContext<'_>, mut now: Entry) {
        let begin = self.entries.partition_point(|e| e.key() < now.key());
        let end = begin + self.entries[begin..].partition_point(|e| e.key() == now.key());
        if context.order.has_edges() {
            // With scopes narrower than the group, an atomic conflicts with atomics of only some work-items of
            // the group.
            let stands_for_all =
                context.order.has_group_scopes() || context.site(now.site).is_some_and(|s| !is_atomic(s.mode));
            let mut kept = Vec::with_capacity(end - begin + 1);
            for past in &self.entries[begin..end] {
                let same = past.epoch.item == now.epoch.item && past.epoch.interval != COPY;
                if same || (stands_for_all && context.is_before(past, &now)) {
                    now.absorb(past);
                } else {
                    kept.push(*past);
                }
            }
            kept.push(now);
            self.entries.splice(begin..end, kept);
            return;
        }
        let run = &mut self.entries[begin..end];
        match run.first().copied() {
            None => {
                self.entries.insert(begin, now);
                self.forget(context, now);
            }
            Some(first) if first.epoch.interval == now.epoch.interval => {
                let is_there = run.iter().any(|e| e.epoch.item == now.epoch.item);
                run.iter_mut().for_each(|e| e.absorb(&now));
                if run.len() < 2 && !is_there {
                    now.absorb(&run[0]);
                    self.entries.insert(end, now);
                }
            }
            Some(_) => {
                run.iter().for_each(|past| now.absorb(past));
                self.entries.splice(begin..end, [now]);
            }
        }
    }

    /// Merges surplus entries: of the groups of a site that are over, two are enough.
    fn forget(&mut self, context: &RecordContext<'_>, now: Entry) {
        let begin = self.entries.partition_point(|e| e.site < now.site);
        let end = begin + self.entries[begin..].partition_point(|e| e.site == now.site);
        let mut groups: Vec<u32> = self.entries[begin..end].iter().map(|e| e.epoch.group).collect();
        groups.dedup();
        let surplus =
            groups.iter().skip(2).copied().find(|group| *group != now.epoch.group && !context.groups.runs(*group));
        let Some(surplus) = surplus else { return };
        let gone: Vec<Entry> = self.entries[begin..end].iter().filter(|e| e.epoch.group == surplus).copied().collect();
        let kept = &groups[..2];
        for entry in self.entries[begin..end].iter_mut().filter(|e| kept.contains(&e.epoch.group)) {
            gone.iter().for_each(|other| entry.absorb(other));
        }
        self.entries.retain(|e| e.key() != (now.site, surplus));
    }
}
