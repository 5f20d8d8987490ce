//! What coverage metrics count, and which tests show it.

use std::collections::HashMap;

use super::kill_matrix::TestSet;

/// A coverage metric of a pool of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What there is to cover.
    pub goals: Vec<Goal>,
}

/// Something to cover: an outcome, a pair of definition and use, or the independent effect of a condition.
///
/// A suite covers it in one of several ways; each takes all of some events, which may come from different tests. An
/// event is written as the names of the tests that show it. An outcome has one way with one event. A condition (MC/DC)
/// has a way for each two test vectors that show its effect; these vectors are the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// By way and event, the names of tests.
    pub ways: Vec<Vec<Vec<String>>>,
}

impl Goal {
    /// A goal that each of these tests covers by itself.
    pub fn of(tests: Vec<String>) -> Goal {
        Goal { ways: vec![vec![tests]] }
    }
}

/// The goals of a metric, with the tests that are used.
#[derive(Debug, Clone)]
pub struct Goals {
    /// By goal, way and event.
    goals: Vec<Vec<Vec<TestSet>>>,
}

impl Goals {
    /// Those of a metric. `used` has the tests' positions by name; others do not count.
    pub fn new(metric: &Metric, used: &HashMap<&str, usize>) -> Goals {
        let event = |names: &Vec<String>| set(used, names);
        let ways = |goal: &Goal| {
            let ways = goal.ways.iter().map(|way| way.iter().map(event).collect::<Vec<_>>());
            // An event that no test shows rules a way out.
            ways.filter(|way| !way.iter().any(TestSet::is_clear)).collect()
        };
        Goals { goals: metric.goals.iter().map(ways).collect() }
    }

    /// The share of the goals that a suite covers, from 0 to 1; `None` if there are none.
    pub fn score(&self, suite: &TestSet) -> Option<f64> {
        let covers =
            |ways: &&Vec<Vec<TestSet>>| ways.iter().any(|way| way.iter().all(|event| !event.is_disjoint(suite)));
        let covered = self.goals.iter().filter(covers).count();
        (!self.goals.is_empty()).then(|| covered as f64 / self.goals.len() as f64)
    }
}

/// The used tests among these names.
pub(super) fn set(used: &HashMap<&str, usize>, names: &[impl AsRef<str>]) -> TestSet {
    let mut tests = TestSet::with_capacity(used.len());
    tests.extend(names.iter().filter_map(|test| used.get(test.as_ref()).copied()));
    tests
}

#[cfg(test)]
mod tests {
    use super::super::kill_matrix::tests::suite;
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_outcome_takes_one_test_and_a_condition_two_vectors() {
        let used: HashMap<&str, usize> = [("t", 0), ("u", 1), ("v", 2)].into();
        let outcomes = vec![Goal::of(names(&["t", "v"])), Goal::of(names(&["u"])), Goal::of(names(&["dropped"]))];
        let branches = Goals::new(&Metric { name: "branch".into(), goals: outcomes }, &used);
        for (tests, covered) in [(&[][..], 0.0), (&[0], 1.0), (&[0, 2], 1.0), (&[1, 2], 2.0), (&[0, 1, 2], 2.0)] {
            assert_eq!(branches.score(&suite(3, tests)), Some(covered / 3.0), "{tests:?}");
        }
        // `a && b`: t executes TT and TF, u only TT, v only F-. TT and F- show a, TT and TF show b.
        let [tt, tf, f] = [names(&["t", "u"]), names(&["t"]), names(&["v"])];
        let goals = vec![Goal { ways: vec![vec![tt.clone(), f.clone()]] }, Goal { ways: vec![vec![tt, tf]] }];
        let mcdc = Goals::new(&Metric { name: "mcdc".into(), goals }, &used);
        let expected = [
            (&[0][..], 0.5), // b, by one test
            (&[1], 0.0),
            (&[2], 0.0),
            (&[0, 1], 0.5),
            (&[1, 2], 0.5), // a, by two tests, neither of which shows it
            (&[0, 2], 1.0),
        ];
        for (tests, share) in expected {
            assert_eq!(mcdc.score(&suite(3, tests)), Some(share), "{tests:?}");
        }
    }

    #[test]
    fn one_of_several_ways_suffices() {
        let used: HashMap<&str, usize> = [("t", 0), ("u", 1)].into();
        let ways = vec![vec![names(&["t"]), names(&["nobody"])], vec![names(&["u"]), names(&["u", "t"])]];
        let goals = Goals::new(&Metric { name: "mcdc".into(), goals: vec![Goal { ways }] }, &used);
        assert_eq!((goals.score(&suite(2, &[0])), goals.score(&suite(2, &[1]))), (Some(0.0), Some(1.0)));
        let none = Goals::new(&Metric { name: "mcdc".into(), goals: Vec::new() }, &used);
        assert_eq!(none.score(&suite(2, &[0])), None);
    }
}
