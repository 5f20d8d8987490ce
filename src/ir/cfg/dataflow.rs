//! Solves data-flow problems: a worklist fixpoint over a lattice. `interprocedural` applies it to LLVM's functions.
//!
//! An analysis consists of a lattice ([`Lattice`]), of locations (values, variables, the execution of blocks), each of
//! which has an element of the lattice, and of a transfer function for numbered nodes, which reads elements and joins
//! others to them.
//!
//! Nodes are visited in rounds, in ascending order, so their numbering is the direction of the analysis. A node is
//! visited again only if an element that it read has grown. Other visits would have no effect, so the analysis passes
//! through the same states as in full rounds, and may keep the first of several elements: which is first is determined.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// An element of a lattice, other than the least one, which is represented by its absence.
pub trait Lattice {
    /// Joins `other` to this element and returns whether it has grown, so that its readers have to be visited again.
    fn join(&mut self, other: Self) -> bool;

    /// Returns whether no element is greater.
    fn is_greatest(&self) -> bool {
        false
    }
}

/// Membership in a set.
impl Lattice for () {
    fn join(&mut self, (): ()) -> bool {
        false
    }

    fn is_greatest(&self) -> bool {
        true
    }
}

/// Sets that are not empty, ordered by inclusion.
impl<T: Ord> Lattice for BTreeSet<T> {
    fn join(&mut self, other: BTreeSet<T>) -> bool {
        let before = self.len();
        self.extend(other);
        self.len() > before
    }
}

/// The state of an analysis: an element for each location.
#[derive(Debug)]
pub struct State<L, E> {
    /// By number of the location; locations that have only been read may be missing at the end.
    elements: Vec<Option<E>>,
    locations: RefCell<Locations<L>>,
    /// By node: whether it has to be visited.
    due: Vec<bool>,
    /// The node that is being visited.
    current: Option<usize>,
    /// Whether an element grew during this round.
    has_grown: bool,
}

/// Numbers locations, and records which nodes have read them since they last grew.
#[derive(Debug)]
struct Locations<L> {
    numbers: HashMap<L, usize, BuildHasherDefault<LocationHasher>>,
    /// By location: the last entry of its list in `readers`.
    last_reader: Vec<Option<usize>>,
    /// Lists of nodes: each with the position of the previous entry.
    readers: Vec<(usize, Option<usize>)>,
}

/// A hasher for locations, which consist of numbers and addresses. Analyses spend much of their time in look-ups.
#[derive(Debug, Default)]
struct LocationHasher(u64);

impl Hasher for LocationHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        // An odd constant with bits all over: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        // The product's low bits, which select the bucket, depend only on the low bits of addresses.
        self.0 ^ (self.0 >> 32)
    }
}

impl<L: Copy + Eq + Hash> Locations<L> {
    fn number(&mut self, location: L) -> usize {
        let next = self.last_reader.len();
        let number = *self.numbers.entry(location).or_insert(next);
        if number == next {
            self.last_reader.push(None);
        }
        number
    }

    fn add_reader(&mut self, location: usize, node: usize) {
        let previous = self.last_reader[location];
        if previous.is_none_or(|reader| self.readers[reader].0 != node) {
            self.last_reader[location] = Some(self.readers.len());
            self.readers.push((node, previous));
        }
    }
}

impl<L, E> Default for State<L, E> {
    fn default() -> State<L, E> {
        let locations = Locations { numbers: HashMap::default(), last_reader: Vec::new(), readers: Vec::new() };
        let locations = RefCell::new(locations);
        State { elements: Vec::new(), locations, due: Vec::new(), current: None, has_grown: false }
    }
}

