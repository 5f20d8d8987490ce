//! Checks `kassay generate --from SUITE`: what is learnt from suites, and that generated tests keep to it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kassay::OpenOptions;
use kassay_ir::llvm::Context;
use kassay_judge::generate::roles;
use kassay_judge::generate::seeds::Seeds;
use kassay_suite::launch::{ArgValue, Launch};
use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{self, at, json, run as kassay, valid};
use crate::common::testdata;

/// What launches of a suite teach, with the tests of another suite of the kernel.
struct Learnt {
    seeds: Seeds,
    sentences: Vec<String>,
    guesses: BTreeSet<String>,
    tests: Vec<(String, Launch)>,
}

/// Learns from `suite`, and reads `other`.
fn learn(suite: &Path, other: &Path) -> TestResult<Learnt> {
    let context = Context::create();
    let options = OpenOptions::new();
    let parsed = options.parse_suite(&context, suite)?;
    let model = roles::infer(&parsed.under_test)?;
    let tests = parsed.tests.iter().map(|t| (t.name.clone(), t.launch.clone()));
    let seeds = Seeds::learn(suite.display().to_string(), tests, &model, 4096, 1024);
    let rows = seeds.invariants.rows(&model);
    let context = Context::create();
    let tests = options.parse_suite(&context, other)?.tests;
    Ok(Learnt {
        seeds,
        sentences: rows.iter().map(|row| row.sentence.clone()).collect(),
        guesses: rows.into_iter().filter(|row| row.guess).map(|row| row.sentence).collect(),
        tests: tests.into_iter().map(|t| (t.name, t.launch)).collect(),
    })
}

/// Generates from a suite; returns the result.
fn generate_from(suite: &Path, folder: &Path, more: &[&str]) -> TestResult<Value> {
    let result = json(&[&["generate", "--from", at(suite), "-o", at(folder), "--max-execs", "400"], more].concat(), 0)?;
    valid(&result, "generate.schema.json")?;
    Ok(result)
}

fn strings(value: &Value, key: &str) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.map(|one| one[key].as_str().unwrap_or_default().to_owned()).collect()
}

/// Asserts that each test of the suite in `folder` keeps every likely invariant, and that those in its folder `beyond`
/// do not.
fn assert_kept(suite: &Path, folder: &Path) -> TestResult<Learnt> {
    let learnt = learn(suite, &folder.join("suite.toml"))?;
    assert!(!learnt.tests.is_empty(), "{}", suite.display());
    for (name, launch) in &learnt.tests {
        let broken = learnt.seeds.invariants.broken(launch);
        assert!(broken.is_empty(), "{}: {name}: {broken:?}", suite.display());
    }
    let beyond = folder.join("beyond/suite.toml");
    if beyond.exists() {
        for (name, launch) in &learn(suite, &beyond)?.tests {
            assert!(!learnt.seeds.invariants.hold(launch), "{}: {name}", suite.display());
        }
    }
    Ok(learnt)
}

