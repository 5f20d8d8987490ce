//! Checks `kassay check` and `kassay schedule` as a user sees them: verdicts, exit codes, reproductions, replays.

use std::path::PathBuf;

use serde_json::Value;

use super::support::TestResult;
use crate::common::program::{at, json, run as kassay};

/// Writes a kernel and a suite for it into a folder of their own.
fn suite(source: &str, tests: &str) -> TestResult<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("k.cl"), source)?;
    let suite = folder.path().join("suite.toml");
    std::fs::write(&suite, format!("kernel = \"k.cl\"\n{tests}"))?;
    Ok((folder, suite))
}

/// Returns `(kind, lines)` of every finding.
fn findings(result: &Value) -> Vec<(String, Vec<u64>)> {
    let lines = |f: &Value| f["accesses"].as_array().into_iter().flatten().filter_map(|a| a["line"].as_u64()).collect();
    let all = result["findings"].as_array().into_iter().flatten();
    all.map(|f| (f["kind"].as_str().unwrap_or_default().to_owned(), lines(f))).collect()
}

const RACY: &str = "kernel void k(global const int *x, global int *out, local int *tmp) {
    int l = get_local_id(0);
    tmp[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (l < s)
            tmp[l] += tmp[l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}";

const RACY_TESTS: &str = "[[test]]
name = \"sixteen\"
global = [64]
local = [16]
args = { x = { arange = { len = 64 } }, out = { fill = 0, len = 4 }, tmp = { local = 64 } }";

#[test]
fn a_race_is_reported_and_its_reproduction_shows_it_again() -> TestResult {
    let (folder, suite) = suite(RACY, RACY_TESTS)?;
    let again = folder.path().join("again");
    let result = json(&["check", at(&suite), "--reproduce", at(&again)], 1)?;
    assert_eq!((&result["verdict"], &result["holds_for"]), (&"racy".into(), &"all-interleavings".into()));
    assert_eq!(findings(&result), [("data-race".to_owned(), vec![7, 7])]);
    let race = &result["findings"][0];
    assert_eq!((&race["scope"], &race["memory"]), (&"intra-group".into(), &"local".into()));
    assert_eq!((&race["variable"], &race["benign"]), (&"tmp".into(), &false.into()));
    for access in race["accesses"].as_array().ok_or("no accesses")? {
        assert!(access["file"].as_str().is_some_and(|f| f.ends_with("k.cl")));
        assert!(access["column"].as_u64() > Some(0) && access["global_id"].is_array() && access["group_id"].is_array());
    }
    let witness = &race["witness"];
    assert_ne!(witness["values"][0], witness["values"][1]);
    let reproduction = race["reproduction"].as_str().ok_or("no reproduction")?;
    let shown = json(&["check", reproduction, "--no-amplify"], 1)?;
    assert_eq!(findings(&shown), findings(&result));
    assert!(shown["amplification"].is_null());
    // The suite's two orders give the outputs that the witness states.
    let run = json(&["run", reproduction, "--device", "sim"], 0)?;
    assert_eq!(run["tests"].as_array().map(Vec::len), Some(2));
    Ok(())
}

#[test]
fn divergence_faults_and_clean_kernels_have_their_verdicts() -> TestResult {
    let source = "kernel void k(global int *x, int n) {
    local int t[4];
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    if (l < n)
        barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = t[l] + n;
}";
    let args = |n: u32| format!("args = {{ n = {n}, x = {{ fill = 1, len = 8 }} }}");
    let test = |n: u32| format!("[[test]]\nname = \"n = {n}\"\nglobal = [8]\nlocal = [4]\n{}\n", args(n));
    let (_folder, divergent) = suite(source, &format!("{}{}", test(0), test(2)))?;
    let result = json(&["check", at(&divergent)], 1)?;
    assert_eq!(result["verdict"], "divergent");
    let finding = &result["findings"][0];
    assert_eq!((&finding["accesses"][0]["line"], &finding["accesses"][0]["waiting"]), (&6.into(), &2.into()));
    assert_eq!((&finding["branch"]["line"], &finding["finished"]["items"]), (&5.into(), &2.into()));
    assert_eq!((&finding["input"], &finding["count"]), (&"n = 2".into(), &2.into()));

    let (_folder, clean) = suite(source, &test(4))?;
    let result = json(&["check", at(&clean)], 0)?;
    assert_eq!(result["verdict"], "clean");
    assert_eq!(findings(&result), [("redundant-barrier".to_owned(), vec![6])]);
    assert_eq!(result["amplification"]["property_integrity_inputs"], serde_json::json!(["n"]));

    let faulty = "kernel void k(global int *x, int n) { x[get_global_id(0) + n] = 7; }";
    let (_folder, faulty) = suite(faulty, &test(1))?;
    let result = json(&["check", at(&faulty)], 1)?;
    assert_eq!(result["verdict"], "memory-fault");
    let fault = &result["findings"][0];
    assert_eq!((&fault["kind"], &fault["index"]), (&"out-of-bounds".into(), &8.into()));
    assert_eq!(fault["accesses"][0]["global_id"], serde_json::json!([7, 0, 0]));
    Ok(())
}

