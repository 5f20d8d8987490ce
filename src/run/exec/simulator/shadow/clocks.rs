//! Sparse vector clocks with structural sharing.
//!
//! A clock maps numbers to counters; absent counters are 0. It is a tree with 16 branches per level whose nodes are
//! shared between copies: copying is free, and joining two clocks costs only as much as they differ (in the spirit of
//! Mathur et al., "A Tree Clock Data Structure for Causal Orderings in Concurrent Executions", ASPLOS 2022).

use std::sync::Arc;

const BITS: u32 = 4;
const BRANCHES: usize = 1 << BITS;

#[derive(Debug, Clone)]
enum Node {
    Inner([Option<Arc<Node>>; BRANCHES]),
    Leaf([u32; BRANCHES]),
}

/// A vector clock. Its height grows with the largest number.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    root: Option<Arc<Node>>,
    /// Number of levels of inner nodes.
    height: u32,
}

fn branch(index: u32, level: u32) -> usize {
    (index >> (level * BITS)) as usize % BRANCHES
}

impl Clock {
    fn fits(&self, index: u32) -> bool {
        (self.height + 1) * BITS >= u32::BITS || index >> ((self.height + 1) * BITS) == 0
    }

    /// The counter of `index`.
    pub fn get(&self, index: u32) -> u32 {
        let Some(mut node) = self.root.as_ref().filter(|_| self.fits(index)) else { return 0 };
        let mut level = self.height;
        loop {
            match &**node {
                Node::Leaf(counters) => return counters[branch(index, 0)],
                Node::Inner(children) => {
                    let Some(child) = &children[branch(index, level)] else { return 0 };
                    node = child;
                    level -= 1;
                }
            }
        }
    }

    /// Raises a counter to at least `value`.
    pub fn raise(&mut self, index: u32, value: u32) {
        if self.get(index) >= value {
            return;
        }
        while !self.fits(index) {
            self.grow();
        }
        let mut level = self.height;
        let mut node = self.root.get_or_insert_with(|| empty(level));
        loop {
            match Arc::make_mut(node) {
                Node::Leaf(counters) => {
                    counters[branch(index, 0)] = value;
                    return;
                }
                Node::Inner(children) => {
                    level -= 1;
                    node = children[branch(index, level + 1)].get_or_insert_with(|| empty(level));
                }
            }
        }
    }

    /// Raises every counter to the maximum of both clocks.
    pub fn join(&mut self, other: &Clock) {
        let Some(theirs) = &other.root else { return };
        let mut theirs = theirs.clone();
        while self.height < other.height {
            self.grow();
        }
        for _ in other.height..self.height {
            theirs = Arc::new(above(Some(theirs)));
        }
        self.root = Some(match &self.root {
            None => theirs,
            Some(ours) => joined(ours, &theirs),
        });
    }

    /// Adds a level at the root.
    fn grow(&mut self) {
        self.height += 1;
        self.root = self.root.take().map(|root| Arc::new(above(Some(root))));
    }
}

fn above(first: Option<Arc<Node>>) -> Node {
    let mut children: [Option<Arc<Node>>; BRANCHES] = Default::default();
    children[0] = first;
    Node::Inner(children)
}

fn empty(level: u32) -> Arc<Node> {
    Arc::new(if level == 0 { Node::Leaf([0; BRANCHES]) } else { above(None) })
}

/// The join of two nodes of the same level; returns one of them if it equals the join.
fn joined(ours: &Arc<Node>, theirs: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(ours, theirs) {
        return ours.clone();
    }
    match (&**ours, &**theirs) {
        (Node::Leaf(a), Node::Leaf(b)) => {
            let both: [u32; BRANCHES] = std::array::from_fn(|i| a[i].max(b[i]));
            if both == *a {
                ours.clone()
            } else if both == *b {
                theirs.clone()
            } else {
                Arc::new(Node::Leaf(both))
            }
        }
        (Node::Inner(a), Node::Inner(b)) => {
            let both: [Option<Arc<Node>>; BRANCHES] = std::array::from_fn(|i| match (&a[i], &b[i]) {
                (Some(a), Some(b)) => Some(joined(a, b)),
                (a, b) => a.as_ref().or(b.as_ref()).cloned(),
            });
            let same = |x: &[Option<Arc<Node>>; BRANCHES]| {
                both.iter().zip(x).all(|(x, y)| x.as_ref().map(Arc::as_ptr) == y.as_ref().map(Arc::as_ptr))
            };
            if same(a) {
                ours.clone()
            } else if same(b) {
                theirs.clone()
            } else {
                Arc::new(Node::Inner(both))
            }
        }
        // Unreachable: both nodes are of the same level.
        _ => ours.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn clock(map: &BTreeMap<u32, u32>) -> Clock {
        let mut clock = Clock::default();
        map.iter().for_each(|(index, value)| clock.raise(*index, *value));
        clock
    }

    fn counters() -> impl Strategy<Value = BTreeMap<u32, u32>> {
        let index = prop_oneof![0..40u32, 0..5000u32, any::<u32>()];
        prop::collection::btree_map(index, 1..9u32, 0..30)
    }

    proptest! {
        #[test]
        fn joining_takes_the_larger_counters(a in counters(), b in counters(), absent in any::<u32>()) {
            let (mut both, theirs) = (clock(&a), clock(&b));
            both.join(&theirs);
            for index in a.keys().chain(b.keys()).chain([&absent]) {
                let of = |map: &BTreeMap<u32, u32>| map.get(index).copied().unwrap_or(0);
                prop_assert_eq!(both.get(*index), of(&a).max(of(&b)));
                prop_assert_eq!(theirs.get(*index), of(&b));
            }
        }

        #[test]
        fn copies_are_independent(a in counters(), index in 0..5000u32) {
            let old = clock(&a);
            let mut new = old.clone();
            new.raise(index, 100);
            prop_assert_eq!(new.get(index), 100);
            prop_assert_eq!(old.get(index), a.get(&index).copied().unwrap_or(0));
        }
    }

    #[test]
    fn joining_a_smaller_clock_changes_nothing() {
        let mut a = Clock::default();
        (0..1000).for_each(|i| a.raise(i, 1));
        let mut b = a.clone();
        b.raise(70_000, 1);
        let root = b.root.clone().unwrap();
        b.join(&a);
        assert!(Arc::ptr_eq(&root, b.root.as_ref().unwrap()));
    }
}
