//! Checks the formats for other tools: which results each shows, what it says of them, and that fingerprints stay.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kassay::result::any::KERNEL_COMMANDS;
use kassay::result::check::{CheckResult, CheckSet};
use kassay::result::cover::CoverResult;
use kassay::result::generate::GenerateResult;
use kassay::result::set::{CoverSet, Failed, InSet, KernelResult, MutateSet, SetResult};
use kassay::result::{Header, mutate::MutateResult};
use kassay_results::report::Format;
use quick_xml::events::Event;
use serde_json::{Value, json};

use super::examples::*;
use super::mutation::mutate_result;
use super::sync::{check_result, schedule_result};

fn generate_result() -> Value {
    let goal = |line: u32, outcome: &str, status: &str, reason: Value| {
        json!({ "site": format!("sum.branch@sum.cl:{line}:9"), "outcome": outcome, "mutant": null, "kind": "branch", "file": "kernels/sum.cl",
                "line": line, "column": 9, "status": status, "by": null, "reason": reason, "bound": null, "preconditions": [], "time_s": 0.5 })
    };
    let result = json!({
        "schema": GenerateResult::SCHEMA, "version": "0.1.0", "kernel": "sum", "source": "kernels/sum.cl", "device": null, "seed": 0,
        "configuration": "0", "elapsed_s": 1.0, "coverage": cover_result().coverage,
        "goals": [goal(13, "true", "infeasible", json!("n is never negative")), goal(18, "true", "covered", Value::Null),
                  goal(18, "false", "unknown", Value::Null), goal(10, "zero", "covered-with-fault", Value::Null)],
        "tests": [], "notes": [],
        "summary": { "tests": 1, "covered": 1, "covered_with_fault": 1, "infeasible": 1, "unknown": 1, "executions": 9, "faulted": 0,
                     "fuzz_s": 0.5, "smt_s": 0.5 }
    });
    let read: GenerateResult = serde_json::from_value(result).unwrap();
    serde_json::to_value(read).unwrap()
}

/// A set of this result and a kernel that has none.
fn set<R: InSet>(result: R) -> SetResult<R, R::Total> {
    let header = Header::new(R::SET_SCHEMA, "sum, other".to_owned(), "./host".to_owned(), None, 0);
    let kernel = KernelResult::of_program(result, "p", 3);
    let mut set = SetResult::new(header, None, vec![kernel]);
    let error = "its source was not kept".to_owned();
    set.failed.push(Failed { kernel: Some("other".to_owned()), suite: None, program: None, error, fault: None });
    set
}

/// Results written by hand: the command, a name, and the JSON.
pub fn results() -> Vec<(&'static str, &'static str, Value)> {
    fn json(result: impl serde::Serialize) -> Value {
        serde_json::to_value(result).unwrap()
    }
    let (cover, mutate, check): (CoverSet, MutateSet, CheckSet) = (
        set::<CoverResult>(counted_result()),
        set::<MutateResult>(mutate_result()),
        set::<CheckResult>(check_result()),
    );
    vec![
        ("cover", "cover", json(cover_result())),
        ("cover", "counted", json(counted_result())),
        ("cover", "cover-set", json(cover)),
        ("mutate", "mutate", json(mutate_result())),
        ("mutate", "mutate-set", json(mutate)),
        ("check", "check", json(check_result())),
        ("check", "check-set", json(check)),
        ("run", "run", json(run_result())),
        ("schedule", "schedule", json(schedule_result())),
        ("generate", "generate", generate_result()),
        ("inspect", "inspect", json(inspect_result())),
    ]
}

#[test]
fn every_command_about_kernels_is_among_the_examples() {
    let results = results();
    for command in KERNEL_COMMANDS {
        assert!(results.iter().any(|(of, ..)| of == command), "no format is tried with a result of `{command}`");
    }
}

/// A folder with results, and the reports of them.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub fn put(&self, name: &str, result: &Value) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.json"));
        std::fs::write(&path, result.to_string()).unwrap();
        path
    }

    /// Returns the report of one result.
    fn report(&self, format: &str, result: &Value) -> String {
        let path = self.put("result", result);
        Format::named(format).unwrap().render(&[path]).unwrap()
    }

    fn of(&self, format: &str, name: &str) -> String {
        self.report(format, &results().into_iter().find(|r| r.1 == name).unwrap().2)
    }
}

