//! `kassay check -- COMMAND`: findings with the launch that shows them, reproductions, programs that end in their own
//! ways.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::TestResult;
use super::programs::{Program, kassay, repository};

/// Time enough for everything, on any machine.
const BUDGET: &str = "600";

fn checked(program: &Program, flags: &[&str], arguments: &[&str]) -> TestResult<(Output, Value)> {
    let file = program.folder.path().join("check.json");
    let output = kassay()
        .args(["check", "-o"])
        .arg(&file)
        .args(if flags.contains(&"--budget") { &[][..] } else { &["--budget", BUDGET] })
        .args(flags)
        .arg("--")
        .arg(&program.path)
        .args(arguments)
        .current_dir(&program.directory)
        .output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!error.contains("panicked"), "{error}");
    let text = fs::read_to_string(&file).map_err(|_| error.into_owned())?;
    let result: Value = serde_json::from_str(&text)?;
    let schema: Value = serde_json::from_str(&fs::read_to_string(repository("docs/schema/check-set.schema.json"))?)?;
    let errors: Vec<String> = jsonschema::validator_for(&schema)?.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    check_counts(&result);
    Ok((output, result))
}

/// Checks that each launch was checked or left out.
fn check_counts(result: &Value) {
    for kernel in list(&result["kernels"]) {
        let is_own = |row: &&Value| row["kernel"] == kernel["kernel"] && row["program"] == kernel["program"];
        let left_out: u64 = list(&result["left_out"]).filter(is_own).filter_map(|row| row["count"].as_u64()).sum();
        let checked = list(&kernel["inputs"]).count() as u64;
        assert_eq!(kernel["launches"].as_u64(), Some(checked + left_out), "{result:#}");
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn kernel<'a>(result: &'a Value, name: &str) -> &'a Value {
    list(&result["kernels"]).find(|kernel| kernel["kernel"] == name).unwrap_or(&Value::Null)
}

/// The findings of a kernel that count against it: kind, scope, variable, lines of the accesses, and the input.
fn findings(kernel: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let faults = list(&kernel["findings"]).filter(|f| f["kind"] != "redundant-barrier" && f["kind"] != "uninitialised");
    let row = |finding: &Value| {
        let lines: Vec<String> = list(&finding["accesses"]).map(|access| access["line"].to_string()).collect();
        let [kind, scope, variable, input] = ["kind", "scope", "variable", "input"].map(|key| text(&finding[key]));
        format!("{kind} {scope} {variable} {} {input}", lines.join(","))
    };
    faults.map(row).collect()
}

/// Where a launch came from.
fn host<'a>(kernel: &'a Value, input: &str) -> &'a Value {
    list(&kernel["inputs"]).find(|known| known["name"] == input).map_or(&Value::Null, |input| &input["host"])
}

#[test]
fn races_are_found_in_the_kernels_that_have_them() -> TestResult {
    let program = Program::of("race")?;
    let (output, result) = checked(&program, &["-j", "2"], &[])?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout)?.ends_with("race: right\n"));
    assert_eq!((&result["schema"], &result["exit_code"]), (&"kassay.check-set/1".into(), &0.into()));
    assert_eq!(result["total"]["verdict"], "racy", "{result:#}");
    let verdicts =
        ["sum_hasty", "sum_right", "tally_plain", "tally_atomic"].map(|name| &kernel(&result, name)["verdict"]);
    assert_eq!(verdicts, ["racy", "clean", "racy", "clean"]);
    let hasty = kernel(&result, "sum_hasty");
    assert!(findings(hasty).contains(&"data-race intra-group part 6,6 launch 1".to_owned()), "{hasty:#}");
    let right = kernel(&result, "sum_right");
    assert_eq!(right["holds_for"], "all-interleavings");
    assert!(list(&right["amplification"]["holds_for_all_values_of"]).any(|name| name == "in[]"), "{right:#}");
    // Both launches of a count begin with zeros.
    let same = |row: &Value| row["kernel"] == "tally_plain" && row["reason"] == "same-inputs" && row["count"] == 1;
    assert!(list(&result["left_out"]).any(same), "{result:#}");
    let text = String::from_utf8(output.stderr)?;
    assert!(
        text.contains("data race on local `part`, within work-groups") && text.contains("verdict: racy;"),
        "{text}"
    );
    assert!(text.contains("if (l < step) part[l] += part[l + step];"), "{text}");
    Ok(())
}

