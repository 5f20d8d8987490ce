//! Checks the text of checks and schedules, from results written by hand.

use std::path::Path;

use kassay::result::check::CheckResult;
use kassay::result::schedule::{RunStatus, ScheduleResult};
use kassay::result::store;
use kassay_results::report::Style;
use kassay_results::report::text::{self, CheckView};
use serde_json::{Value, json};

use crate::common::stored::expect_file;

const PLAIN: Style = Style { color: false, width: 100 };

const SOURCE: &str = "kernel void sum(global const int *x, global int *out, local int *tmp) {
    int l = get_local_id(0);
    tmp[l] = x[get_global_id(0)];
    if (l < 48)
        barrier(CLK_LOCAL_MEM_FENCE);
    tmp[l] += tmp[l + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_group_id(0)] = tmp[0];
}
";

fn device() -> Value {
    json!({ "name": "Example", "driver": "1.2.3", "kind": "simulator", "il_versions": [] })
}

fn access(line: u32, column: u32, mode: Option<&str>, item: u64) -> Value {
    json!({ "file": "sum.cl", "line": line, "column": column, "function": "sum", "mode": mode,
            "global_id": [item, 0, 0], "group_id": [0, 0, 0] })
}

fn with(mut value: Value, more: Value) -> Value {
    for (key, new) in more.as_object().into_iter().flatten() {
        value[key] = new.clone();
    }
    value
}

fn finding(kind: &str, accesses: Vec<Value>, message: &str, more: Value) -> Value {
    let all = json!({ "kind": kind, "scope": null, "memory": null, "variable": null, "index": null, "benign": false, "count": 1,
                      "accesses": accesses, "finished": null, "branch": null, "message": message, "input": "several groups",
                      "inputs": 1, "schedule": {}, "witness": null, "reproduction": null });
    with(all, more)
}

pub fn check_result() -> CheckResult {
    let race = finding(
        "data-race",
        vec![access(6, 12, Some("write"), 1), access(6, 15, Some("read"), 0)],
        "work-item 1 writes `tmp[1]` in line 6, which work-item 0 of its group reads in line 6",
        json!({ "scope": "intra-group", "memory": "local", "variable": "tmp", "index": 1, "count": 63, "inputs": 2,
                "witness": { "schedules": [{}, { "preemptions": [{ "group": 0, "item": 0, "access": 3, "to": 1 }] }],
                             "argument": "out", "index": 0, "values": ["1", "3"] },
                "reproduction": "again/1/suite.toml" }),
    );
    let waiting = with(access(5, 9, None, 0), json!({ "builtin": "barrier", "waiting": 48 }));
    let divergence = finding(
        "barrier-divergence",
        vec![waiting],
        "48 work-items wait at the `barrier` in line 5; the `if` in line 4 sent them different ways",
        json!({ "branch": { "file": "sum.cl", "line": 4, "column": 9, "construct": "if" },
                "schedule": { "map": [1, 0], "item_order": [7, 6, 5, 4, 3, 2, 1, 0] } }),
    );
    let called = with(
        access(0, 0, Some("write"), 64),
        json!({ "file": "other.cl", "builtin": "vstore4", "called_from": [{ "file": "sum.cl", "line": 8, "column": 5 }] }),
    );
    let fault = finding(
        "out-of-bounds",
        vec![called],
        "work-item 64 writes `out[1]`, which lies outside its buffer",
        json!({ "memory": "global", "variable": "out", "index": 1, "count": 2 }),
    );
    let redundant = with(
        finding("redundant-barrier", vec![access(7, 5, None, 0)], "nothing new is found without it", json!({})),
        json!({ "input": null, "inputs": 2 }),
    );
    let input = |name: &str, completed: bool, assumed: Vec<&str>| {
        json!({ "name": name, "origin": "generated", "global": [128], "local": [64], "work_groups": 2, "completed": completed,
                "reason": if completed { Value::Null } else { "work-items were stopped".into() }, "findings": 3,
                "preconditions": assumed })
    };
    let barrier = |line: u32, redundant: Option<bool>, reason: &str| {
        json!({ "file": "sum.cl", "line": line, "column": 5, "function": "sum", "builtin": "barrier", "reached": 2,
                "redundant": redundant, "reason": reason })
    };
    let added = "--- sum.cl\n+++ sum.cl\n@@ -5,2 +5,3 @@\n         barrier(CLK_LOCAL_MEM_FENCE);\n+    barrier(CLK_LOCAL_MEM_FENCE);\n     tmp[l] += tmp[l + 1];\n";
    let repairs = json!([
        { "finding": 0, "also": [1], "diff": added, "verified": ["fewer-findings"], "remaining": 1, "tried": 2, "candidates": 10,
          "edits": [{ "file": "sum.cl", "line": 6, "column": 5, "what": "insert `barrier(CLK_LOCAL_MEM_FENCE);` before line 6",
                      "replacements": [{ "line": 6, "column": 5, "end_line": 6, "end_column": 5, "text": "barrier(CLK_LOCAL_MEM_FENCE);\n    " }] }] },
        { "finding": 2, "edits": [], "diff": "", "verified": [], "tried": 0, "candidates": 0,
          "why_not": "accesses out of bounds are not repaired by synchronisation" },
    ]);
    serde_json::from_value(json!({
        "schema": CheckResult::SCHEMA, "version": "0.1.0", "kernel": "sum", "source": "sum.cl", "device": device(), "seed": 7,
        "repairs": repairs, "elapsed_s": 1.25, "verdict": "racy", "holds_for": "explored-schedules",
        "holds_for_because": ["1 of 2 inputs did not come to their end"],
        "findings": [race, divergence, fault, redundant],
        "inputs": [input("several groups", true, vec!["n is 1"]), input("one group", false, vec!["n is 1", "x has 64 elements"])],
        "barriers": [barrier(5, None, "not every input that reaches it comes to its end"), barrier(7, Some(true), "nothing new is found without it")],
        "amplification": { "access_invariant": true, "holds_for_all_values_of": ["x[]", "out[]"],
                           "property_integrity_inputs": ["n"], "why_not": ["n flows into the branch at sum.cl:4:9"],
                           "proved": { "holds_for": "all-launches", "conditions": ["`n >= 0`"] } },
        "lengths": [{ "buffer": "x", "elements": "max(n, 8)", "condition": "`n >= 0`",
                      "preconditions": ["`n >= 0`", "launches have no global offset"] },
                    { "buffer": "out", "elements": "1", "preconditions": ["launches have no global offset"] }],
        "summary": { "findings": { "data-race": 1, "barrier-divergence": 1, "out-of-bounds": 1, "redundant-barrier": 1 },
                     "inputs": 2, "completed": 1, "launches": 9, "redundant_barriers": 1, "barriers": 2 },
        "notes": ["something besides"]
    }))
    .unwrap()
}

