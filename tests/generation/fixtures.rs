//! Checks `kassay generate` on the kernels of `testdata/generate`: every outcome of every branch has the status that
//! the kernel's comments state (see the README there), covered outcomes are confirmed by `kassay cover`, and proofs
//! name lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::{entries, has_extension, testdata};
use crate::common::threads::spread;

/// The seconds that a kernel gets, and how many more unoptimised code next to other tests may need.
const BUDGET: u64 = 40;
const GRACE: u64 = 40;

/// What a mark states about an outcome.
#[derive(Debug)]
struct Expected {
    line: u64,
    outcome: String,
    statuses: Vec<String>,
    /// The reason names one of these lines; empty: any line will do.
    by: BTreeSet<u64>,
}

/// Returns what the marks of a kernel state.
fn expectations(text: &str) -> TestResult<Vec<Expected>> {
    let mut names: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some((_, name)) = line.split_once("// <- ") {
            names.entry(name.trim()).or_default().insert(number);
        }
    }
    let mut all = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some((_, marks)) = line.split_once("// -> ") else { continue };
        for mark in marks.split(',') {
            let (mark, by) = match mark.split_once(" by ") {
                Some((rest, name)) => (rest, names.get(name.trim()).ok_or("`by` without a line")?.clone()),
                None => (mark, BTreeSet::new()),
            };
            let (outcome, statuses) = mark.trim().rsplit_once(' ').ok_or("a mark without a status")?;
            let statuses: Vec<String> = statuses.split('/').map(str::to_owned).collect();
            if let Some(odd) = statuses
                .iter()
                .find(|s| !["covered", "covered-with-fault", "infeasible", "unknown"].contains(&s.as_str()))
            {
                return Err(format!("line {number}: no status `{odd}`").into());
            }
            all.push(Expected { line: number, outcome: outcome.to_owned(), statuses, by });
        }
    }
    Ok(all)
}

fn kernels(wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut files = entries(&testdata("generate"));
    files.retain(|f| has_extension(f, "cl") && f.file_stem().and_then(|n| n.to_str()).is_some_and(&wanted));
    files
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn json(args: &[&str]) -> TestResult<Value> {
    let run = kassay().args(args).args(["--format", "json"]).output()?;
    if run.status.code() != Some(0) {
        return Err(format!("{args:?}: {:?}: {}", run.status, String::from_utf8_lossy(&run.stderr)).into());
    }
    Ok(serde_json::from_slice(&run.stdout)?)
}

/// Returns the numbers after `line` and `lines` in a reason.
fn lines_named(reason: &str) -> BTreeSet<u64> {
    let mut named = BTreeSet::new();
    // `counting`: a number may follow; `several`: more than one may.
    let (mut counting, mut several) = (false, false);
    for word in reason.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        if let (true, Ok(number)) = (counting, core.parse()) {
            named.insert(number);
            counting = several && !word.contains([')', '.', ';', ':']);
        } else {
            (counting, several) = match core {
                "line" => (true, false),
                "lines" => (true, true),
                "and" | "to" => (counting, several),
                _ => (false, false),
            };
        }
    }
    named
}

