//! Compares coverage with figures counted by hand.

use std::collections::BTreeMap;

use kassay::result::Ratio;
use kassay::result::cover::{LoopApplicable, LoopCoverage, SiteOutcome};
use kassay_ir::instrument::layout::Slots;

use super::kernels::{Kernel, LU, ODDITIES, PATH, REDUCE};
use crate::common::coverage::{Covered, Device};
use crate::common::testdata::suite;

fn cover(kernel: &Kernel) -> Covered {
    let folder = tempfile::tempdir().unwrap();
    let (_, suite) = kernel.write(folder.path());
    let [covered] = Device::start().cover(&suite, [Slots::Items]);
    covered
}

fn ratio(covered: u64, total: u64) -> Ratio {
    Ratio { covered, total }
}

fn of_kind<'a>(covered: &'a Covered, kind: &str) -> Vec<&'a SiteOutcome> {
    covered.sites.iter().filter(|site| site.kind == kind).collect()
}

#[test]
fn lius_example() {
    let suite = suite("liu_example");
    let [counts, groups] = Device::start().cover(&suite, [Slots::Items, Slots::Groups]);
    assert_eq!(counts.coverage.least_branch, ratio(3, 4), "75 %");
    assert_eq!(counts.coverage.average_statement, Some(62.5));
    assert_eq!(counts.coverage.statement, ratio(5, 6));
    assert_eq!(groups.coverage.average_statement, None, "it needs counts of work-items");
    assert_eq!(groups.coverage.least_branch, ratio(3, 4));
}

/// An `if` without `else` has two outcomes; loop conditions are not branches; each barrier is a site.
#[test]
fn lu_decomposition() {
    let covered = cover(&LU);
    let c = &covered.coverage;
    assert_eq!((c.branch, c.condition, c.barrier), (ratio(4, 4), ratio(0, 0), ratio(2, 2)));
    // The outer loop runs four times; the inner one three times, twice, once and not at all.
    let loops = LoopCoverage {
        total: 2,
        zero: 1,
        one: 1,
        many: 2,
        boundary: 2,
        applicable: LoopApplicable { zero: 2, boundary: 2 },
    };
    assert_eq!(c.loops, loops);
    assert_eq!((c.statement, c.least_branch), (ratio(8, 8), ratio(6, 6)));
    // Items 0 to 3: `row > k` holds 0, 1, 2, 3 items at least once, and fails for all of them at least once.
    let hits: Vec<u64> = of_kind(&covered, "branch").iter().map(|site| site.hits_by_test["4 by 4"]).collect();
    assert_eq!(hits, [3, 4, 3, 3]);
    assert!(of_kind(&covered, "branch").iter().all(|site| site.divergent_groups == Some(1)));
    assert!(of_kind(&covered, "barrier").iter().all(|site| site.divergent_groups == Some(0)));
}

/// `a && b` is one decision with two outcomes, and two conditions with two outcomes each.
#[test]
fn paths_through_a_grid() {
    let covered = cover(&PATH);
    let c = &covered.coverage;
    assert_eq!((c.branch, c.condition, c.barrier), (ratio(4, 4), ratio(8, 8), ratio(3, 3)));
    let loops = LoopCoverage {
        total: 1,
        zero: 0,
        one: 0,
        many: 1,
        boundary: 1,
        applicable: LoopApplicable { zero: 1, boundary: 1 },
    };
    assert_eq!(c.loops, loops);
    assert_eq!((c.statement, c.least_branch), (ratio(11, 11), ratio(6, 6)));
    // Item 0 never evaluates `row[l - 1] < least`.
    let conditions = of_kind(&covered, "condition");
    let left: Vec<_> = conditions.iter().filter(|site| site.location.line == 8).collect();
    let hits = |i: usize| (left[i].outcome.as_str(), left[i].hits_by_test["3 rows"]);
    assert_eq!([hits(0), hits(1)], [("true", 3), ("false", 1)]);
    assert!(left[2].hits_by_test["3 rows"] + left[3].hits_by_test["3 rows"] >= 3);
}

#[test]
fn reduction() {
    let covered = cover(&REDUCE);
    let c = &covered.coverage;
    assert_eq!((c.branch, c.condition, c.barrier), (ratio(6, 6), ratio(0, 0), ratio(2, 2)));
    assert_eq!((c.loops.total, c.loops.zero, c.loops.one, c.loops.many, c.loops.boundary), (1, 0, 0, 1, 1));
    assert_eq!((c.statement, c.least_branch), (ratio(8, 8), ratio(5, 5)));
    let rows: Vec<_> = (of_kind(&covered, "branch").iter())
        .map(|s| (s.construct.as_str(), s.outcome.as_str(), s.hits_by_test["6 of 8"], s.divergent_groups))
        .collect();
    let wanted = [
        ("?:", "true", 6, Some(1)),
        ("?:", "false", 2, Some(1)),
        ("if", "true", 4, Some(2)),
        ("if", "false", 6, Some(2)),
        ("if", "true", 2, Some(2)),
        ("if", "false", 6, Some(2)),
    ];
    assert_eq!(rows, wanted);
    // Eight items execute all but the two guarded statements, which four and two execute: (6 * 8 + 4 + 2) / 8 / 8.
    assert_eq!(c.average_statement, Some(84.375));
}

