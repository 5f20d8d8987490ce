//! Lists of tests as rows of mutants have them. A row may name thousands, there may be thousands of rows, and most of
//! them name the same: they share one list.

use std::sync::{Mutex, PoisonError};

use kassay_results::result::mutate::{TestName, TestNames};
use kassay_suite::resolve::Test;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::mutation::catalogue::indices::{ByTest, TestIndex};

/// Tests of a suite in its order: of each span of neighbours the position of the first one, and that after the last
/// one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TestSpans(Vec<[usize; 2]>);

impl TestSpans {
    /// Returns whether these are tests of a suite of `count`, in its order.
    fn are_of(&self, count: usize) -> bool {
        let is_span = |[first, end]: &[usize; 2]| first <= end && *end <= count;
        self.0.iter().all(is_span) && self.0.is_sorted_by(|before, after| before[1] <= after[0])
    }
}

impl FromIterator<TestIndex> for TestSpans {
    /// Takes tests in any order: who runs them may find them in another one.
    fn from_iter<I: IntoIterator<Item = TestIndex>>(tests: I) -> TestSpans {
        let mut tests: Vec<TestIndex> = tests.into_iter().collect();
        tests.sort_unstable();
        tests.dedup();
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

/// The names of a suite's tests, and the lists of them that there are.
#[derive(Debug, Default)]
pub struct TestLists {
    names: ByTest<TestName>,
    lists: Mutex<FxHashMap<TestSpans, TestNames>>,
}

impl TestLists {
    /// Takes the names of these tests.
    pub fn new(tests: &[Test]) -> TestLists {
        tests.iter().map(|test| test.name.as_str()).collect()
    }

    /// Returns the names of tests of the suite, in its order.
    pub fn of(&self, tests: impl IntoIterator<Item = TestIndex>) -> TestNames {
        self.list(tests.into_iter().collect())
    }

    /// Returns the names of tests. `None` if one is none of the suite's, or they are not in its order.
    pub fn of_spans(&self, tests: TestSpans) -> Option<TestNames> {
        tests.are_of(self.names.len()).then(|| self.list(tests))
    }

    fn list(&self, tests: TestSpans) -> TestNames {
        // A thread that panicked left only complete lists.
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let names = |spans: &TestSpans| {
            spans.0.iter().flat_map(|[first, end]| *first..*end).map(|t| self.names[TestIndex(t)].clone()).collect()
        };
        lists.entry(tests).or_insert_with_key(names).clone()
    }
}

impl<'n> FromIterator<&'n str> for TestLists {
    fn from_iter<I: IntoIterator<Item = &'n str>>(names: I) -> TestLists {
        TestLists { names: names.into_iter().map(TestName::from).collect(), lists: Mutex::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn lists(count: usize) -> TestLists {
        (0..count).map(|t| format!("test {t}")).collect::<Vec<String>>().iter().map(String::as_str).collect()
    }

    fn spans(tests: &[usize]) -> TestSpans {
        tests.iter().map(|t| TestIndex(*t)).collect()
    }

    #[test]
    fn neighbours_share_a_span_and_every_test_keeps_its_name() {
        let tests = [0, 1, 2, 5, 7, 8];
        assert_eq!(spans(&tests).0, [[0, 3], [5, 6], [7, 9]]);
        let known = lists(9);
        let named: TestNames = tests.iter().map(|t| TestName::from(format!("test {t}"))).collect();
        assert_eq!(known.of_spans(spans(&tests)), Some(named));
        assert_eq!(known.of_spans(spans(&[])), Some(TestNames::default()));
    }

    #[test]
    fn the_same_tests_have_one_list() {
        let known = lists(9);
        let of = |tests: &[usize]| known.of(tests.iter().map(|t| TestIndex(*t)));
        assert!(Arc::ptr_eq(&of(&[2, 4, 5]), &of(&[2, 4, 5])));
        assert_ne!(of(&[2, 4, 5]), of(&[2, 5]));
        assert!(Arc::ptr_eq(&of(&[5, 2, 4, 2]), &of(&[2, 4, 5])), "a test was lost, or has another place");
    }

    #[test]
    fn tests_that_the_suite_lacks_are_refused_and_so_are_spans_in_disorder() {
        let known = lists(4);
        for damaged in [vec![[3, 5]], vec![[2, 1]], vec![[2, 4], [0, 1]], vec![[0, 2], [1, 3]], vec![[9, usize::MAX]]] {
            assert_eq!(known.of_spans(TestSpans(damaged.clone())), None, "{damaged:?}");
        }
    }
}
