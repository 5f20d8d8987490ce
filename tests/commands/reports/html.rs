//! Checks reports as HTML: each kind of result has its section, nothing of a result becomes markup, and what is
//! untested comes first. `scripts/test-reports` opens them in a browser.

use std::fs;
use std::path::PathBuf;

use kassay::result::store;
use kassay_results::report;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::examples::*;
use super::mutation::mutate_result;
use super::sync::check_result;

/// What would run if it became markup.
const HOSTILE: &str = "</script><script>harm()</script><img src=x onerror=harm()>\"'&\u{202e}";

/// A folder with results, and the page made of them.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn add(&self, name: &str, result: &Value) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, result.to_string()).unwrap();
        path
    }

    /// The page of results, in this order.
    fn page(&self, results: &[Value]) -> String {
        let paths: Vec<PathBuf> =
            results.iter().enumerate().map(|(n, result)| self.add(&format!("{n}.json"), result)).collect();
        let page = self.0.path().join("report.html");
        report::convert(&paths, &page).unwrap();
        fs::read_to_string(page).unwrap()
    }
}

fn page(results: &[Value]) -> String {
    Folder::new().page(results)
}

fn value(result: impl serde::Serialize) -> Value {
    serde_json::to_value(result).unwrap()
}

fn header(schema: &str) -> Value {
    json!({ "schema": schema, "version": "0.1.0", "kernel": "sum", "source": "kernels/sum.cl", "device": null, "seed": 7,
            "elapsed_s": 1.5, "notes": ["a note"] })
}

fn with(mut value: Value, more: Value) -> Value {
    for (key, new) in more.as_object().into_iter().flatten() {
        value[key] = new.clone();
    }
    value
}

fn schedule_result() -> Value {
    let ran = |index: u64, map: &[u32], outcome: u64| {
        json!({ "index": index, "family": "permutation", "map": map, "item_order": [], "preemptions": [], "seed": 3,
                "status": "completed", "outcomes": 1, "outcome": outcome, "kernel_s": 1e-5 })
    };
    with(
        header("kassay.schedule/2"),
        json!({ "schedules": 2, "repeats": 3,
                "tests": [{ "name": "even", "verdict": "order-dependent", "work_groups": 2,
                            "schedules": [ran(0, &[], 0), ran(1, &[1, 0], 1)],
                            "differing_outputs": [{ "argument": "out", "schedules": [0, 1], "index": 4, "values": ["3", "5"],
                                                    "mismatches": 1, "elements": 8 }] }],
                "summary": { "total": 1, "stable": 0, "order_dependent": 1, "nondeterministic": 0, "failed": 0 } }),
    )
}

fn generate_result() -> Value {
    let goal = |outcome: &str, status: &str, reason: Value| {
        json!({ "site": "branch:sum:13:9", "outcome": outcome, "mutant": null, "kind": "branch", "file": "kernels/sum.cl", "line": 13,
                "column": 9, "status": status, "by": null, "reason": reason, "bound": null, "preconditions": [], "time_s": 0.5 })
    };
    with(
        header("kassay.generate/1"),
        json!({ "configuration": "00", "coverage": cover_result().coverage,
                "goals": [goal("true", "infeasible", json!("n is a length")), goal("false", "covered", Value::Null)],
                "tests": [{ "name": "seed 1", "by": "seed", "work_items": 64, "work_groups": 1, "covers": 9, "preconditions": [] }],
                "summary": { "tests": 1, "covered": 1, "infeasible": 1, "unknown": 0, "executions": 12, "faulted": 0,
                             "fuzz_s": 0.5, "smt_s": 0.5 } }),
    )
}