/// The formats and the commands whose results they show, as docs/report.md has them.
const SHOWS: &[(&str, &str, &[&str])] = &[
    ("lcov", "lcov", &["cover"]),
    ("cobertura", "cobertura.xml", &["cover"]),
    ("sarif", "sarif", &["check", "cover", "mutate", "run", "schedule", "generate"]),
    ("codequality", "codequality.json", &["check", "cover", "mutate", "run", "schedule", "generate"]),
    ("github", "github", &["check", "cover", "mutate", "run", "schedule", "generate"]),
    ("junit", "junit.xml", &["check", "cover", "mutate", "run", "schedule"]),
    ("markdown", "md", &["check", "cover", "mutate", "run", "schedule", "generate", "inspect"]),
    ("csv", "csv", &["check", "cover", "mutate", "run", "schedule", "generate", "inspect"]),
];

/// Writes each result in each format that shows it, and all of a command together; returns the files.
pub fn write_all(results: &[(&str, &str, Value)], folder: &Path) -> Vec<PathBuf> {
    let bench = Bench::new();
    let mut written = Vec::new();
    for (format, ending, commands) in SHOWS {
        let format = Format::named(format).unwrap();
        let mut all = Vec::new();
        let mut write = |name: &str, paths: &[PathBuf]| {
            let to = folder.join(format!("{name}.{ending}"));
            std::fs::write(&to, format.render(paths).unwrap()).unwrap();
            written.push(to);
        };
        for (command, name, result) in results.iter().filter(|r| commands.contains(&r.0)) {
            let path = bench.put(name, result);
            write(name, std::slice::from_ref(&path));
            if *ending != "csv" || *command == "mutate" {
                all.push(path);
            }
        }
        write("all", &all);
    }
    written
}

#[test]
fn each_format_shows_what_it_can_and_names_that_otherwise() {
    let bench = Bench::new();
    for (format, _, commands) in SHOWS {
        for (command, name, result) in results() {
            let path = bench.put(name, &result);
            let report = Format::named(format).unwrap().render(&[path]);
            if commands.contains(&command) {
                assert!(!report.unwrap().is_empty(), "{format} of {name}");
                continue;
            }
            let error = report.unwrap_err();
            assert_eq!(error.exit_code(), 2);
            let text = error.to_string();
            assert!(text.contains(&format!("result of `kassay {command}")), "{text}");
            assert!(commands.iter().all(|known| text.contains(&format!("`kassay {known}`"))), "{text}");
        }
    }
    assert_eq!(Format::named("tea").unwrap_err().exit_code(), 2);
}

/// Checks what a SARIF log says against itself, and returns its results.
pub fn sarif_results(log: &str) -> Vec<Value> {
    let log: Value = serde_json::from_str(log).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("several runs") };
    let (rules, files) = (&run["tool"]["driver"]["rules"], &run["artifacts"]);
    let results = run["results"].as_array().unwrap().clone();
    let mut prints = BTreeSet::new();
    for result in &results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let print = result["partialFingerprints"]["kassay/v1"].as_str().unwrap();
        assert!(print.len() == 32 && prints.insert(print.to_owned()), "{print}");
        let others = result["relatedLocations"].as_array().into_iter().flatten();
        for location in result["locations"].as_array().unwrap().iter().chain(others) {
            let physical = &location["physicalLocation"];
            let artifact = &physical["artifactLocation"];
            assert_eq!(files[artifact["index"].as_u64().unwrap() as usize]["location"]["uri"], artifact["uri"]);
            let region = &physical["region"];
            for key in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(region[key].is_null() || region[key].as_u64().unwrap() > 0, "{region}");
            }
        }
    }
    results
}

fn of_rule<'a>(results: &'a [Value], rule: &str) -> &'a Value {
    results.iter().find(|result| result["ruleId"] == rule).unwrap_or_else(|| panic!("no {rule}: {results:#?}"))
}

