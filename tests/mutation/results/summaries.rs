//! Checks the numbers, the scores, and the breakdown of pairs.

use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use proptest::prelude::*;

use super::random::{class_of, mutant, result, whole};

#[test]
fn scores_divide_as_documented() {
    use Status::*;
    let mut mutants: Vec<Mutant> = [
        Killed,
        Killed,
        Killed,
        RuntimeError,
        Timeout,
        Timeout,
        Survived,
        Undecided,
        NoCoverage,
        NoCoverage,
        Equivalent,
        CompileError,
        Ignored,
        Pending,
    ]
    .iter()
    .enumerate()
    .map(|(n, status)| {
        let mut m = mutant(&format!("m{n}"), *status);
        if !matches!(status, NoCoverage | Ignored | Pending) {
            m.covered_by = ["even".into()].into();
        }
        m
    })
    .collect();
    let mut duplicate = mutant("m14", Survived);
    duplicate.duplicate_of = Some("m0".into());
    mutants.push(duplicate);
    let s = Summary::of(&mutants);
    assert_eq!((s.total, s.duplicate, s.killed, s.survived), (15, 1, 3, 1));
    // 3 killed + 1 runtime error + 2 time-outs, of 15 - 1 equivalent - 1 duplicate - 1 ignored - 1 compile error -
    // 1 pending.
    assert_eq!(s.score, Some(60.0));
    assert_eq!(s.score_without_timeouts, Some(50.0));
    // 10 reached of 15 - 1 duplicate - 1 ignored - 1 pending.
    assert_eq!(s.mutation_coverage, Some(100.0 * 10.0 / 12.0));
    let nothing = Summary::of(&[mutant("m", Equivalent), mutant("n", Ignored)]);
    assert_eq!((nothing.score, nothing.score_without_timeouts, nothing.mutation_coverage), (None, None, Some(0.0)));
    let late = Summary::of(&[mutant("m", Timeout)]);
    assert_eq!((late.score, late.score_without_timeouts), (Some(100.0), None));
}

/// A row of LIU's table 8.4 for each combination of statuses that the parts of a surviving pair can have.
#[test]
fn surviving_pairs_are_classified_by_their_parts() {
    use Status::*;
    let statuses =
        [("e", Equivalent), ("f", Equivalent), ("s", Survived), ("n", NoCoverage), ("k", Killed), ("t", Timeout)];
    let mut mutants: Vec<Mutant> = statuses.iter().map(|(id, status)| mutant(id, *status)).collect();
    let mut pair = |a: &str, b: &str, status| {
        mutants.push(Mutant { parts: vec![a.into(), b.into()], ..mutant(&format!("{a} + {b}"), status) });
    };
    pair("e", "f", Equivalent);
    pair("s", "n", Survived);
    pair("e", "s", Undecided);
    pair("n", "f", Survived);
    pair("e", "k", Survived);
    pair("t", "s", Survived);
    pair("k", "t", Survived);
    pair("k", "s", Killed);
    pair("f", "t", Timeout);
    pair("s", "k", Ignored);
    let mut r = result(mutants, 2);
    finish(&mut r, &class_of);
    let expected = SecondOrder {
        pairs: 9,
        survived: 7,
        by_two_equivalent: 1,
        by_two_survived: 1,
        by_equivalent_and_survived: 2,
        by_one_equivalent_or_survived: 2,
        others: 1,
    };
    assert_eq!(r.second_order, Some(expected));
    assert_eq!((r.summary.total, r.pairs.map(|p| p.total)), (6, Some(10)));
    r.shard = Some("1/2".into());
    finish(&mut r, &class_of);
    assert_eq!(r.second_order, None);
}

#[test]
fn a_duplicate_has_the_status_of_what_it_equals() {
    let mut original = mutant("a", Status::Killed);
    original.killed_by = ["even".into()].into();
    original.covered_by = ["even".into(), "empty".into()].into();
    original.reason = Some("y[3] is 4 instead of 5".into());
    let mut duplicate = mutant("b", Status::Pending);
    duplicate.duplicate_of = Some("a".into());
    let mut r = result(vec![duplicate, original.clone()], 1);
    finish(&mut r, &class_of);
    let got = &r.mutants[0];
    assert_eq!(
        (&got.killed_by, &got.covered_by, &got.reason),
        (&original.killed_by, &original.covered_by, &original.reason)
    );
    assert_eq!((got.status, got.id.as_str()), (Status::Killed, "b"));
    assert_eq!((r.summary.killed, r.summary.duplicate), (1, 1));
    let tests: Vec<_> = r.tests.iter().map(|t| (t.name.as_str(), t.kills, t.reaches)).collect();
    assert_eq!(tests, [("even", 1, 1), ("odd length", 0, 0), ("empty", 0, 1)]);
}

#[test]
fn cycles_of_duplicates_end() {
    let mut mutants = vec![mutant("a", Status::Survived), mutant("b", Status::Killed)];
    mutants[0].duplicate_of = Some("b".into());
    mutants[1].duplicate_of = Some("a".into());
    let mut r = result(mutants, 1);
    finish(&mut r, &class_of);
    assert_eq!(r.summary.duplicate, 2);
}

proptest! {
    #[test]
    fn finishing_twice_changes_nothing_and_numbers_add_up(whole in whole()) {
        let mut again = whole.clone();
        finish(&mut again, &class_of);
        prop_assert_eq!(&again, &whole);
        let statuses = |s: &Summary| {
            s.killed + s.survived + s.timeout + s.runtime_error + s.compile_error + s.no_coverage + s.undecided
                + s.equivalent + s.duplicate + s.ignored + s.pending
        };
        let (mut operators, mut classes) = (0, 0);
        whole.operators.values().for_each(|s| operators += s.total);
        whole.classes.values().for_each(|s| classes += s.total);
        prop_assert_eq!([statuses(&whole.summary), operators, classes], [whole.summary.total; 3]);
        prop_assert_eq!(whole.summary.total + whole.pairs.map_or(0, |p| p.total), whole.mutants.len() as u64);
        if let Some(table) = whole.second_order {
            let rows = table.by_two_equivalent + table.by_two_survived + table.by_equivalent_and_survived
                + table.by_one_equivalent_or_survived + table.others;
            prop_assert_eq!(rows, table.survived);
            prop_assert!(table.survived <= table.pairs);
        }
    }
}