fn compare_result() -> Value {
    let row = |level: &str| {
        json!({ "level": level, "concept": "all", "generated": 9, "compile_error": 0, "ignored": 0, "equivalent": 1, "duplicate": 1,
                "killed": 5, "timeout": 0, "runtime_error": 0, "survived": 2, "undecided": 0, "no_coverage": 0, "score": 71.4,
                "distinguished": 4, "minimal": 2, "disjoint": 2, "surface": 2, "hard": 1 })
    };
    let levels = [row("source"), row("ir:raw")];
    let interval = json!({ "mean": 3.0, "low": 2.0, "high": 4.0 });
    let kernel = json!({ "kernel": "sum", "source": "kernels/sum.cl", "suite": "sum.toml", "tests": [], "levels": levels, "twins": [],
                         "cross": [{ "adequate_on": "source", "scored_on": "ir:raw", "mean": 88.25, "low": 80.0, "high": 90.0,
                                     "suite_size": interval, "minimal_subsumed": 50.0 }],
                         "correlation": [], "mutants": [] });
    with(
        header("kassay.compare/1"),
        json!({ "configuration": "00", "options": { "levels": ["source", "ir:raw"], "tests": 0, "samples": 10 }, "kernels": [kernel],
                "total": { "kernels": 1, "levels": levels, "cross": [], "twins": { "source = ir:raw": 3 } } }),
    )
}

fn capture_result() -> Value {
    with(
        header("kassay.capture/1"),
        json!({ "program_s": 1.0, "command": ["./host", "8"], "exit_code": 0, "processes": 1,
                "programs": [{ "id": "0123456789abcdef", "origin": "source", "options": "-DN=1", "file": "programs/0.cl",
                               "device": "Example", "status": "built" }],
                "kernels": [{ "name": "sum", "program": "0123456789abcdef", "launches": 9, "refused": 0, "kept": 8,
                              "left_out": [{ "reason": "not-sampled", "meaning": "not among those that were drawn", "count": 1 }],
                              "suite": "sum/suite.toml",
                              "replay": { "exact": 7, "within_tolerance": 0,
                                          "not_reproduced": [{ "test": "launch 3", "argument": "out", "reason": "differs",
                                                               "message": "out[0] is 1 instead of 2" }] } }] }),
    )
}

fn set(schema: &str, kernels: &[Value], total: Value) -> Value {
    with(
        header(schema),
        json!({ "command": ["./host"], "exit_code": 3, "processes": 1, "program_s": 0.5, "kernels": kernels, "total": total,
                "failed": [{ "kernel": "lost", "error": "it does not compile" }],
                "left_out": [{ "kernel": "sum", "reason": "x", "meaning": "beyond the limit", "count": 2 }] }),
    )
}

/// A result of every kind.
fn all_kinds() -> Vec<Value> {
    let cover = value(cover_result());
    let mutate = value(mutate_result());
    let check = value(check_result());
    vec![
        value(inspect_result()),
        value(run_result()),
        set("kassay.cover-set/1", std::slice::from_ref(&cover), cover["coverage"].clone()),
        set("kassay.mutate-set/1", std::slice::from_ref(&mutate), mutate["summary"].clone()),
        set(
            "kassay.check-set/1",
            std::slice::from_ref(&check),
            json!({ "verdict": "racy", "summary": check["summary"] }),
        ),
        cover,
        mutate,
        check,
        schedule_result(),
        generate_result(),
        compare_result(),
        capture_result(),
    ]
}

#[test]
fn every_kind_of_result_has_its_section() {
    let shows = |result: Value, texts: &[&str]| {
        let page = page(&[result]);
        for text in texts {
            assert!(page.contains(text), "nothing says {text:?}");
        }
    };
    shows(value(inspect_result()), &["-inspect\"", "What there is to test"]);
    shows(value(run_result()), &["id=\"k0-run\"", "1 of 1024", "expected"]);
    shows(value(cover_result()), &["id=\"k0-coverage\"", "id=\"k0-untested\"", "Growth of coverage"]);
    shows(
        value(mutate_result()),
        &["id=\"k0-mutants\"", "Score by operator", "id=\"k0-data\"", "kernels/sum.cl:11:28"],
    );
    let witness = ["Work-item 0 of group 0 is interrupted before its access 3; work-item 1 runs next.", "It leaves"];
    shows(value(check_result()), &["id=\"k0-check\"", "data race on local `tmp`", witness[0], witness[1]]);
    let added = "<span class=\"plus\">+    barrier(CLK_LOCAL_MEM_FENCE);</span>";
    shows(value(check_result()), &["Repairs (1)", "repair of 1 and 2", added, "no repair of 3"]);
    shows(schedule_result(), &["id=\"k0-schedule\"", "Work-groups run in the order 1, 0."]);
    shows(generate_result(), &["id=\"k0-generate\"", "n is a length", "infeasible"]);
    shows(compare_result(), &["id=\"compare0\"", "id=\"k0-compare\"", "88.2", "source = ir:raw"]);
    shows(capture_result(), &["id=\"capture0\"", "not among those that were drawn", "out[0] is 1 instead of 2"]);
    let cover = value(cover_result());
    let total = cover["coverage"].clone();
    shows(
        set("kassay.cover-set/1", &[cover], total),
        &["id=\"k0-coverage\"", "exit code 3", "it does not compile", "beyond the limit"],
    );
}

