//! Checks `kassay generate --goal mutants`: scores rise, the mutation result is that of a rerun, and every goal that is
//! not covered has a reason.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::support::kernel_and_out;
use crate::common::TestResult;
use crate::common::program::{self, at, read, valid};
use crate::common::testdata;

/// Returns standard output and the exit code.
fn kassay(args: &[&str]) -> TestResult<(String, i32)> {
    let (out, err, code) = program::run(args)?;
    assert!(code == 0 || code == 1, "{args:?}: {err}");
    Ok((out, code))
}

/// Returns the results of generating for a kernel's mutants, on the simulator: of generation and of mutation.
fn generate(kernel: &Path, folder: &Path, more: &[&str]) -> TestResult<(Value, Option<Value>)> {
    let fixed = ["generate", at(kernel), "-o", at(folder), "--goal", "mutants", "--device", "sim", "--quiet"];
    let (_, code) = kassay(&[&fixed, more].concat())?;
    assert_eq!(code, 0);
    let mutation = folder.join("mutate.json");
    let mutation = if mutation.exists() { Some(read(&mutation)?) } else { None };
    Ok((read(&folder.join("generate.json"))?, mutation))
}

/// By mutant id: the status, and the tests that kill it.
type Outcomes = BTreeMap<String, (Value, Value)>;

/// Returns the outcome of each mutant of a mutation result.
fn outcomes(mutation: &Value) -> Outcomes {
    let rows = mutation["mutants"].as_array().into_iter().flatten();
    rows.map(|m| (m["id"].as_str().unwrap_or_default().to_owned(), (m["status"].clone(), m["killed_by"].clone())))
        .collect()
}

fn goals(result: &Value) -> impl Iterator<Item = &Value> {
    result["goals"].as_array().into_iter().flatten()
}

#[test]
fn scores_rise_and_a_rerun_agrees() -> TestResult {
    for name in ["vector_add", "saxpy_tail", "helper_thrice"] {
        let folder = tempfile::tempdir()?;
        let out = folder.path().join("out");
        let (result, mutation) =
            generate(&testdata::kernel(name), &out, &["--max-execs", "300", "--budget", "600", "--no-smt"])?;
        let mutation = mutation.ok_or("no mutation result")?;
        valid(&result, "generate.schema.json")?;
        valid(&mutation, "mutate.schema.json")?;
        let score = |key: &str| result["scores"][key].as_f64().unwrap_or_default();
        assert!(score("suite") > score("branch_suite"), "{name}: {}", result["scores"]);
        assert_eq!(result["scores"]["suite"], mutation["summary"]["score"]);

        let again = folder.path().join("again.json");
        let fixed = ["mutate", "--device", "sim", "--no-launch-facts", "--quiet"];
        kassay(&[&fixed[..], &[at(&out.join("suite.toml")), "-o", at(&again)]].concat())?;
        let again = read(&again)?;
        assert_eq!(outcomes(&again), outcomes(&mutation), "{name}");
        assert_eq!(again["configuration"], mutation["configuration"], "{name}");

        // Every test that was added is needed, and every goal has the status of its mutant.
        let outcomes = outcomes(&mutation);
        for goal in goals(&result) {
            let status = &outcomes[goal["mutant"].as_str().unwrap_or_default()].0;
            let expected = match status.as_str() {
                Some("killed" | "timeout" | "runtime-error") => "covered",
                Some("equivalent") => "equivalent",
                _ => "unknown",
            };
            assert_eq!(goal["status"], expected, "{goal}");
            assert_eq!(goal["by"].is_string(), expected == "covered", "{goal}");
            assert_eq!(goal["reason"].is_string(), expected != "covered", "{goal}");
            assert_eq!(goal["bound"].is_string(), expected == "unknown", "{goal}");
            assert!(goal["site"].is_null(), "{goal}");
        }
        let summary = &result["summary"];
        let sum: u64 = ["covered", "equivalent", "unknown"].iter().filter_map(|k| summary[k].as_u64()).sum();
        assert_eq!(sum as usize, goals(&result).count());
        let kills = |name: &Value| {
            let tests = mutation["tests"].as_array().into_iter().flatten();
            tests.filter(|t| t["name"] == *name).filter_map(|t| t["kills"].as_u64()).sum::<u64>()
        };
        for test in result["tests"].as_array().into_iter().flatten() {
            let added = test["name"].as_str().is_some_and(|n| n.starts_with("mutants"));
            assert!(!added || kills(&test["name"]) > 0, "{name}: {test}");
        }
    }
    Ok(())
}

