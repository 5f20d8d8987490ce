//! Checks that results of `kassay cover`, merged, are those of one run, and what cannot be merged.

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json, read, run, valid};
use crate::common::testdata::{suite, testdata};

const FLAGS: [&str; 8] = ["--device", "sim", "--mcdc", "masking", "--def-use", "--counts", "--repeats", "1"];

/// Takes out what depends on time.
fn without_times(result: &mut Value) {
    let object = result.as_object_mut().unwrap();
    object.retain(|key, _| !["elapsed_s", "overhead", "notes"].contains(&key.as_str()));
    result["def_use"]["overhead"] = Value::Null;
    for test in result["tests"].as_array_mut().unwrap() {
        test.as_object_mut().unwrap().retain(|key, _| !key.ends_with("_s"));
    }
}

#[test]
fn the_parts_of_a_suite_make_the_whole() -> TestResult {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| Box::leak(folder.path().join(name).display().to_string().into_boxed_str()) as &str;
    let text = std::fs::read_to_string(suite("mcdc_decisions"))?;
    let source = testdata("mcdc_decisions/mcdc_decisions.cl");
    let text = text.replace("\"mcdc_decisions.cl\"", &format!("{:?}", at(&source)));
    let tests: Vec<&str> = text.split("[[test]]").collect();
    let [head, first, second] = tests[..] else { return Err("the fixture has two tests".into()) };
    for (name, tests) in [("whole", vec![first, second]), ("1", vec![first]), ("2", vec![second])] {
        let tests: String = tests.iter().map(|test| format!("[[test]]{test}")).collect();
        std::fs::write(path(&format!("{name}.toml")), format!("{head}{tests}"))?;
        let (suite, output) = (path(&format!("{name}.toml")), path(&format!("{name}.json")));
        let (_, err, code) = run(&[&["cover", suite, "-o", output, "--quiet"], &FLAGS[..]].concat())?;
        assert_eq!(code, 0, "{err}");
    }
    let merge = |parts: &[&str]| run(&[&["merge", "-o", path("merged.json")], parts].concat());
    let (_, err, code) = merge(&[path("1.json"), path("2.json")])?;
    assert_eq!(code, 0, "{err}");
    let [mut whole, mut merged, part] =
        ["whole", "merged", "1"].map(|name| read(path(&format!("{name}.json")).as_ref()).unwrap());
    valid(&merged, "cover.schema.json")?;
    // Some conditions are shown by vectors of both tests together.
    let covered = |result: &Value| result["coverage"]["mcdc"]["covered"].as_u64();
    assert_eq!((covered(&whole), covered(&merged)), (Some(15), Some(15)));
    assert!(
        covered(&part) < Some(15) && part["coverage"]["average_statement"] != whole["coverage"]["average_statement"]
    );
    without_times(&mut whole);
    without_times(&mut merged);
    assert_eq!(merged, whole);

    // The same tests once more: they cover nothing new, and keep apart by name.
    std::fs::copy(path("1.json"), path("again.json"))?;
    let (_, err, code) = merge(&[path("1.json"), path("again.json")])?;
    assert_eq!(code, 0, "{err}");
    let twice = read(path("merged.json").as_ref())?;
    assert_eq!(twice["coverage"], part["coverage"]);
    let names: Vec<&str> = twice["tests"].as_array().unwrap().iter().filter_map(|test| test["name"].as_str()).collect();
    let renamed = format!("first ({})", path("again.json"));
    assert_eq!(names, ["first", renamed.as_str()]);
    for hits in [&twice["sites"][0]["hits_by_test"], &twice["mcdc"]["decisions"][0]["vectors"][0]["hits_by_test"]] {
        assert!(hits.get(&renamed).is_some() && hits.as_object().unwrap().len() == 2, "{hits}");
    }
    let pairs = twice["def_use"]["pairs"].as_array().unwrap();
    assert!(pairs.iter().any(|pair| pair["tests"].to_string().contains("again.json")));

    // Metrics and kernels must be the same.
    let other = path("other.json");
    let fails = |args: &[&str], part: &str| -> TestResult {
        let (_, err, code) = run(&[args, &["-o", other, "--quiet", "--device", "sim"]].concat())?;
        assert_eq!(code, 0, "{err}");
        let (_, err, code) = merge(&[path("1.json"), other])?;
        assert!(code == 2 && err.contains(part), "{args:?}: {code} {err}");
        Ok(())
    };
    fails(&["cover", path("2.toml"), "--mcdc", "masking", "--def-use"], "with the same --counts")?;
    fails(&["cover", path("2.toml"), "--counts", "--def-use"], "with the same --mcdc")?;
    fails(&["cover", path("2.toml"), "--counts", "--def-use", "--mcdc", "unique"], "with the same --mcdc")?;
    fails(&["cover", path("2.toml"), "--counts", "--mcdc", "masking"], "with the same --def-use")?;
    fails(&["cover", at(&suite("vector_add"))], "their kernels are `mcdc_decisions` and `vector_add`")?;
    fails(&["run", path("2.toml")], "is a result of `kassay run`")?;
    let (_, err, code) = merge(&[path("1.json"), path("1.json")])?;
    assert!(code == 2 && err.contains("is named twice"), "{err}");
    Ok(())
}

#[test]
fn inspect_counts_what_mcdc_and_def_use_are_of() -> TestResult {
    for (name, decisions, conditions) in [("mcdc_decisions", 8, 24), ("reduction_tree", 0, 0)] {
        let covered = json(&[&["cover", at(&suite(name))], &FLAGS[..]].concat(), 0)?;
        let source = testdata(format!("{name}/{name}.cl"));
        let counts = json(&["inspect", at(&source)], 0)?["kernels"][0]["counts"].clone();
        assert_eq!(
            (&counts["decisions"], &counts["mcdc_conditions"]),
            (&decisions.into(), &conditions.into()),
            "{name}"
        );
        assert_eq!(covered["coverage"]["mcdc"]["total"], counts["mcdc_conditions"], "{name}");
        assert_eq!(covered["coverage"]["def_use"]["total"], counts["def_use_pairs"], "{name}");
        let mut between = 0;
        for kind in covered["def_use"]["summary"].as_array().unwrap() {
            let pairs = kind["pairs"].as_u64().unwrap();
            let name = kind["kind"].as_str().unwrap();
            assert_eq!(counts["def_use_pairs_by_kind"][name].as_u64().unwrap_or(0), pairs, "{name}");
            if ["across-barrier", "within-group", "across-groups"].contains(&name) {
                between += pairs;
            }
        }
        assert_eq!(covered["coverage"]["def_use_inter_item"]["total"], between, "{name}");
    }
    Ok(())
}
