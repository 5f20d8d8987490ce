//! Checks the commands as a user or a pipeline sees them: results with the contract's keys and published schemas, equal
//! results on every output path, output to files and to closed pipes.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{commands, json, kassay, valid};
use crate::common::stored::expect_file;
use crate::common::testdata::{self, main_suites};

/// Returns a path below `testdata` as an argument.
fn testdata(path: &str) -> String {
    testdata::testdata(path).to_string_lossy().into_owned()
}

fn run(args: &[&str]) -> TestResult<Output> {
    let output = kassay().args(args).output()?;
    let err = String::from_utf8_lossy(&output.stderr);
    if err.contains("panicked") { Err(format!("{args:?}: {err}").into()) } else { Ok(output) }
}

/// Runs a command that has to succeed.
fn text(args: &[&str]) -> TestResult<String> {
    let output = run(args)?;
    if !output.status.success() {
        return Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the value at a path such as `/coverage/branch`, which has to exist.
fn at<'v>(value: &'v Value, path: &str) -> TestResult<&'v Value> {
    value.pointer(path).ok_or_else(|| format!("no {path}").into())
}

fn has(value: &Value, paths: &str) -> TestResult {
    paths.split_whitespace().try_for_each(|path| at(value, path).map(|_| ()))
}

#[test]
fn results_have_the_keys_of_the_contract_and_fit_their_schemas() -> TestResult {
    let suite = testdata("reduction_tree/suite.toml");
    let common = "/schema /version /kernel /source /device /seed /elapsed_s";
    let cover = json(&["cover", &suite, "--counts", "--repeats", "1"], 0)?;
    has(&cover, common)?;
    has(&cover, "/device/name /device/driver /device/kind /device/il_versions /overhead")?;
    assert_eq!(cover["schema"], "kassay.cover/1");
    for metric in ["branch", "condition", "barrier", "line", "statement", "least_branch"] {
        has(&cover, &format!("/coverage/{metric}/covered /coverage/{metric}/total"))?;
    }
    has(
        &cover,
        "/coverage/loop/total /coverage/loop/zero /coverage/loop/one /coverage/loop/many /coverage/loop/boundary",
    )?;
    has(&cover, "/coverage/loop/applicable/zero /coverage/loop/applicable/boundary /coverage/average_statement")?;
    let kinds = ["branch", "loop", "barrier", "line"];
    for kind in kinds {
        let mut sites = cover["sites"].as_array().into_iter().flatten();
        let site = sites.find(|s| s["kind"] == kind).ok_or_else(|| format!("no {kind}"))?;
        has(site, "/file /line /column /outcome /covered /hits_by_test")?;
        assert_eq!(site.get("divergent_groups").is_some(), ["branch", "barrier"].contains(&kind), "{site}");
    }
    valid(&cover, "cover.schema.json")?;

    let inspect = json(&["inspect", &testdata("reduction_tree/reduction_tree.cl")], 0)?;
    has(&inspect, common)?;
    has(&inspect, "/kernels/0/name /kernels/0/args/0/name /kernels/0/args/0/type /kernels/0/args/0/address_space")?;
    has(&inspect, "/kernels/0/args/0/access /kernels/0/mutants_by_operator")?;
    for count in ["branch_outcomes", "branches", "conditions", "loops", "barriers", "basic_blocks", "mutants"] {
        assert!(at(&inspect, &format!("/kernels/0/counts/{count}"))?.is_u64());
    }
    valid(&inspect, "inspect.schema.json")?;
    let run = json(&["run", &suite], 0)?;
    has(&run, common)?;
    valid(&run, "run.schema.json")?;
    let schedule = json(&["schedule", &suite, "--repeats", "2", "--schedules", "3"], 0)?;
    has(&schedule, common)?;
    has(&schedule, "/tests/0/name /tests/0/verdict /tests/0/differing_outputs")?;
    for key in ["index", "map", "item_order", "preemptions", "seed"] {
        has(&schedule, &format!("/tests/0/schedules/0/{key}"))?;
    }
    valid(&schedule, "schedule.schema.json")?;
    let checked = json(&["check", &testdata("scan_blelloch/suite.toml")], 0)?;
    has(&checked, common)?;
    has(&checked, "/verdict /holds_for /findings/0/accesses/0/file /findings/0/accesses/0/line")?;
    has(&checked, "/amplification/access_invariant /amplification/holds_for_all_values_of")?;
    has(&checked, "/amplification/property_integrity_inputs /amplification/why_not")?;
    for key in "kind scope memory variable benign count input schedule reproduction".split(' ') {
        has(&checked, &format!("/findings/0/{key}"))?;
    }
    for key in ["column", "mode", "global_id", "group_id"] {
        has(&checked, &format!("/findings/0/accesses/0/{key}"))?;
    }
    valid(&checked, "check.schema.json")?;
    let devices = json(&["devices"], 0)?;
    has(&devices, common)?;
    valid(&devices, "devices.schema.json")
}

