//! Checks tests that allow faults: how `run`, `cover`, `mutate`, `schedule` and `check` treat them, when devices take
//! them, and the messages for suites that state faults wrongly.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::program::run as kassay;
use crate::common::testdata::testdata;

const KERNEL: &str = "kernel void k(global const int *in, global int *out, int n) {
    int i = get_global_id(0);
    int left = in[i - 1];
    if (i < n) out[i] = left + in[i];
    out[n + 1] = 7;
}
";

/// Reads element -1 of `in`, and writes element 9 of `out`, which has 8 elements.
const TEST: &str = "kernel = \"k.cl\"
[[test]]
name = \"edge\"
global = [8]
local = [4]
faults = \"allowed\"
FAULTED
[test.args]
n = 8
in = { arange = { len = 8, start = 1 }IN }
out = { fill = 0, len = 8OUT, expect = { values = [1, 3, 5, 7, 9, 11, 13, 15] } }
";

const FAULTED: &str = "faulted = [{ kind = \"out-of-bounds\", argument = \"in\", first = -1, last = -1 },
           { kind = \"out-of-bounds\", argument = \"out\", first = 9, last = 9 }]";

struct Suite {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn suite(text: &str) -> TestResult<Suite> {
    let (folder, _) = source_file(KERNEL);
    let path = folder.path().join("suite.toml");
    std::fs::write(&path, text)?;
    Ok(Suite { _folder: folder, path })
}

fn with(faulted: &str, margin_in: &str, margin_out: &str) -> String {
    TEST.replace("FAULTED", faulted)
        .replace("IN }", &format!("{margin_in} }}"))
        .replace("OUT,", &format!("{margin_out},"))
}

impl Suite {
    fn path(&self) -> &str {
        self.path.to_str().unwrap_or_default()
    }
}

fn json(args: &[&str]) -> TestResult<(Value, i32)> {
    let (out, err, code) = kassay(&[args, &["--format", "json"]].concat())?;
    Ok((serde_json::from_str(&out).map_err(|e| format!("{args:?}: {e}: {err}"))?, code))
}

/// Returns whether there is an OpenCL device.
fn has_device() -> TestResult<bool> {
    let (result, _) = json(&["devices"])?;
    Ok(result.to_string().contains("\"opencl:"))
}

#[test]
fn the_simulator_skips_what_faults_and_goes_on() -> TestResult {
    let suite = suite(&with("", "", ""))?;
    let (ran, code) = json(&["run", suite.path(), "--device", "sim"])?;
    assert_eq!((code, &ran["tests"][0]["status"]), (0, &Value::from("passed")), "{ran}");
    assert!(ran["tests"][0]["reason"].as_str().is_some_and(|r| r.contains("out-of-bounds")), "{ran}");
    let (covered, code) = json(&["cover", suite.path(), "--device", "sim"])?;
    assert_eq!((code, &covered["tests"][0]["status"]), (0, &Value::from("completed")), "{covered}");
    assert_eq!(covered["coverage"]["branch"]["covered"], 1);
    let (scheduled, code) = json(&["schedule", suite.path(), "--device", "sim", "--schedules", "3"])?;
    assert_eq!((code, &scheduled["tests"][0]["verdict"]), (0, &Value::from("stable")), "{scheduled}");
    // Without `faults = "allowed"` the test fails as any other.
    let strict = std::fs::read_to_string(&suite.path)?.replace("faults = \"allowed\"\n", "");
    std::fs::write(&suite.path, strict)?;
    assert_eq!(json(&["run", suite.path(), "--device", "sim"])?.1, 1);
    assert_eq!(json(&["cover", suite.path(), "--device", "sim"])?.1, 1);
    Ok(())
}

#[test]
fn faults_that_are_allowed_are_findings_of_check() -> TestResult {
    let suite = suite(&with("", "", ""))?;
    let (checked, code) = json(&["check", suite.path()])?;
    assert_eq!((code, &checked["verdict"]), (1, &Value::from("memory-fault")), "{checked}");
    Ok(())
}

#[test]
fn mutants_are_judged_by_the_outputs_of_such_tests() -> TestResult {
    let suite = suite(&with("", "", ""))?;
    let (mutated, code) = json(&["mutate", suite.path(), "--device", "sim", "--operators", "AOR,ROR"])?;
    assert_eq!(code, 0, "{mutated}");
    let summary = &mutated["summary"];
    assert!(summary["killed"].as_u64().is_some_and(|n| n >= 4), "{summary}");
    assert_eq!(summary["runtime_error"], 0, "{summary}");
    let mut arithmetic = mutated["mutants"].as_array().into_iter().flatten().filter(|m| m["operator"] == "AOR");
    // Mutants such as a difference in place of `left + in[i]` show in the output.
    assert!(arithmetic.any(|m| m["status"] == "killed"), "{mutated}");
    Ok(())
}

#[test]
fn devices_take_such_tests_with_margins_only() -> TestResult {
    if !has_device()? {
        return Ok(());
    }
    let refused = |text: &str| -> TestResult<String> {
        let suite = suite(text)?;
        let mut all = String::new();
        for command in ["run", "cover", "mutate", "schedule"] {
            let (_, err, code) = kassay(&[command, suite.path(), "--device", "opencl"])?;
            assert_eq!(code, 2, "{command}: {err}");
            assert!(err.contains("--device sim"), "{err}");
            all = err;
        }
        Ok(all)
    };
    assert!(refused(&with("", ", margin = 4", ", margin = 4"))?.contains("does not say what faults"));
    assert!(refused(&with(FAULTED, "", ", margin = 2"))?.contains("1 elements beyond its ends, and has a margin of 0"));
    assert!(refused(&with(FAULTED, ", margin = 1", ", margin = 1"))?.contains("`out` is accessed 2 elements"));
    let division = "faulted = [{ kind = \"division\" }]";
    assert!(refused(&with(division, ", margin = 1", ", margin = 2"))?.contains("`division`"));
    let suite = suite(&with(FAULTED, ", margin = 1", ", margin = 2"))?;
    for repeat in 0..3 {
        let (ran, code) = json(&["run", suite.path(), "--device", "opencl"])?;
        assert_eq!((code, &ran["tests"][0]["status"]), (0, &Value::from("passed")), "{repeat}: {ran}");
    }
    let (covered, code) = json(&["cover", suite.path(), "--device", "opencl"])?;
    assert_eq!((code, &covered["coverage"]["branch"]["covered"]), (0, &Value::from(1)), "{covered}");
    let (on_device, _) = json(&["mutate", suite.path(), "--device", "opencl"])?;
    let (on_host, _) = json(&["mutate", suite.path(), "--device", "sim"])?;
    let statuses = |result: &Value| -> Vec<String> {
        let all = result["mutants"].as_array().into_iter().flatten();
        all.map(|m| format!("{} {}", m["id"], m["status"])).collect()
    };
    assert_eq!(statuses(&on_device), statuses(&on_host));
    Ok(())
}

#[test]
fn devices_leave_out_what_they_cannot_run_and_say_so() -> TestResult {
    if !has_device()? {
        return Ok(());
    }
    let plain = "\n[[test]]\nname = \"plain\"\nglobal = [8]\nlocal = [4]\noffset = [1]\n\
                 [test.args]\nn = 8\nin = { arange = { len = 9, start = 1 } }\nout = { fill = 0, len = 10 }\n";
    let suite = suite(&(with(FAULTED, "", "") + plain))?;
    for command in ["run", "cover", "mutate", "schedule"] {
        let (result, code) = json(&[command, suite.path(), "--device", "opencl"])?;
        assert_eq!(code, 0, "{command}: {result:#}");
        let notes = result["notes"].to_string();
        let wanted = "1 of 2 tests allow faults that ";
        assert!(notes.contains(wanted) && notes.contains("left out: `edge` (`in` is accessed 1 elements"), "{notes}");
        let names: Vec<&Value> = result["tests"].as_array().ok_or("no tests")?.iter().map(|t| &t["name"]).collect();
        assert_eq!(names, ["plain"], "{command}");
        let (result, _) = json(&[command, suite.path(), "--device", "sim"])?;
        assert_eq!(result["tests"].as_array().map(Vec::len), Some(2), "{command}");
        assert!(!result["notes"].to_string().contains("left out: `edge`"), "{command}");
    }
    Ok(())
}

#[test]
fn suites_generated_with_faults_run_again() -> TestResult {
    let folder = tempfile::tempdir()?;
    for name in ["fault_before", "fault_one_side"] {
        let kernel = testdata(format!("generate/{name}.cl"));
        let out = folder.path().join(name);
        let (kernel, out) = (kernel.to_str().unwrap_or_default(), out.to_str().unwrap_or_default());
        let (made, code) = json(&["generate", kernel, "-o", out, "--max-execs", "800"])?;
        assert_eq!(code, 0, "{made}");
        let with_fault = made["summary"]["covered_with_fault"].as_u64();
        assert!(with_fault.is_some_and(|n| n > 0), "{made}");
        let suite = format!("{out}/suite.toml");
        let text = std::fs::read_to_string(&suite)?;
        for part in ["faults = \"allowed\"", "faulted = [", "out-of-bounds", "margin = "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (covered, code) = json(&["cover", &suite, "--device", "sim"])?;
        assert_eq!((code, &covered["coverage"]), (0, &made["coverage"]), "{covered}");
        assert_eq!(json(&["check", &suite])?.0["verdict"], "memory-fault");
        // No fault goes beyond its margin, so a device takes the test, and its outputs agree.
        if has_device()? {
            let (on_device, code) = json(&["cover", &suite, "--device", "opencl"])?;
            assert_eq!((code, &on_device["coverage"]), (0, &made["coverage"]), "{on_device}");
        }
        let (shown, _, _) = kassay(&["generate", kernel, "-o", out, "--max-execs", "800"])?;
        assert!(shown.contains("with faults"), "{shown}");
    }
    Ok(())
}

#[test]
fn wrong_statements_of_faults_get_an_error_with_their_place() -> TestResult {
    let entry = |faulted: &str| with(&format!("faulted = [{faulted}]"), "", "");
    let cases = [
        (with("", "", "").replace("\"allowed\"", "\"ignored\""), ":6:", "allowed"),
        (entry("{ kind = \"division\" }").replace("faults = \"allowed\"\n", ""), ":6:", "does not allow it"),
        (entry("{ kind = \"out-of-bounds\", argument = \"inn\", first = -1, last = -1 }"), ":7:", "no argument `inn`"),
        (entry("{ kind = \"out-of-bounds\", argument = \"n\", first = -1, last = -1 }"), ":7:", "no buffer"),
        (entry("{ kind = \"out-of-bounds\", argument = \"in\", first = 1, last = -1 }"), ":7:", "before the first"),
        (entry("{ kind = \"out-of-bounds\", argument = \"in\" }"), ":7:", "together"),
        (entry("{ kind = \"division\", argument = \"in\", first = 0, last = 0 }"), ":7:", "do not go with `division`"),
        (with("", ", margin = 99999999999", ""), ":10:", "margin"),
        (with("", "", "").replace("n = 8\n", "n = { margin = 3 }\n"), ":9:", "form of this argument"),
    ];
    for (text, place, what) in cases {
        let suite = suite(&text)?;
        let (_, err, code) = kassay(&["cover", suite.path(), "--device", "sim"])?;
        assert_eq!(code, 2, "{what}: {err}");
        assert!(err.contains(&format!("suite.toml{place}")) && err.contains(what), "{place} {what}: {err}");
    }
    Ok(())
}
