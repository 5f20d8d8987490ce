//! Mutants and guards in hosts of users' own: they do there what they do under `kassay mutate`, and what a host writes
//! down of its tests becomes the result that `kassay mutate` gives.

use std::collections::BTreeMap;

use serde_json::{Value, json as value};

use super::{HostBench, Launch, SAXPY_TAIL};
use crate::common::TestResult;
use crate::common::program::{at, json, read, run, valid};
use crate::common::testdata::repository;

/// Operators whose mutants share modules. `kassay mutate` has the simulator judge none of those of the kernels here.
const OPERATORS: &str = "AIU,AOR,ARS,ASR,CBR,COR,CSD,GID,GII,GIR,LBR,LCR,LVR,MR,NCR,ROR,SDL";

/// The launches of mandelbrot's suite.
const MANDELBROT: [Launch; 3] = [
    ("16x8/8x4", &["ints=0,0,96", "int=12", "int=8", "float=-2", "float=-1", "float=0.25", "int=24", "int=0"]),
    ("16x8/8x4", &["ints=0,0,96", "int=12", "int=8", "float=-2", "float=-1", "float=0.25", "int=24", "int=1"]),
    ("8x8/8x4", &["ints=0,0,48", "int=8", "int=6", "float=-1.5", "float=-0.75", "float=0.25", "int=16", "int=0"]),
];

impl HostBench {
    /// Lowers a kernel with mutants and runs these tests under each, by the host in Python or the one in C. Returns the
    /// names of the files of outcomes.
    fn run_mutants(
        &self,
        kernel: &str,
        launches: &[Launch],
        python: bool,
        reach: bool,
    ) -> TestResult<Vec<&'static str>> {
        let map = self.lower(kernel, &["--mutants", "--operators", OPERATORS])?;
        let module = &map["modules"][0];
        let mut variables = vec![];
        if !python {
            variables.push(("MUTANTS", module["mutants"].to_string()));
            variables.push(("BUILD_OPTIONS", module["build_options"].as_str().unwrap().to_owned()));
        }
        if reach {
            variables.push(("REACH", module["reach"]["file"].as_str().unwrap().to_owned()));
        }
        let code = if python { format!("{kernel}.json") } else { format!("{kernel}.spv") };
        let mut files = Vec::new();
        for (number, launch) in launches.iter().enumerate() {
            let name = format!("{kernel} {number}");
            let host = if python { HostBench::python() } else { self.c() };
            self.launch_code(host, &code, (kernel, &name), *launch, &variables)?;
            files.push(self.at(&format!("{name}.outcomes")));
        }
        Ok(files)
    }
}

