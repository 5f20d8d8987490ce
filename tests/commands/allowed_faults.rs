//! Checks tests that allow faults: that mutants have the same fates on a device and on the simulator, and that suites
//! which `generate` makes run again. `tests/cli/allowed-faults.md` has what the commands say of them.

use serde_json::Value;

use crate::common::TestResult;
use crate::common::bench::Bench;
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
const SUITE: &str = "kernel = \"k.cl\"
[[test]]
name = \"edge\"
global = [8]
local = [4]
faults = \"allowed\"
faulted = [{ kind = \"out-of-bounds\", argument = \"in\", first = -1, last = -1 },
           { kind = \"out-of-bounds\", argument = \"out\", first = 9, last = 9 }]
[test.args]
n = 8
in = { arange = { len = 8, start = 1 }, margin = 1 }
out = { fill = 0, len = 8, margin = 2, expect = { values = [1, 3, 5, 7, 9, 11, 13, 15] } }
";

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
fn mutants_have_the_same_fates_on_a_device_and_on_the_simulator() -> TestResult {
    if !has_device()? {
        return Ok(());
    }
    let bench = Bench::of(KERNEL, SUITE)?;
    let statuses = |device: &str| -> TestResult<Vec<String>> {
        let result = bench.json(0, &["mutate", "suite.toml", "--device", device])?;
        let all = result["mutants"].as_array().into_iter().flatten();
        Ok(all.map(|m| format!("{} {}", m["id"], m["status"])).collect())
    };
    assert_eq!(statuses("opencl")?, statuses("sim")?);
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
