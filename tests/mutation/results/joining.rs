//! Checks how results of the same mutants and different tests become one.

use kassay::result::join::{configuration, join, same_mutants};
use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use proptest::prelude::*;
use proptest::sample::select;

use super::random::{STATUSES, class_of, mutant, result};

const TESTS: [&str; 4] = ["first", "second", "third", "fourth"];

/// A part with these mutants, which has the tests at these positions.
fn part(mutants: Vec<Mutant>, tests: &[usize]) -> MutateResult {
    let mut part = result(mutants, 1);
    let test = |at: &usize| TestOutcome {
        name: TESTS[*at].into(),
        status: TestStatus::Used,
        reason: None,
        kills: 0,
        reaches: 0,
    };
    part.tests = tests.iter().map(test).collect();
    finish(&mut part, &class_of);
    part
}

fn row(id: &str, status: Status, killed_by: &[&str], duplicate_of: Option<&str>) -> Mutant {
    Mutant {
        killed_by: killed_by.iter().map(|test| (*test).into()).collect(),
        duplicate_of: duplicate_of.map(str::to_owned),
        ..mutant(id, status)
    }
}

fn joined(parts: Vec<MutateResult>) -> MutateResult {
    join(parts, &TESTS, &class_of).unwrap()
}

#[test]
fn the_first_test_of_the_suite_that_detects_a_mutant_decides() {
    let one = vec![
        row("a", Status::Killed, &["third"], None),
        row("b", Status::Survived, &[], None),
        row("c", Status::NoCoverage, &[], None),
        row("d", Status::Timeout, &["first"], None),
    ];
    let other = vec![
        row("a", Status::RuntimeError, &["second"], None),
        row("b", Status::Undecided, &[], None),
        row("c", Status::Killed, &["fourth"], None),
        row("d", Status::Killed, &["second"], None),
    ];
    for turned in [false, true] {
        let mut parts = vec![part(one.clone(), &[0, 2]), part(other.clone(), &[1, 3])];
        if turned {
            parts.reverse();
        }
        let all = joined(parts);
        let found: Vec<(Status, &[TestName])> = all.mutants.iter().map(|m| (m.status, &m.killed_by[..])).collect();
        let by = |test: &str| vec![TestName::from(test)];
        assert_eq!(
            found,
            [
                (Status::RuntimeError, &by("second")[..]),
                (Status::Undecided, &[]),
                (Status::Killed, &by("fourth")),
                (Status::Timeout, &by("first")),
            ]
        );
        let names: Vec<&str> = all.tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names, TESTS);
        assert_eq!(all.tests.iter().map(|test| test.kills).collect::<Vec<_>>(), [1, 1, 0, 1]);
        assert_eq!((all.summary.killed, all.summary.timeout, all.summary.undecided), (1, 1, 1));
    }
}

#[test]
fn equivalents_and_duplicates_are_so_in_all_parts() {
    let one = vec![
        row("a", Status::Survived, &[], None),
        row("b", Status::Survived, &[], Some("a")),
        row("c", Status::Survived, &[], Some("a")),
        row("d", Status::Equivalent, &[], None),
        row("e", Status::Equivalent, &[], None),
    ];
    let other = vec![
        row("a", Status::Survived, &[], None),
        row("b", Status::Killed, &["second"], None),
        row("c", Status::Killed, &["second"], Some("b")),
        row("d", Status::Equivalent, &[], None),
        row("e", Status::Survived, &[], None),
    ];
    let all = joined(vec![part(one, &[0]), part(other, &[1])]);
    let found: Vec<(Status, Option<&str>)> =
        all.mutants.iter().map(|m| (m.status, m.duplicate_of.as_deref())).collect();
    assert_eq!(
        found,
        [
            (Status::Survived, None),
            (Status::Killed, None),
            (Status::Killed, Some("b")),
            (Status::Equivalent, None),
            (Status::Survived, None),
        ]
    );
    assert_eq!(all.mutants[4].reason.as_deref(), Some("with the values of other tests it is equivalent"));
    assert_eq!((all.summary.duplicate, all.summary.equivalent, all.summary.survived), (1, 1, 2));
}

#[test]
fn parts_of_other_mutants_are_no_parts() {
    let (a, b) = (part(vec![mutant("a", Status::Killed)], &[0]), part(vec![mutant("b", Status::Killed)], &[1]));
    assert!(!same_mutants(&a, &b));
    assert!(join(vec![a, b], &TESTS, &class_of).is_err());
    assert!(join(Vec::new(), &TESTS, &class_of).is_err());
    assert_eq!(configuration(&["cafe"]), "cafe");
    assert_ne!(configuration(&["cafe", "beef"]), configuration(&["beef", "cafe"]));
}

proptest! {
    #[test]
    fn a_mutant_is_detected_if_a_part_detects_it_and_equivalent_if_all_do(
        statuses in proptest::collection::vec(select(&STATUSES[..]), 1..4),
    ) {
        let with = |at: usize, status: Status| {
            let killed_by: &[&str] = if status.is_detected() { &TESTS[at..=at] } else { &[] };
            part(vec![row("a", status, killed_by, None)], &[at])
        };
        let parts = statuses.iter().enumerate().map(|(at, status)| with(at, *status)).collect();
        let all = joined(parts);
        let status = all.mutants[0].status;
        prop_assert_eq!(status.is_detected(), statuses.iter().any(|status| status.is_detected()));
        let are_equivalent = statuses.iter().all(|status| *status == Status::Equivalent);
        prop_assert_eq!(status == Status::Equivalent, are_equivalent);
        prop_assert!(statuses.contains(&status));
    }
}