#[test]
fn a_schema_rejects_what_does_not_fit() -> TestResult {
    let good = json(&["devices"], 0)?;
    let refused = |path: &str, key: &str, value: Option<Value>| -> TestResult {
        let mut bad = good.clone();
        let object = bad.pointer_mut(path).and_then(Value::as_object_mut).ok_or("no object")?;
        match value {
            Some(value) => object.insert(key.to_owned(), value),
            None => object.remove(key),
        };
        assert!(valid(&bad, "devices.schema.json").is_err(), "{path}/{key}");
        Ok(())
    };
    refused("", "version", None)?;
    refused("", "seed", Some("0".into()))?;
    refused("/devices/0", "code", Some("magic".into()))?;
    refused("/devices/0", "fp64", Some(1.into()))
}

#[test]
fn suites_fit_their_published_schema() -> TestResult {
    let schema = kassay_suite::format::schema();
    expect_file("docs/schema/suite.schema.json", &format!("{}\n", serde_json::to_string_pretty(&schema)?));
    for suite in main_suites() {
        let value = serde_json::to_value(toml::from_str::<toml::Table>(&std::fs::read_to_string(&suite)?)?)?;
        valid(&value, "suite.schema.json").map_err(|e| format!("{}: {e}", suite.display()))?;
    }
    let wrong = serde_json::json!({ "kernel": "k.cl", "test": [{ "globl": [4] }] });
    assert!(valid(&wrong, "suite.schema.json").is_err());
    Ok(())
}

#[test]
fn every_output_path_gives_the_same_result() -> TestResult {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("r.json");
    let to = file.to_str().ok_or("no UTF-8")?;
    let suite = testdata("switch_machine/suite.toml");
    let printed = json(&["cover", &suite, "-o", to], 0)?;
    let read = || -> TestResult<Value> { Ok(serde_json::from_slice(&std::fs::read(&file)?)?) };
    assert_eq!(printed, read()?);
    // Except for times, any number of workers gives the same result.
    assert_eq!(text(&["cover", &suite, "-o", to, "--quiet", "-j", "2"])?, "");
    let timeless = |mut result: Value| {
        result["elapsed_s"].take();
        result["overhead"].take();
        for test in result["tests"].as_array_mut().into_iter().flatten() {
            test["original_s"].take();
            test["instrumented_s"].take();
        }
        result
    };
    assert_eq!(timeless(printed), timeless(read()?));
    let lcov = folder.path().join("r.lcov");
    assert_eq!(text(&["report", to, "-o", lcov.to_str().ok_or("no UTF-8")?])?, "");
    let lcov = std::fs::read_to_string(lcov)?;
    assert!(lcov.contains("switch_machine.cl\n") && lcov.contains("\nDA:") && lcov.ends_with("end_of_record\n"));
    let quiet = run(&["run", &suite, "--quiet"])?;
    assert_eq!((quiet.stdout.len(), quiet.stderr.len()), (0, 0));
    Ok(())
}

#[test]
fn saved_outputs_serve_as_expectations() -> TestResult {
    for name in ["struct_args", "sobel_image", "long_vectors", "half_math"] {
        let folder = tempfile::tempdir()?;
        for file in std::fs::read_dir(testdata(name))? {
            let file = file?;
            std::fs::copy(file.path(), folder.path().join(file.file_name()))?;
        }
        let (suite, saved) = (folder.path().join("suite.toml"), folder.path().join("saved"));
        let run = |more: &[&str]| json(&[&["run", suite.to_str().unwrap_or_default()], more].concat(), 0);
        run(&["--save-outputs", saved.to_str().ok_or("no UTF-8")?])?;
        let mut table: toml::Table = toml::from_str(&std::fs::read_to_string(&suite)?)?;
        table.remove("tolerance");
        let tests = table.get_mut("test").and_then(toml::Value::as_array_mut).ok_or("no tests")?;
        let mut fed = 0;
        for test in tests.iter_mut().filter_map(toml::Value::as_table_mut) {
            let of = saved.join(test["name"].as_str().ok_or("no name")?);
            test.remove("tolerance");
            let args = test.get_mut("args").and_then(toml::Value::as_table_mut).ok_or("no args")?;
            for npy in std::fs::read_dir(&of)? {
                let npy = npy?.path();
                let arg = npy.file_stem().and_then(|s| s.to_str()).ok_or("no name")?;
                let value = args.get_mut(arg).ok_or_else(|| format!("no argument {arg}"))?;
                if !value.is_table() {
                    *value = toml::Table::from_iter([("values".to_owned(), value.clone())]).into();
                }
                let expect = toml::Table::from_iter([("npy".to_owned(), npy.to_string_lossy().as_ref().into())]);
                value.as_table_mut().ok_or("no table")?.insert("expect".to_owned(), expect.into());
                fed += 1;
            }
        }
        assert!(fed > 0, "{name} has no outputs");
        std::fs::write(&suite, toml::to_string(&table)?)?;
        let result = run(&[])?;
        assert_eq!(result["summary"]["passed"], result["summary"]["total"], "{name}: {result:#}");
        let compared = result["tests"].as_array().into_iter().flatten();
        let compared: usize = compared.map(|t| t["outputs"].as_array().map_or(0, Vec::len)).sum();
        assert_eq!(compared, fed, "{name}");
    }
    Ok(())
}

