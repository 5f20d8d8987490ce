//! Fates taken over from a baseline are those of a whole run. `tests/cli/baseline.md` has what is said of new survivors.

use serde_json::Value;

use crate::common::TestResult;
use crate::common::bench::Bench;
use crate::common::program::{at, json, valid};

/// Mutates a suite on a device and returns the result, which is written to a file.
fn mutate(bench: &Bench, suite: &str, device: &str, output: &str, flags: &[&str]) -> TestResult<Value> {
    let all = [&["mutate", suite, "--device", device, "--quiet", "-o", output], flags].concat();
    let finished = bench.run(&all)?;
    assert!(finished.code < Some(2), "{all:?}: {}", finished.err);
    bench.read(output)
}

/// Mutates a suite with the baseline `base.json` and without one, and checks that both agree. Returns the result with
/// the baseline.
fn compare(bench: &Bench, suite: &str, device: &str, flags: &[&str], what: &str) -> TestResult<Value> {
    let whole = mutate(bench, suite, device, "whole.json", flags)?;
    let taken = mutate(bench, suite, device, "taken.json", &[flags, &["--baseline", "base.json"]].concat())?;
    valid(&taken, "mutate.schema.json")?;
    assert_eq!(fates(&taken), fates(&whole), "{what}");
    for key in ["summary", "operators", "lines", "tests", "not_simulated"] {
        assert_eq!(taken[key], whole[key], "{what}: {key}");
    }
    Ok(taken)
}

/// Returns the mutants of a result without their marks.
fn fates(result: &Value) -> Vec<Value> {
    let mut mutants = result["mutants"].as_array().cloned().unwrap_or_default();
    for mutant in &mut mutants {
        drop(mutant.as_object_mut().map(|fields| fields.remove("taken_over")));
    }
    mutants
}

fn taken_over(result: &Value) -> u64 {
    let marks =
        result["mutants"].as_array().into_iter().flatten().filter(|mutant| mutant["taken_over"] == true).count();
    assert_eq!(result["baseline"]["taken_over"], marks as u64);
    marks as u64
}

fn survivors(result: &Value) -> Vec<&str> {
    let new = result["baseline"]["new_survivors"].as_array();
    new.into_iter().flatten().filter_map(|new| new["id"].as_str()).collect()
}

#[test]
fn what_has_not_changed_is_taken_over_whole() -> TestResult {
    // Loops and accesses out of bounds; barriers, local memory and the simulator's judgement; helpers.
    let kernels: [(&str, &str, &str, &[&str]); 3] = [
        ("saxpy_tail", "suite.toml", "saxpy_tail.cl", &[]),
        ("reduction_tree", "suite.toml", "reduction_tree.cl", &["--sample", "30"]),
        ("image_grading", "suite_grade.toml", "image_grading.cl", &[]),
    ];
    for (folder, suite, kernel, flags) in kernels {
        let copy = Bench::copy_of(folder)?;
        mutate(&copy, suite, "sim", "base.json", flags)?;
        let text = copy.text(kernel)?;
        let moved = format!("// A comment.\n\n{}", text.replace("    ", "\t "));
        copy.put(kernel, moved)?;
        let taken = compare(&copy, suite, "sim", flags, folder)?;
        assert_eq!(taken["timing"]["pairs"], 0, "{folder}");
        assert!(taken_over(&taken) > 15, "{folder}: {}", taken_over(&taken));
        assert_eq!(taken["baseline"].get("why_not"), None, "{folder}");
        assert!(survivors(&taken).is_empty(), "{folder}");
    }
    Ok(())
}

