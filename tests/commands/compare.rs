//! Checks `kassay compare`: levels of mutants judged by the same tests, its tables and shards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::common::TestResult;
use crate::common::program::{at, json as result_of, read, run, valid};
use crate::common::testdata::testdata;

fn suite(name: &str) -> String {
    at(&testdata(format!("{name}/suite.toml"))).to_owned()
}

/// Compares with few samples on the simulator.
fn compare(args: &[&str], code: i32) -> TestResult<Value> {
    result_of(&[&["compare", "--device", "sim", "--samples", "25", "-j", "2"], args].concat(), code)
}

/// Takes out what depends on time.
fn without_times(result: &mut Value) {
    result.as_object_mut().unwrap().retain(|key, _| !["elapsed_s", "shard"].contains(&key.as_str()));
    let kernels = result["kernels"].as_array_mut().unwrap().iter_mut().map(|kernel| &mut kernel["levels"]);
    let mut rows: Vec<&mut Value> = kernels.flat_map(|rows| rows.as_array_mut().unwrap()).collect();
    rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("cost")));
    let total = result["total"]["levels"].as_array_mut().unwrap();
    total.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("cost")));
}

#[test]
fn levels_are_compared_on_the_same_tests() -> TestResult {
    let folder = tempfile::tempdir()?;
    let tables = folder.path().join("tables");
    let suite = suite("saxpy_tail");
    let result = compare(&[&suite, "--levels", "canonical,ir:raw,ir:O2", "--tests", "12", "--csv", at(&tables)], 0)?;
    valid(&result, "compare.schema.json")?;
    let kernel = &result["kernels"][0];
    let tests = kernel["tests"].as_array().unwrap();
    let generated = tests.iter().filter(|test| test["origin"] == "generated").count();
    assert_eq!((generated, tests.iter().all(|test| test["status"] == "used")), (12, true));

    for level in ["canonical", "ir:raw", "ir:O2"] {
        let rows: Vec<&Value> =
            kernel["levels"].as_array().unwrap().iter().filter(|row| row["level"] == level).collect();
        assert_eq!(rows[0]["concept"], "all");
        // Each mutant has one concept, and one fate.
        for key in ["generated", "killed", "survived", "duplicate", "equivalent"] {
            let sum: u64 = rows[1..].iter().map(|row| row[key].as_u64().unwrap()).sum();
            assert_eq!(rows[0][key], json!(sum), "{level} {key}");
        }
        let of = |key: &str| rows[0][key].as_u64().unwrap();
        let fates = [
            "compile_error",
            "ignored",
            "equivalent",
            "equivalent_for_launches",
            "duplicate",
            "killed",
            "timeout",
            "runtime_error",
            "survived",
            "undecided",
            "no_coverage",
        ];
        assert_eq!(fates.iter().map(|key| of(key)).sum::<u64>(), of("generated"), "{level}");
        assert!(of("minimal") > 0 && of("minimal") == of("disjoint") && of("minimal") <= of("distinguished"));

        // The rows say what the mutants say.
        let mutants: Vec<&Value> =
            kernel["mutants"].as_array().unwrap().iter().filter(|mutant| mutant["level"] == level).collect();
        assert_eq!(mutants.len() as u64, of("generated"));
        let kills = |mutant: &Value| -> BTreeSet<u64> {
            mutant["killed_by"].as_array().unwrap().iter().filter_map(Value::as_u64).collect()
        };
        let counting: Vec<BTreeSet<u64>> = mutants
            .iter()
            .filter(|m| m["duplicate_of"].is_null() && m["status"] != "equivalent" && m["status"] != "ignored")
            .map(|mutant| kills(mutant))
            .filter(|kills| !kills.is_empty())
            .collect();
        let classes: BTreeSet<&BTreeSet<u64>> = counting.iter().collect();
        assert_eq!(classes.len() as u64, of("distinguished"), "{level}");
        let is_minimal =
            |kills: &&&BTreeSet<u64>| !classes.iter().any(|other| other != *kills && other.is_subset(kills));
        assert_eq!(classes.iter().filter(is_minimal).count() as u64, of("minimal"), "{level}");
    }

    // `<` for `<=` is one program at both levels: 99 of canonical's, and 126 of the IR's, are made of the same code.
    let twins = kernel["twins"].as_array().unwrap();
    let pairs: Vec<&Value> =
        twins.iter().filter(|pair| pair["level"] == "canonical" && pair["other_level"] == "ir:raw").collect();
    assert!(pairs.len() > 40, "{}", pairs.len());
    let operators: BTreeMap<&str, &str> = kernel["mutants"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|mutant| Some((mutant["id"].as_str()?, mutant["operator"].as_str()?)))
        .collect();
    let operator = |pair: &Value, key: &str| operators[pair[key].as_str().unwrap()];
    let relations = pairs.iter().filter(|p| operator(p, "mutant") == "ROR" && operator(p, "other_mutant") == "ICP");
    assert!(relations.count() >= 5, "relational operators have twins");

    // The tables say what the result says.
    let described = lines(&tables.join("columns.csv"))?;
    for table in ["tests", "mutants", "kills", "levels", "twins", "cross", "correlation", "correlation_within_sizes"] {
        let rows = lines(&tables.join(format!("{table}.csv")))?;
        let columns = rows[0].split(',').count();
        let own = described.iter().filter(|line| line.starts_with(&format!("{table},"))).count();
        assert_eq!(columns, own, "{table}");
        let expected = match table {
            "kills" => {
                let kills = |mutant: &Value| mutant["killed_by"].as_array().unwrap().len();
                kernel["mutants"].as_array().unwrap().iter().map(kills).sum()
            }
            name => kernel[name].as_array().unwrap().len(),
        };
        assert_eq!(rows.len() - 1, expected, "{table}");
    }
    Ok(())
}

