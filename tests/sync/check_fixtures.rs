//! Checks `kassay check` on the kernels of `testdata/check`: verdicts, findings and their lines are exactly those that
//! the kernels' comments state (see its README), and every finding's reproduction suite reproduces it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::{folders, suites, testdata};
use crate::common::threads::spread;

/// What the comments of a kernel state.
#[derive(Debug, Default)]
struct Expectation {
    verdict: String,
    holds_for: Option<String>,
    flags: Vec<String>,
    findings: BTreeMap<String, Expected>,
}

#[derive(Debug, Default)]
struct Expected {
    kind: String,
    words: Vec<String>,
    benign: bool,
    lines: BTreeSet<u64>,
}

/// A finding as expected and as reported: its kind, the words that the comments give for this kind (scope, memory,
/// variable), whether it is benign, and its lines.
type Shape = (String, Vec<String>, bool, BTreeSet<u64>);

fn expectation(kernel: &Path) -> TestResult<Expectation> {
    let mut out = Expectation::default();
    for (line, number) in fs::read_to_string(kernel)?.lines().zip(1..) {
        if let Some(rest) = line.strip_prefix("// expect: ") {
            let mut words = rest.split_whitespace().map(str::to_owned);
            out.verdict = words.next().ok_or("no verdict")?;
            out.holds_for = words.next();
        } else if let Some(rest) = line.strip_prefix("// flags: ") {
            out.flags = rest.split_whitespace().map(str::to_owned).collect();
        } else if let Some(rest) = line.strip_prefix("// finding ") {
            let (name, what) = rest.split_once(": ").ok_or("a finding without a colon")?;
            let mut words: Vec<String> = what.split_whitespace().map(str::to_owned).collect();
            let benign = words.last().is_some_and(|w| w == "benign");
            words.truncate(words.len() - usize::from(benign));
            let kind = words.remove(0);
            out.findings.insert(name.to_owned(), Expected { kind, words, benign, lines: BTreeSet::new() });
        } else if let Some((_, marks)) = line.split_once("// <- ") {
            for mark in marks.split_whitespace() {
                out.findings.get_mut(mark).ok_or("a mark without a finding")?.lines.insert(number);
            }
        }
    }
    assert!(!out.verdict.is_empty(), "{} expects nothing", kernel.display());
    assert!(out.findings.values().all(|f| !f.lines.is_empty()), "{}: a finding without a place", kernel.display());
    Ok(out)
}