#[test]
fn a_finding_names_the_launch_that_shows_it() -> TestResult {
    let program = Program::of("overrun")?;
    let (_, result) = checked(&program, &[], &[])?;
    assert_eq!(result["total"]["verdict"], "memory-fault");
    let (pad, slope) = (kernel(&result, "pad"), kernel(&result, "slope"));
    assert_eq!(findings(pad), ["out-of-bounds - out 3 launch 2"]);
    assert_eq!(findings(slope), ["out-of-bounds - x 9 launch 1"]);
    assert_eq!(list(&pad["inputs"]).map(|input| &input["findings"]).collect::<Vec<_>>(), [0, 1]);
    let host = host(pad, "launch 2");
    assert_eq!((&host["launch"], &host["process"]), (&2.into(), &host["thread"]));
    Ok(())
}

#[test]
fn launches_of_kernels_that_were_not_checked_are_counted() -> TestResult {
    let (output, result) = checked(&Program::of("struct_pointers")?, &[], &[])?;
    assert!(list(&result["left_out"]).any(|row| row["kernel"] == "chase" && row["count"] == 2), "{result:#}");
    let text = String::from_utf8(output.stderr)?;
    assert!(text.contains(" of 6 launches checked"), "{text}");
    Ok(())
}

#[test]
fn a_finding_names_the_host_thread() -> TestResult {
    let program = Program::of("uneven")?;
    let (output, result) = checked(&program, &[], &[])?;
    let smooth = kernel(&result, "smooth");
    assert_eq!(findings(smooth), ["barrier-divergence - - 5 launch 2"]);
    assert_eq!(
        (&smooth["verdict"], list(&smooth["inputs"]).count()),
        (&"divergent".into(), 3),
        "each launch has another scalar"
    );
    let (main, other) = (host(smooth, "launch 1"), host(smooth, "launch 2"));
    assert_eq!(main["process"], other["process"]);
    assert_eq!((main["thread"] == main["process"], other["thread"] == main["process"]), (true, false));
    let text = String::from_utf8(output.stderr)?;
    assert!(text.contains(&format!("launch 2 (thread {} of process {})", other["thread"], other["process"])), "{text}");
    Ok(())
}

#[test]
fn a_launch_that_ends_the_program_is_checked() -> TestResult {
    let program = Program::compile(Path::new(&repository("tests/host/wild.c")))?;
    let (_, result) = checked(&program, &[], &[])?;
    // Whatever the driver made of it.
    assert_eq!(findings(kernel(&result, "fill")), ["out-of-bounds - out 2 launch 2"], "{result:#}");
    Ok(())
}

#[test]
fn kernels_keep_to_what_buffers_are_made_for() -> TestResult {
    let program = Program::compile(Path::new(&repository("tests/host/buffer_flags.c")))?;
    let again = program.folder.path().join("again");
    let (_, result) = checked(&program, &["--reproduce", again.to_str().unwrap_or_default()], &[])?;
    let of = |name: &str| findings(kernel(&result, name));
    assert_eq!(of("accumulate"), ["write-only-read - sums 2 launch 1"], "{result:#}");
    assert_eq!(of("bump"), ["read-only-write - table 7 launch 1"], "{result:#}");
    assert_eq!(kernel(&result, "copy")["verdict"], "clean", "{result:#}");
    let suite = fs::read_to_string(again.join("bump/1/suite.toml"))?;
    assert!(suite.contains("access = \"read-only\""), "{suite}");
    Ok(())
}

#[test]
fn findings_are_reproduced_by_suites() -> TestResult {
    let program = Program::of("overrun")?;
    let folder = program.folder.path().join("again");
    let flag = folder.to_str().unwrap_or_default();
    let (_, result) = checked(&program, &["--reproduce", flag, "--kernel", "pad"], &[])?;
    assert!(kernel(&result, "slope").is_null());
    assert!(list(&result["left_out"]).any(|row| row["kernel"] == "slope" && row["reason"] == "not-selected"));
    let finding = &kernel(&result, "pad")["findings"][0];
    let suite = finding["reproduction"].as_str().unwrap_or_default();
    assert_eq!(Path::new(suite), folder.canonicalize()?.join("pad/1/suite.toml"));
    let output = kassay().args(["check", suite, "--format", "json"]).output()?;
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let again: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(findings(&again), ["out-of-bounds - out 3 launch 2"]);
    Ok(())
}

