//! MC/DC in hosts of users' own is that of `kassay cover --mcdc`.

use std::path::Path;

use serde_json::Value;

use super::{HostBench, Launch};
use crate::common::TestResult;
use crate::common::program::{at, json, read, run};
use crate::common::testdata::repository;

/// The decisions with the hits in the order of the tests, whatever these are called.
fn decisions(result: &Value) -> Value {
    let tests: Vec<&str> = result["tests"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    let mut mcdc = result["mcdc"].clone();
    for decision in mcdc["decisions"].as_array_mut().unwrap() {
        for vector in decision["vectors"].as_array_mut().unwrap() {
            vector["hits_by_test"] = tests.iter().map(|test| vector["hits_by_test"][test].clone()).collect();
        }
    }
    mcdc
}

#[test]
fn vectors_are_those_of_cover() -> TestResult {
    let bench = HostBench::new()?;
    let kernel = "mcdc_decisions";
    let launches: [Launch; 2] =
        [("8/4", &["ints=0,3,8", "ints=0,0,8", "int=8"]), ("4/4", &["ints=40,7,4", "ints=0,0,4", "int=4"])];
    let test = |name: &str, (len, local, start, step): (u32, u32, u32, u32)| {
        format!(
            "[[test]]\nname = \"{name}\"\nglobal = [{len}]\nlocal = [{local}]\n[test.args]\n\
             values = {{ arange = {{ len = {len}, start = {start}, step = {step} }} }}\n\
             out = {{ fill = 0, len = {len} }}\nn = {len}\n"
        )
    };
    let source = repository("testdata/mcdc_decisions/mcdc_decisions.cl");
    let tests = test("one", (8, 4, 0, 3)) + &test("two", (4, 4, 40, 7));
    std::fs::write(bench.path("suite.toml"), format!("kernel = '{}'\n{tests}", at(&source)))?;
    for more in [&[][..], &["--counts"]] {
        bench.lower(kernel, &[&["--coverage", "--mcdc"], more].concat())?;
        let names: Vec<String> = (0..launches.len()).map(|number| format!("{kernel}.{number}")).collect();
        for (name, launch) in names.iter().zip(&launches) {
            bench.launch(bench.c(), kernel, name, *launch, &[])?;
        }
        let found = bench.tally(kernel, &names)?;
        let wanted =
            json(&[&["cover", bench.at("suite.toml"), "--device", "sim", "--mcdc", "masking"], more].concat(), 0)?;
        assert!(wanted["coverage"]["mcdc"]["covered"].as_u64() > Some(0), "{wanted}");
        assert_eq!(found["coverage"], wanted["coverage"], "{more:?}");
        assert_eq!(decisions(&found), decisions(&wanted), "{more:?}");

        let probes: Vec<&str> = names.iter().map(|name| bench.at(&format!("{name}.0.bin"))).collect();
        let map = bench.at("mcdc_decisions.json");
        let unique = json(&[&["tally", map], &probes[..], &["--mcdc", "unique"]].concat(), 0)?;
        let wanted =
            json(&[&["cover", bench.at("suite.toml"), "--device", "sim", "--mcdc", "unique"], more].concat(), 0)?;
        assert_eq!(decisions(&unique), decisions(&wanted), "{more:?}");
        let (_, err, code) = run(&[&["tally", map, "--fail-under", "mcdc=100", "--quiet"], &probes[..]].concat())?;
        assert!(code == 1 && err.contains("mcdc coverage is"), "{err}");
    }
    Ok(())
}

#[test]
fn maps_without_vectors_and_maps_that_contradict_themselves_are_refused() -> TestResult {
    let bench = HostBench::without_host()?;
    std::fs::write(bench.path("probe.bin"), [0; 80])?;
    let (map, probe) = (bench.at("mcdc_decisions.json"), bench.at("probe.bin"));
    let fails = |more: &[&str], part: &str| -> TestResult {
        let (_, err, code) = run(&[&["tally", map, probe, "--quiet"], more].concat())?;
        assert!(code == 2 && err.contains(part), "{more:?}: {code} {err}");
        Ok(())
    };
    bench.lower("mcdc_decisions", &["--coverage"])?;
    fails(&["--fail-under", "mcdc=50"], "hold no test vectors")?;
    fails(&["--mcdc", "unique"], "lower the kernel with --coverage --mcdc")?;
    fails(&["--fail-under", "def_use=50"], "tell no definitions")?;
    bench.lower("mcdc_decisions", &["--coverage", "--mcdc"])?;
    let whole = read(Path::new(map))?;
    let mut changed = whole.clone();
    changed["coverage"]["decisions"][0]["vectors"][0]["values"] = "TX".into();
    std::fs::write(map, changed.to_string())?;
    fails(&[], "`TX` is no vector of 2 conditions")?;
    let mut changed = whole.clone();
    changed["coverage"]["decisions"].as_array_mut().unwrap().pop();
    std::fs::write(map, changed.to_string())?;
    fails(&[], "its decisions are not those of its sites")?;
    let source = repository("testdata/mcdc_decisions/mcdc_decisions.cl");
    let (_, err, code) = run(&["lower", at(&source), "--mutants", "--mcdc"])?;
    assert!(code == 2 && err.contains("coverage probes"), "{err}");
    Ok(())
}