fn lines(path: &Path) -> TestResult<Vec<String>> {
    Ok(std::fs::read_to_string(path)?.lines().map(str::to_owned).collect())
}

#[test]
fn scores_are_held_against_faults() -> TestResult {
    let suite = suite("saxpy_tail");
    let faults = testdata("saxpy_tail/faults");
    let folder = tempfile::tempdir()?;
    let args = [&suite, "--levels", "canonical", "--faults", at(&faults), "--csv", at(folder.path())];
    let result = compare(&args, 0)?;
    valid(&result, "compare.schema.json")?;
    let kernel = &result["kernels"][0];
    // Only the second and the third test have a tail.
    let expected = json!([
        { "fault": "tail_misses_last", "found_by": [1, 2] },
        { "fault": "tail_misses_odd", "found_by": [1, 2] },
        { "fault": "tail_without_factor", "found_by": [1, 2] },
        { "fault": "vector_bound", "found_by": [] },
        { "fault": "vector_subtracts", "found_by": [0, 1, 2] },
    ]);
    assert_eq!(kernel["faults"], expected);
    let rows = kernel["against_faults"].as_array().unwrap();
    let measures: BTreeSet<&str> = rows.iter().filter_map(|row| row["measure"].as_str()).collect();
    // Without a decision of several conditions there is no MC/DC, and its work-items exchange nothing.
    assert_eq!(measures, ["branch", "canonical", "def_use", "line", "loop", "region", "statement"].into());
    // A sub-suite of one test finds one fault or four; those with a tail cover more loop classes, too.
    let row = rows.iter().find(|row| row["measure"] == "loop" && row["tests"] == 1).unwrap();
    assert!(row["pearson"]["mean"].as_f64().unwrap() > 0.5, "{row}");
    let found = row["found"].as_f64().unwrap();
    assert!((20.0..=80.0).contains(&found), "{found}");
    assert_eq!(lines(&folder.path().join("faults.csv"))?.len(), 1 + 2 + 2 + 2 + 1 + 3);

    // The folders above it hold kernels, each with its folder `faults`; the kernel itself is no variant.
    let above = testdata("");
    let result = compare(&[&suite, "--levels", "canonical", "--faults", at(&above)], 0)?;
    assert_eq!(result["kernels"][0]["faults"], expected);

    let empty = tempfile::tempdir()?;
    let (_, err, code) = run(&["compare", &suite, "--device", "sim", "--faults", at(empty.path())])?;
    assert!(code == 2 && err.contains("no file with the extension cl"), "{err}");
    let other = empty.path().join("other.cl");
    std::fs::write(&other, "kernel void saxpy_tail(global float *y) { y[0] = 1; }")?;
    let (_, err, code) = run(&["compare", &suite, "--device", "sim", "--faults", at(empty.path())])?;
    assert!(code == 2 && err.contains("other.cl"), "{err}");
    Ok(())
}

