//! Checks specialisation constants of SPIR-V kernels: their values by suite, test and command line, and wrong ones.

use std::path::Path;

use serde_json::json;

use crate::common::TestResult;
use crate::common::program::{at, json, run, valid};
use crate::common::testdata::testdata;

fn file(name: &str) -> String {
    at(&testdata(format!("spirv/spec_constants/{name}"))).to_owned()
}

/// Writes a suite of the fixture's kernel with these lines before its test and these in it.
fn suite(folder: &Path, head: &str, test: &str) -> TestResult<String> {
    let path = folder.join("suite.toml");
    let args = "[test.args]\nin = { fill = 1, len = 4 }\nout = { fill = 0, len = 4 }\n";
    let text =
        format!("kernel = {:?}\n{head}\n[[test]]\nglobal = [4]\nlocal = [4]\n{test}\n{args}", file("scale.spvasm"));
    std::fs::write(&path, text)?;
    Ok(at(&path).to_owned())
}

/// Runs kassay and expects an exit code and parts of what it prints.
fn ends(args: &[&str], code: i32, parts: &[&str]) -> TestResult<String> {
    let (out, err, found) = run(args)?;
    let text = out + &err;
    assert_eq!(found, code, "{args:?}: {text}");
    assert_eq!(parts.iter().find(|part| !text.contains(**part)), None, "{args:?}: {text}");
    Ok(text)
}

#[test]
fn suites_set_constants_on_every_device() -> TestResult {
    for device in ["sim", "opencl"] {
        for name in ["defaults", "set", "off"] {
            ends(&["run", &file(&format!("{name}.toml")), "--device", device], 0, &["passed"])?;
        }
    }
    // The command line takes precedence over the suite.
    ends(&["run", &file("off.toml"), "--spec", "byte=1", "--device", "sim"], 1, &["out[0]: expected 0, is 1"])?;
    Ok(())
}

#[test]
fn constants_are_listed_with_their_values() -> TestResult {
    let inspected = json(&["inspect", &file("scale.spvasm"), "--spec", "tile=5", "--spec", "2=false"], 0)?;
    valid(&inspected, "inspect.schema.json")?;
    let expected = json!([
        { "id": 0, "name": "tile", "type": "uint", "default": "2", "value": "5" },
        { "id": 1, "name": "factor", "type": "float", "default": "0.5", "value": "0.5" },
        { "id": 2, "name": "on", "type": "bool", "default": "true", "value": "false" },
        { "id": 3, "name": null, "type": "ulong", "default": "1000", "value": "1000" },
        { "id": 5, "name": "byte", "type": "uchar", "default": "7", "value": "7" },
    ]);
    assert_eq!(inspected["spec_constants"], expected);
    // What follows from a constant follows its value: the array has tile * 4 elements.
    assert_eq!(inspected["kernels"][0]["local_variables"][0]["size"], 80);
    Ok(())
}

#[test]
fn wrong_constants_are_refused_where_they_stand() -> TestResult {
    let folder = tempfile::tempdir()?;
    let cases = [
        ("spec = { tyle = 1 }", "", "suite.toml:2:10: the kernel has no specialisation constant `tyle`", "0 (`tile`)"),
        ("", "spec = { 9 = 1 }", "suite.toml:6:10: the kernel has no specialisation constant `9`", "3, 5 (`byte`)"),
        (
            "spec = { byte = 256 }",
            "",
            "suite.toml:2:17: the specialisation constant 5 (`byte`) cannot be 256",
            "to 255",
        ),
        ("spec = { 2 = 1 }", "", "suite.toml:2:14: ", "true or false"),
        ("spec = { 1 = 1e300 }", "", "suite.toml:2:14: ", "range of float"),
        ("spec = { 1 = [2] }", "", "suite.toml:2:14: this is a list", "true, false or a number"),
        ("spec = 3", "", "suite.toml:2:8: this is an integer", "{ 0 = 64, tile = 16 }"),
    ];
    for (head, test, what, help) in cases {
        let suite = suite(folder.path(), head, test)?;
        ends(&["run", &suite, "--device", "sim"], 2, &[what, help, "help: "])?;
    }
    let kernel = file("scale.spvasm");
    ends(&["inspect", &kernel, "--spec", "0"], 2, &["`0` has no value", "CONSTANT=VALUE"])?;
    ends(&["inspect", &kernel, "--spec", "0=x"], 2, &["cannot be x", "whole number"])?;
    let source = testdata("vector_add/vector_add.cl");
    ends(&["inspect", at(&source), "--spec", "0=1"], 2, &["`0` cannot be set: only SPIR-V has"])?;
    Ok(())
}

#[test]
fn every_command_takes_constants() -> TestResult {
    let folder = tempfile::tempdir()?;
    let generated = folder.path().join("generated");
    let kernel = file("scale.spvasm");
    ends(
        &["generate", &kernel, "--spec", "tile=3", "--spec", "on=false", "-o", at(&generated)],
        0,
        &["2 of 2 outcomes"],
    )?;
    let suite = generated.join("suite.toml");
    assert!(std::fs::read_to_string(&suite)?.contains("spec = { on = false, tile = 3 }"));
    ends(&["cover", at(&suite), "--device", "sim"], 0, &["branch"])?;
    ends(&["check", &kernel, "--spec", "tile=1"], 0, &["verdict: clean"])?;
    let lowered = |spec: &str| -> TestResult<String> {
        let (ir, err, code) = run(&["lower", &kernel, "--print", "canonical", "--spec", spec])?;
        assert_eq!(code, 0, "{err}");
        Ok(ir)
    };
    assert!(lowered("tile=6")?.contains("[24 x i32]"));
    assert!(lowered("0=7")?.contains("[28 x i32]"));
    let mutated = json(&["mutate", &file("set.toml"), "--operators", "AOR,CBR", "--device", "sim"], 0)?;
    assert!(mutated["mutants"].as_array().is_some_and(|mutants| mutants.len() > 5), "{mutated}");
    Ok(())
}