#[test]
fn results_of_one_kernel_share_its_page_and_later_ones_follow_earlier_ones() {
    let mut older = cover_result();
    older.coverage.branch.covered -= 1;
    let both = page(&[value(&older), value(cover_result()), value(mutate_result())]);
    assert_eq!(both.matches("<section class=\"view\" id=\"k").count(), 1);
    assert!(both.contains("Over the results, in the order given"));
    assert!(!page(&[value(cover_result())]).contains("Over the results"));
    // The same kernel twice in one result is two kernels, as with two suites.
    let cover = value(cover_result());
    let twice = page(&[set("kassay.cover-set/1", &[cover.clone(), cover.clone()], cover["coverage"].clone())]);
    assert_eq!(twice.matches("<section class=\"view\" id=\"k").count(), 2);
}

#[test]
fn what_is_untested_comes_before_the_rest() {
    let page = page(&[value(cover_result()), value(mutate_result())]);
    let untested = page.find("id=\"k0-untested\"").unwrap();
    assert!(untested < page.find("id=\"k0-source\"").unwrap());
    let gaps = &page[untested..page.find("id=\"k0-source\"").unwrap()];
    assert!(gaps.contains("never executed") && gaps.contains("3 of 3 mutants missed"), "{gaps}");
    assert!(gaps.contains("href=\"#k0-f0-L13\""), "{gaps}");
}

#[test]
fn proofs_that_an_outcome_is_infeasible_take_it_off_what_is_untested() {
    let cover = value(cover_result());
    let open =
        cover["sites"].as_array().unwrap().iter().find(|s| s["kind"] == "branch" && s["covered"] == false).unwrap();
    let mut search = generate_result();
    search["goals"][0]["site"] = open["id"].clone();
    search["goals"][0]["outcome"] = open["outcome"].clone();
    let chip = |page: &str| page.matches(": infeasible</span>").count();
    assert_eq!(chip(&page(std::slice::from_ref(&cover))), 0);
    assert!(chip(&page(&[cover, search])) > 0);
}

/// Appends the hostile text to all texts but those that decide of what kind something is.
fn hostile(value: &mut Value, key: &str) {
    const FIXED: &[&str] =
        &["schema", "kind", "status", "verdict", "holds_for", "by", "mode", "scope", "memory", "criterion", "origin"];
    // A list of names that are fixed, too.
    if key == "verified" {
        return;
    }
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(key, inner)| hostile(inner, key)),
        Value::Array(list) => list.iter_mut().for_each(|inner| hostile(inner, key)),
        Value::String(text) if !FIXED.contains(&key) && text != "differs" => text.push_str(HOSTILE),
        _ => {}
    }
}

#[test]
fn no_text_of_a_result_becomes_markup() {
    let mut results = all_kinds();
    results.iter_mut().for_each(|result| hostile(result, ""));
    let page = page(&results);
    assert!(page.contains("&lt;img src=x onerror=harm()&gt;"), "the text is not shown");
    assert!(!page.contains("<img") && !page.contains("<script>harm") && !page.contains('\u{202e}'));
    // One script of the page's own; the others hold data.
    let scripts: Vec<&str> = page.split("<script").skip(1).collect();
    let data = scripts.iter().filter(|script| script.starts_with(" type=\"application/json\"")).count();
    assert_eq!(scripts.len(), data + 1);
    assert_eq!(page.matches("</script>").count(), scripts.len());
    // Attributes are closed by nothing but the templates.
    assert!(!page.contains("=x onerror=harm()>"));
}

