//! Second-order mutants: pairs of first-order ones (LIU 6.2), and random samples.

use std::collections::BTreeSet;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::instrument::mutants::{Edit, Place, Slot};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Draws `count` of `total` positions, in ascending order; all if `count` is not smaller. The same seed draws the same
/// positions on every machine.
pub fn sample(total: usize, count: u64, seed: u64) -> Vec<usize> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count >= total {
        return (0..total).collect();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = rand::seq::index::sample(&mut random, total, count).into_vec();
    drawn.sort_unstable();
    drawn
}

/// Returns the pairs of elements of `first`, both in the order of `first`: all, or a sample of `count`.
pub fn pairs<T: Copy>(first: &[T], count: Option<u64>, seed: u64) -> Vec<(T, T)> {
    let n = first.len();
    let total = n * n.saturating_sub(1) / 2;
    let mut pairs = Vec::new();
    // Pairs are numbered by their first part, then by their second; `begin` is the number of the first pair of `a`.
    let (mut a, mut begin) = (0, 0);
    for number in sample(total, count.unwrap_or(u64::MAX), seed) {
        while number >= begin + (n - 1 - a) {
            begin += n - 1 - a;
            a += 1;
        }
        pairs.push((first[a], first[a + 1 + number - begin]));
    }
    pairs
}

/// Returns why two mutants cannot be in force at once (LIU 8.2.2 calls such pairs invalid: one overwrites the other);
/// `None` if they can.
pub fn conflict(a: &Edit, b: &Edit) -> Option<&'static str> {
    match (a, b) {
        (Edit::Launch(_), Edit::Launch(_)) => Some("both change the launch"),
        (Edit::Privatise { .. }, _) | (_, Edit::Privatise { .. }) => {
            Some("a local variable is made private in a module of its own")
        }
        (Edit::Launch(_), _) | (_, Edit::Launch(_)) => None,
        _ => {
            let (a, b) = (touched(a), touched(b));
            (!a.is_disjoint(&b)).then_some("both change the same place, so that one overwrites the other")
        }
    }
}

/// Something that an edit changes: a value, an instruction, or the outgoing edges of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touched {
    Value(Slot),
    Instruction(Place),
    Block(FunctionIndex, BlockIndex),
}

fn touched(edit: &Edit) -> BTreeSet<Touched> {
    match edit {
        // The operands of an instruction whose result is replaced are no longer read.
        Edit::Value { at, .. } => at
            .iter()
            .flat_map(|slot| {
                let whole = matches!(slot, Slot::Result(_)).then_some(Touched::Instruction(slot.place()));
                whole.into_iter().chain([Touched::Value(*slot)])
            })
            .collect(),
        Edit::Instead { at, .. } => at.iter().map(|place| Touched::Instruction(*place)).collect(),
        Edit::Redirect { edges } => edges.iter().map(|e| Touched::Block(e.function, e.block)).collect(),
        Edit::All(edits) => edits.iter().flat_map(touched).collect(),
        Edit::Privatise { .. } | Edit::Launch(_) | Edit::Variant(_) | Edit::Uncompilable { .. } => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use kassay_ir::instrument::mutants::{Expr, LaunchChange};

    use super::*;

    fn value(instruction: usize) -> Edit {
        let place = Place { function: FunctionIndex::KERNEL, block: BlockIndex::ENTRY, instruction };
        Edit::Value { at: vec![Slot::Result(place)], by: Expr::Integer(0) }
    }

    #[test]
    fn all_pairs_are_ordered_and_a_sample_is_a_subset() {
        assert_eq!(pairs(&[3, 5, 9], None, 0), [(3, 5), (3, 9), (5, 9)]);
        let first: Vec<usize> = (0..40).collect();
        let all = pairs(&first, None, 1);
        let some = pairs(&first, Some(50), 1);
        assert_eq!((all.len(), some.len()), (780, 50));
        assert!(some.iter().all(|p| all.contains(p)));
        assert_eq!(some, pairs(&first, Some(50), 1));
        assert_ne!(some, pairs(&first, Some(50), 2));
    }

    #[test]
    fn pairs_at_one_place_conflict() {
        assert!(conflict(&value(1), &value(1)).is_some());
        assert!(conflict(&value(1), &value(2)).is_none());
        assert!(conflict(&value(1), &Edit::All(vec![value(2), value(1)])).is_some());
        let launch = Edit::Launch(LaunchChange::Swap);
        assert!(conflict(&launch, &launch).is_some());
        assert!(conflict(&launch, &value(1)).is_none());
    }
}