#[test]
fn a_kernel_alone_gets_inputs() -> TestResult {
    let (folder, _) = suite(RACY, RACY_TESTS)?;
    let kernel = folder.path().join("k.cl");
    let result = json(&["check", at(&kernel)], 1)?;
    assert_eq!(findings(&result), [("data-race".to_owned(), vec![7, 7])]);
    let inputs = result["inputs"].as_array().ok_or("no inputs")?;
    assert!(inputs.len() > 2 && inputs.iter().all(|i| i["origin"] == "generated"));
    let result = json(&["check", at(&kernel), "--global", "128", "--local", "32"], 1)?;
    for input in result["inputs"].as_array().ok_or("no inputs")? {
        assert_eq!((&input["global"], &input["local"]), (&serde_json::json!([128]), &serde_json::json!([32])));
    }
    Ok(())
}

#[test]
fn schedules_on_the_simulator_are_exact_and_can_be_replayed() -> TestResult {
    let (folder, suite) = suite(RACY, RACY_TESTS)?;
    let file = folder.path().join("schedules.json");
    let args = ["schedule", at(&suite), "--device", "sim", "--schedules", "6", "--seed", "5", "-o", at(&file)];
    let first = json(&args, 1)?;
    let test = &first["tests"][0];
    assert_eq!((&test["verdict"], &first["repeats"]), (&"order-dependent".into(), &1.into()));
    assert_eq!(test["schedules"].as_array().map(Vec::len), Some(6));
    let second = json(&args, 1)?;
    assert_eq!(first["tests"][0]["schedules"][1]["preemptions"], second["tests"][0]["schedules"][1]["preemptions"]);
    assert_eq!(first["tests"][0]["differing_outputs"], second["tests"][0]["differing_outputs"]);
    let difference = &test["differing_outputs"][0];
    let index = difference["schedules"][1].as_u64().ok_or("no index")?;
    let replay = json(&["schedule", at(&suite), "--device", "sim", "--replay", &format!("{}:{index}", at(&file))], 1)?;
    assert_eq!(replay["tests"][0]["differing_outputs"][0], *difference);

    let missing = kassay(&["schedule", at(&suite), "--device", "sim", "--replay", &format!("{}:99", at(&file))])?;
    assert_eq!(missing.2, 2);
    assert!(missing.1.contains("no schedule 99") && missing.1.contains("0 to 5"), "{}", missing.1);
    Ok(())
}

