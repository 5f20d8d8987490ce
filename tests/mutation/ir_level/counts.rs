//! Compares numbers of mutants with those that a script counts in the text of the IR (`scripts/count-ir-mutants`).

use std::collections::BTreeMap;
use std::process::Command;

use kassay::Level;
use kassay_judge::mutation::Mutant;

use super::support::{LEVELS, with_mutants};
use crate::common::testdata::repository;

/// Returns the script's count of a module's text, by operator.
fn counted(text: &str) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.ll");
    std::fs::write(&file, text).unwrap();
    let output = Command::new(repository("scripts/count-ir-mutants")).arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| line.split_once(' ')).map(|(id, n)| (id.to_owned(), n.parse().unwrap())).collect()
}

fn agree(kernel: &str, level: Level) -> BTreeMap<String, usize> {
    with_mutants(kernel, level, "all", |under_test, found| {
        let expected = counted(&under_test.canonical_text());
        // Of the operators of synchronisation, the script counts what they do to instructions.
        let is_counted = |m: &&Mutant| {
            let instructions = ["atomicrmw ", "cmpxchg ", "fence ", "load atomic ", "store atomic "];
            !["FR", "AR", "AOP", "IMO"].contains(&m.operator) || instructions.iter().any(|i| m.original.starts_with(i))
        };
        let count = |id: &str| found.mutants.iter().filter(is_counted).filter(|m| m.operator == id).count();
        let actual: BTreeMap<String, usize> = expected.keys().map(|id| (id.clone(), count(id))).collect();
        assert_eq!(actual, expected, "{kernel} at {level:?}");
        expected
    })
}

#[test]
fn a_script_counts_the_same_mutants() {
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in
        ["loop_shapes", "sha_like", "half_math", "long_vectors", "knapsack_dp", "helper_thrice", "atomic_instructions"]
    {
        for level in LEVELS {
            for (id, n) in agree(kernel, level) {
                *total.entry(id).or_default() += n;
            }
        }
    }
    assert!(total.values().all(|n| *n > 0), "{total:?}");
}
