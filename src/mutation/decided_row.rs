//! Rows as the journal of a run keeps them: with the positions of tests, because a row may name thousands, and rows are decided by the
//! thousand.

use serde::{Deserialize, Serialize};

use super::indices::{ByTest, TestIndex};
use crate::result::mutate::{self as result, TestName};

/// The row of a mutant whose outcome is final.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DecidedRow {
    /// Without the tests.
    row: result::Mutant,
    killed_by: TestSpans,
    covered_by: TestSpans,
}

/// Tests of a suite in its order: of each span of neighbours the position of the first one, and that behind the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TestSpans(Vec<[usize; 2]>);

impl DecidedRow {
    /// Takes a row without tests, and the tests that detect the mutant and reach it.
    pub fn new(
        row: result::Mutant,
        killed_by: impl Iterator<Item = TestIndex>,
        covered_by: impl Iterator<Item = TestIndex>,
    ) -> DecidedRow {
        debug_assert!(row.killed_by.is_empty() && row.covered_by.is_empty(), "tests are named apart from the row");
        DecidedRow { row, killed_by: killed_by.collect(), covered_by: covered_by.collect() }
    }

    /// Returns the row with the names of its tests. `None` if one is none of the suite's: the journal is damaged.
    pub fn with_names(self, names: &ByTest<TestName>) -> Option<result::Mutant> {
        let (killed_by, covered_by) = (self.killed_by.names(names)?, self.covered_by.names(names)?);
        Some(result::Mutant { killed_by, covered_by, ..self.row })
    }
}

impl TestSpans {
    fn names(&self, names: &ByTest<TestName>) -> Option<Vec<TestName>> {
        let is_of_suite = |[first, end]: &[usize; 2]| first <= end && *end <= names.len();
        let is_sorted = self.0.is_sorted_by(|before, after| before[1] <= after[0]);
        (is_sorted && self.0.iter().all(is_of_suite))
            .then(|| self.0.iter().flat_map(|[first, end]| *first..*end).map(|t| names[TestIndex(t)].clone()).collect())
    }
}

impl FromIterator<TestIndex> for TestSpans {
    fn from_iter<I: IntoIterator<Item = TestIndex>>(tests: I) -> TestSpans {
        let mut spans: Vec<[usize; 2]> = Vec::new();
        for TestIndex(test) in tests {
            match spans.last_mut().filter(|[_, end]| *end == test) {
                Some([_, end]) => *end += 1,
                None => spans.push([test, test + 1]),
            }
        }
        TestSpans(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> ByTest<TestName> {
        (0..count).map(|t| TestName::from(format!("test {t}"))).collect()
    }

    fn spans(tests: &[usize]) -> TestSpans {
        tests.iter().map(|t| TestIndex(*t)).collect()
    }

    #[test]
    fn neighbours_share_a_span_and_every_test_keeps_its_name() {
        let tests = [0, 1, 2, 5, 7, 8];
        assert_eq!(spans(&tests).0, [[0, 3], [5, 6], [7, 9]]);
        let known = names(9);
        let named: Vec<TestName> = tests.iter().map(|t| known[TestIndex(*t)].clone()).collect();
        assert_eq!(spans(&tests).names(&known), Some(named));
        assert_eq!(spans(&[]).names(&known), Some(Vec::new()));
    }

    #[test]
    fn tests_that_the_suite_lacks_are_refused_and_so_are_spans_in_disorder() {
        let known = names(4);
        for damaged in [vec![[3, 5]], vec![[2, 1]], vec![[2, 4], [0, 1]], vec![[0, 2], [1, 3]], vec![[9, usize::MAX]]] {
            assert_eq!(TestSpans(damaged.clone()).names(&known), None, "{damaged:?}");
        }
    }
}