#[test]
fn labels_for_ranges_constant_operands_macros_goto_and_called_kernels() {
    let covered = cover(&ODDITIES);
    let rows: Vec<_> = (of_kind(&covered, "branch").iter())
        .map(|s| (s.function.as_str(), s.construct.as_str(), s.outcome.as_str(), s.hits_by_test["eight"]))
        .collect();
    let wanted = [
        ("other", "if", "true", 5),
        ("other", "if", "false", 3),
        ("oddities", "switch", "case 1 ... 3", 3),
        ("oddities", "switch", "case 5", 1),
        ("oddities", "switch", "case 100 ... 1000", 0),
        ("oddities", "switch", "default", 4),
        ("oddities", "if", "true", 0),
        ("oddities", "if", "false", 8),
        ("oddities", "if", "true", 1),
        ("oddities", "if", "false", 7),
        ("oddities", "if", "true", 6),
        ("oddities", "if", "false", 8),
    ];
    assert_eq!(rows, wanted);
    assert_eq!((covered.coverage.loops.total, covered.coverage.condition.total), (0, 0));
    // Each statement with its line and the number of work-items that execute it.
    let statements: Vec<_> =
        of_kind(&covered, "statement").iter().map(|s| (s.location.line, s.hits_by_test["eight"])).collect();
    let wanted = [
        (3, 8),
        (4, 5),
        (8, 8),
        (9, 3),
        (9, 3),
        (10, 0),
        (10, 0),
        (11, 1),
        (13, 8),
        (14, 0),
        (15, 8),
        (15, 1),
        (18, 8),
        (19, 8),
        (20, 6),
        (21, 8),
        (22, 8),
    ];
    assert_eq!(statements, wanted);
}

#[test]
fn a_helper_that_is_called_from_three_places_has_its_sites_once() {
    let suite = suite("helper_thrice");
    let [covered] = Device::start().cover(&suite, [Slots::Items]);
    let count = |kind: &str| of_kind(&covered, kind).iter().filter(|site| site.function == "collatz").count();
    assert_eq!((count("branch"), count("condition"), count("loop")), (2, 4, 4));
    let mut keys: Vec<_> = covered.sites.iter().map(|site| (&site.id, &site.outcome)).collect();
    keys.sort();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all, "ids are unique");
    let called: u64 = of_kind(&covered, "statement")
        .iter()
        .find(|site| site.function == "collatz" && site.construct == "while")
        .map(|site| site.hits_by_test["by hand"])
        .unwrap();
    assert_eq!(called, 3, "a work-item counts once, however often it calls");
}

/// Operands of conditions that end loops: which were true and which false, in the order of the source.
#[test]
fn operands_of_conditions_that_end_loops() {
    let kernel = Kernel {
        name: "ends",
        source: "__kernel void ends(__global int *o, int n) {
    int i = 0; while (i < 4 && n > 0) { o[i] = 1; ++i; }
    int j = 0; while (j < 9 && j != n) ++j;
    int k = 0; do { ++k; } while (k < n && o[0] == 1);
    int l = 0; while (l < 2 || l < n) ++l;
    for (int q = 0; q < 3 && o[q] == 1; ++q) o[4] += j + k + l;
    for (;;) { if (i == 0 || n == 7) break; --i; }
}
",
        tests: "[[test]]
name = \"five\"
global = [1]
[test.args]
o = { fill = 0, len = 5 }
n = 5
",
    };
    let covered = cover(&kernel);
    let mut operands: BTreeMap<(u32, u32, &str), Vec<&str>> = BTreeMap::new();
    for site in of_kind(&covered, "condition") {
        let seen = operands.entry((site.location.line, site.location.column, &site.id)).or_default();
        seen.extend(site.covered.then_some(site.outcome.as_str()));
    }
    let (both, always) = (vec!["true", "false"], vec!["true"]);
    let never = vec!["false"];
    let wanted = [
        (2, [&both, &always]),
        (3, [&always, &both]),
        (4, [&both, &always]),
        (5, [&both, &both]),
        (6, [&both, &always]),
        (7, [&both, &never]),
    ];
    let wanted: Vec<_> = wanted.into_iter().flat_map(|(line, seen)| seen.map(|seen| (line, seen))).collect();
    assert_eq!(operands.iter().map(|((line, ..), seen)| (*line, seen)).collect::<Vec<_>>(), wanted);
}
