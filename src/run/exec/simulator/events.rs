//! Events of asynchronous copies: the copies that they stand for, and those that a group waits for.
//!
//! An event is a number that is the same for all work-items of the group. Code stores it as a pointer, in memory that
//! may hold anything else: a value that is not an event of this group counts as none (0).

/// How two lists of events differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListDifference {
    /// One has more events.
    Length = 0,
    /// They are other events.
    Events = 1,
}

/// A copy that no work-item has waited for.
#[derive(Debug, Clone, Copy)]
struct Pending {
    event: u64,
    /// The site of the call.
    site: u32,
}

/// The arguments of a copy, the event last.
pub type CopyArguments = [u64; 7];

/// The events of one group at a time.
#[derive(Debug, Default)]
pub struct Events {
    /// The group's events are greater than this number.
    base: u64,
    last: u64,
    /// The arguments that the first work-item to arrive passed to the current copy, and that copy's event.
    copying: CopyArguments,
    copied: u64,
    /// The events that the first work-item to arrive waits for, ascending (`None` if unknown), and a buffer for those
    /// of another work-item.
    awaited: Option<Vec<u64>>,
    other: Vec<u64>,
    /// Those that work-items wait for whose lists differ.
    beside: Vec<u64>,
    pending: Vec<Pending>,
}

impl Events {
    /// Begins another group. Values that its work-items find in uninitialised memory are not events of the group.
    pub fn begin(&mut self, group: u64) {
        self.base = group.wrapping_add(1) << 24;
        self.last = self.base;
        self.pending.clear();
    }

    /// The event itself if it is one of this group, else 0.
    pub fn known(&self, event: u64) -> u64 {
        if event > self.base && event <= self.last { event } else { 0 }
    }

    /// Called when the first work-item requests a copy: the copy gets a new event unless one is passed.
    pub fn copy(&mut self, copying: CopyArguments) {
        self.copying = copying;
        self.copied = match copying[6] {
            0 => {
                self.last += 1;
                self.last
            }
            given => given,
        };
    }

    /// Called once the current copy, requested at `site`, is under way.
    pub fn started(&mut self, site: u32) {
        self.pending.push(Pending { event: self.copied, site });
    }

    /// Called when all work-items have waited. Returns the events that some of them waited for, ascending; `None` if
    /// those of the first are unknown, and may be all.
    pub fn waited(&mut self) -> Option<&[u64]> {
        if let (Some(awaited), false) = (&mut self.awaited, self.beside.is_empty()) {
            awaited.append(&mut self.beside);
            awaited.sort_unstable();
        }
        match &self.awaited {
            Some(awaited) => self.pending.retain(|copy| awaited.binary_search(&copy.event).is_err()),
            None => self.pending.clear(),
        }
        self.awaited.as_deref()
    }

    /// The sites of the copies that no work-item has waited for.
    pub fn unawaited(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().map(|copy| copy.site)
    }

    /// The index of the first argument in which a later work-item's request for the same copy differs.
    pub fn copy_difference(&self, copying: CopyArguments) -> Option<usize> {
        self.copying.iter().zip(&copying).position(|(a, b)| a != b)
    }

    /// The event of the group's current copy.
    pub fn current_event(&self) -> u64 {
        self.copied
    }

    /// Called when the first work-item waits for these events; `None` if they are unknown.
    pub fn wait(&mut self, list: Option<&[u64]>) {
        self.beside.clear();
        let mut awaited = self.awaited.take().unwrap_or_default();
        self.awaited = list.map(|list| {
            self.sort(list, &mut awaited);
            awaited
        });
    }

    /// How the list of another work-item that waits at the same point differs; the order does not matter.
    pub fn list_difference(&mut self, list: Option<&[u64]>) -> Option<ListDifference> {
        let (awaited, list) = (self.awaited.as_ref()?, list?);
        let is_longer = awaited.len() != list.len();
        let mut other = std::mem::take(&mut self.other);
        self.sort(list, &mut other);
        let differs = self.awaited.as_ref() != Some(&other);
        if differs {
            self.beside.extend_from_slice(&other);
        }
        self.other = other;
        let what = if is_longer { ListDifference::Length } else { ListDifference::Events };
        differs.then_some(what)
    }

    fn sort(&self, list: &[u64], into: &mut Vec<u64>) {
        into.clear();
        into.extend(list.iter().map(|event| self.known(*event)));
        into.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_pending_until_their_events_are_waited_for() {
        let mut events = Events::default();
        events.begin(0);
        let copy = |events: &mut Events, event, site| {
            events.copy([1, 2, 3, 4, 1, 1, event]);
            events.started(site);
            events.current_event()
        };
        let first = copy(&mut events, 0, 7);
        let second = copy(&mut events, 0, 8);
        copy(&mut events, first, 9);
        events.wait(Some(&[second]));
        assert_eq!(events.waited(), Some(&[second][..]));
        assert_eq!(events.unawaited().collect::<Vec<_>>(), [7, 9]);
        events.wait(Some(&[0, first]));
        events.waited();
        assert_eq!(events.unawaited().count(), 0, "copies that share an event are waited for together");
        copy(&mut events, 0, 7);
        events.wait(None);
        assert_eq!(events.waited(), None);
        assert_eq!(events.unawaited().count(), 0, "unknown events may be all");
        let (third, fourth) = (copy(&mut events, 0, 7), copy(&mut events, 0, 8));
        events.wait(Some(&[third]));
        assert_eq!(events.list_difference(Some(&[fourth])), Some(ListDifference::Events));
        events.waited();
        assert_eq!(events.unawaited().count(), 0, "that the lists differ is what is wrong, and nothing else");
    }

    #[test]
    fn lists_are_sets_of_the_groups_own_events() {
        let mut events = Events::default();
        events.begin(3);
        let copy = |event| [1, 2, 3, 4, 1, 1, event];
        events.copy(copy(0));
        let first = events.current_event();
        events.copy(copy(0));
        let second = events.current_event();
        assert_ne!(first, second);
        assert_eq!(events.copy_difference(copy(first)), Some(6));
        events.copy(copy(first));
        assert_eq!(events.current_event(), first, "a copy that is given an event has that");

        events.wait(Some(&[first, second]));
        assert_eq!(events.list_difference(Some(&[second, first])), None);
        assert_eq!(events.list_difference(Some(&[first])), Some(ListDifference::Length));
        assert_eq!(events.list_difference(Some(&[first, first])), Some(ListDifference::Events));
        assert_eq!(events.list_difference(None), None);
        events.wait(Some(&[first, 0xdead_beef]));
        assert_eq!(events.list_difference(Some(&[0, first])), None, "what is no event is none");
        events.begin(4);
        assert_eq!(events.known(first), 0, "events end with their group");
    }
}
