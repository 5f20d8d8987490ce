//! Which mutants of a set are worth having, judged by the tests that kill them.
//!
//! A killed mutant *dynamically subsumes* another if each test that kills the first kills the second, too (Kurtz et al.
//! 2014, Ammann et al. 2014). Mutants that no test kills belong to no set here.

use std::collections::HashSet;

use rand::Rng;
use rand::seq::SliceRandom;

use super::kill_matrix::{KillMatrix, TestSet};

/// The share of tests that kill a hard mutant at most.
pub const HARD: f64 = 0.025;

/// One mutant of each class that the same tests kill: the *distinguished* mutants. Of a class, the first is taken.
pub fn distinguished(matrix: &KillMatrix) -> Vec<usize> {
    let mut seen: HashSet<&TestSet> = HashSet::new();
    matrix.killed().filter(|mutant| seen.insert(matrix.kills(*mutant))).collect()
}

/// The *minimal* mutants: one of each class that no other class strictly subsumes (Ammann et al. 2014).
///
/// Gopinath et al. 2016 call what is left when all mutants that are subsumed with respect to the whole suite are taken
/// out the *surface* mutants, and show that they are the minimal ones.
pub fn minimal(matrix: &KillMatrix) -> Vec<usize> {
    let classes = distinguished(matrix);
    let is_minimal = |mutant: &usize| {
        let kills = matrix.kills(*mutant);
        !classes.iter().any(|other| other != mutant && matrix.kills(*other).is_subset(kills))
    };
    classes.iter().copied().filter(is_minimal).collect()
}

/// The *disjoint* mutants (Kintis et al. 2010), as Papadakis et al. 2016 compute them: again and again the mutant that
/// subsumes most of those left is taken, and these are left out.
///
/// The algorithm takes minimal mutants only, and all of them, so that the number is that of [`minimal`].
pub fn disjoint(matrix: &KillMatrix) -> Vec<usize> {
    let mut left = distinguished(matrix);
    let mut taken = Vec::new();
    while !left.is_empty() {
        let subsumed = |by: usize| left.iter().filter(move |m| matrix.kills(by).is_subset(matrix.kills(**m))).count();
        // Of several, the first, so that the set is the same each time.
        let best = left.iter().copied().rev().max_by_key(|mutant| subsumed(*mutant)).expect("some are left");
        left.retain(|mutant| !matrix.kills(best).is_subset(matrix.kills(*mutant)));
        taken.push(best);
    }
    taken.sort_unstable();
    taken
}

/// The mutants that are killed, but by at most [`HARD`] of all tests: those that are hard to find.
pub fn hard(matrix: &KillMatrix) -> Vec<usize> {
    // A single test is the least that can kill a mutant.
    let most = ((matrix.tests() as f64 * HARD) as usize).max(1);
    matrix.killed().filter(|mutant| matrix.kills(*mutant).count_ones(..) <= most).collect()
}

/// Draws a *minimal adequate suite*: tests that kill all mutants that any test kills, none of which can be left out
/// (Ammann et al. 2014).
///
/// Tests are taken in random order if they kill a mutant that those before do not, and then left out in random order
/// where the others suffice.
pub fn adequate_suite(matrix: &KillMatrix, random: &mut impl Rng) -> TestSet {
    let killed: Vec<usize> = minimal(matrix);
    let mut order: Vec<usize> = (0..matrix.tests()).collect();
    order.shuffle(random);
    let mut suite = TestSet::with_capacity(matrix.tests());
    let mut open = killed.clone();
    for test in order {
        let before = open.len();
        open.retain(|mutant| !matrix.kills(*mutant).contains(test));
        if open.len() < before {
            suite.insert(test);
        }
    }
    let mut members: Vec<usize> = suite.ones().collect();
    members.shuffle(random);
    for test in members {
        suite.remove(test);
        if killed.iter().any(|mutant| matrix.kills(*mutant).is_disjoint(&suite)) {
            suite.insert(test);
        }
    }
    suite
}

