//! Which tests kill which mutants.

use fixedbitset::FixedBitSet;

/// A set of tests, by their positions.
pub type TestSet = FixedBitSet;

/// For each mutant of a set the tests that kill it, all pairs having been run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillMatrix {
    tests: usize,
    kills: Vec<TestSet>,
}

impl KillMatrix {
    /// Makes a matrix of the tests that kill each mutant, in the mutants' order.
    ///
    /// # Panics
    /// If a set has room for another number of tests.
    pub fn new(tests: usize, kills: Vec<TestSet>) -> KillMatrix {
        assert!(kills.iter().all(|set| set.len() == tests), "each set of tests is one of {tests}");
        KillMatrix { tests, kills }
    }

    /// The number of tests.
    pub fn tests(&self) -> usize {
        self.tests
    }

    /// The number of mutants, those included that no test kills.
    pub fn mutants(&self) -> usize {
        self.kills.len()
    }

    /// The tests that kill a mutant.
    pub fn kills(&self, mutant: usize) -> &TestSet {
        &self.kills[mutant]
    }

    /// The mutants that some test kills, in order.
    pub fn killed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.kills.len()).filter(|mutant| !self.kills[*mutant].is_clear())
    }

    /// The mutants that a suite kills, in order.
    pub fn killed_by<'a>(&'a self, suite: &'a TestSet) -> impl Iterator<Item = usize> + 'a {
        (0..self.kills.len()).filter(|mutant| !self.kills[*mutant].is_disjoint(suite))
    }

    /// The share of all mutants that a suite kills, from 0 to 1; `None` if there are no mutants.
    pub fn score(&self, suite: &TestSet) -> Option<f64> {
        (!self.kills.is_empty()).then(|| self.killed_by(suite).count() as f64 / self.kills.len() as f64)
    }

    /// The matrix of some of the mutants, in the order in which they are given.
    pub fn of(&self, mutants: &[usize]) -> KillMatrix {
        KillMatrix { tests: self.tests, kills: mutants.iter().map(|mutant| self.kills[*mutant].clone()).collect() }
    }

    /// The same mutants with some of the tests only; the others kill nothing.
    pub fn with_tests(&self, suite: &TestSet) -> KillMatrix {
        KillMatrix { tests: self.tests, kills: self.kills.iter().map(|kills| kills & suite).collect() }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A matrix in which each mutant is written as the tests that kill it.
    pub(in super::super) fn matrix(tests: usize, kills: &[&[usize]]) -> KillMatrix {
        KillMatrix::new(tests, kills.iter().map(|kills| suite(tests, kills)).collect())
    }

    pub(in super::super) fn suite(tests: usize, members: &[usize]) -> TestSet {
        let mut suite = TestSet::with_capacity(tests);
        suite.extend(members.iter().copied());
        suite
    }

    #[test]
    fn scores_count_the_mutants_that_a_suite_kills() {
        let matrix = matrix(3, &[&[0, 1], &[2], &[], &[1, 2]]);
        assert_eq!(matrix.killed().collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(matrix.killed_by(&suite(3, &[1])).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(matrix.score(&suite(3, &[1])), Some(0.5));
        assert_eq!(matrix.score(&suite(3, &[])), Some(0.0));
        assert_eq!(matrix.score(&suite(3, &[0, 1, 2])), Some(0.75));
        assert_eq!(matrix.of(&[]).score(&suite(3, &[0])), None);
        assert_eq!(matrix.of(&[3, 1]).kills(0), &suite(3, &[1, 2]));
        assert_eq!(matrix.with_tests(&suite(3, &[2])).killed().collect::<Vec<_>>(), [1, 3]);
    }
}
