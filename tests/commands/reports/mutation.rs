//! Checks mutation results as text and as Stryker's report.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use kassay::result::Header;
use kassay::result::mutate::*;
use kassay::result::mutate_summary::finish;
use kassay::result::store;
use kassay_base::hash;
use kassay_results::report::text::{self, MutateView};
use kassay_results::report::{self, Style, stryker};
use serde_json::Value;

use super::examples::*;
use crate::common::program::read as read_json;
use crate::common::stored::expect_file;
use crate::common::testdata::repository;

const PLAIN: Style = Style { color: false, width: 100 };
const FILE: &str = "kernels/sum.cl";

/// Returns the location of the first `text` on a line of `SOURCE`.
fn place(line: u32, text: &str) -> Location {
    let column = SOURCE.lines().nth(line as usize - 1).unwrap().find(text).unwrap() as u32 + 1;
    let start = Position { line, column };
    Location { file: FILE.into(), start, end: Position { line, column: column + text.len() as u32 } }
}

fn mutant(operator: &str, line: u32, original: &str, replacement: &str, status: Status) -> Mutant {
    let location = if line > 0 { place(line, original) } else { Location::default() };
    let names = |list: &[&str]| list.iter().map(|n| TestName::from(*n)).collect();
    let reached = !matches!(status, Status::NoCoverage | Status::Ignored);
    Mutant {
        id: if line > 0 {
            format!("sum.{operator}@{FILE}:{line}:{}:{replacement}", location.start.column)
        } else {
            format!("{operator}@launch:{replacement}")
        },
        operator: operator.into(),
        function: if line == 3 { "clamp_to" } else { "sum" }.into(),
        original: original.into(),
        replacement: replacement.into(),
        location,
        spelling: None,
        status,
        killed_by: if status == Status::Killed { names(&["even"]) } else { [].into() },
        covered_by: if reached { names(&["even", "odd length"]) } else { [].into() },
        duplicate_of: None,
        reason: None,
        schedule: None,
        parts: vec![],
        decided_by: None,
        edit: None,
        taken_over: false,
    }
}

/// Returns mutants of every status, in the order of the source.
pub fn mutate_result() -> MutateResult {
    use Status::*;
    let mut mutants = vec![
        mutant("AS", 0, "64 x 2", "2 x 64", Survived),
        mutant("ROR", 3, ">", "<", Killed),
        mutant("ROR", 3, ">", ">=", Equivalent),
        mutant("CBR", 3, ">", ">=", Equivalent),
        mutant("ROR", 10, "<", "<=", RuntimeError),
        mutant("ROR", 10, "<", "!=", Timeout),
        mutant("ROR", 13, "<", "<=", Survived),
        mutant("ROR", 13, "<", "==", Survived),
        mutant("ROR", 13, ">", ">=", Survived),
        mutant("SDL", 14, "out[0] = -1;", "", NoCoverage),
        mutant("SYR", 17, "barrier(CLK_LOCAL_MEM_FENCE)", "", Undecided),
        mutant("AOR", 10, "get_global_size(0)", "1", Ignored),
        mutant("LVR", 18, "0", "1", CompileError),
        mutant("LVR", 19, "0", "1", Killed),
    ];
    mutants[1].reason = Some("even: out[0] is 3.5 instead of 4".into());
    mutants[2].reason = Some("same code as the original".into());
    mutants[3].duplicate_of = Some(mutants[2].id.clone());
    mutants[4].reason = Some("even: read out of bounds of `x` at kernels/sum.cl:11:28".into());
    mutants[6].spelling = Some(place(8, "get_local_id(0)"));
    mutants[8].covered_by = mutants[8].covered_by[..1].into();
    mutants[10].reason = Some("odd length: an output differed in 1 of 3 runs".into());
    mutants[11].reason = Some("not of this operand".into());
    let mut result = MutateResult {
        header: Header {
            schema: MutateResult::SCHEMA.into(),
            version: "0.1.0".into(),
            kernel: "sum".into(),
            source: FILE.into(),
            device: cover_result().header.device,
            seed: 7,
        },
        elapsed_s: 2.5,
        configuration: "00ff".into(),
        shard: None,
        options: MutateOptions {
            operators: "all".into(),
            order: 1,
            sample: None,
            changes: None,
            repeats: None,
            full_matrix: false,
            timeout_factor: 10.0,
            strategy: "schemata".into(),
            level: "canonical".into(),
            ir_level: "raw".into(),
        },
        texts: BTreeMap::from([(FILE.to_owned(), hash::hex_digest(SOURCE.as_bytes()))]),
        summary: Summary::default(),
        pairs: None,
        operators: BTreeMap::new(),
        classes: BTreeMap::new(),
        lines: BTreeMap::new(),
        timing: Timing {
            build_s: 0.8,
            run_s: 0.05,
            equivalence_s: 0.25,
            simulator_s: 0.0,
            builds: 3,
            executions: 45,
            pruned_pairs: 6,
            pairs: 21,
            by_launches: 0,
            module_sizes: vec![7, 4],
            batched_pairs: 12,
            distrusted_modules: 0,
            originals_s: BTreeMap::from([("even".to_owned(), 12.34e-6)]),
        },
        mutants,
        tests: [
            ("even", TestStatus::Used, None),
            ("odd length", TestStatus::Dropped, Some("out[0] is 3 instead of 4")),
        ]
        .map(|(name, status, reason): (&str, TestStatus, Option<&str>)| TestOutcome {
            name: name.into(),
            status,
            reason: reason.map(str::to_owned),
            kills: 0,
            reaches: 0,
        })
        .to_vec(),
        basis: None,
        baseline: None,
        complaints: Vec::new(),
        second_order: None,
        not_simulated: vec![],
        excluded: vec![],
        solver: None,
        notes: vec!["repeats: 3, because of the barrier and local memory".into()],
    };
    finish(&mut result, &class_of);
    result
}

