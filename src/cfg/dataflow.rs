//! Solves data-flow problems: a worklist fixpoint over facts that only grow. `interprocedural` applies it to LLVM's
//! functions.
//!
//! An analysis consists of its lattice ([`Lattice`]), of locations that have facts (values, variables, the execution of
//! blocks), and of a transfer function for numbered nodes, which reads and joins facts of locations.
//!
//! Nodes are visited in sweeps, in ascending order, so their numbering is the direction of the analysis. A node is
//! visited again only if a fact grew that it read. Other visits would have no effect, so the facts pass through the same
//! states as in full sweeps, and an analysis may keep the first of several facts: which one is first is deterministic.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// What is known of a location, above the least element: of that no fact is kept.
pub trait Lattice {
    /// Joins `other` to this fact and returns whether that changed it in a way that its readers have to see.
    fn join(&mut self, other: Self) -> bool;

    /// Returns whether the fact cannot grow any more.
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

/// Sets that are not empty.
impl<T: Ord> Lattice for BTreeSet<T> {
    fn join(&mut self, other: BTreeSet<T>) -> bool {
        let before = self.len();
        self.extend(other);
        self.len() > before
    }
}

/// The facts of an analysis by location.
#[derive(Debug)]
pub struct Facts<L, F> {
    /// By number of the location.
    facts: Vec<Option<F>>,
    locations: RefCell<Locations<L>>,
    /// By node: whether it has to be visited.
    due: Vec<bool>,
    /// The node that is being visited.
    current: Option<usize>,
    /// Whether a fact grew during this sweep.
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

impl<L, F> Default for Facts<L, F> {
    fn default() -> Facts<L, F> {
        let locations = Locations { numbers: HashMap::default(), last_reader: Vec::new(), readers: Vec::new() };
        let locations = RefCell::new(locations);
        Facts { facts: Vec::new(), locations, due: Vec::new(), current: None, has_grown: false }
    }
}

impl<L: Copy + Eq + Hash, F: Lattice> Facts<L, F> {
    /// Returns the fact of a location; `None` is the least one. During a visit the node becomes a reader of the location.
    pub fn get(&self, location: L) -> Option<&F> {
        let mut locations = self.locations.borrow_mut();
        let Some(node) = self.current else {
            return self.facts.get(*locations.numbers.get(&location)?)?.as_ref();
        };
        let number = locations.number(location);
        let fact = self.facts.get(number).and_then(Option::as_ref);
        if !fact.is_some_and(Lattice::is_greatest) {
            locations.add_reader(number, node);
        }
        fact
    }

    /// Returns whether a location has a fact, as [`get`](Self::get) does.
    pub fn contains(&self, location: L) -> bool {
        self.get(location).is_some()
    }

    /// Joins `fact` to that of a location and returns whether that has grown.
    pub fn join(&mut self, location: L, fact: F) -> bool {
        let locations = self.locations.get_mut();
        let number = locations.number(location);
        if self.facts.len() <= number {
            self.facts.resize_with(number + 1, || None);
        }
        let has_grown = match &mut self.facts[number] {
            Some(known) => known.join(fact),
            unknown => {
                *unknown = Some(fact);
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

    /// Has the current node visited in the next sweep too, if there is one.
    pub fn revisit(&mut self) {
        if let Some(node) = self.current {
            self.due[node] = true;
        }
    }

    /// Applies the transfer function of the nodes `0..nodes` until no fact grows.
    pub fn solve(&mut self, nodes: usize, mut transfer: impl FnMut(usize, &mut Facts<L, F>)) {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves "node `n` is reached from node 0" on a graph and returns the nodes reached and the visits made.
    fn reached(predecessors: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
        let mut visits = Vec::new();
        let mut facts = Facts::<usize, ()>::default();
        facts.solve(predecessors.len(), |node, facts| {
            visits.push(node);
            if node == 0 || predecessors[node].iter().any(|p| facts.contains(*p)) {
                facts.join(node, ());
            }
        });
        ((0..predecessors.len()).filter(|n| facts.contains(*n)).collect(), visits)
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
        let mut facts = Facts::<(), BTreeSet<u32>>::default();
        facts.solve(1, |_, facts| {
            let next = facts.get(()).map_or(0, |known| known.len() as u32);
            facts.join((), [next.min(3)].into());
        });
        assert_eq!(facts.get(()), Some(&[0, 1, 2, 3].into()));
    }

    #[test]
    fn a_revisited_node_is_visited_in_every_sweep_and_does_not_prolong_the_search() {
        let mut visits = 0;
        let mut facts = Facts::<u32, ()>::default();
        facts.solve(2, |node, facts| match node {
            0 => {
                visits += 1;
                facts.revisit();
                if facts.contains(1) {
                    facts.join(2, ());
                }
            }
            _ => _ = facts.join(1, ()),
        });
        assert_eq!(visits, 3, "two sweeps in which a fact grew, and the last one");
    }
}
