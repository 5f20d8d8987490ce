//! Checks suites whose tests have different values of specialisation constants.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::TestResult;
use crate::common::program::{at, json, kassay, run, valid};
use crate::common::testdata::testdata;

const ALL: [&str; 4] = ["defaults", "mirrored and wide", "no rounds", "defaults again"];

fn fixture() -> String {
    at(&testdata("spirv/spec_variants/suite.toml")).to_owned()
}

/// Writes the fixture's kernel with this replaced, and a suite of it with these lines for two tests of its own. Returns
/// the suite.
fn changed(folder: &Path, replaced: &[(&str, &str)], specs: [&str; 2]) -> TestResult<String> {
    let mut kernel = std::fs::read_to_string(testdata("spirv/spec_variants/fold.spvasm"))?;
    for (what, by) in replaced {
        assert!(kernel.contains(what), "{what}");
        kernel = kernel.replace(what, by);
    }
    std::fs::write(folder.join("fold.spvasm"), kernel)?;
    let args = "[test.args]\nin = { fill = 1, len = 4 }\nout = { fill = 0, len = 4 }\n";
    let test = |spec: &str| format!("[[test]]\nglobal = [4]\nlocal = [4]\n{spec}\n{args}");
    let path = folder.join("suite.toml");
    std::fs::write(&path, format!("kernel = \"fold.spvasm\"\n{}{}", test(specs[0]), test(specs[1])))?;
    Ok(at(&path).to_owned())
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    let text = |one: &Value| one[key].as_str().unwrap_or_default().to_owned();
    list.as_array().map(|all| all.iter().map(text).collect()).unwrap_or_default()
}

#[test]
fn each_test_runs_with_its_own_values() -> TestResult {
    for device in ["sim", "opencl"] {
        let ran = json(&["run", &fixture(), "--device", device], 0)?;
        valid(&ran, "run.schema.json")?;
        assert_eq!(texts(&ran["tests"], "name"), ALL);
        assert_eq!(texts(&ran["tests"], "status"), ["passed"; 4]);
    }
    // The command line takes precedence over the tests.
    let (out, _, code) = run(&["run", &fixture(), "--spec", "rounds=2", "--device", "sim"])?;
    assert_eq!(code, 1);
    assert!(out.contains("2 passed"), "{out}");
    Ok(())
}