#[test]
fn generated_tests_keep_all_likely_invariants_and_cover_what_the_seeds_do() -> TestResult {
    for name in ["saxpy_tail", "stencil_2d", "spmv_csr", "histogram_atomic", "game_of_life", "kmeans_assign"] {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("out");
        let suite = testdata::suite(name);
        // Random tests beside those for coverage: the more there are, the more could break something.
        let result = generate_from(&suite, &out, &["--tests", "16"])?;
        assert!(result["tests"].as_array().is_some_and(|tests| tests.len() == 16), "{name}");
        let learnt = assert_kept(&suite, &out)?;
        let from = &result["from"];
        assert_eq!(strings(&from["couplings"], "sentence"), learnt.sentences, "{name}");
        // What is divided by there is a difference of two numbers, of which one may well be 0.
        let contradictions: &[Value] = from["contradictions"].as_array().map_or(&[], |all| all);
        let is_known = |told: &Value| name == "histogram_atomic" && told.to_string().contains("low for a part");
        assert!(contradictions.iter().all(is_known), "{name}: {from}");
        assert_eq!(contradictions.is_empty(), name != "histogram_atomic", "{name}: {from}");
        assert_eq!(from["left_out"].as_array().map(Vec::len), Some(0), "{name}: {from}");
        // The seeds' coverage is what kassay cover says, and the suite's is not less.
        let covered = json(&["cover", at(&suite), "--device", "sim", "--repeats", "1"], 0)?;
        assert_eq!(covered["coverage"], from["coverage"], "{name}");
        for metric in ["branch", "condition", "barrier", "line"] {
            let of = |coverage: &Value| coverage[metric]["covered"].as_u64();
            assert!(of(&result["coverage"]) >= of(&from["coverage"]), "{name}: {metric}");
        }
        let before = from["coverage"]["branch"]["covered"].as_u64().ok_or("no number")?;
        let after = result["coverage"]["branch"]["covered"].as_u64().ok_or("no number")?;
        assert_eq!(from["added"].as_u64(), Some(after - before), "{name}");
        let again = json(&["cover", at(&out.join("suite.toml")), "--device", "sim", "--repeats", "1"], 0)?;
        assert_eq!(again["coverage"], result["coverage"], "{name}");
    }
    Ok(())
}

#[test]
fn lengths_sizes_and_contents_are_learnt() -> TestResult {
    let has = |name: &str, wanted: &[&str]| -> TestResult {
        let suite = testdata::suite(name);
        let learnt = learn(&suite, &suite)?;
        for sentence in wanted {
            assert!(learnt.sentences.iter().any(|s| s == sentence), "{name}: {sentence}: {:?}", learnt.sentences);
            assert!(!learnt.guesses.contains(*sentence), "{name}: {sentence} is a guess");
        }
        Ok(())
    };
    has("saxpy_tail", &["x has n elements", "y has n elements"])?;
    has(
        "spmv_csr",
        &[
            "y has rows elements",
            "row_start has rows + 1 elements",
            "the numbers in column are at least 0 and less than len(x)",
            "the numbers in row_start do not fall",
            "the first number in row_start is 0",
        ],
    )?;
    has("histogram_atomic", &["samples has count elements", "bins has 24 elements", "outside has 2 elements"])
}

const GRID: &str = "kernel void grid(global const float *in, global float *out, int width, int height, int mode) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    if (mode == 7) out[y * width + x] = 0.0f;
    else if (in[y * width + x] > 1000.0f) out[y * width + x] = 1.0f;
    else out[y * width + x] = in[y * width + x];
}";

/// Writes a suite of the kernel above, with a launch for each `(width, height)`.
fn grid_suite(folder: &Path, sizes: &[(u64, u64)]) -> TestResult<std::path::PathBuf> {
    std::fs::write(folder.join("grid.cl"), GRID)?;
    let mut text = "kernel = \"grid.cl\"\noptions = [\"-DUNUSED=1\"]\n".to_owned();
    for (width, height) in sizes {
        let (x, y, len) = (width.div_ceil(8) * 8, height.div_ceil(4) * 4, width * height);
        text += &format!(
            "[[test]]\nname = \"{width} x {height}\"\nglobal = [{x}, {y}]\nlocal = [8, 4]\n[test.args]\n\
             in = {{ fill = 1.5, len = {len} }}\nout = {{ fill = 0, len = {len} }}\nwidth = {width}\nheight = {height}\nmode = 1\n"
        );
    }
    let suite = folder.join("seeds.toml");
    std::fs::write(&suite, text)?;
    Ok(suite)
}