#[test]
fn coverage_against_faults_that_were_worked_out_by_hand() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = |decision: &str| {
        format!(
            "kernel void k(global int *out, int a, int b) {{
                local int tile[2];
                int i = get_local_id(0);
                tile[i] = {decision} ? 1 : 2;
                barrier(CLK_LOCAL_MEM_FENCE);
                out[i] = tile[1 - i];
            }}"
        )
    };
    std::fs::create_dir(folder.path().join("faults"))?;
    for (name, decision) in [("k", "a > 0 && b > 0"), ("faults/only_a", "a > 0"), ("faults/only_b", "b > 0")] {
        std::fs::write(folder.path().join(format!("{name}.cl")), kernel(decision))?;
    }
    let suite = folder.path().join("suite.toml");
    let test = |name: &str, a: i32, b: i32| {
        format!(
            "[[test]]\nname = \"{name}\"\nglobal = [2]\nlocal = [2]\n\
             args = {{ out = {{ fill = 0, len = 2 }}, a = {a}, b = {b} }}\n"
        )
    };
    let tests = test("TT", 1, 1) + &test("TF", 1, 0) + &test("F-", 0, 1);
    std::fs::write(&suite, format!("kernel = \"k.cl\"\n{tests}"))?;
    let faults = folder.path().join("faults");
    let result = compare(&[at(&suite), "--levels", "canonical", "--faults", at(&faults)], 0)?;
    valid(&result, "compare.schema.json")?;
    assert_eq!(result["device"]["kind"], "simulator");
    let kernel = &result["kernels"][0];
    assert_eq!(kernel["device"], result["device"]);
    // TF alone has a without b; F- has b without a.
    let expected = json!([{ "fault": "only_a", "found_by": [1] }, { "fault": "only_b", "found_by": [2] }]);
    assert_eq!(kernel["faults"], expected);
    let pearson = |measure: &str, tests: u64| {
        let mut rows = kernel["against_faults"].as_array().unwrap().iter();
        let row = rows.find(|row| row["measure"] == measure && row["tests"] == tests).unwrap();
        row["pearson"]["mean"].as_f64().map(|value| (value * 1e6).round() / 1e6)
    };
    // One test shows no condition and takes one of two outcomes. Of two, TT with TF shows b, and with F- a; each pair
    // finds one fault. TF with F- finds both, shows nothing and takes one outcome.
    for measure in ["mcdc", "branch"] {
        assert_eq!((pearson(measure, 1), pearson(measure, 2)), (None, Some(-1.0)), "{measure}");
    }
    // Every test has each work-item read what the other one wrote.
    assert_eq!((pearson("def_use_inter_item", 1), pearson("def_use_inter_item", 2)), (None, None));
    let mut within = kernel["against_faults_within_sizes"].as_array().unwrap().iter();
    let row = within.find(|row| row["measure"] == "mcdc").unwrap();
    assert_eq!((&row["sizes"], &row["defined"], &row["suites"]), (&json!(2), &json!(1), &json!(50)));
    let value = row["pearson"]["mean"].as_f64().unwrap();
    assert!(-1.0 < value && value < 0.0, "{row}");
    let totals = result["total"]["against_faults"].as_array().unwrap();
    let total = totals.iter().find(|total| total["measure"] == "mcdc").unwrap();
    assert_eq!(
        (&total["kernels"], &total["defined"], &total["pearson"]["mean"]),
        (&json!(1), &json!(1), &json!(value))
    );

    // Other faults are another run.
    let output = folder.path().join("result.json");
    let args = [at(&suite), "--levels", "canonical", "--faults", at(&faults), "-o", at(&output)];
    compare(&args, 0)?;
    std::fs::remove_file(faults.join("only_a.cl"))?;
    let (_, err, code) =
        run(&[&["compare", "--device", "sim", "--samples", "25", "-j", "2", "--resume"], &args[..]].concat())?;
    assert!(code == 2 && err.contains("result of another run"), "{err}");
    Ok(())
}