/// By hand: the switch has two cases and a default, `if (wide)` two outcomes.
#[test]
fn coverage_is_that_of_all_values() -> TestResult {
    for device in ["sim", "opencl"] {
        let covered = json(&["cover", &fixture(), "--device", device], 0)?;
        valid(&covered, "cover.schema.json")?;
        let coverage = &covered["coverage"];
        assert_eq!(coverage["branch"], json!({ "covered": 5, "total": 5 }), "{device}");
        assert_eq!(coverage["barrier"], json!({ "covered": 1, "total": 1 }));
        let classes = ["total", "zero", "one", "many", "boundary"].map(|class| coverage["loop"][class].as_u64());
        assert_eq!(classes, [Some(1); 5]);
        assert_eq!(texts(&covered["tests"], "name"), ALL);
        // Which tests cover the outcomes of branches, in the order of `ALL`.
        let hits = |site: &Value| ALL.map(|test| site["hits_by_test"][test].as_u64().unwrap_or_default());
        let branches = covered["sites"].as_array().unwrap().iter().filter(|site| site["kind"] == "branch");
        let mut found: Vec<[u64; 4]> = branches.map(hits).collect();
        found.sort_unstable();
        assert_eq!(found, [[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [1, 0, 1, 1]]);
    }
    Ok(())
}

/// The mutants by id: the status, and the tests that kill it.
fn verdicts(result: &Value) -> BTreeMap<String, (String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mutants = result["mutants"].as_array().unwrap().iter();
    mutants
        .map(|m| {
            let killed_by = m["killed_by"].as_array().unwrap().iter().map(text).collect();
            (text(&m["id"]), (text(&m["status"]), killed_by))
        })
        .collect()
}

#[test]
fn tests_of_all_values_kill_mutants() -> TestResult {
    let folder = tempfile::tempdir()?;
    let operators = ["--operators", "AOR,ROR,NCR,CSD,SYR", "--full-matrix"];
    let both = |device: &str| -> TestResult<Value> {
        let result = json(&[&["mutate", &fixture(), "--device", device][..], &operators].concat(), 0)?;
        valid(&result, "mutate.schema.json")?;
        assert_eq!(texts(&result["tests"], "name"), ALL);
        assert_eq!(texts(&result["tests"], "status"), ["used"; 4]);
        Ok(result)
    };
    let (on_sim, on_device) = (verdicts(&both("sim")?), verdicts(&both("opencl")?));
    let statuses = |all: &BTreeMap<String, (String, Vec<String>)>| -> Vec<(String, String)> {
        all.iter().map(|(id, (status, _))| (id.clone(), status.clone())).collect()
    };
    assert_eq!(statuses(&on_sim), statuses(&on_device));
    // The subtraction from 7 and the addition of 100 are reached by one test only.
    let only = |test: &str| on_sim.values().filter(|(_, killed_by)| *killed_by == [test]).count();
    assert!(only("mirrored and wide") >= 4, "{on_sim:?}");
    assert!(only("no rounds") >= 1, "{on_sim:?}");

    // Without the tests that have `mode` 1, the mutants are the same, and no test reaches the case of 1.
    let text = std::fs::read_to_string(fixture())?;
    let tests: Vec<&str> = text.split("[[test]]").collect();
    let kernel = format!("kernel = {:?}", at(&testdata("spirv/spec_variants/fold.spvasm")));
    let head = tests[0].replace("kernel = \"fold.spvasm\"", &kernel);
    let wide = "name = \"wide\"\nglobal = [5]\nlocal = [5]\nspec = { wide = true, width = 5 }\n[test.args]\n\
                in = { fill = 5, len = 5 }\nout = { fill = 0, len = 5, expect = { fill = 115, len = 5 } }\n";
    let path = folder.path().join("fewer.toml");
    std::fs::write(&path, [&head, tests[1], tests[3], &format!("\n{wide}")].join("[[test]]"))?;
    let fewer = verdicts(&json(&[&["mutate", at(&path), "--device", "sim"][..], &operators].concat(), 0)?);
    assert!(fewer.keys().eq(on_sim.keys()));
    let unreached: Vec<&String> =
        fewer.iter().filter(|(_, (status, _))| status == "no-coverage").map(|(id, _)| id).collect();
    assert!(unreached.len() >= 4, "{fewer:?}");
    for id in unreached {
        let (status, killed_by) = &on_sim[id];
        assert!(status != "killed" || *killed_by == ["mirrored and wide"], "{id}: {on_sim:?}");
    }
    Ok(())
}

#[test]
fn runs_resume_and_say_what_needs_one_set_of_values() -> TestResult {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("out.json");
    let suite = fixture();
    let mutate = ["mutate", &suite, "--operators", "AOR", "--device", "sim", "-o", at(&output), "--quiet"];
    let result = || -> TestResult<Value> {
        let mut result: Value = serde_json::from_str(&std::fs::read_to_string(&output)?)?;
        for key in ["elapsed_s", "timing"] {
            result[key] = Value::Null;
        }
        Ok(result)
    };
    assert_eq!(run(&mutate)?.2, 0);
    let whole = result()?;
    let left = || std::fs::read_dir(folder.path()).map(|all| all.flatten().count());
    assert_eq!(left()?, 1, "no journal stays");
    // A complete result is all that there is to resume.
    assert_eq!(run(&[&mutate[..], &["--resume"]].concat())?.2, 0);
    assert_eq!(result()?, whole);
    // A run that is killed while the tests of the second set of values run.
    let journal = folder.path().join("out.json.2.journal.jsonl");
    let mut running = kassay().args(mutate).spawn()?;
    while running.try_wait()?.is_none() {
        if std::fs::metadata(&journal).is_ok_and(|journal| journal.len() > 400) {
            running.kill()?;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(run(&[&mutate[..], &["--resume"]].concat())?.2, 0);
    assert_eq!(result()?, whole);
    assert_eq!(left()?, 1);
    for refused in [&["--shard", "1/2"][..], &["--order", "2"]] {
        let (_, err, code) = run(&[&mutate[..], refused].concat())?;
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("needs tests that all have the same values of specialisation constants"), "{err}");
    }
    Ok(())
}

#[test]
fn checks_and_schedules_join_the_tests_of_all_values() -> TestResult {
    let folder = tempfile::tempdir()?;
    let checked = json(&["check", &fixture(), "--budget", "120"], 0)?;
    valid(&checked, "check.schema.json")?;
    assert_eq!(checked["verdict"], "clean");
    assert_eq!(texts(&checked["inputs"], "name"), ALL);
    assert_eq!((&checked["summary"]["inputs"], &checked["summary"]["completed"]), (&json!(4), &json!(4)));
    assert_eq!(checked["barriers"][0]["redundant"], false);
    assert_eq!(checked["barriers"][0]["reached"], 4);

    let output = folder.path().join("schedules.json");
    let scheduled = json(&["schedule", &fixture(), "--device", "sim", "--schedules", "3", "-o", at(&output)], 0)?;
    valid(&scheduled, "schedule.schema.json")?;
    assert_eq!(texts(&scheduled["tests"], "name"), ALL);
    assert_eq!(scheduled["summary"]["stable"], 4);
    let schedules =
        scheduled["tests"].as_array().unwrap().iter().flat_map(|test| test["schedules"].as_array().unwrap());
    let indices: Vec<u64> = schedules.filter_map(|schedule| schedule["index"].as_u64()).collect();
    assert_eq!(indices, (0..indices.len() as u64).collect::<Vec<_>>());
    let last = format!("{}:{}", at(&output), indices.len() - 1);
    let replayed = json(&["schedule", &fixture(), "--device", "sim", "--replay", &last], 0)?;
    assert_eq!(texts(&replayed["tests"], "name"), ["defaults again"]);

    // Without the barrier, all tests race at the same places, of which there is one finding.
    let barrier = ("               OpControlBarrier %workgroup %workgroup %semantics\n", "");
    let path = changed(folder.path(), &[barrier], ["", "spec = { rounds = 0 }"])?;
    let reproductions = folder.path().join("found");
    let racy = json(&["check", &path, "--budget", "120", "--reproduce", at(&reproductions)], 1)?;
    assert_eq!(racy["verdict"], "racy");
    let races: Vec<&Value> =
        racy["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == "data-race").collect();
    assert_eq!(races.len(), 1, "{racy}");
    assert_eq!(races[0]["inputs"], 2);
    assert_eq!(run(&["check", at(&reproductions.join("values-2/1/suite.toml"))])?.2, 1);
    Ok(())
}

#[test]
fn values_that_change_the_code_are_refused() -> TestResult {
    // An optimiser folds the values.
    let (_, err, code) = run(&["mutate", &fixture(), "--device", "sim", "--operators", "AOR", "--ir-level", "O1"])?;
    assert_eq!(code, 2, "{err}");
    let what = "the specialisation constants of the test \"mirrored and wide\" give the kernel other mutants";
    assert_eq!([what, "suite.toml:20:10", "help: "].iter().find(|part| !err.contains(**part)), None, "{err}");
    let folder = tempfile::tempdir()?;
    // A value that the type does not have, in a test.
    let path = changed(folder.path(), &[], ["", "spec = { wide = 3 }"])?;
    let (_, err, code) = run(&["run", &path, "--device", "sim"])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("suite.toml:12:17") && err.contains("true or false"), "{err}");
    Ok(())
}
