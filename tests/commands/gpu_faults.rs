//! Runs the suites of `testdata/gpu_faults`, in which a test does to the device what no kernel may: no other test is
//! lost.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, kassay, read};
use crate::common::testdata::{folders, name, testdata};

/// The suites, each with the status of its faulty test on a kind of device; `None` where that is open.
fn suites(device: &str) -> TestResult<Vec<(PathBuf, Option<String>)>> {
    let root = testdata("gpu_faults");
    let expected = read(&root.join("expected.json"))?;
    let found = folders(&root);
    assert_eq!(expected.as_object().map_or(0, serde_json::Map::len), found.len(), "a folder without an expectation");
    Ok(found
        .into_iter()
        .map(|folder| (folder.join("suite.toml"), expected[name(&folder)][device].as_str().map(str::to_owned)))
        .collect())
}

/// Runs a suite; returns its exit code and the statuses of its tests, none if there is no result.
fn run(suite: &Path, device: &str, standby: &str) -> TestResult<(Option<i32>, Vec<String>)> {
    let done = kassay()
        .args(["run", at(suite), "--device", device, "--timeout", "2", "--format", "json", "--quiet"])
        .env("KASSAY_STANDBY", standby)
        .output()?;
    let result: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
    let tests = result["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok((done.status.code(), tests.iter().filter_map(|test| test["status"].as_str().map(str::to_owned)).collect()))
}

/// Checks that the healthy tests passed, and what became of the faulty one.
#[track_caller]
fn check(suite: &Path, (code, statuses): (Option<i32>, Vec<String>), wanted: Option<&str>) {
    let [first, faulty, last] = &statuses[..] else { panic!("{}: {code:?}, {statuses:?}", suite.display()) };
    assert_eq!((first.as_str(), last.as_str()), ("passed", "passed"), "{}", suite.display());
    if let Some(wanted) = wanted {
        assert_eq!(faulty, wanted, "{}", suite.display());
        assert_eq!(code, Some(1), "{}", suite.display());
    }
}

#[test]
fn the_simulator_names_every_fault_and_runs_the_other_tests() -> TestResult {
    for (suite, wanted) in suites("sim")? {
        assert!(wanted.is_some(), "{}", suite.display());
        check(&suite, run(&suite, "sim", "never")?, wanted.as_deref());
    }
    Ok(())
}

#[test]
fn a_device_runs_the_other_tests_with_a_worker_that_stands_by_and_without() -> TestResult {
    for (suite, wanted) in suites("opencl")? {
        for standby in ["always", "never"] {
            check(&suite, run(&suite, "opencl", standby)?, wanted.as_deref());
        }
    }
    Ok(())
}