/// Describes how the result disagrees with the comments of a kernel.
fn disagreement(kernel: &Path) -> TestResult<Option<String>> {
    let source = fs::read_to_string(kernel)?;
    let name = kernel.file_stem().and_then(|n| n.to_str()).ok_or("no name")?;
    let expected = expectations(&source).map_err(|e| format!("{name}: {e}"))?;
    let scratch = tempfile::tempdir()?;
    let out = scratch.path().join("out");
    let path = |p: &Path| p.to_str().map(str::to_owned).ok_or("no UTF-8");
    let begun = Instant::now();
    // Outcomes that may stay unknown are not worth the time. Kernels beyond a solver use their whole budget. Of one of
    // them more is asked than a busy machine does in the least.
    let budget = match name {
        "hard_rounds" => BUDGET / 3,
        _ if name.starts_with("hard_") => BUDGET / 6,
        _ => BUDGET,
    };
    let result = json(&[
        "generate",
        &path(kernel)?,
        "-o",
        &path(&out)?,
        "--budget",
        &budget.to_string(),
        "--max-execs",
        "3000",
        "--timeout",
        "5",
    ])?;
    let mut wrong = Vec::new();
    if begun.elapsed().as_secs() > budget + GRACE {
        wrong.push(format!("took {:.0} s", begun.elapsed().as_secs_f64()));
    }
    let goals: Vec<&Value> = array(&result["goals"]).collect();
    if goals.is_empty() {
        wrong.push("no goals".to_owned());
    }
    let of = |goal: &Value, e: &Expected| goal["line"] == e.line && goal["outcome"] == *e.outcome;
    for e in &expected {
        let matching = goals.iter().filter(|g| of(g, e)).count();
        if matching != 1 {
            wrong.push(format!("line {}: {matching} goals `{}`", e.line, e.outcome));
        }
    }
    let covered = if array(&result["tests"]).next().is_some() {
        json(&["cover", &path(&out.join("suite.toml"))?, "--device", "sim", "--repeats", "1"])?
    } else {
        Value::Null
    };
    for goal in goals {
        let mark = expected.iter().find(|e| of(goal, e));
        let status = text(&goal["status"]);
        let allowed = mark.map_or(vec!["covered"], |e| e.statuses.iter().map(String::as_str).collect());
        let reason = text(&goal["reason"]);
        let mut complain = |what: String| {
            wrong.push(format!("line {}, {}: {what}", goal["line"], text(&goal["outcome"])));
        };
        if !allowed.contains(&status) {
            let unsound = if status == "infeasible" && allowed.contains(&"covered") { "UNSOUND: " } else { "" };
            complain(format!("{unsound}{status} instead of {}: {reason}", allowed.join(" or ")));
        }
        let same = |s: &&Value| s["id"] == goal["site"] && s["outcome"] == goal["outcome"];
        let confirmed = array(&covered["sites"]).find(same).is_some_and(|s| s["covered"] == true);
        if confirmed != status.starts_with("covered") {
            complain(format!("{status}, but the suite covers it: {confirmed}"));
        }
        if status == "infeasible" {
            let named = lines_named(reason);
            let count = source.lines().count() as u64;
            if named.is_empty() || named.iter().any(|l| !(1..=count).contains(l)) {
                complain(format!("a reason without lines: {reason}"));
            }
            let by = mark.map(|e| &e.by).filter(|by| !by.is_empty());
            if by.is_some_and(|by| by.is_disjoint(&named)) {
                complain(format!("a reason that names none of {by:?}: {reason}"));
            }
        }
    }
    Ok((!wrong.is_empty()).then(|| format!("{name}:\n    {}", wrong.join("\n    "))))
}

/// Checks every kernel whose name is wanted, two at a time.
fn agree(wanted: impl Fn(&str) -> bool) -> TestResult {
    let kernels = kernels(wanted);
    assert!(!kernels.is_empty());
    let complaint = |kernel: &PathBuf| {
        let name = kernel.file_stem().unwrap_or_default().display();
        disagreement(kernel).unwrap_or_else(|e| Some(format!("{name}: {e}")))
    };
    let mut wrong: Vec<String> = spread(&kernels, complaint).into_iter().flatten().collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} kernels disagree:\n{}", wrong.len(), kernels.len(), wrong.join("\n"));
    Ok(())
}

#[test]
fn outcomes_that_are_hard_to_reach_by_chance_are_covered() -> TestResult {
    agree(|name| !["dead_", "trap_", "hard_", "launch_", "fault_"].iter().any(|p| name.starts_with(p)))
}

#[test]
fn launches_get_the_geometry_that_outcomes_require() -> TestResult {
    agree(|name| name.starts_with("launch_"))
}

#[test]
fn outcomes_of_faulting_launches_only_are_covered_with_a_fault() -> TestResult {
    agree(|name| name.starts_with("fault_"))
}

#[test]
fn dead_code_is_proved_infeasible() -> TestResult {
    agree(|name| name.starts_with("dead_"))
}

#[test]
fn outcomes_that_only_look_impossible_are_covered() -> TestResult {
    agree(|name| name.starts_with("trap_"))
}

#[test]
fn kernels_beyond_a_solver_neither_hang_nor_lose_what_was_found() -> TestResult {
    agree(|name| name.starts_with("hard_"))
}

#[test]
fn there_are_kernels_of_each_kind_and_their_marks_can_be_read() -> TestResult {
    let all = kernels(|_| true);
    assert!(all.len() >= 80, "only {} kernels", all.len());
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in &all {
        let expected = expectations(&fs::read_to_string(kernel)?).map_err(|e| format!("{}: {e}", kernel.display()))?;
        assert!(!expected.is_empty(), "{} expects nothing", kernel.display());
        for e in expected {
            *count.entry(e.statuses.join("/")).or_default() += 1;
        }
    }
    assert!(count["covered"] >= 100 && count["infeasible"] >= 80, "{count:?}");
    assert_eq!(lines_named("`x < 5` (line 9) contradicts `x > 10` (lines 7 and 12), 64 bits"), [7, 9, 12].into());
    Ok(())
}