#[test]
fn what_likely_invariants_exclude_is_kept_apart() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(5, 3), (17, 4), (9, 13)])?;
    let out = folder.path().join("out");
    let result = generate_from(&suite, &out, &[])?;
    let learnt = assert_kept(&suite, &out)?;
    let wanted = [
        "in has width * height elements",
        "out has width * height elements",
        "mode is 1",
        "get_global_size(0) is width, rounded up to a multiple of get_local_size(0)",
        "get_global_size(1) is height, rounded up to a multiple of get_local_size(1)",
    ];
    for sentence in wanted {
        assert!(learnt.sentences.iter().any(|s| s == sentence), "{sentence}: {:?}", learnt.sentences);
    }
    assert!(learnt.guesses.is_empty(), "{:?}", learnt.guesses);
    // Large contents are new and in order, another mode is not.
    let excluded = result["from"]["excluded"].as_array().ok_or("no list")?;
    let [goal] = &excluded[..] else { return Err(format!("{excluded:?}").into()) };
    assert_eq!(goal["line"], 4, "{goal}");
    assert_eq!(goal["breaks"], serde_json::json!(["mode is 1"]), "{goal}");
    let open = result["goals"].as_array().into_iter().flatten().filter(|g| g["status"] != "covered");
    let open: Vec<&Value> = open.collect();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!((&open[0]["line"], &open[0]["preconditions"]), (&goal["line"], &goal["breaks"]));
    let beyond = learn(&suite, &out.join("beyond/suite.toml"))?;
    let names: Vec<&str> = beyond.tests.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(Some(&names[..]), goal["test"].as_str().map(|name| [name]).as_ref().map(|n| &n[..]));
    // A second run replaces both suites.
    let again = generate_from(&suite, &out, &[])?;
    assert_eq!(again["tests"], result["tests"]);
    assert_eq!(again["from"], result["from"]);
    Ok(())
}

#[test]
fn a_single_launch_teaches_guesses() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(17, 13)])?;
    let learnt = learn(&suite, &suite)?;
    let all: BTreeSet<String> = learnt.sentences.iter().cloned().collect();
    assert_eq!(learnt.guesses, all);
    assert!(all.contains("in has width * height elements"), "{all:?}");
    assert!(!all.contains("mode is 1"), "{all:?}");
    Ok(())
}

#[test]
fn seeds_that_contradict_the_interface_file_are_told_and_left_out() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(5, 3), (17, 4), (9, 13)])?;
    let out = folder.path().join("out");
    std::fs::create_dir(&out)?;
    let file = "kernel = \"grid\"\n[[arg]]\nposition = 2\nname = \"width\"\nmax = 10\n";
    std::fs::write(out.join("interface.toml"), file)?;
    let result = generate_from(&suite, &out, &["--no-smt"])?;
    let told = result["from"]["contradictions"].to_string();
    assert!(told.contains("width is 17") && told.contains("interface file"), "{told}");
    let left_out = result["from"]["left_out"].to_string();
    assert!(left_out.contains("17 x 4") && !left_out.contains("5 x 3"), "{left_out}");
    let width = |launch: &Launch| match &launch.args[2] {
        ArgValue::Value(bytes) => i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        other => panic!("{other:?}"),
    };
    for (name, launch) in &assert_kept(&suite, &out)?.tests {
        assert!(width(launch) <= 10, "{name}: {}", width(launch));
    }
    Ok(())
}

#[test]
fn kernel_and_options_come_from_the_suite_or_the_command_line() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(5, 3), (17, 4)])?;
    let out = folder.path().join("out");
    let other = folder.path().join("other.cl");
    std::fs::write(&other, GRID.replace("mode == 7", "mode == 8"))?;
    let more = ["--no-smt", "--no-fuzz"];
    let result = json(&[&["generate", at(&other), "--from", at(&suite), "-o", at(&out)], &more[..]].concat(), 0)?;
    assert_eq!(result["source"], at(&other));
    let written = std::fs::read_to_string(out.join("suite.toml"))?;
    assert!(written.contains("other.cl") && written.contains("-DUNUSED=1"), "{written}");
    let (_, err, code) = kassay(&["generate", at(&suite), "-o", at(&out)])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--from"), "{err}");
    let (_, err, code) = kassay(&["generate", "-o", at(&out)])?;
    assert_eq!(code, 2, "{err}");
    Ok(())
}