fn class_of(operator: &str) -> String {
    match operator {
        "AS" => "launch",
        "SYR" => "barrier",
        "ROR" | "CBR" => "condition",
        _ => "arithmetic",
    }
    .into()
}

fn second_order_result() -> MutateResult {
    let mut result = mutate_result();
    result.options.order = 2;
    let first: Vec<Mutant> = result.mutants.clone();
    for (a, b, status) in
        [(6, 7, Status::Survived), (6, 1, Status::Survived), (1, 4, Status::Killed), (1, 5, Status::Survived)]
    {
        let (a, b) = (&first[a], &first[b]);
        result.mutants.push(Mutant {
            id: format!("{} + {}", a.id, b.id),
            operator: format!("{}+{}", a.operator, b.operator),
            parts: vec![a.id.clone(), b.id.clone()],
            status,
            ..a.clone()
        });
    }
    finish(&mut result, &class_of);
    result
}

#[test]
fn mutate_text_lists_what_no_test_detects_first() {
    let text = text::mutate(&mutate_result(), MutateView::default(), &sources, &PLAIN);
    expect_file("tests/snapshots/mutate.txt", &text);
}

#[test]
fn mutate_text_breaks_pairs_down_by_their_parts() {
    let view = MutateView { summary_only: true };
    let mut result = second_order_result();
    expect_file("tests/snapshots/mutate-pairs.txt", &text::mutate(&result, view, &sources, &PLAIN));
    let listed = text::mutate(&result, MutateView::default(), &|_| None, &PLAIN);
    assert!(listed.contains("3 pairs detected by no test"), "{listed}");
    result.shard = Some("1/2".into());
    finish(&mut result, &class_of);
    let shard = text::mutate(&result, view, &sources, &PLAIN);
    assert!(shard.contains("shard 1/2, seed 7") && !shard.contains("of these"), "{shard}");
}

#[test]
fn colour_only_adds_escapes_to_mutate_text() {
    let plain = text::mutate(&mutate_result(), MutateView::default(), &sources, &PLAIN);
    let colored = text::mutate(&mutate_result(), MutateView::default(), &sources, &Style { color: true, ..PLAIN });
    assert!(colored.contains('\x1b') && !plain.contains('\x1b'));
    let escapes = colored.split('\x1b').skip(1).map(|s| s.split_once('m').unwrap().1);
    let stripped: String = colored.split('\x1b').take(1).chain(escapes).collect();
    assert_eq!(stripped, plain);
}

/// Validates against the published schema of Stryker's reports; see `tests/schemas/NOTICE`.
fn check(report: &Value) {
    let schema = read_json(&repository("tests/schemas/mutation-testing-report-schema.json")).unwrap();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(report).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!validator.is_valid(&serde_json::json!({ "schemaVersion": "9" })), "the schema refuses nothing");
}

fn read(path: &Path) -> Result<Vec<u8>, ErrorKind> {
    if path == Path::new(FILE) { Ok(SOURCE.into()) } else { Err(ErrorKind::NotFound) }
}