impl<L: Copy + Eq + Hash, E: Lattice> State<L, E> {
    /// Returns the element of a location; `None` is the least one. A node that is being visited becomes a reader of the
    /// location.
    pub fn get(&self, location: L) -> Option<&E> {
        let mut locations = self.locations.borrow_mut();
        let Some(node) = self.current else {
            return self.elements.get(*locations.numbers.get(&location)?)?.as_ref();
        };
        let number = locations.number(location);
        let element = self.elements.get(number).and_then(Option::as_ref);
        if !element.is_some_and(Lattice::is_greatest) {
            locations.add_reader(number, node);
        }
        element
    }

    /// Returns whether a location has an element, as [`get`](Self::get) does.
    pub fn contains(&self, location: L) -> bool {
        self.get(location).is_some()
    }

    /// Joins `element` to that of a location and returns whether that has grown.
    pub fn join(&mut self, location: L, element: E) -> bool {
        let locations = self.locations.get_mut();
        let number = locations.number(location);
        if self.elements.len() <= number {
            self.elements.resize_with(number + 1, || None);
        }
        let has_grown = match &mut self.elements[number] {
            Some(known) => known.join(element),
            unknown => {
                *unknown = Some(element);
                true
            }
        };
        if has_grown {
            self.has_grown = true;
            let mut next = locations.last_reader[number].take();
            while let Some((node, previous)) = next.map(|reader| locations.readers[reader]) {
                self.due[node] = true;
                next = previous;
            }
        }
        has_grown
    }

    /// Has the current node visited in the next round too, if there is one.
    pub fn revisit(&mut self) {
        if let Some(node) = self.current {
            self.due[node] = true;
        }
    }

    /// Applies the transfer function of the nodes `0..nodes` until no element grows.
    pub fn solve(&mut self, nodes: usize, mut transfer: impl FnMut(usize, &mut State<L, E>)) {
        self.due = vec![true; nodes];
        self.locations.get_mut().numbers.reserve(nodes);
        self.has_grown = true;
        while self.has_grown {
            self.has_grown = false;
            for node in 0..nodes {
                if std::mem::take(&mut self.due[node]) {
                    self.current = Some(node);
                    transfer(node, self);
                }
            }
        }
        self.current = None;
        let locations = self.locations.get_mut();
        locations.last_reader.fill(None);
        locations.readers = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves "node `n` is reached from node 0" on a graph and returns the nodes reached and the visits made.
    fn reached(predecessors: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
        let mut visits = Vec::new();
        let mut state = State::<usize, ()>::default();
        state.solve(predecessors.len(), |node, state| {
            visits.push(node);
            if node == 0 || predecessors[node].iter().any(|p| state.contains(*p)) {
                state.join(node, ());
            }
        });
        ((0..predecessors.len()).filter(|n| state.contains(*n)).collect(), visits)
    }

    #[test]
    fn a_node_is_visited_again_only_if_what_it_read_has_grown() {
        // 0 → 3 → 2 → 1; node 4 is not reached.
        let (nodes, visits) = reached(&[vec![], vec![2], vec![3], vec![0], vec![4]]);
        assert_eq!(nodes, [0, 1, 2, 3]);
        assert_eq!(visits, [0, 1, 2, 3, 4, 2, 1]);
    }

    #[test]
    fn a_node_that_reads_what_it_writes_is_visited_until_nothing_grows() {
        let mut state = State::<(), BTreeSet<u32>>::default();
        state.solve(1, |_, state| {
            let next = state.get(()).map_or(0, |known| known.len() as u32);
            state.join((), [next.min(3)].into());
        });
        assert_eq!(state.get(()), Some(&[0, 1, 2, 3].into()));
    }

    #[test]
    fn a_revisited_node_is_visited_in_every_round_and_does_not_prolong_the_analysis() {
        let mut visits = 0;
        let mut state = State::<u32, ()>::default();
        state.solve(2, |node, state| match node {
            0 => {
                visits += 1;
                state.revisit();
                if state.contains(1) {
                    state.join(2, ());
                }
            }
            _ => _ = state.join(1, ()),
        });
        assert_eq!(visits, 3, "two rounds in which an element grew, and the last one");
    }
}