#[test]
fn output_of_printf_is_shown() -> TestResult {
    let suite = testdata("printf_debug/suite.toml");
    let result = json(&["run", &suite], 0)?;
    let verbose = result["tests"].as_array().into_iter().flatten().find(|t| t["name"] == "verbose").ok_or("no test")?;
    let printed = verbose["printf"].as_str().ok_or("nothing printed")?;
    assert!(!printed.trim().is_empty());
    let shown = text(&["run", &suite])?;
    for line in printed.lines().filter(|l| !l.trim().is_empty()) {
        assert!(shown.contains(&format!("| {line}")), "`{line}` is not in\n{shown}");
    }
    Ok(())
}

#[test]
fn graphviz_accepts_the_graphs() -> TestResult {
    let folder = tempfile::tempdir()?;
    let dot = folder.path().join("k.dot");
    let to = dot.to_str().ok_or("no UTF-8")?;
    for kernel in ["short_circuit", "helper_thrice", "macro_mix"] {
        text(&["inspect", &testdata(&format!("{kernel}/{kernel}.cl")), "--dot", to, "--quiet"])?;
        let drawing = std::fs::read_to_string(&dot)?;
        assert!(drawing.starts_with("digraph ") && drawing.trim_end().ends_with('}') && drawing.contains(" -> "));
        let quotes = drawing.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert!(quotes.is_multiple_of(2), "an open quote in\n{drawing}");
        match Command::new("dot").args(["-Tcanon", "-o", "/dev/null"]).arg(&dot).output() {
            Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr)),
            Err(_) => assert_eq!(drawing.matches('{').count() >= 1, drawing.matches('}').count() >= 1),
        }
    }
    Ok(())
}

#[test]
fn help_manuals_and_completions_cover_every_command() -> TestResult {
    let commands = commands()?;
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell])?;
        assert!(commands.iter().all(|c| script.contains(c.as_str())) && script.contains("fail-under"), "{shell}");
    }
    let pages = tempfile::tempdir()?;
    let folder = pages.path().join("share/man/man1");
    text(&["man", "-o", &folder.display().to_string()])?;
    let page = text(&["man"])?;
    assert_eq!(std::fs::read_to_string(folder.join("kassay.1"))?, page);
    assert!(page.contains(".TH kassay 1") && page.contains("Exit codes"), "{page}");
    for command in commands.iter().map(String::as_str) {
        let page = text(&["man", command])?;
        assert!(page.contains(&format!("kassay\\-{command}")) && page.contains(".SH OPTIONS"), "{command}: {page}");
        assert_eq!(std::fs::read_to_string(folder.join(format!("kassay-{command}.1")))?, page, "{command}");
        let help = text(&["help", command])?;
        assert!(help.contains(&format!("Usage: kassay {command}")), "{help}");
        // Every flag and argument has a description.
        for line in help.lines().filter(|l| l.trim_start().starts_with(['-', '<', '['])) {
            // A flag's values have their description after a colon.
            let value = line.trim_start().starts_with("- ") && line.contains(": ");
            let described = value || line.trim().contains("  ");
            let described = described || ["[default", "[possible"].iter().any(|s| line.trim_start().starts_with(s));
            let next = help.lines().skip_while(|l| *l != line).nth(1).unwrap_or_default();
            assert!(described || next.starts_with("          "), "{command}: `{line}` says nothing");
        }
    }
    assert!(!text(&["help"])?.contains("worker"), "the hidden command shows");
    Ok(())
}

#[test]
fn text_is_plain_unless_a_terminal_reads_it() -> TestResult {
    let suite = testdata("vector_add/suite.toml");
    for setting in ["", "1"] {
        let output = kassay().args(["cover", &suite]).env("NO_COLOR", setting).output()?;
        assert!(output.status.success() && !output.stdout.is_empty() && !output.stdout.contains(&0x1b));
    }
    // `script` gives the program a terminal.
    let on_terminal = |setting: &str| -> Option<String> {
        let line = format!("{} inspect {}", env!("CARGO_BIN_EXE_kassay"), testdata("vector_add/vector_add.cl"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("NO_COLOR", setting).stdin(Stdio::null());
        command.output().ok().map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
    };
    if let (Some(coloured), Some(plain)) = (on_terminal(""), on_terminal("1")) {
        assert!(coloured.contains("\x1b[") && !plain.contains("\x1b["), "{coloured:?}\n{plain:?}");
    }
    Ok(())
}

#[test]
fn a_closed_pipe_is_not_a_failure() -> TestResult {
    let kernel: PathBuf = testdata("macro_mix/macro_mix.cl").into();
    for format in ["text", "json"] {
        let mut child = kassay()
            .args(["inspect", "--format", format])
            .arg(&kernel)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
    Ok(())
}