#[test]
fn an_interrupted_search_refuses_other_seeds() -> TestResult {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let two = grid_suite(folder.path(), &[(5, 3), (17, 4)])?;
    generate_from(&two, &out, &["--no-smt", "--no-fuzz"])?;
    generate_from(&two, &out, &["--no-smt", "--no-fuzz", "--resume"])?;
    let three = grid_suite(folder.path(), &[(5, 3), (17, 4), (9, 13)])?;
    let (_, err, code) =
        kassay(&["generate", "--from", at(&three), "-o", at(&out), "--no-smt", "--no-fuzz", "--resume"])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("another run"), "{err}");
    Ok(())
}

#[test]
fn an_interrupted_search_goes_on_to_what_one_without_a_break_finds() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(5, 3), (17, 4), (9, 13)])?;
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    // No launch within the likely invariants covers the last goal, so that the launches are used up.
    let limits = ["--no-smt", "--seed", "3", "--attempts", "1000000000", "--max-execs", "3000", "--budget", "600"];
    let from = |out: &Path| -> Vec<String> {
        let fixed = ["generate", "--from", at(&suite), "-o", at(out)];
        fixed.iter().chain(&limits).map(|&word| word.to_owned()).collect()
    };
    let result = |out: &Path, more: &[&str]| -> TestResult<Value> {
        let words = from(out);
        json(&words.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>(), 0)
    };
    let covered = |result: &Value| -> BTreeSet<String> {
        let goals = result["goals"].as_array().into_iter().flatten().filter(|goal| goal["status"] == "covered");
        goals.map(|goal| format!("{} {}", goal["site"], goal["outcome"])).collect()
    };
    let expected = result(&whole, &[])?;
    let mut child = program::kassay().args(from(&broken)).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let journal = broken.join("generate.json.journal.jsonl");
    let has_goals = || std::fs::read_to_string(&journal).is_ok_and(|text| text.contains("{\"goal\":"));
    while !has_goals() && child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    assert!(has_goals() && !broken.join("generate.json").exists(), "it ended before it was killed");
    let resumed = result(&broken, &["--resume"])?;
    assert!(!journal.exists());
    assert_eq!(covered(&resumed), covered(&expected));
    for key in ["couplings", "coverage", "contradictions"] {
        assert_eq!(resumed["from"][key], expected["from"][key], "{key}");
    }
    assert_eq!(resumed["coverage"], expected["coverage"]);
    assert_kept(&suite, &broken)?;
    Ok(())
}

#[test]
fn tests_that_kill_mutants_keep_the_likely_invariants_too() -> TestResult {
    let folder = tempfile::tempdir()?;
    let suite = grid_suite(folder.path(), &[(5, 3), (17, 4), (9, 13)])?;
    let out = folder.path().join("out");
    let more = ["--goal", "mutants", "--device", "sim", "--no-smt", "--budget", "60"];
    let result =
        json(&[&["generate", "--from", at(&suite), "-o", at(&out), "--max-execs", "2000"], &more[..]].concat(), 0)?;
    valid(&result, "generate.schema.json")?;
    let goals: Vec<&Value> = result["goals"].as_array().into_iter().flatten().collect();
    assert!(goals.iter().any(|goal| goal["mutant"].is_string() && goal["status"] == "covered"), "{result:#}");
    let score = |key: &str| result["scores"][key].as_f64().unwrap_or(-1.0);
    assert!(score("suite") >= score("branch_suite") && score("branch_suite") >= 0.0, "{}", result["scores"]);
    let learnt = assert_kept(&suite, &out)?;
    assert_eq!(strings(&result["from"]["couplings"], "sentence"), learnt.sentences);
    // What only another mode shows stays unknown: no test has one.
    assert!(learnt.tests.iter().all(|(_, launch)| launch.args[4] == ArgValue::Value(1_i32.to_le_bytes().to_vec())));
    Ok(())
}
