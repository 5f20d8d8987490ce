//! Checks the kernels of `testdata/faults`: the right ones are clean and pass their tests, and each faulty variant has
//! the findings that its first comment states, or fails a test (see the README there).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, run};
use crate::common::testdata::{entries, files_below, folders, name, testdata};
use crate::common::threads::spread;

/// The kinds that a variant's first comment names: `// fault: KIND, KIND: what is wrong`.
fn stated(variant: &Path) -> TestResult<BTreeSet<String>> {
    let text = std::fs::read_to_string(variant)?;
    let kinds = text.strip_prefix("// fault: ").and_then(|rest| rest.split_once(": ")).ok_or("it states no fault")?.0;
    Ok(kinds.split(", ").map(str::to_owned).collect())
}

/// Writes the suite of a folder for another kernel file.
fn suite_for(kernel: &Path, folder: &Path, to: &Path) -> TestResult<PathBuf> {
    let text = std::fs::read_to_string(folder.join("suite.toml"))?;
    let own = format!("kernel = \"{}.cl\"", name(folder));
    assert_eq!(text.matches(&own).count(), 1, "{}", folder.display());
    let suite = to.join("suite.toml");
    std::fs::write(&suite, text.replace(&own, &format!("kernel = {:?}", at(kernel))))?;
    Ok(suite)
}

/// The kinds of findings that `check` has for a suite, without redundant barriers.
fn found(suite: &Path) -> TestResult<BTreeSet<String>> {
    let (out, err, code) = run(&["check", at(suite), "--no-amplify", "--no-redundant", "--format", "json"])?;
    if code > 1 {
        return Err(format!("exit code {code}: {err}").into());
    }
    let result: Value = serde_json::from_str(&out)?;
    assert!(result["inputs"].as_array().is_some_and(|inputs| !inputs.is_empty()), "{}", suite.display());
    Ok(result["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|f| f["kind"].as_str())
        .map(str::to_owned)
        .collect())
}

/// Describes how a variant disagrees with its first comment.
fn disagreement(variant: &Path) -> TestResult<Option<String>> {
    let folder = variant.ancestors().nth(2).ok_or("no folder")?;
    let who = format!("{}/{}", name(folder), name(&variant.with_extension("")));
    let scratch = tempfile::tempdir()?;
    let suite = suite_for(variant, folder, scratch.path())?;
    let (stated, found) = (stated(variant)?, found(&suite)?);
    if stated == BTreeSet::from(["output".to_owned()]) {
        if !found.is_empty() {
            return Ok(Some(format!("{who} is reported for {found:?}")));
        }
        assert!(passes(&suite_of_right(folder))?, "{}", folder.display());
        return Ok(passes(&suite)?.then(|| format!("{who} passes all tests")));
    }
    Ok((stated != found).then(|| format!("{who} states {stated:?}, reported are {found:?}")))
}

fn suite_of_right(folder: &Path) -> PathBuf {
    folder.join("suite.toml")
}

/// Whether a kernel passes all tests of a suite.
fn passes(suite: &Path) -> TestResult<bool> {
    let (out, err, code) = run(&["run", at(suite), "--device", "sim", "--format", "json"])?;
    if code > 1 {
        return Err(format!("exit code {code}: {err}").into());
    }
    let result: Value = serde_json::from_str(&out)?;
    Ok(result["tests"].as_array().is_some_and(|tests| tests.iter().all(|test| test["status"] == "passed")))
}

fn assert_none(complaints: impl IntoIterator<Item = Option<String>>) {
    let complaints: Vec<String> = complaints.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{} disagree:\n{}", complaints.len(), complaints.join("\n"));
}

/// Returns the variants in a folder.
fn variants(folder: &Path) -> Vec<PathBuf> {
    files_below(&folder.join("faults"), "cl")
}

fn about(path: &Path, what: TestResult<Option<String>>) -> Option<String> {
    what.unwrap_or_else(|e| Some(format!("{}: {e}", path.display())))
}

#[test]
fn right_kernels_are_clean() {
    let folders = folders(&testdata("faults"));
    assert!(folders.len() >= 60, "only {} folders", folders.len());
    let wrong = |folder: &PathBuf| -> TestResult<Option<String>> {
        let found = found(&suite_of_right(folder))?;
        Ok((!found.is_empty()).then(|| format!("{} is not clean: {found:?}", name(folder))))
    };
    assert_none(spread(&folders, |folder| about(folder, wrong(folder))));
}

/// One variant of each kernel, not always the one at the same place of the list.
#[test]
fn a_sample_of_the_variants_has_the_faults_that_are_stated() {
    let folders = folders(&testdata("faults"));
    let one = |(number, folder): (usize, &PathBuf)| {
        let all = variants(folder);
        all[number % all.len()].clone()
    };
    let sample: Vec<PathBuf> = folders.iter().enumerate().map(one).collect();
    assert_none(spread(&sample, |variant| about(variant, disagreement(variant))));
}

/// For changes to these kernels, their suites or the race detector:
/// `cargo nextest run --ignore-default-filter --run-ignored only fault_variants`.
#[test]
#[ignore = "takes a minute"]
fn all_variants_have_the_faults_that_are_stated() {
    let all: Vec<PathBuf> = folders(&testdata("faults")).iter().flat_map(|folder| variants(folder)).collect();
    assert!(all.len() >= 400, "only {} variants", all.len());
    assert_none(spread(&all, |variant| about(variant, disagreement(variant))));
}

#[test]
fn every_kernel_has_several_variants_that_state_their_faults() -> TestResult {
    let known = [
        "data-race",
        "barrier-divergence",
        "out-of-bounds",
        "null-access",
        "read-only-write",
        "misaligned",
        "division",
        "unawaited-copy",
        "uninitialised",
        "output",
    ];
    for folder in folders(&testdata("faults")) {
        let all = variants(&folder);
        assert!(all.len() >= 3, "{} has {} variants", folder.display(), all.len());
        let right = std::fs::read_to_string(folder.join(format!("{}.cl", name(&folder))))?;
        for variant in all {
            let kinds = stated(&variant).map_err(|e| format!("{}: {e}", variant.display()))?;
            assert!(kinds.iter().all(|kind| known.contains(&kind.as_str())), "{}: {kinds:?}", variant.display());
            let code = |text: &str| text.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
            assert_ne!(code(&std::fs::read_to_string(&variant)?), code(&right), "{}", variant.display());
        }
        let files: BTreeSet<String> = entries(&folder).iter().map(|path| name(path)).collect();
        assert_eq!(
            files,
            [&format!("{}.cl", name(&folder)), "faults", "make.py", "suite.toml"].map(String::from).into()
        );
    }
    Ok(())
}