#[test]
fn a_change_elsewhere_in_the_file_leaves_everything_and_one_that_is_called_nothing() -> TestResult {
    let copy = Bench::copy_of("image_grading")?;
    mutate(&copy, "suite_grade.toml", "sim", "base.json", &[])?;
    copy.replace("image_grading.cl", "(left + 2 * middle + right + 2) / 4", "(left + middle + right + 1) / 3")?;
    let taken = compare(&copy, "suite_grade.toml", "sim", &[], "another function")?;
    assert_eq!(taken["timing"]["pairs"], 0);
    assert!(taken_over(&taken) > 30, "{}", taken_over(&taken));
    copy.replace("image_grading.cl", "(product + 32) / 64", "product / 64 + (product % 64 >= 32)")?;
    let taken = compare(&copy, "suite_grade.toml", "sim", &[], "a function that is called")?;
    assert_eq!(taken_over(&taken), 0);
    assert!(taken["baseline"]["why_not"].as_str().is_some_and(|why| why.contains("has changed")));
    assert!(taken["timing"]["pairs"].as_u64() > Some(0));
    Ok(())
}

#[test]
fn verdicts_of_unchanged_tests_are_taken_over() -> TestResult {
    let first = "name = \"multiple of four\"\nglobal = [64]\nlocal = [16]\n[test.args]\nn = 256\na = 2.0";
    let changes: [(&str, &str, &str, bool); 5] = [
        ("an expectation", "start = 8, step = -1 } } }", "start = 8, step = -1 }, abs = 0.5 } }", true),
        ("an input", "start = 4, step = 4", "start = 5, step = 4", true),
        ("only how a value is written", first, &first.replace("a = 2.0", "a = 2"), true),
        ("a name", "name = \"two left over\"", "name = \"two\"", true),
        (
            "the tolerance of all",
            "tolerance = { abs = 0.0, rel = 0.0 }",
            "tolerance = { abs = 0.25, rel = 0.0 }",
            false,
        ),
    ];
    for (what, from, to, some) in changes {
        let copy = Bench::copy_of("saxpy_tail")?;
        let base = mutate(&copy, "suite.toml", "sim", "base.json", &[])?;
        copy.replace("suite.toml", from, to)?;
        let taken = compare(&copy, "suite.toml", "sim", &[], what)?;
        let fewer = taken["timing"]["pairs"].as_u64() < base["timing"]["pairs"].as_u64();
        assert_eq!(fewer, some, "{what}: {}", taken["timing"]["pairs"]);
    }
    // Tests that are gone, new, or in another order.
    let copy = Bench::copy_of("saxpy_tail")?;
    mutate(&copy, "suite.toml", "sim", "base.json", &[])?;
    let text = copy.text("suite.toml")?;
    let parts: Vec<&str> = text.split("[[test]]").collect();
    let [head, one, two, three] = parts[..] else { return Err("not three tests".into()) };
    let more = two.replace("two left over", "another");
    let more = more.as_str();
    for tests in
        [&[two, three][..], &[one, two], &[three, two, one], &[one, two, three, more], &[more, one, two, three]]
    {
        let tests: String = tests.iter().map(|test| format!("\n[[test]]{test}")).collect();
        copy.put("suite.toml", format!("{head}{tests}"))?;
        let taken = compare(&copy, "suite.toml", "sim", &[], &tests)?;
        assert!(taken["baseline"]["why_not"].as_str().is_some_and(|why| why.contains("tests have changed")));
    }
    Ok(())
}

#[test]
fn other_devices_and_options_take_nothing_over() -> TestResult {
    let copy = Bench::copy_of("saxpy_tail")?;
    mutate(&copy, "suite.toml", "sim", "base.json", &[])?;
    let taken = compare(&copy, "suite.toml", "opencl", &[], "another device")?;
    assert_eq!((taken_over(&taken), &taken["baseline"]["why_not"]), (0, &"the baseline is of another device".into()));
    let taken = compare(&copy, "suite.toml", "sim", &["--timeout", "20"], "another limit")?;
    assert_eq!((taken_over(&taken), &taken["baseline"]["why_not"]), (0, &"the baseline is of other options".into()));
    // Which mutants are made is another question.
    let taken = compare(&copy, "suite.toml", "sim", &["--operators", "ROR,AOR,SDL"], "some of the mutants")?;
    assert!(taken_over(&taken) > 5, "{}", taken_over(&taken));
    // A mutant that equalled one which is not made now is run.
    assert!(taken["timing"]["pairs"].as_u64() < Some(5), "{}", taken["timing"]["pairs"]);
    // On the device, too.
    mutate(&copy, "suite.toml", "opencl", "base.json", &[])?;
    copy.replace("saxpy_tail.cl", "#define WIDTH 4", "#define  WIDTH 4 // four")?;
    assert!(taken_over(&compare(&copy, "suite.toml", "opencl", &[], "a comment")?) > 50);
    Ok(())
}