#[test]
fn a_suite_of_the_launches_gives_the_same_result() -> TestResult {
    let program = Program::of("in_place")?;
    let folder = program.folder.path().join("kept");
    let (output, result) = checked(&program, &["--keep", folder.to_str().unwrap_or_default()], &[])?;
    assert_eq!((output.status.code(), &result["total"]["verdict"]), (Some(0), &"clean".into()), "{result:#}");
    let combine = kernel(&result, "combine");
    // Of equal shapes, those of numbers that are powers of two.
    assert_eq!((&combine["launches"], list(&combine["inputs"]).count()), (&5.into(), 3));
    let output = kassay().arg("check").arg(folder.join("combine/suite.toml")).args(["--format", "json"]).output()?;
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let suite: Value = serde_json::from_slice(&output.stdout)?;
    for key in ["verdict", "holds_for", "holds_for_because", "summary", "amplification", "barriers"] {
        assert_eq!(suite[key], combine[key], "{key}");
    }
    Ok(())
}

#[test]
fn clean_programs_are_clean_and_launches_are_accounted_for() -> TestResult {
    let (output, result) = checked(&Program::of("many_launches")?, &["--max-launches", "3"], &[])?;
    assert_eq!((output.status.code(), &result["total"]["verdict"]), (Some(0), &"clean".into()), "{result:#}");
    assert!(list(&result["kernels"]).all(|kernel| list(&kernel["inputs"]).count() <= 3));
    let reasons: Vec<&Value> = list(&result["left_out"]).map(|row| &row["reason"]).collect();
    assert!(reasons.iter().any(|reason| *reason == "not-sampled" || *reason == "max-launches"), "{result:#}");
    // Several processes, of which each counts its own launches.
    let (output, result) = checked(&Program::of("forks")?, &[], &[])?;
    assert_eq!(output.status.code(), Some(0), "{result:#}");
    assert!(result["processes"].as_u64() > Some(1));
    for input in list(&result["kernels"]).flat_map(|kernel| list(&kernel["inputs"])) {
        assert!(input["name"].as_str().is_some_and(|name| name.starts_with("process ")), "{input}");
    }
    Ok(())
}

#[test]
fn what_was_launched_before_a_sudden_end_is_checked() -> TestResult {
    let program = Program::of("sudden_end")?;
    let (output, result) = checked(&program, &[], &["crash"])?;
    assert_eq!((output.status.code(), result["signal"].as_str()), (Some(0), Some("SIGSEGV")));
    assert_eq!(kernel(&result, "halve")["launches"], 20);
    Ok(())
}

#[test]
fn files_of_the_users_own_are_named() -> TestResult {
    let program = Program::of("image_blur")?;
    let (output, result) = checked(&program, &[], &[])?;
    assert_eq!(output.status.code(), Some(0), "{result:#}");
    assert!(list(&result["kernels"]).all(|kernel| kernel["source"] == "image_blur.cl"), "{result:#}");
    Ok(())
}

#[test]
fn headers_that_the_program_has_removed_are_those_of_the_build() -> TestResult {
    let program = Program::compile(&repository("tests/host/gone.c"))?;
    let (output, result) = checked(&program, &[], &[])?;
    assert_eq!((output.status.code(), &result["exit_code"]), (Some(0), &0.into()), "{result:#}");
    assert_eq!(kernel(&result, "scale")["verdict"], "clean", "{result:#}");
    assert_eq!(list(&result["failed"]).count(), 0, "{result:#}");
    Ok(())
}

#[test]
fn programs_from_il_are_checked() -> TestResult {
    let mut program = Program::of("from_il")?;
    program.directory = program.folder.path().to_owned();
    let text = repository("testdata/hosts/c/from_il.spvasm");
    let module = program.directory.join("from_il.spv");
    assert!(Command::new("spirv-as").arg(text).arg("-o").arg(module).status()?.success());
    let (_, result) = checked(&program, &[], &[])?;
    if result["exit_code"] != 77 {
        assert_eq!(kernel(&result, "gcd_table")["verdict"], "clean", "{result:#}");
    }
    Ok(())
}

#[test]
fn without_time_nothing_is_claimed() -> TestResult {
    let program = Program::of("race")?;
    let (output, result) = checked(&program, &["--budget", "0.000001"], &[])?;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(result["exit_code"], 0);
    // Whatever could be done at once.
    assert_ne!(result["total"]["verdict"], "clean", "{result:#}");
    Ok(())
}