#[test]
fn runs_are_repeatable_and_shards_make_the_whole() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suites = [suite("vector_add"), suite("saxpy_tail"), suite("liu_example")];
    let mut args: Vec<&str> = suites.iter().map(String::as_str).collect();
    args.extend(["--levels", "canonical,ir:O1"]);
    let mut whole = compare(&args, 0)?;
    assert_eq!(whole["total"]["kernels"], 3);
    let sum: u64 = whole["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| kernel["levels"][0]["generated"].as_u64().unwrap())
        .sum();
    assert_eq!(whole["total"]["levels"][0]["generated"], sum);

    let parts: Vec<String> = (1..=2).map(|part| at(&folder.path().join(format!("{part}.json"))).to_owned()).collect();
    for (part, file) in parts.iter().enumerate() {
        let shard = format!("{}/2", part + 1);
        compare(&[&args[..], &["--shard", &shard, "-o", file]].concat(), 0)?;
    }
    let merged = folder.path().join("merged.json");
    let (_, err, code) = run(&["merge", &parts[1], &parts[0], "-o", at(&merged)])?;
    assert_eq!(code, 0, "{err}");
    let mut merged = read(&merged)?;
    valid(&merged, "compare.schema.json")?;
    let by_suite = |result: &mut Value| {
        result["kernels"].as_array_mut().unwrap().sort_by_key(|kernel| kernel["suite"].as_str().unwrap().to_owned());
        for key in ["kernel", "source"] {
            result[key] = Value::Null;
        }
        // Rows and means over kernels come in the order of the kernels.
        result.as_object_mut().unwrap().remove("total");
    };
    assert_eq!(merged["total"]["kernels"], whole["total"]["kernels"]);
    assert_eq!(merged["total"]["twins"], whole["total"]["twins"]);
    without_times(&mut whole);
    without_times(&mut merged);
    by_suite(&mut whole);
    by_suite(&mut merged);
    assert_eq!(merged, whole);

    let (_, err, code) = run(&["merge", &parts[1], &parts[1], "-o", at(&folder.path().join("twice.json"))])?;
    assert!(code == 2 && err.contains("another result of shard 2/2"), "{err}");
    let (_, err, code) = run(&["merge", &parts[1], "-o", at(&folder.path().join("half.json"))])?;
    assert!(code == 2 && err.contains("shard 1/2 is missing"), "{err}");
    Ok(())
}

#[test]
fn a_run_that_was_ended_goes_on_where_it_was() -> TestResult {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("compare.json");
    let (one, other) = (suite("vector_add"), suite("saxpy_tail"));
    let args = [one.as_str(), &other, "--levels", "canonical", "-o", at(&output)];
    let first = compare(&args, 0)?;
    // What a run leaves that is killed after the first suite.
    let journal = folder.path().join("compare.json.journal.jsonl");
    let header = json!({
        "schema": "kassay.journal/1", "command": "compare", "version": first["version"], "kernel": "",
        "configuration": first["configuration"],
    });
    let mut marked = first["kernels"][0].clone();
    marked["source"] = json!("taken from the journal");
    std::fs::write(&journal, format!("{header}\n{}\n", json!({ "compared": marked })))?;
    let resumed = compare(&[&args[..], &["--resume"]].concat(), 0)?;
    assert_eq!(resumed["kernels"][0]["source"], "taken from the journal");
    assert_eq!(resumed["kernels"][1]["twins"], first["kernels"][1]["twins"]);
    assert!(!journal.exists());
    // With nothing left to do, the result is returned; that of another run is not replaced.
    assert_eq!(compare(&[&args[..], &["--resume"]].concat(), 0)?["elapsed_s"], resumed["elapsed_s"]);
    let (_, err, code) = run(&["compare", &one, "--device", "sim", "-o", at(&output), "--resume"])?;
    assert!(code == 2 && err.contains("result of another run"), "{err}");
    Ok(())
}