#[test]
fn on_an_opencl_device_a_rerun_agrees() -> TestResult {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let kernel = testdata::kernel("saxpy_tail");
    let fixed = ["generate", at(&kernel), "-o", at(&out), "--goal", "mutants", "--device", "opencl:0.0", "--quiet"];
    let limits = ["--max-execs", "200", "--budget", "600", "--no-smt", "--sample", "30"];
    kassay(&[&fixed[..], &limits].concat())?;
    let again = folder.path().join("again.json");
    let suite = out.join("suite.toml");
    let fixed = ["mutate", "--device", "opencl:0.0", "--sample", "30", "--no-launch-facts", "--quiet"];
    kassay(&[&fixed[..], &[at(&suite), "-o", at(&again)]].concat())?;
    let (first, again) = (read(&out.join("mutate.json"))?, read(&again)?);
    assert_eq!(outcomes(&again), outcomes(&first));
    assert!(again["device"]["name"].as_str().is_some_and(|n| !n.contains("simulator")), "{}", again["device"]);
    Ok(())
}

#[test]
fn equal_seeds_give_equal_suites() -> TestResult {
    let source = "kernel void k(global const int *a, global int *out, int n, int limit) {\n  int i = get_global_id(0);\n  \
                  if (i < n) out[i] = a[i] > limit ? a[i] * 2 : limit;\n}\n";
    let (_folder, kernel, out) = kernel_and_out(source);
    let text = |name: &str| -> TestResult<(String, Outcomes)> {
        let out = out.with_file_name(name);
        let (_, mutation) = generate(&kernel, &out, &["--seed", "5", "--max-execs", "200", "--budget", "600"])?;
        Ok((std::fs::read_to_string(out.join("suite.toml"))?, outcomes(&mutation.ok_or("none")?)))
    };
    assert_eq!(text("first")?, text("second")?);
    Ok(())
}

#[test]
fn what_fuzzing_does_not_hit_is_solved_for() -> TestResult {
    // `>=` for `>` needs a product modulo 2^32 that equals another one.
    let source = "kernel void k(global int *out, uint a, uint b) {\n  uint t = (b | 5u) * 7919u ^ 0x5bd1e995u;\n  \
                  out[get_global_id(0)] = a * 2654435761u > t ? 1 : 2;\n}\n";
    let (_folder, kernel, out) = kernel_and_out(source);
    let more = ["--operators", "ROR", "--max-execs", "600", "--budget", "600"];
    let solved = |goal: &&Value| goal["mutant"].as_str().is_some_and(|id| id.ends_with(":>="));
    let (result, _) = generate(&kernel, &out, &[&more[..], &["--no-smt"]].concat())?;
    let goal = goals(&result).find(solved).ok_or("no such mutant")?;
    assert_eq!(goal["status"], "unknown", "{goal}");
    assert!(goal["reason"].as_str().is_some_and(|r| r.contains("--no-smt")), "{goal}");
    let (result, _) = generate(&kernel, &out, &more)?;
    let goal = goals(&result).find(solved).ok_or("no such mutant")?;
    assert_eq!((&goal["status"], &goal["by"]), (&"covered".into(), &"smt".into()), "{goal}");
    Ok(())
}

#[test]
fn equivalents_are_proved_and_the_rest_has_its_reason() -> TestResult {
    // The remainder of an unsigned number is never negative, and no launch here has a billion work-items.
    let source = "kernel void k(global uint *out, uint a) {\n  uint r = a % 7u;\n  out[0] = r < 7u ? r + 1u : r;\n  \
                  if (get_global_size(0) > 1000000000u) out[0] = 9u;\n}\n";
    let (_folder, kernel, out) = kernel_and_out(source);
    let (result, _) = generate(&kernel, &out, &["--max-execs", "100", "--budget", "600"])?;
    assert!(goals(&result).any(|g| g["status"] == "equivalent"), "{result}");
    let reached =
        |g: &&Value| g["reason"].as_str().is_some_and(|r| r.starts_with("no input that was tried reaches it"));
    assert!(goals(&result).filter(|g| g["status"] == "unknown").any(|g| reached(&g)), "{result}");
    for goal in goals(&result).filter(|g| g["status"] == "unknown") {
        assert!(goal["bound"].as_str().is_some_and(|b| b.contains("inputs of up to")), "{goal}");
    }
    Ok(())
}