fn check(suite: &Path, more: &[&str]) -> TestResult<(Value, i32)> {
    let scratch = tempfile::tempdir()?;
    let output = scratch.path().join("result.json");
    let run = kassay().arg("check").arg(suite).args(["--quiet", "-o"]).arg(&output).args(more).output()?;
    let code = run.status.code().ok_or("killed")?;
    if code > 1 {
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        return Err(format!("{}: exit code {code}: {message}", suite.display()).into());
    }
    Ok((serde_json::from_str(&fs::read_to_string(&output)?)?, code))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the lines of the accesses that a finding names.
fn lines(finding: &Value) -> BTreeSet<u64> {
    finding["accesses"].as_array().into_iter().flatten().filter_map(|a| a["line"].as_u64()).collect()
}

/// Returns the words by which the comments describe a finding of this kind.
fn words(finding: &Value) -> Vec<String> {
    let all = [text(&finding["scope"]), text(&finding["memory"]), text(&finding["variable"])];
    match text(&finding["kind"]).as_str() {
        "data-race" => all.to_vec(),
        "out-of-bounds" if finding["within_object"] == true => {
            all[1..].iter().cloned().chain(["within-object".to_owned()]).collect()
        }
        "out-of-bounds" | "read-only-write" | "misaligned" | "uninitialised" => all[1..].to_vec(),
        _ => Vec::new(),
    }
}

/// Describes how the result for the folder's suite disagrees with the comments.
fn disagreement(folder: &Path) -> TestResult<Option<String>> {
    disagreement_of(folder, &folder.join("suite.toml"), &["--no-amplify"])
}

/// Describes how the result of `check` for `target` disagrees with the comments of the folder's kernel.
fn disagreement_of(folder: &Path, target: &Path, flags: &[&str]) -> TestResult<Option<String>> {
    let name = folder.file_name().and_then(|n| n.to_str()).ok_or("no name")?;
    let expected = expectation(&folder.join(format!("{name}.cl")))?;
    let flags: Vec<&str> = flags.iter().copied().chain(expected.flags.iter().map(String::as_str)).collect();
    let (result, code) = check(target, &flags)?;
    let verdict = text(&result["verdict"]);
    if verdict != expected.verdict || code != i32::from(verdict != "clean") {
        return Ok(Some(format!("{name}: {verdict} (exit code {code}) instead of {}", expected.verdict)));
    }
    let holds_for = text(&result["holds_for"]);
    if expected.holds_for.as_ref().is_some_and(|e| *e != holds_for) {
        return Ok(Some(format!("{name}: holds for {holds_for}")));
    }
    let benign =
        |lines: &BTreeSet<u64>, seen: bool| seen && expected.findings.values().any(|f| f.benign && f.lines == *lines);
    let wanted: BTreeSet<Shape> =
        expected.findings.values().map(|f| (f.kind.clone(), f.words.clone(), f.benign, f.lines.clone())).collect();
    let seen: BTreeSet<Shape> = result["findings"]
        .as_array()
        .ok_or("no findings")?
        .iter()
        .map(|f| {
            let lines = lines(f);
            let is_benign = benign(&lines, f["benign"].as_bool().unwrap_or(false));
            (text(&f["kind"]), words(f), is_benign, lines)
        })
        .collect();
    Ok((wanted != seen).then(|| format!("{name}:\n  expected {wanted:?}\n  seen     {seen:?}")))
}

/// Runs `work` on every folder, two at a time, and collects its complaints.
fn complaints(work: impl Fn(&Path) -> TestResult<Option<String>> + Sync) -> Vec<String> {
    let folders = folders(&testdata("check"));
    assert!(folders.len() >= 60, "only {} folders", folders.len());
    complaints_about(&folders, work)
}

fn complaints_about(places: &[PathBuf], work: impl Fn(&Path) -> TestResult<Option<String>> + Sync) -> Vec<String> {
    let complaint = |place: &PathBuf| work(place).unwrap_or_else(|e| Some(e.to_string()));
    spread(places, complaint).into_iter().flatten().collect()
}

#[test]
fn verdicts_findings_and_lines_match_the_comments() -> TestResult {
    let wrong = complaints(disagreement);
    assert!(wrong.is_empty(), "{} kernels disagree:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn at_least_half_of_the_kernels_are_clean() -> TestResult {
    let all = folders(&testdata("check"));
    let mut clean = 0;
    for folder in &all {
        let name = folder.file_name().and_then(|n| n.to_str()).ok_or("no name")?;
        clean += usize::from(expectation(&folder.join(format!("{name}.cl")))?.verdict == "clean");
    }
    assert!(clean >= 30 && clean * 2 >= all.len(), "{clean} of {} are clean", all.len());
    Ok(())
}

/// Checks that races and divergences write suites which, checked again, show the finding that they were written for.
fn reproduction(folder: &Path) -> TestResult<Option<String>> {
    let name = folder.file_name().and_then(|n| n.to_str()).ok_or("no name")?;
    let scratch = tempfile::tempdir()?;
    let to = scratch.path().join("found");
    let flags = expectation(&folder.join(format!("{name}.cl")))?.flags;
    let mut reproduce = vec!["--no-amplify", "--reproduce", to.to_str().ok_or("no path")?];
    reproduce.extend(flags.iter().map(String::as_str));
    let (result, _) = check(&folder.join("suite.toml"), &reproduce)?;
    for finding in result["findings"].as_array().ok_or("no findings")? {
        let kind = text(&finding["kind"]);
        if kind != "data-race" && kind != "barrier-divergence" {
            continue;
        }
        let Some(suite) = finding["reproduction"].as_str() else {
            return Ok(Some(format!("{name}: {kind} without a reproduction")));
        };
        let (again, _) = check(&to.join(suite), &["--no-amplify"])?;
        let key = |f: &Value| (text(&f["kind"]), words(f), lines(f));
        if !again["findings"].as_array().ok_or("no findings")?.iter().any(|f| key(f) == key(finding)) {
            return Ok(Some(format!("{name}: {suite} does not show {kind} at {:?}", lines(finding))));
        }
    }
    Ok(None)
}

#[test]
fn reproduction_suites_show_their_findings_again() -> TestResult {
    let wrong = complaints(reproduction);
    assert!(wrong.is_empty(), "{} kernels disagree:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// These kernels are clean with their suites, and their generated launches must find nothing either.
#[test]
fn generated_launches_do_not_blame_kernels_that_hand_out_places_by_counters() -> TestResult {
    for name in ["clean_queue_in_local", "clean_claimed_slots"] {
        let kernel = testdata(format!("check/{name}/{name}.cl"));
        for seed in ["0", "1", "2"] {
            let (result, _) = check(&kernel, &["--no-amplify", "--no-redundant", "--seed", seed])?;
            assert_eq!(result["verdict"], "clean", "{name}, seed {seed}: {:#}", result["findings"]);
        }
    }
    Ok(())
}

/// Conflicts that exist for single values of scalars are found without a suite; nothing is reported where a host would
/// not mean to pass such values, or where they make no accesses conflict.
#[test]
fn values_that_make_accesses_conflict_are_solved_for() -> TestResult {
    let names = [
        "race_single_value",
        "race_offset_meets_item",
        "race_slot_of_tile",
        "clean_single_value",
        "clean_values_apart",
        "clean_two_places",
        "clean_laid_out_by_host",
        "clean_value_beyond_table",
    ];
    let folders = names.map(|name| testdata("check").join(name));
    let wrong = complaints_about(&folders, |folder| {
        let name = folder.file_name().and_then(|n| n.to_str()).ok_or("no name")?;
        let kernel = folder.join(format!("{name}.cl"));
        for seed in ["0", "1"] {
            let complaint = disagreement_of(folder, &kernel, &["--no-amplify", "--no-redundant", "--seed", seed])?;
            if complaint.is_some() {
                return Ok(complaint);
            }
        }
        Ok(None)
    });
    assert!(wrong.is_empty(), "{} kernels disagree:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// The suites of `testdata` whose verdict is not clean, with the reason.
const NOT_CLEAN: [(&str, &str); 1] = [
    // Written for coverage: some of its work-items return before the barrier.
    ("divergent_exit", "divergent"),
];

#[test]
fn the_other_kernels_of_testdata_are_clean() -> TestResult {
    let suites = suites();
    assert!(suites.len() >= 50, "only {} suites", suites.len());
    let wrong = complaints_about(&suites, |suite| {
        let (result, _) = check(suite, &["--no-amplify", "--no-redundant"])?;
        let folder = suite.parent().and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or_default();
        let expected = NOT_CLEAN.iter().find(|(name, _)| *name == folder).map_or("clean", |(_, verdict)| verdict);
        let kinds: Vec<String> =
            result["findings"].as_array().into_iter().flatten().map(|f| text(&f["message"])).collect();
        let verdict = text(&result["verdict"]);
        Ok((verdict != expected).then(|| format!("{}: {verdict}: {}", suite.display(), kinds.join("; "))))
    });
    assert!(wrong.is_empty(), "{} suites disagree:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