const PROJECT: &str = "[options]\ndevice = \"sim\"\n[mutate]\nsample = 40\nfail-on-new-survivors = true\n";

fn ci(bench: &Bench, args: &[&str]) -> TestResult<(String, i32)> {
    let finished = bench.run(&[&["ci"], args].concat())?;
    Ok((finished.err, finished.code.unwrap_or(-1)))
}

#[test]
fn sets_and_projects_have_baselines() -> TestResult {
    let copy = Bench::copy_of("image_grading")?;
    let at_folder = |name: &str| copy.path(name);
    let suites = ["grade", "blur_rows"].map(|name| at_folder(&format!("suite_{name}.toml")));
    let of_set = at_folder("set.json");
    let flags = ["mutate", at(&suites[0]), at(&suites[1]), "--device", "sim", "--sample", "40"];
    let set = json(&[&flags[..], &["--quiet", "-o", at(&of_set)]].concat(), 0)?;
    copy.replace("image_grading.cl", "(product + 32) / 64", "product / 64 + (product % 64 >= 32)")?;
    let again = json(&[&flags[..], &["--quiet", "--baseline", at(&of_set)]].concat(), 0)?;
    valid(&again, "mutate-set.schema.json")?;
    let kernels = [&again["kernels"][0], &again["kernels"][1]];
    assert_eq!(taken_over(kernels[0]), 0);
    assert!(taken_over(kernels[1]) > 20 && kernels[1]["timing"]["pairs"] == 0);
    assert_eq!(fates(kernels[1]), fates(&set["kernels"][1]));
    // A single kernel, with the result of several; and one that is new there.
    let base = at_folder("base.json");
    std::fs::copy(&of_set, &base)?;
    let flags = ["--sample", "40"];
    let taken = compare(&copy, "suite_blur_rows.toml", "sim", &flags, "one of a set")?;
    assert!(taken_over(&taken) > 20);
    let taken = compare(&copy, "suite_blend.toml", "sim", &flags, "one that is not in the set")?;
    assert!(taken["baseline"]["why_not"].as_str().is_some_and(|why| why.contains("no result of this kernel")));
    // A project: all that survives is new at first.
    let project = Bench::copy_of("vector_add")?;
    project.put("kassay.toml", PROJECT)?;
    let (err, code) = ci(&project, &["-o", "first.json"])?;
    assert!(code == 2 && err.contains("--baseline"), "{err}");
    project.put("kassay.toml", PROJECT.replace("fail-on-new-survivors = true\n", ""))?;
    let (err, code) = ci(&project, &["-o", "first.json", "--quiet"])?;
    assert_eq!(code, 0, "{err}");
    project.put("kassay.toml", PROJECT)?;
    let (err, code) = ci(&project, &["--baseline", "first.json", "-o", "second.json", "--quiet"])?;
    assert_eq!(code, 0, "{err}");
    let second = project.read("second.json")?;
    assert!(taken_over(&second["mutate"]["kernels"][0]) > 10);
    // With a test alone that finds no mutant.
    let text = project.text("suite.toml")?;
    let parts: Vec<&str> = text.split("[[test]]").collect();
    let idle = parts.iter().find(|part| part.contains("name = \"nothing to do\"")).ok_or("no such test")?;
    project.put("suite.toml", format!("{}[[test]]{idle}", parts[0]))?;
    let (err, code) = ci(&project, &["--baseline", "first.json", "-o", "third.json", "--quiet"])?;
    assert!(code == 1 && err.contains("that the baseline does not have"), "{code}: {err}");
    Ok(())
}