#[test]
fn operators_and_samples_are_those_of_mutate() -> TestResult {
    let (_folder, kernel, out) =
        kernel_and_out("kernel void k(global int *out, int a, int b) { out[get_global_id(0)] = a * b + 3; }\n");
    let more = ["--operators", "ASR,AOR", "--max-execs", "50", "--budget", "600"];
    let (_, mutation) = generate(&kernel, &out, &more)?;
    let mutation = mutation.ok_or("none")?;
    assert_eq!(mutation["options"]["operators"], "AOR,ASR");
    let (_, mutation) = generate(&kernel, &out, &["--sample", "5", "--max-execs", "50", "--budget", "600"])?;
    assert_eq!(mutation.ok_or("none")?["mutants"].as_array().map(Vec::len), Some(5));
    Ok(())
}

#[test]
fn the_seed_draws_the_sample_that_mutate_draws() -> TestResult {
    let (_folder, kernel, out) =
        kernel_and_out("kernel void k(global int *out, int a, int b) { out[get_global_id(0)] = a * b + 3; }\n");
    let drawn = |seed: &str| -> TestResult<Vec<String>> {
        let out = out.with_file_name(seed);
        let more = ["--seed", seed, "--sample", "5", "--max-execs", "20", "--budget", "600", "--no-smt"];
        let (_, mutation) = generate(&kernel, &out, &more)?;
        let mutation = mutation.ok_or("none")?;
        let again = out.join("again.json");
        let suite = out.join("suite.toml");
        let begin = ["mutate", at(&suite), "--device", "sim", "--no-launch-facts"];
        let fixed = [&begin[..], &["--sample", "5", "--quiet", "--seed", seed]].concat();
        kassay(&[&fixed[..], &["-o", at(&again)]].concat())?;
        let again = read(&again)?;
        assert_eq!(again["seed"], mutation["seed"]);
        assert_eq!(outcomes(&again), outcomes(&mutation), "seed {seed}");
        Ok(outcomes(&mutation).into_keys().collect())
    };
    assert_ne!(drawn("3")?, drawn("4")?);
    Ok(())
}

#[test]
fn the_budget_is_kept() -> TestResult {
    let folder = tempfile::tempdir()?;
    let started = Instant::now();
    let (result, mutation) =
        generate(&testdata::kernel("switch_machine"), &folder.path().join("out"), &["--budget", "4"])?;
    // Builds are not interrupted, and other tests run next to this one.
    assert!(started.elapsed().as_secs_f64() < 9.0, "{:?}", started.elapsed());
    assert!(mutation.is_some());
    for goal in goals(&result).filter(|g| g["status"] == "unknown") {
        assert!(goal["reason"].is_string(), "{goal}");
    }
    Ok(())
}

#[test]
fn without_a_launch_that_runs_there_is_nothing_to_mutate() -> TestResult {
    let (_folder, kernel, out) =
        kernel_and_out("kernel void k(global int *out) { for (;;) out[get_global_id(0)] ^= 1; }\n");
    let (result, mutation) = generate(&kernel, &out, &["--max-execs", "20", "--no-fuzz"])?;
    assert_eq!(result["tests"].as_array().map(Vec::len), Some(0), "{result}");
    assert!(mutation.is_none());
    assert!(goals(&result).next().is_none(), "{result}");
    assert!(result["notes"].to_string().contains("mutants are killed by tests"), "{result}");
    Ok(())
}

#[test]
fn a_killed_search_resumes_from_its_journal() -> TestResult {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let kernel = testdata::kernel("helper_thrice");
    let args = |more: &'static [&str]| {
        let fixed = ["generate", at(&kernel), "-o", at(&out), "--goal", "mutants", "--device", "sim", "--quiet"];
        [&fixed, more].concat().into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let mut child = program::kassay().args(args(&["--budget", "600", "--no-smt"])).spawn()?;
    let journal = out.join("generate.json.journal.jsonl");
    let killers = || std::fs::read_to_string(&journal).unwrap_or_default().matches("{\"killer\":").count();
    let started = Instant::now();
    while killers() == 0 && child.try_wait()?.is_none() && started.elapsed().as_secs() < 120 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    assert!(killers() > 0, "it ended before it was killed");
    let done = program::kassay().args(args(&["--budget", "600", "--no-smt", "--resume"])).output()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!journal.exists());
    let result = read(&out.join("generate.json"))?;
    let score = |key: &str| result["scores"][key].as_f64().unwrap_or_default();
    assert!(score("suite") > score("branch_suite"), "{}", result["scores"]);
    // Another configuration is refused; with the same one nothing is left to do.
    let other = program::kassay().args(args(&["--operators", "AOR", "--no-smt", "--resume"])).output()?;
    assert_eq!(other.status.code(), Some(2));
    let same = program::kassay().args(args(&["--budget", "600", "--no-smt", "--resume"])).output()?;
    assert!(same.status.success());
    Ok(())
}