fn sources(file: &str) -> Option<String> {
    (file == "sum.cl").then(|| SOURCE.to_owned())
}

#[test]
fn check_text_shows_findings_at_their_lines() {
    let text = text::check(&check_result(), CheckView { verbose: false }, &sources, &PLAIN);
    expect_file("tests/snapshots/check.txt", &text);
    let text = text::check(&check_result(), CheckView { verbose: true }, &sources, &PLAIN);
    expect_file("tests/snapshots/check-verbose.txt", &text);
}

pub fn schedule_result() -> ScheduleResult {
    let ran = |index: u64, family: &str, map: Vec<u32>, status: &str| {
        json!({ "index": index, "family": family, "map": map, "item_order": [], "preemptions": [], "seed": null,
                "status": status, "reason": if status == "completed" { Value::Null } else { "took longer than 30 s".into() },
                "outcomes": 1, "outcome": 0, "kernel_s": 1e-6 })
    };
    let difference = |a: u64, b: u64| {
        json!({ "argument": "out", "schedules": [a, b], "index": 3, "field": "s0", "values": ["1.5", "2.5"], "mismatches": 2,
                "elements": 8 })
    };
    let test = |name: &str, verdict: &str, schedules: Vec<Value>, differing: Vec<Value>| json!({ "name": name, "verdict": verdict, "work_groups": 3, "schedules": schedules, "differing_outputs": differing });
    serde_json::from_value(json!({
        "schema": ScheduleResult::SCHEMA, "version": "0.1.0", "kernel": "sum", "source": "sum.cl", "device": device(), "seed": 7,
        "elapsed_s": 0.5, "schedules": 2, "repeats": 20,
        "tests": [
            test("even", "stable", vec![ran(0, "natural", vec![], "completed"), ran(1, "permutation", vec![2, 0, 1], "completed")], vec![]),
            test("odd", "order-dependent",
                 vec![ran(2, "natural", vec![], "completed"), ran(3, "one-group-first", vec![1, 0, 2], "completed"),
                      ran(4, "permutation", vec![2, 1, 0], "completed")],
                 vec![difference(2, 3)]),
            test("noisy", "nondeterministic", vec![ran(5, "natural", vec![], "completed")], vec![difference(5, 5)]),
            test("stuck", "failed", vec![ran(6, "natural", vec![], "timeout")], vec![]),
        ],
        "summary": { "total": 4, "stable": 1, "order_dependent": 1, "nondeterministic": 1, "failed": 1 },
        "notes": []
    }))
    .unwrap()
}

#[test]
fn schedule_text_shows_what_differs_between_which_schedules() {
    expect_file("tests/snapshots/schedule.txt", &text::schedule(&schedule_result(), false, &PLAIN));
}

#[test]
fn schedule_results_of_version_1_are_still_read() {
    let ran = json!({ "index": 0, "family": "natural", "map": [], "item_order": [], "preemptions": [], "seed": null,
                      "status": "fault", "reason": "an access out of bounds; kassay check says where", "outcomes": 0,
                      "outcome": null, "kernel_s": null });
    let old = json!({
        "schema": "kassay.schedule/1", "version": "0.1.0", "kernel": "sum", "source": "sum.cl", "device": device(), "seed": 7,
        "elapsed_s": 0.5, "schedules": 1, "repeats": 1,
        "tests": [{ "name": "beyond", "verdict": "failed", "work_groups": 3, "schedules": [ran], "differing_outputs": [] }],
        "summary": { "total": 1, "stable": 0, "order_dependent": 0, "nondeterministic": 0, "failed": 1 },
        "notes": []
    });
    let result: ScheduleResult = store::parse(&old.to_string(), Path::new("old.json")).unwrap().one().unwrap();
    assert_eq!(result.tests[0].schedules[0].status, RunStatus::Faulted);
}
