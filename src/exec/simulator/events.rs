//! Events of asynchronous copies: which copies they stand for, and which of them a group waits for.
//!
//! An event is a number that is the same for all items of the group. Code keeps it in the guise of a pointer, in memory that may hold anything
//! else: what is no event of this group counts as none (0).

/// What two lists of events differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListDifference {
    Length = 0,
    Events = 1,
}

/// The arguments of a copy, the event last.
pub type Copy = [u64; 7];

/// The events of one group at a time.
#[derive(Debug, Default)]
pub struct Events {
    /// Events are above this number.
    base: u64,
    last: u64,
    /// What the first item that arrived at a copy has it do, and the event of that.
    copying: Copy,
    copied: u64,
    /// What the first item that arrived waits for, ascending, and another item; `None`: not known.
    awaited: Option<Vec<u64>>,
    other: Vec<u64>,
}

impl Events {
    /// Another group begins. What its items find in memory that they have not written is no event of theirs.
    pub fn begin(&mut self, group: u64) {
        self.base = group.wrapping_add(1) << 24;
        self.last = self.base;
    }

    /// The event, if there is such a one; else 0.
    pub fn known(&self, event: u64) -> u64 {
        if event > self.base && event <= self.last { event } else { 0 }
    }

    /// The first item asks for a copy: it gets a new event unless it brings one.
    pub fn copy(&mut self, copying: Copy) {
        self.copying = copying;
        self.copied = match copying[6] {
            0 => {
                self.last += 1;
                self.last
            }
            given => given,
        };
    }

    /// The first argument in which an item that asks for the same copy differs.
    pub fn other_copy(&self, copying: Copy) -> Option<usize> {
        self.copying.iter().zip(&copying).position(|(a, b)| a != b)
    }

    /// The event of the copy that the group is at.
    pub fn of_copy(&self) -> u64 {
        self.copied
    }

    /// The first item waits for these events; `None`: they are not known.
    pub fn wait(&mut self, list: Option<&[u64]>) {
        let mut awaited = self.awaited.take().unwrap_or_default();
        self.awaited = list.map(|list| {
            self.sort(list, &mut awaited);
            awaited
        });
    }

    /// In what the list of an item that waits at the same place differs; its order does not matter.
    pub fn other_list(&mut self, list: Option<&[u64]>) -> Option<ListDifference> {
        let (awaited, list) = (self.awaited.as_ref()?, list?);
        if awaited.len() != list.len() {
            return Some(ListDifference::Length);
        }
        let mut other = std::mem::take(&mut self.other);
        self.sort(list, &mut other);
        let differs = self.awaited.as_ref() != Some(&other);
        self.other = other;
        differs.then_some(ListDifference::Events)
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
    fn lists_are_sets_of_the_groups_own_events() {
        let mut events = Events::default();
        events.begin(3);
        let copy = |event| [1, 2, 3, 4, 1, 1, event];
        events.copy(copy(0));
        let first = events.of_copy();
        events.copy(copy(0));
        let second = events.of_copy();
        assert_ne!(first, second);
        assert_eq!(events.other_copy(copy(first)), Some(6));
        events.copy(copy(first));
        assert_eq!(events.of_copy(), first, "a copy that is given an event has that");

        events.wait(Some(&[first, second]));
        assert_eq!(events.other_list(Some(&[second, first])), None);
        assert_eq!(events.other_list(Some(&[first])), Some(ListDifference::Length));
        assert_eq!(events.other_list(Some(&[first, first])), Some(ListDifference::Events));
        assert_eq!(events.other_list(None), None);
        events.wait(Some(&[first, 0xdead_beef]));
        assert_eq!(events.other_list(Some(&[0, first])), None, "what is no event is none");
        events.begin(4);
        assert_eq!(events.known(first), 0, "events end with their group");
    }
}