/// Returns the mutants of a result without what depends on the names of tests, which are replaced by their positions,
/// and without reasons.
fn mutants(result: &Value) -> Vec<Value> {
    let tests: Vec<&Value> = result["tests"].as_array().unwrap().iter().map(|test| &test["name"]).collect();
    let positions = |names: &Value| -> Vec<Option<usize>> {
        names.as_array().unwrap().iter().map(|name| tests.iter().position(|test| *test == name)).collect()
    };
    let row = |mutant: &Value| {
        let mut row = mutant.clone();
        for key in ["killed_by", "covered_by"] {
            row[key] = value!(positions(&mutant[key]));
        }
        // A map does not tell which edit a mutant is.
        row.as_object_mut().unwrap().retain(|key, _| !["reason", "edit"].contains(&key.as_str()));
        row
    };
    result["mutants"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_tally_of_outcomes_is_the_result_of_mutate() -> TestResult {
    let bench = HostBench::new()?;
    let kernels: [(&str, &[Launch], bool); 3] =
        [("saxpy_tail", &SAXPY_TAIL, false), ("saxpy_tail", &SAXPY_TAIL, true), ("mandelbrot", &MANDELBROT, true)];
    let mut statuses: BTreeMap<String, u64> = BTreeMap::new();
    for (kernel, launches, python) in kernels {
        let files = bench.run_mutants(kernel, launches, python, true)?;
        let map = bench.at(&format!("{kernel}.json"));
        let found = json(&[&["tally", map, "--outcomes"], &files[..]].concat(), 0)?;
        valid(&found, "mutate.schema.json")?;
        let suite = repository("testdata").join(kernel).join("suite.toml");
        let flags = ["--operators", OPERATORS, "--device", "opencl", "--full-matrix", "--no-launch-facts"];
        let wanted = json(&[&["mutate", at(&suite)], &flags[..]].concat(), 0)?;
        for (found, wanted) in mutants(&found).iter().zip(mutants(&wanted)) {
            assert_eq!(*found, wanted, "{kernel}");
        }
        for key in ["summary", "operators", "classes", "lines", "texts"] {
            assert_eq!(found[key], wanted[key], "{kernel} {key}");
        }
        assert_eq!(found["options"], wanted["options"], "{kernel}");
        let numbers = |result: &Value| -> Vec<Value> {
            result["tests"]
                .as_array()
                .unwrap()
                .iter()
                .map(|t| value!([t["status"], t["kills"], t["reaches"]]))
                .collect()
        };
        assert_eq!(numbers(&found), numbers(&wanted), "{kernel}");
        for mutant in found["mutants"].as_array().unwrap() {
            *statuses.entry(mutant["status"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let duplicates = found["summary"]["duplicate"].as_u64().unwrap();
        *statuses.entry("duplicate".to_owned()).or_default() += duplicates;
    }
    // Otherwise little was compared.
    for status in ["killed", "survived", "timeout", "runtime-error", "equivalent", "duplicate"] {
        assert!(statuses.contains_key(status), "{status}: {statuses:?}");
    }

    // A host that runs all mutants comes to the same, but does not know which it reaches. One test reaches only some.
    let with = bench.run_mutants("saxpy_tail", &SAXPY_TAIL[..1], false, true)?;
    let map = bench.at("saxpy_tail.json");
    let with = json(&[&["tally", map, "--outcomes"], &with[..]].concat(), 0)?;
    let without = bench.run_mutants("saxpy_tail", &SAXPY_TAIL[..1], false, false)?;
    let without = json(&[&["tally", map, "--outcomes"], &without[..]].concat(), 0)?;
    assert!(without["notes"].to_string().contains("without `reach` lines"), "{without}");
    assert!(!with["notes"].to_string().contains("without `reach` lines"), "{with}");
    assert!(with["summary"]["no_coverage"].as_u64() > Some(0), "{with}");
    let status = |mutant: &Value| match mutant["status"].as_str().unwrap() {
        "no-coverage" => "survived".to_owned(),
        other => other.to_owned(),
    };
    let pairs = with["mutants"].as_array().unwrap().iter().zip(without["mutants"].as_array().unwrap());
    for (with, without) in pairs {
        assert_eq!((&with["id"], status(with)), (&without["id"], status(without)));
    }

    let (result, report) = (bench.at("m.json"), bench.at("m.stryker.json"));
    run(&["tally", map, "--outcomes", bench.at("saxpy_tail 0.outcomes"), "-o", result, "--quiet"])?;
    let (_, err, code) = run(&["report", result, "-o", report])?;
    assert_eq!((code, err.as_str()), (0, ""));
    let files = read(bench.path("m.stryker.json").as_path())?;
    let shown: usize =
        files["files"].as_object().unwrap().values().map(|f| f["mutants"].as_array().unwrap().len()).sum();
    assert_eq!(shown, without["mutants"].as_array().unwrap().len());
    Ok(())
}

#[test]
fn mutants_and_guards_of_an_own_host_do_what_they_do_in_mutate() -> TestResult {
    let bench = HostBench::new()?;
    let map = bench.lower("saxpy_tail", &["--mutants", "--operators", "ROR"])?;
    let number = |word: &str| map["guards"][word].as_u64().unwrap();
    // The hosts compute these from the number of arguments alone.
    assert_eq!(
        (number("fuel"), number("sizes"), number("mutant"), number("fault"), number("length")),
        (0, 16, 32, 34, 40)
    );
    let options = map["modules"][0]["build_options"].as_str().unwrap().to_owned();
    let ran = |mutant: u64| -> TestResult<Vec<String>> {
        let variables = [("MUTANT", mutant.to_string()), ("BUILD_OPTIONS", options.clone())];
        SAXPY_TAIL.iter().map(|launch| bench.launch(bench.c(), "saxpy_tail", "m", *launch, &variables)).collect()
    };
    let original = ran(0)?;
    assert!(original.iter().all(|out| !out.contains("fault")), "{original:?}");
    let suite = repository("testdata/saxpy_tail/suite.toml");
    let verdicts = json(&["mutate", at(&suite), "--operators", "ROR", "--device", "opencl"], 0)?;
    let mutants = map["mutants"].as_array().unwrap();
    let (mut detected, mut survived) = (0, 0);
    for verdict in verdicts["mutants"].as_array().unwrap() {
        let mutant = mutants.iter().find(|mutant| mutant["id"] == verdict["id"]);
        let mutant = mutant.ok_or_else(|| format!("{} is not in the map", verdict["id"]))?;
        let differs = ran(mutant["number"].as_u64().unwrap())? != original;
        match verdict["status"].as_str().unwrap() {
            "killed" | "timeout" | "runtime-error" => {
                assert!(differs, "{verdict}");
                detected += 1;
            }
            "survived" | "equivalent" | "equivalent-for-launches" => {
                assert!(!differs, "{verdict}");
                survived += 1;
            }
            "duplicate" => {}
            other => panic!("{other}"),
        }
    }
    assert!(detected > 0 && survived > 0, "{verdicts}");

    // The same outputs with guards alone; an access out of bounds is recorded with its place.
    let guards = bench.lower("saxpy_tail", &["--guards"])?;
    let guarded =
        |launch: Launch| bench.launch(HostBench::python(), "saxpy_tail", "g", launch, &[("MUTANT", "0".to_owned())]);
    for (launch, wanted) in SAXPY_TAIL.iter().zip(&original) {
        assert_eq!(&guarded(*launch)?, wanted);
    }
    let short = guarded(("64/16", &["int=250", "float=-0.5", "floats=0,2,250", "floats=8,0,249"]))?;
    let place = short.lines().find_map(|line| line.strip_prefix("launch 0 fault kind 2 place ")).ok_or("no fault")?;
    let place: u64 = place.parse()?;
    let places = guards["modules"][0]["guarded"].as_array().unwrap();
    let place = places.iter().find(|p| p["number"] == place).ok_or("no such place")?;
    assert_eq!(place["line"], 17);
    Ok(())
}