#[test]
fn misuse_is_the_callers_mistake() -> TestResult {
    let (folder, suite) = suite(RACY, RACY_TESTS)?;
    let kernel = folder.path().join("k.cl");
    for (args, message) in [
        (vec!["check", at(&suite), "--global", "64"], "--global and --local are for kernels"),
        (vec!["check", at(&kernel), "--global", "64", "--local", "24"], "does not divide"),
        (vec!["check", at(&kernel), "--global", "64,2", "--local", "8"], "different numbers of dimensions"),
        (vec!["check", "nowhere.toml"], "cannot read"),
        (vec!["schedule", at(&suite), "--replay", "x"], "RESULT:INDEX"),
        (vec!["schedule", at(&suite), "--device", "sim", "--replay", "nowhere.json:1"], "nowhere.json"),
    ] {
        let (_, err, code) = kassay(&args)?;
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(message), "{args:?}: {err}");
    }
    Ok(())
}

#[test]
fn accesses_of_several_elements_tell_their_length_and_what_of_them_lies_outside() -> TestResult {
    let source = "typedef struct { int a[8]; } Big;
kernel void read(global Big *o, global const int *p, int n) { o[0] = *(global const Big *)(p + n); }
kernel void shared(global int *o, int n) {
    local int t[12];
    Big b;
    for (int j = 0; j < 8; j++) b.a[j] = n;
    *(local Big *)(t + n) = b;
    o[0] = t[0];
}
kernel void copied(global int *o, global const char *p, int n) { __builtin_memcpy(o, p, n); }
kernel void whole(global Big *o, global const Big *p, int n) { o[0] = p[n]; }
";
    let args = |args: &str, n: i32| format!("[[test]]\nglobal = [1]\nlocal = [1]\nargs = {{ {args}, n = {n} }}\n");
    let big = "values = [{ a = [0, 0, 0, 0, 0, 0, 0, 0] }]";
    let of_read = format!("o = {{ {big} }}, p = {{ fill = 0, len = 10 }}");
    let of_whole = format!("o = {{ {big} }}, p = {{ {big} }}");
    let of_copied = "o = { fill = 0, len = 10 }, p = { fill = 0, len = 10 }";
    let rows = [
        ("read", args(&of_read, 6), "reads 32 bytes from `p[6]` on, the last 16 of which lie outside its 10 elements"),
        (
            "read",
            args(&of_read, -3),
            "reads 32 bytes from `p[-3]` on, the first 12 of which lie outside its 10 elements",
        ),
        ("read", args(&of_read, 12), "reads 32 bytes from `p[12]` on, but it has 10 elements"),
        (
            "shared",
            args("o = { fill = 0, len = 1 }", 6),
            "writes 32 bytes from `t[6]` on, the last 8 of which lie outside",
        ),
        (
            "copied",
            args(of_copied, 16),
            "reads 16 bytes from `p[0]` on, the last 6 of which lie outside its 10 elements",
        ),
        ("whole", args(&of_whole, 1), "reads `p[1]`, but it has only 1 element"),
    ];
    for (entry, tests, message) in rows {
        let (_folder, suite) = suite(source, &format!("entry = \"{entry}\"\n{tests}"))?;
        let result = json(&["check", at(&suite), "--device", "sim", "--no-redundant"], 1)?;
        let found = result["findings"].as_array().into_iter().flatten().filter(|f| f["kind"] == "out-of-bounds");
        let messages: Vec<&str> = found.filter_map(|f| f["message"].as_str()).collect();
        assert!(messages.iter().any(|found| found.contains(message)), "{entry}: no `{message}` in {messages:?}");
        let ran = json(&["run", at(&suite), "--device", "sim"], 1)?;
        let reason = ran["tests"][0]["reason"].as_str().unwrap_or_default();
        let is_told = match entry {
            "whole" => reason.contains("`p[1]` is read, but `p` has 1 element of 32 bytes"),
            _ => reason.contains(" bytes from `"),
        };
        assert!(is_told, "{entry}: {reason}");
    }
    Ok(())
}