#[test]
fn stryker_reports_fit_the_published_schema() {
    let report = stryker::report(&[&second_order_result()], &read).unwrap();
    check(&report);
    let file = &report["files"][FILE];
    assert_eq!((file["source"].as_str(), file["language"].as_str()), (Some(SOURCE), Some("opencl")));
    let mutants = file["mutants"].as_array().unwrap();
    // Pairs are left out.
    assert_eq!(mutants.len(), 14);
    let statuses: Vec<&str> = mutants.iter().filter_map(|m| m["status"].as_str()).collect();
    assert_eq!(
        statuses,
        [
            "Survived",
            "Killed",
            "Ignored",
            "Ignored",
            "RuntimeError",
            "Timeout",
            "Survived",
            "Survived",
            "Survived",
            "NoCoverage",
            "Survived",
            "Ignored",
            "CompileError",
            "Killed"
        ]
    );
    assert_eq!(mutants[1]["killedBy"], serde_json::json!(["even"]));
    assert_eq!(mutants[1]["coveredBy"], serde_json::json!(["even", "odd length"]));
    assert_eq!(mutants[2]["statusReason"], "equivalent: same code as the original");
    assert!(mutants[3]["statusReason"].as_str().unwrap().starts_with("duplicate of sum.ROR@"));
    assert!(mutants[10]["statusReason"].as_str().unwrap().starts_with("undecided: "));
    // A launch has no place; line 13's `<` is in column 11.
    assert_eq!(mutants[0]["location"]["start"], serde_json::json!({ "line": 1, "column": 1 }));
    assert_eq!(
        mutants[6]["location"],
        serde_json::json!({ "start": { "line": 13, "column": 11 }, "end": { "line": 13, "column": 12 } })
    );
    assert_eq!(report["testFiles"]["tests of sum"]["tests"][1]["id"], "odd length");
}

#[test]
fn stryker_columns_count_utf_16_units() {
    let mut result = mutate_result();
    result.texts.clear();
    result.mutants.truncate(2);
    let text = "\n\n/* 😀é */ a > b\n";
    let at = |column| Position { line: 3, column };
    // In bytes the `>` is in column 16: 4 for the first sign and 2 for the second.
    assert_eq!(text.lines().nth(2).unwrap().find('>'), Some(15));
    result.mutants[1].location = Location { file: FILE.into(), start: at(16), end: at(17) };
    let report = stryker::report(&[&result], &|_| Ok(text.into())).unwrap();
    check(&report);
    let location = &report["files"][FILE]["mutants"][1]["location"];
    assert_eq!((location["start"]["column"].as_u64(), location["end"]["column"].as_u64()), (Some(13), Some(14)));
}

#[test]
fn several_results_share_files_and_keep_ids_apart() {
    let mut other = mutate_result();
    other.header.kernel = "mean".into();
    let report = stryker::report(&[&mutate_result(), &other], &read).unwrap();
    check(&report);
    let mutants = report["files"][FILE]["mutants"].as_array().unwrap();
    let mut ids: Vec<&str> = mutants.iter().filter_map(|m| m["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((mutants.len(), ids.len()), (28, 28));
    assert_eq!(mutants[15]["killedBy"], serde_json::json!(["mean: even"]));
    assert_eq!(report["testFiles"]["tests of mean"]["tests"][0]["id"], "mean: even");
}

#[test]
fn a_missing_or_changed_source_is_the_callers_mistake() {
    let refused = |result: &MutateResult, read: &dyn Fn(&Path) -> Result<Vec<u8>, ErrorKind>, what: &str| {
        let error = stryker::report(&[result], read).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains(what), "{error}");
        assert!(error.report().help.is_some());
    };
    let mut result = mutate_result();
    refused(&result, &|_| Err(ErrorKind::NotFound), "kernels/sum.cl is not there");
    refused(&result, &|_| Ok(SOURCE.replace("64", "32").into()), "has changed");
    result.texts.clear();
    refused(&result, &|_| Ok(b"kernel void sum() {}".into()), "has changed");
    let denied = stryker::report(&[&result], &|_| Err(ErrorKind::PermissionDenied)).unwrap_err();
    assert_eq!(denied.exit_code(), 3);
}

#[test]
fn the_report_command_writes_stryker_s_json() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = dir.path().join("sum.cl");
    fs::write(&kernel, SOURCE).unwrap();
    let mut result = mutate_result();
    // As written from another folder: the file is then found next to the kernel.
    result.header.source = kernel.display().to_string();
    let (json, out) = (dir.path().join("m.json"), dir.path().join("m.stryker.json"));
    store::write(&result, &json).unwrap();
    report::convert(std::slice::from_ref(&json), &out).unwrap();
    check(&serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap());
    let wrong = report::convert(&[json], &dir.path().join("m.lcov")).unwrap_err();
    assert!(wrong.to_string().contains("result of `kassay mutate`"), "{wrong}");
    store::write(&cover_result(), &dir.path().join("c.json")).unwrap();
    let wrong = report::convert(&[dir.path().join("c.json")], &out).unwrap_err();
    assert!(wrong.to_string().contains("name results of `kassay mutate`") && wrong.exit_code() == 2, "{wrong}");
}