#[test]
fn a_race_in_sarif_has_both_accesses_and_the_schedules_that_show_it() {
    let results = sarif_results(&Bench::new().of("sarif", "check"));
    let race = of_rule(&results, "data-race");
    assert_eq!((&race["level"], race["relatedLocations"].as_array().unwrap().len()), (&json!("error"), 2));
    let [first, second] = race["codeFlows"].as_array().unwrap().as_slice() else { panic!("{race:#}") };
    assert_eq!(first["message"]["text"], "under the natural order: out[0] is 1");
    assert!(second["message"]["text"].as_str().unwrap().ends_with("out[0] is 3"), "{second:#}");
    let threads: Vec<&Value> = second["threadFlows"].as_array().unwrap().iter().map(|thread| &thread["id"]).collect();
    assert_eq!(
        threads,
        ["schedule", "work-item (1, 0, 0) of group (0, 0, 0)", "work-item (0, 0, 0) of group (0, 0, 0)"]
    );
    assert_eq!(of_rule(&results, "redundant-barrier")["level"], "note");
    assert_eq!(of_rule(&results, "barrier-divergence")["relatedLocations"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_not_covered_is_said_once() {
    let results = sarif_results(&Bench::new().of("sarif", "cover"));
    let said: Vec<String> = results
        .iter()
        .map(|r| {
            let line = &r["locations"][0]["physicalLocation"]["region"]["startLine"];
            format!("{} {line} {}", r["ruleId"].as_str().unwrap(), r["message"]["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        said,
        [
            "broken-test null Test \"endless\" ended as `timeout`: not done after 10.0 s; the worker was killed.",
            "unexecuted-lines 14 Lines 14 to 15 are not executed by any test.",
            "uncovered-branch 3 This `?:` is never `true` in any test.",
            "uncovered-loop 10 No test has this `for` run so: `zero`.",
            "uncovered-branch 13 This `if` is never `true` in any test.",
            "uncovered-condition 13 This operand of `||` is never `true` in any test.",
            "uncovered-condition 13 This operand of `||` is never `true` in any test.",
        ]
    );
}

#[test]
fn results_of_the_tests_and_the_search_are_problems_too() {
    let bench = Bench::new();
    let ids = |name: &str| -> Vec<String> {
        let results = sarif_results(&bench.of("sarif", name));
        results.iter().map(|result| result["ruleId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("run"), ["failed-test", "broken-test", "broken-test"]);
    assert_eq!(ids("schedule"), ["unstable-test", "unstable-test", "broken-test"]);
    assert_eq!(ids("generate"), ["faulting-goal", "infeasible-outcome", "open-goal"]);
    assert!(ids("cover-set").contains(&"unassayed-kernel".to_owned()));
    let mutants = ids("mutate");
    for rule in ["survived-mutant", "unreached-mutant", "undecided-mutant"] {
        assert!(mutants.contains(&rule.to_owned()), "{mutants:?}");
    }
}

/// Lines above a problem come and go; services must know it again all the same.
#[test]
fn fingerprints_stay_when_lines_move_and_change_with_the_code() {
    let bench = Bench::new();
    let file = bench.folder.path().join("sum.cl");
    let prints = |above: u32, source: &str, name: &str| -> BTreeSet<String> {
        std::fs::write(&file, "\n".repeat(above as usize) + source).unwrap();
        let mut result = results().into_iter().find(|r| r.1 == name).unwrap().2;
        move_lines(&mut result, above, file.to_str().unwrap());
        let results = sarif_results(&bench.report("sarif", &result));
        results.iter().map(|r| r["partialFingerprints"]["kassay/v1"].as_str().unwrap().to_owned()).collect()
    };
    for name in ["cover", "counted", "mutate", "check", "generate"] {
        let before = prints(0, SOURCE, name);
        assert_eq!(before, prints(3, SOURCE, name), "{name}");
        assert!(before.len() > 2, "{name}");
    }
    let changed = SOURCE.replace("n < 0", "n < 1");
    let (old, new) = (prints(0, SOURCE, "cover"), prints(0, &changed, "cover"));
    assert_eq!(old.difference(&new).count(), 3, "the branch and its two conditions");
}

/// Moves all places of a result to `file`, and `by` lines down. Hashes of texts are left out.
fn move_lines(value: &mut Value, by: u32, file: &str) {
    match value {
        Value::Object(map) => {
            map.remove("texts");
            for (key, value) in map.iter_mut() {
                match (key.as_str(), value.as_u64()) {
                    ("line", Some(line)) if line > 0 => *value = json!(line + u64::from(by)),
                    ("file" | "source", None) if value.as_str().is_some_and(|s| s.ends_with("sum.cl")) => {
                        *value = json!(file);
                    }
                    _ => move_lines(value, by, file),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| move_lines(value, by, file)),
        _ => {}
    }
}

#[test]
fn columns_are_in_utf16_units_and_absent_without_the_text() {
    let bench = Bench::new();
    let file = bench.folder.path().join("sum.cl");
    let region = |bench: &Bench| {
        let mut result = results().into_iter().find(|r| r.1 == "cover").unwrap().2;
        move_lines(&mut result, 0, file.to_str().unwrap());
        let results = sarif_results(&bench.report("sarif", &result));
        of_rule(&results, "uncovered-loop")["locations"][0]["physicalLocation"]["region"].clone()
    };
    assert_eq!(region(&bench), json!({ "startLine": 10 }));
    std::fs::write(&file, SOURCE.replace("    for (int", "é for (int")).unwrap();
    assert_eq!(region(&bench), json!({ "startLine": 10, "startColumn": 4 }));
}

#[test]
fn code_quality_has_the_fields_that_gitlab_asks_for() {
    let entries: Value = serde_json::from_str(&Bench::new().of("codequality", "cover")).unwrap();
    let lines = entries.as_array().unwrap().iter().find(|e| e["check_name"] == "unexecuted-lines").unwrap();
    let print = lines["fingerprint"].as_str().unwrap();
    let expected = json!({
        "description": "Lines 14 to 15 are not executed by any test.", "check_name": "unexecuted-lines", "fingerprint": print,
        "severity": "minor", "location": { "path": "kernels/sum.cl", "lines": { "begin": 14, "end": 15 } }
    });
    assert_eq!(*lines, expected);
    assert!(entries.as_array().unwrap().iter().all(|e| e["location"]["lines"]["begin"].as_u64() > Some(0)));
}

#[test]
fn annotations_stand_at_their_lines_and_are_no_more_than_github_shows() {
    let bench = Bench::new();
    let text = bench.of("github", "cover");
    let at = |line: &str| text.lines().find(|l| l.contains(line)).unwrap_or_else(|| panic!("{text}")).to_owned();
    assert_eq!(
        at("endLine"),
        "::warning file=kernels/sum.cl,line=14,endLine=15,title=Lines not executed::Lines 14 to 15 are not executed by any test."
    );
    // Two conditions of one line share an annotation.
    assert!(at("Condition").contains("title=Condition not covered (2 times)::"));
    let mut many = serde_json::to_value(mutate_result()).unwrap();
    let survivor = many["mutants"].as_array().unwrap().iter().find(|m| m["status"] == "survived").unwrap().clone();
    let moved = |n: u64| {
        let mut mutant = survivor.clone();
        mutant["id"] = json!(format!("m{n}"));
        mutant["duplicate_of"] = Value::Null;
        mutant["location"]["start"]["line"] = json!(n + 1);
        mutant["location"]["end"]["line"] = json!(n + 1);
        mutant
    };
    many["mutants"] = (0..40).map(moved).collect();
    let text = bench.report("github", &many);
    assert_eq!(text.lines().filter(|line| line.starts_with("::warning ")).count(), 10);
    assert!(text.ends_with("; 31 without an annotation, because GitHub shows 10 of each level\n"), "{text}");
}

#[test]
fn junit_counts_tests_as_their_commands_do() {
    let bench = Bench::new();
    let read = |name: &str| quick_junit::Report::deserialize_from_str(&bench.of("junit", name)).unwrap();
    let counts = |name: &str| {
        let report = read(name);
        (report.tests, report.failures, report.errors)
    };
    assert_eq!((counts("run"), counts("schedule")), ((5, 1, 2), (4, 2, 1)));
    assert_eq!((counts("check"), counts("cover"), counts("cover-set")), ((1, 1, 0), (3, 0, 1), (3, 0, 1)));
    let case = &read("check").test_suites[0].test_cases[0];
    let text = format!("{:?}", case.status);
    assert!(text.contains("racy: 3 findings") && text.contains("at sum.cl:6:12"), "{text}");
}

/// Returns the attributes of each element of an XML document, which must be well-formed.
fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut elements = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return elements,
            Event::Start(start) | Event::Empty(start) => {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                let attributes = start.attributes().map(|a| a.unwrap());
                let attributes = attributes.map(|a| (text(a.key.as_ref()), text(&a.value)));
                elements.push((text(start.name().as_ref()), attributes.collect()));
            }
            _ => {}
        }
    }
}

#[test]
fn cobertura_has_the_lines_and_branches_of_all_results() {
    let bench = Bench::new();
    let text = bench.of("cobertura", "counted");
    let all = elements(&text);
    let get = |element: &(String, Vec<(String, String)>), key: &str| {
        element.1.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert_eq!(
        ["lines-covered", "lines-valid", "branches-covered", "branches-valid"].map(|key| get(&all[0], key)),
        ["10", "14", "5", "9"]
    );
    let line = all.iter().find(|e| e.0 == "line" && get(e, "number") == "13").unwrap();
    assert_eq!((get(line, "hits"), get(line, "condition-coverage")), ("1152".to_owned(), "50% (1/2)".to_owned()));
    let classes: Vec<String> = all.iter().filter(|e| e.0 == "class").map(|e| get(e, "filename")).collect();
    assert_eq!(classes, ["kernels/clip.h", "kernels/sum.cl"]);
    // What one result covers is covered, whatever the other says.
    let mut better = serde_json::to_value(counted_result()).unwrap();
    for site in better["sites"].as_array_mut().unwrap() {
        site["covered"] = json!(site["line"] != 18);
    }
    let paths = [bench.put("a", &better), bench.put("b", &serde_json::to_value(counted_result()).unwrap())];
    let all = elements(&Format::named("cobertura").unwrap().render(&paths).unwrap());
    assert_eq!((get(&all[0], "line-rate"), get(&all[0], "branch-rate")), ("1".to_owned(), "1".to_owned()));
}

#[test]
fn csv_has_a_row_for_each_and_refuses_different_columns() {
    let bench = Bench::new();
    let rows = |name: &str| {
        let text = bench.of("csv", name);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        (head, rows)
    };
    let (head, mutants) = rows("mutate");
    assert_eq!(mutants.len(), mutate_result().mutants.len());
    let status = head.iter().position(|column| column == "status").unwrap();
    assert!(mutants.iter().any(|row| &row[status] == "runtime-error"));
    assert_eq!(rows("cover").1.len(), cover_result().sites.len());
    assert_eq!((rows("check").1.len(), rows("run").1.len(), rows("schedule").1.len()), (4, 5, 4));
    let mixed = [bench.put("a", &results()[0].2), bench.put("b", &results()[3].2)];
    let error = Format::named("csv").unwrap().render(&mixed).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("different columns"), "{error}");
}

#[test]
fn a_summary_begins_with_the_figures_and_folds_what_is_long() {
    let bench = Bench::new();
    let paths: Vec<PathBuf> = results().iter().map(|(_, name, result)| bench.put(name, result)).collect();
    let text = Format::named("markdown").unwrap().render(&paths).unwrap();
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("## kassay: racy, 3 of 5 tests failed, 1 of 4 tests stable, branch coverage "),
        "{first}"
    );
    for section in ["### Checks", "### Coverage", "### Mutants", "### Without a result", "### What to look at"] {
        assert!(text.contains(section), "{section}: {text}");
    }
    assert!(text.contains("| <code>kernels/sum.cl&#58;14-15</code> | Lines not executed |"), "{text}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
}
