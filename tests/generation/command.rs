//! Checks `kassay generate` as a user sees it: suites that give the claimed result when they run again, the interface
//! file, equal seeds, wrong inputs.

use std::path::Path;

use serde_json::Value;

use super::support::kernel_and_out;
use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::program::{at, json, run as kassay, valid};
use crate::common::testdata;

/// Returns the result of generating for a kernel.
fn generate(kernel: &Path, folder: &Path, more: &[&str]) -> TestResult<Value> {
    json(&[&["generate", at(kernel), "-o", at(folder), "--max-execs", "400"], more].concat(), 0)
}

/// Returns `(outcome, status, by)` of every goal.
fn goals(result: &Value) -> Vec<(String, String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let all = result["goals"].as_array().into_iter().flatten();
    all.map(|g| (text(&g["outcome"]), text(&g["status"]), text(&g["by"]))).collect()
}

#[test]
fn generated_suites_rerun_and_cover_what_was_claimed() -> TestResult {
    for name in ["saxpy_tail", "switch_machine", "reduction_tree", "short_circuit", "stencil_2d"] {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("out");
        let result = generate(&testdata::kernel(name), &out, &[])?;
        valid(&result, "generate.schema.json").map_err(|e| format!("{name}: {e}"))?;
        let stored: Value = serde_json::from_str(&std::fs::read_to_string(out.join("generate.json"))?)?;
        assert_eq!(stored, result, "{name}");
        let suite = out.join("suite.toml");
        let ran = json(&["run", at(&suite), "--device", "sim"], 0)?;
        assert_eq!(ran["tests"].as_array().map(Vec::len), result["tests"].as_array().map(Vec::len), "{name}");
        let covered = json(&["cover", at(&suite), "--device", "sim", "--repeats", "1"], 0)?;
        assert_eq!(covered["coverage"], result["coverage"], "{name}");
        // Every goal agrees with its site.
        for goal in result["goals"].as_array().into_iter().flatten() {
            let same = |s: &&Value| s["id"] == goal["site"] && s["outcome"] == goal["outcome"];
            let site = covered["sites"].as_array().into_iter().flatten().find(same).ok_or("no such site")?;
            assert_eq!(site["covered"], goal["status"] == "covered", "{name}: {goal}");
            assert_eq!(goal["reason"].is_null(), goal["status"] == "covered", "{name}: {goal}");
        }
        let branch = &result["coverage"]["branch"];
        assert_eq!(branch["covered"], result["summary"]["covered"], "{name}");
        // Inputs that lead through all states of the machine are too rare for so short a search.
        if name != "switch_machine" {
            assert_eq!(branch["covered"], branch["total"], "{name}: {}", result["goals"]);
        }
    }
    Ok(())
}

const CONSTANT: &str = "kernel void k(global int *out, global const int *in, int n, int magic) {
    int i = get_global_id(0);
    if (i >= n) return;
    if (magic == 123456789) out[i] = 1;
    else if (in[i] == 77) out[i] = 2;
    else out[i] = in[i];
}
";

#[test]
fn constants_of_the_code_are_found() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(CONSTANT);
    let result = generate(&kernel, &out, &[])?;
    assert!(goals(&result).iter().all(|(_, status, _)| status == "covered"), "{result}");
    // The first launches do not know the constant.
    let (_folder, kernel, out) =
        kernel_and_out("kernel void k(global int *out, int a) { out[0] = a * a == 1522756 ? 1 : 2; }");
    let result = generate(&kernel, &out, &["--no-fuzz", "--no-smt"])?;
    let unknown: Vec<_> = goals(&result).into_iter().filter(|(_, status, _)| status == "unknown").collect();
    assert_eq!(unknown.len(), 1, "{result}");
    assert_eq!(result["summary"]["unknown"], 1);
    let open = result["goals"].as_array().into_iter().flatten().find(|g| g["status"] == "unknown").ok_or("none")?;
    assert!(open["reason"].as_str().is_some_and(|r| r.contains("not solved for")), "{open}");
    assert!(open["bound"].as_str().is_some_and(|b| b.contains("launches")), "{open}");
    Ok(())
}

/// The last outcome contradicts the one before it.
const CONTRADICTION: &str = "kernel void k(global int *out, global const int *in) {
    int i = get_global_id(0), v = in[i];
    if (v > 7) {
        out[i] = 1;
        if (v < 3)
            out[i] = 2;
    }
}
";

#[test]
fn nothing_is_searched_for_what_is_proved_infeasible() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(CONTRADICTION);
    let result = generate(&kernel, &out, &["--attempts", "300"])?;
    let summary = &result["summary"];
    assert_eq!((&summary["covered"], &summary["infeasible"], &summary["unknown"]), (&3.into(), &1.into(), &0.into()));
    // The attempts in vain that end a search are not made.
    assert!(summary["executions"].as_u64().is_some_and(|n| n < 100), "{summary}");
    Ok(())
}

#[test]
fn equal_seeds_give_equal_suites() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(CONSTANT);
    let read = |name: &str| -> TestResult<(Value, String)> {
        let out = out.with_file_name(name);
        let mut result = generate(&kernel, &out, &["--seed", "7"])?;
        result["elapsed_s"] = 0.into();
        result["summary"]["fuzz_s"] = 0.into();
        result["summary"]["smt_s"] = 0.into();
        for goal in result["goals"].as_array_mut().into_iter().flatten() {
            goal["time_s"] = 0.into();
        }
        Ok((result, std::fs::read_to_string(out.join("suite.toml"))?))
    };
    assert_eq!(read("first")?, read("second")?);
    Ok(())
}

