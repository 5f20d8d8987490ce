//! Checks mutation with suites whose tests have different values of specialisation constants. `tests/cli/spec-by-test.md`
//! has what the other commands make of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json, kassay, run, valid};
use crate::common::testdata::testdata;

const ALL: [&str; 4] = ["defaults", "mirrored and wide", "no rounds", "defaults again"];

fn fixture() -> String {
    at(&testdata("spirv/spec_variants/suite.toml")).to_owned()
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    let text = |one: &Value| one[key].as_str().unwrap_or_default().to_owned();
    list.as_array().map(|all| all.iter().map(text).collect()).unwrap_or_default()
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
