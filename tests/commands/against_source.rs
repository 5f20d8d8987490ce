//! `--against-source`: kassay's code beside what the driver's own compiler makes of the kernel's text.

use serde_json::{Value, json};

use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::program::{at, json, read, run as kassay};
use crate::common::testdata::main_suites;

/// A kernel that is another one when another compiler compiles it.
const KERNEL: &str = "#ifndef __clang_major__
#define __clang_major__ 0
#endif
kernel void k(global uint *out, global float *x, uint by)
{
    uint i = get_global_id(0);
#ifdef STAMPED
    out[i] = i + 1000 * __clang_major__;
#else
    out[i] = i * by;
#endif
    x[i] = x[i] * 1.1f + 0.3f;
}
";

const SUITE: &str = "kernel = \"k.cl\"
options = [OPTIONS]
[[test]]
name = \"eight\"
global = [8]
[test.args]
by = 3
out = { fill = 0, len = 8 }
x = { arange = { len = 8, start = 0.7, step = 1.3 } }
";

/// Runs a command on the kernel with these options of the suite. Returns what it prints and its exit code, with the
/// result.
fn with(options: &str, command: &[&str]) -> TestResult<(String, i32, Value)> {
    let (folder, _) = source_file(KERNEL);
    let (suite, result) = (folder.path().join("suite.toml"), folder.path().join("result.json"));
    std::fs::write(&suite, SUITE.replace("OPTIONS", options))?;
    let all = [command, &[at(&suite), "--against-source", "-o", at(&result)]].concat();
    let (out, error, code) = kassay(&all)?;
    let result = if result.exists() { read(&result)? } else { Value::Null };
    Ok((out + &error, code, result))
}

#[test]
fn what_the_driver_makes_of_a_text_is_compared() -> TestResult {
    let (_, code, result) = with("\"-O1\", \"-DX=1 + 2\"", &["run"])?;
    let compared = &result["tests"][0]["against_source"];
    assert!(["same", "rounding"].contains(&compared["comparison"].as_str().ok_or("none")?), "{result:#}");
    assert_eq!((code, &compared["message"]), (0, &Value::Null));

    let (text, code, result) = with("\"-DSTAMPED\"", &["run"])?;
    let compared = &result["tests"][0]["against_source"];
    if compared["comparison"] == "differs" {
        let message = compared["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("out: element 0: what the driver compiles left "), "{message}");
        assert!(message.ends_with(", kassay's code 22000; 8 of 8 elements differ"), "{message}");
        assert!(code == 1 && text.contains("not what the driver makes of the source: out: element 0"), "{text}");
        let (text, code, result) = with("\"-DSTAMPED\"", &["cover"])?;
        let complaints = result["complaints"].to_string();
        assert!(code == 1 && complaints.contains("k, test eight: kassay's code leaves something else"), "{text}");
    } else {
        // The driver's compiler is of the same version as kassay's.
        assert_eq!((&compared["comparison"], code), (&json!("same"), 0));
    }
    Ok(())
}

/// Stores a float through an argument of bytes, of which the last bits are the compiler's version; and something else,
/// if asked.
const BYTES: &str = "#ifndef __clang_major__
#define __clang_major__ 0
#endif
kernel void k(global uchar *out, uint by)
{
    uint i = get_global_id(0);
    global uchar *row = out + 4 * i;
    *(global float *)row = 1.0f + __clang_major__ * 0x1p-23f;
#ifdef MORE
    if (by == 0)
        *(global uint *)row = i;
#endif
}
";

#[test]
fn floats_stored_as_bytes_are_compared_as_floats() -> TestResult {
    let suite = SUITE.replace("len = 8 }\nx = ", "len = 32 }\n#");
    for (options, expected) in [("", "rounding"), ("\"-DMORE\"", "differs")] {
        let (folder, _) = source_file(BYTES);
        let (file, result) = (folder.path().join("suite.toml"), folder.path().join("result.json"));
        std::fs::write(&file, suite.replace("OPTIONS", options))?;
        let (out, error, _) = kassay(&["run", at(&file), "--against-source", "-o", at(&result)])?;
        let comparison = read(&result)?["tests"][0]["against_source"]["comparison"].clone();
        // Same, where the driver's compiler is of the same version as kassay's.
        assert!(comparison == expected || comparison == "same", "{options}: {comparison}\n{out}{error}");
    }
    Ok(())
}

#[test]
fn suites_leave_what_the_driver_makes_of_their_sources() -> TestResult {
    // Every third: a kernel that differs is found by conformance's comparisons, too. Lanes of warps that part are refused
    // on devices of OpenCL.
    let mut suites = main_suites();
    suites.retain(|suite| !suite.ends_with("cuda_warp_stages/suite.toml"));
    let mut args = vec!["run", "--against-source", "--device", "opencl", "-j", "2"];
    args.extend(suites.iter().step_by(3).map(|suite| at(suite)));
    let result = json(&args, 0)?;
    let kernels = result["kernels"].as_array().ok_or("no kernels")?;
    let tests = kernels.iter().flat_map(|kernel| kernel["tests"].as_array().into_iter().flatten());
    let compared: Vec<&str> = tests.filter_map(|test| test["against_source"]["comparison"].as_str()).collect();
    let same = compared.iter().filter(|comparison| ["same", "rounding"].contains(comparison)).count();
    assert!(!compared.contains(&"differs") && 2 * same > compared.len(), "{compared:?}");
    Ok(())
}