#[test]
fn the_interface_file_is_written_once_and_then_obeyed() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(CONSTANT);
    generate(&kernel, &out, &["--no-fuzz"])?;
    let path = out.join("interface.toml");
    let text = std::fs::read_to_string(&path)?;
    for part in
        ["kernel = \"k\"", "role = \"size\"", "scope = \"global\"", "type = \"int*\"", "fuzz = true", "[ndrange]"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The written file is read back.
    generate(&kernel, &out, &["--no-fuzz"])?;
    let edited = "kernel = \"k\"\n[ndrange]\nglobal = [24]\nlocal = [8]\n[[arg]]\nposition = 2\nvalue = 20\nfuzz = false\n\
                  [[arg]]\nposition = 3\nmin = 1\nmax = 9\n[[arg]]\nposition = 1\nvalue = { arange = { len = 100, start = 0 } }\n\
                  fuzz = false\n[[arg]]\nposition = 0\nsize = 48\n";
    std::fs::write(&path, edited)?;
    let result = generate(&kernel, &out, &[])?;
    assert_eq!(std::fs::read_to_string(&path)?, edited);
    let open: Vec<_> = goals(&result).into_iter().filter(|(_, status, _)| status == "unknown").collect();
    // Neither the constant nor 77 among the first 20 elements is possible.
    assert_eq!(open.len(), 2, "{result}");
    let suite: toml::Table = std::fs::read_to_string(out.join("suite.toml"))?.parse()?;
    for test in suite["test"].as_array().into_iter().flatten() {
        assert_eq!(test["global"].as_array().map(|g| g[0].as_integer()), Some(Some(24)), "{test}");
        assert_eq!(test["args"]["n"].as_integer(), Some(20), "{test}");
        let magic = test["args"]["magic"].as_integer();
        assert!(magic.is_some_and(|m| (1..=9).contains(&m)), "{test}");
    }
    let covered = json(&["cover", at(&out.join("suite.toml")), "--device", "sim"], 0)?;
    assert_eq!(covered["coverage"], result["coverage"]);
    Ok(())
}

#[test]
fn a_kernel_that_never_ends_costs_no_more_than_the_budget() -> TestResult {
    let (_folder, kernel, out) =
        kernel_and_out("kernel void k(global volatile int *x) { while (x[0] == x[0]) x[1]++; x[2] = 1; }");
    let started = std::time::Instant::now();
    let (_, err, code) = kassay(&["generate", at(&kernel), "-o", at(&out), "--budget", "2"])?;
    assert_eq!(code, 0, "{err}");
    // In unoptimised code, next to other tests, compiling and one dry run take seconds.
    assert!(started.elapsed().as_secs_f64() < 15.0, "{:?}", started.elapsed());
    let result: Value = serde_json::from_str(&std::fs::read_to_string(out.join("generate.json"))?)?;
    assert_eq!(result["summary"]["tests"], 0);
    assert!(result["notes"][0].as_str().is_some_and(|n| n.contains("no test")), "{result}");
    Ok(())
}

/// The first kernel reads what it has not written only if `n` is less than the launch's size, the second one always.
const UNWRITTEN: &str = "kernel void some(global int *out, global const int *in, int n)
{
    local int tile[16];
    int l = get_local_id(0), i = get_global_id(0);
    if (i < n) tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int k = 0; k < (int)get_local_size(0); k++) s += tile[k];
    out[i] = s > 10 ? s : -s;
}
kernel void always(global int *out, global const int *in)
{
    local int tile[16];
    int l = get_local_id(0), i = get_global_id(0);
    out[i] = tile[l] > in[i] ? 1 : 2;
}
";

#[test]
fn reads_of_local_memory_that_nobody_wrote_are_the_last_resort_and_said() -> TestResult {
    let (folder, kernel) = source_file(UNWRITTEN);
    for (entry, clean) in [("some", true), ("always", false)] {
        let made = folder.path().join(entry);
        let options = ["generate", at(&kernel), "--entry", entry, "--max-execs", "2000", "-o", at(&made)];
        let result = json(&options, 0)?;
        let goals = result["goals"].as_array().ok_or("no goals")?;
        let said = |goal: &&Value| {
            let reason = goal["reason"].as_str().unwrap_or_default();
            assert_eq!(
                goal["status"] == "covered-with-fault",
                reason.contains("local memory that no work-item has written")
            );
            goal["status"] == "covered-with-fault"
        };
        let with_fault = goals.iter().filter(said).count();
        assert_eq!(with_fault > 0 && with_fault < goals.len(), clean, "{result}");
        // Tests that say nothing of it read nothing of the kind.
        let suite = std::fs::read_to_string(made.join("suite.toml"))?;
        let tests: Vec<&str> = suite.split("[[test]]").skip(1).collect();
        let unwritten = tests.iter().filter(|test| test.contains("no work-item has written")).count();
        assert!(unwritten > 0 && (unwritten < tests.len()) == clean, "{suite}");
    }
    Ok(())
}