#[test]
fn hostile_sources_are_shown_as_text() {
    let folder = Folder::new();
    let file = folder.0.path().join("k<b>.cl");
    let mut result = cover_result();
    let source: String = SOURCE.lines().map(|line| format!("{line} // {HOSTILE}\n")).collect();
    fs::write(&file, source).unwrap();
    result.header.source = file.display().to_string();
    result.sites.iter_mut().for_each(|site| site.location.file.clone_from(&result.header.source));
    let page = folder.page(&[value(result)]);
    assert!(page.contains("&lt;img src=x onerror=harm()&gt;"));
    assert!(
        !page.contains("<img")
            && !page.contains("<script>harm")
            && !page.contains("k<b>")
            && !page.contains('\u{202e}')
    );
}

#[test]
fn a_policy_lets_only_the_own_script_run() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let page = page(&[value(cover_result())]);
    let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("inline"), "{policy}");
    for element in ["script", "style"] {
        let text = page.split(&format!("<{element}>")).nth(1).unwrap().split(&format!("</{element}>")).next().unwrap();
        let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text));
        assert!(policy.contains(&format!("{element}-src 'sha256-{hash}'")), "{element}: {policy}");
    }
    assert!(!page.contains(" style=\"") && !page.contains(" onclick="));
}

#[test]
fn sources_that_are_gone_or_changed_do_not_stop_the_report() {
    let gone = page(&[value(mutate_result())]);
    assert!(gone.contains("The source is not shown: the file is not there"), "{gone}");
    assert!(gone.contains("id=\"k0-f0-L13\""), "its lines are not shown");
    let folder = Folder::new();
    let file = folder.0.path().join("sum.cl");
    let mut result = mutate_result();
    result.header.source = file.display().to_string();
    fs::write(&file, SOURCE).unwrap();
    assert!(folder.page(&[value(&result)]).contains("<span class=\"hf\">clamp_to</span>"));
    fs::write(&file, format!("\n{SOURCE}")).unwrap();
    assert!(folder.page(&[value(&result)]).contains("the file has changed since the run"));
}

#[test]
fn results_that_are_not_about_kernels_are_refused() {
    let folder = Folder::new();
    let devices = json!({ "schema": "kassay.devices/1", "version": "0.1.0", "kernel": null, "source": null, "device": null,
                          "seed": 0, "elapsed_s": 0.1, "devices": [], "drivers": [], "missing": [] });
    let path = folder.add("devices.json", &devices);
    let error = report::convert(&[path], &folder.0.path().join("x.html")).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("kassay devices"), "{error}");
    assert!(!folder.0.path().join("x.html").exists());
}

#[test]
fn the_list_of_mutants_has_all_of_them_with_their_columns() {
    let folder = Folder::new();
    let file = folder.0.path().join("sum.cl");
    fs::write(&file, SOURCE).unwrap();
    let mut result = mutate_result();
    result.header.source = file.display().to_string();
    let page = folder.page(&[value(&result)]);
    let data = page.split("id=\"k0-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), result.mutants.len());
    // `v > limit` in line 3: the tab before it is one unit.
    let row = rows.iter().find(|row| row[9] == ">" && row[5] == 3).unwrap();
    let column = SOURCE.lines().nth(2).unwrap().find('>').unwrap() + 1;
    assert_eq!((row[6].as_u64(), row[7].as_u64()), (Some(column as u64), Some(column as u64 + 1)));
    assert_eq!(data["reasons"][row[13].as_u64().unwrap() as usize - 1], "even: out[0] is 3.5 instead of 4");
}

#[test]
fn every_stored_kind_is_read() {
    let folder = Folder::new();
    for (n, result) in all_kinds().iter().enumerate() {
        store::read(&folder.add(&format!("{n}.json"), result)).unwrap();
    }
}
