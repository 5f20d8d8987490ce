//! Checks a suite with deliberate holes: the survivors point exactly at them.

use std::collections::BTreeSet;

use kassay::result::mutate::{MutateResult, Status};
use serde::Deserialize;

use crate::common::program::kassay;
use crate::common::testdata::testdata;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Holes {
    operators: String,
    hole: Vec<Hole>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hole {
    feature: String,
    /// The lines of the feature.
    lines: Vec<u32>,
    survivors: Vec<Survivors>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivors {
    operator: String,
    line: u32,
    column: u32,
    replacements: Vec<String>,
}

/// Operator, line, column, replacement.
type Key = (String, u32, u32, String);

#[test]
fn survivors_point_exactly_at_the_holes() {
    let folder = testdata("mutation_holes");
    let holes: Holes = toml::from_str(&std::fs::read_to_string(folder.join("holes.toml")).unwrap()).unwrap();
    assert_eq!(holes.hole.len(), 3);
    let mut expected: BTreeSet<Key> = BTreeSet::new();
    for hole in &holes.hole {
        for s in &hole.survivors {
            assert!(hole.lines.contains(&s.line), "{}: line {}", hole.feature, s.line);
            expected.extend(s.replacements.iter().map(|r| (s.operator.clone(), s.line, s.column, r.clone())));
        }
    }

    let output = tempfile::tempdir().unwrap();
    let file = output.path().join("result.json");
    let mut command = kassay();
    command.args(["mutate", "--quiet", "--operators", &holes.operators, "-o"]).arg(&file);
    let ran = command.arg(folder.join("suite.toml")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let result: MutateResult = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();

    let mut found: BTreeSet<Key> = BTreeSet::new();
    for mutant in &result.mutants {
        let start = mutant.location.start;
        match mutant.status {
            Status::Killed | Status::RuntimeError | Status::Timeout => {}
            Status::Survived | Status::NoCoverage | Status::EquivalentForLaunches => {
                found.insert((mutant.operator.clone(), start.line, start.column, mutant.replacement.clone()));
            }
            status => panic!("{}: {status:?}", mutant.id),
        }
    }
    let missing: Vec<&Key> = expected.difference(&found).collect();
    let unexpected: Vec<&Key> = found.difference(&expected).collect();
    assert!(missing.is_empty() && unexpected.is_empty(), "not found: {missing:#?}\nunexpected: {unexpected:#?}");
}