/// The share of the minimal mutants of `these` that some mutant of `others` subsumes, from 0 to 1; `None` if there are
/// no minimal mutants. Both were run with the same tests.
pub fn share_subsumed(these: &KillMatrix, others: &KillMatrix) -> Option<f64> {
    let minimal_ones = minimal(these);
    let others = minimal(others).into_iter().map(|mutant| others.kills(mutant)).collect::<Vec<_>>();
    let is_subsumed = |mutant: &&usize| others.iter().any(|other| other.is_subset(these.kills(**mutant)));
    let subsumed = minimal_ones.iter().filter(is_subsumed).count();
    (!minimal_ones.is_empty()).then(|| subsumed as f64 / minimal_ones.len() as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::kill_matrix::tests::{matrix, suite};
    use super::*;

    /// Worked out by hand. Mutants 0 and 1 are one class; 2 is subsumed by them; 3 is minimal, too; 4 is not killed;
    /// 5 is subsumed by 3 alone; 6 by all.
    fn worked_out() -> KillMatrix {
        matrix(5, &[&[0], &[0], &[0, 1], &[2, 3], &[], &[2, 3, 4], &[0, 1, 2, 3, 4]])
    }

    #[test]
    fn sets_of_a_matrix_that_was_worked_out_by_hand() {
        let matrix = worked_out();
        assert_eq!(distinguished(&matrix), [0, 2, 3, 5, 6]);
        assert_eq!(minimal(&matrix), [0, 3]);
        assert_eq!(disjoint(&matrix), [0, 3]);
        assert_eq!(hard(&matrix), [0, 1]);
    }

    #[test]
    fn overlapping_kill_sets_subsume_each_other_not() {
        // The example with which Gopinath 2016 explains the sets: m1 {t1, t2}, m2 {t2, t3}, m3 {t2}.
        let without = matrix(3, &[&[0, 1], &[1, 2]]);
        assert_eq!(minimal(&without), [0, 1]);
        let with = matrix(3, &[&[0, 1], &[1, 2], &[1]]);
        assert_eq!((distinguished(&with).len(), minimal(&with)), (3, vec![2]));
        assert!(minimal(&matrix(3, &[&[], &[]])).is_empty() && disjoint(&matrix(0, &[])).is_empty());
    }

    #[test]
    fn hard_mutants_are_killed_by_few_of_many_tests() {
        let first = |count: usize| (0..count).collect::<Vec<_>>();
        let kills = [first(1), first(2), first(3), first(80), first(0)];
        let kills: Vec<&[usize]> = kills.iter().map(Vec::as_slice).collect();
        assert_eq!(hard(&matrix(80, &kills)), [0, 1]);
        assert_eq!(hard(&matrix(79, &[&[0], &[0, 1]])), [0]);
    }

    #[test]
    fn one_set_may_subsume_part_of_another() {
        let these = worked_out();
        // Only mutant 3 of `these` has a mutant in `others` whose tests all kill it.
        let others = matrix(5, &[&[3], &[0, 4]]);
        assert_eq!(share_subsumed(&these, &others), Some(0.5));
        // Each of `others` is subsumed by none of {0} and {2, 3}, but {0, 4} is by {0}.
        assert_eq!(share_subsumed(&others, &these), Some(0.5));
        assert_eq!(share_subsumed(&matrix(5, &[&[]]), &these), None);
    }

    fn any_matrix() -> impl Strategy<Value = KillMatrix> {
        (1..9_usize, 0..20_usize).prop_flat_map(|(tests, mutants)| {
            prop::collection::vec(prop::collection::vec(0..tests, 0..5), mutants)
                .prop_map(move |kills| KillMatrix::new(tests, kills.iter().map(|k| suite(tests, k)).collect()))
        })
    }

    /// Gopinath's own procedure: any mutant takes out all that it subsumes.
    fn surface(matrix: &KillMatrix) -> Vec<usize> {
        let mut left: Vec<usize> = matrix.killed().collect();
        let mut at = 0;
        while at < left.len() {
            let by = left[at];
            let kept: Vec<usize> =
                left.iter().copied().filter(|m| *m == by || !matrix.kills(by).is_subset(matrix.kills(*m))).collect();
            at = kept.iter().position(|m| *m == by).unwrap() + 1;
            left = kept;
        }
        left
    }

    proptest! {
        #[test]
        fn minimal_disjoint_and_surface_mutants_are_one_set(matrix in any_matrix()) {
            let kill_sets = |mutants: Vec<usize>| mutants.into_iter().map(|m| matrix.kills(m)).collect::<HashSet<_>>();
            let sets = kill_sets(minimal(&matrix));
            prop_assert_eq!(sets.len(), minimal(&matrix).len());
            prop_assert_eq!(&kill_sets(disjoint(&matrix)), &sets);
            prop_assert_eq!(&kill_sets(surface(&matrix)), &sets);
        }

        #[test]
        fn adequate_suites_kill_all_and_no_test_can_be_left_out(matrix in any_matrix(), seed: u64) {
            let drawn = adequate_suite(&matrix, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert_eq!(matrix.killed_by(&drawn).count(), matrix.killed().count());
            for test in drawn.ones() {
                let mut fewer = drawn.clone();
                fewer.remove(test);
                prop_assert!(matrix.killed_by(&fewer).count() < matrix.killed().count());
            }
        }

        #[test]
        fn a_set_subsumes_itself(matrix in any_matrix()) {
            let share = share_subsumed(&matrix, &matrix);
            prop_assert_eq!(share, (matrix.killed().count() > 0).then_some(1.0));
        }
    }
}
