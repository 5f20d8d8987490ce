//! Checks `kassay check --budget`: a check ends with its time whatever it is doing, says what it left out, and claims
//! no more than it established. With `-j` its findings are the same.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::kassay;
use crate::common::testdata::testdata;

/// Returns the result, the exit code, and the elapsed time.
fn check(target: &Path, more: &[&str]) -> TestResult<(Value, i32, Duration)> {
    let started = Instant::now();
    let run = kassay().arg("check").arg(target).args(["--format", "json"]).args(more).output()?;
    let code = run.status.code().ok_or("killed")?;
    assert!(code <= 1, "{}: {}", target.display(), String::from_utf8_lossy(&run.stderr));
    Ok((serde_json::from_slice(&run.stdout)?, code, started.elapsed()))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn says(result: &Value, what: &str) -> bool {
    list(result, "notes").iter().any(|note| note.as_str().is_some_and(|note| note.contains(what)))
}

/// A busy machine may exceed the budget by some seconds. The goal is a tenth of the budget and one second.
const SLACK: Duration = Duration::from_secs(8);

#[test]
fn inputs_that_complete_within_the_budget_are_clean_and_the_others_are_named() -> TestResult {
    let (result, code, took) = check(&testdata("budget/queens.toml"), &["--budget", "4"])?;
    assert!(took < Duration::from_secs(4) + SLACK, "{took:?}");
    assert_eq!((result["verdict"].as_str(), code), (Some("clean"), 0));
    let completed: Vec<bool> = list(&result, "inputs").iter().filter_map(|i| i["completed"].as_bool()).collect();
    assert_eq!(completed, [true, false]);
    assert_eq!(result["holds_for"], "explored-schedules");
    assert!(says(&result, "\"nineteen queens\"") && says(&result, "the budget of 4 s"), "{}", result["notes"]);
    Ok(())
}

/// Writes a kernel in which each function calls the one before it twice: `2^times` copies of the first function once
/// everything is inlined.
fn doubling(folder: &Path, times: u32) -> TestResult<PathBuf> {
    let mut text = "int f0(global const int *b, int i) { int r = 0; for (int k = 0; k < 3; k++) r += b[(i + k) & 63] * k; return r; }\n"
        .to_owned();
    for n in 1..=times {
        let less = n - 1;
        text += &format!(
            "int f{n}(global const int *b, int i) {{ int r = f{less}(b, i + {n}); if (r & {}) r += f{less}(b, r); return r; }}\n",
            1 << n
        );
    }
    text += &format!(
        "kernel void k(global int *a, global const int *b, int n) {{ int i = get_global_id(0); if (i < n) a[i] = f{times}(b, i); }}\n"
    );
    let path = folder.join("doubling.cl");
    std::fs::write(&path, text)?;
    Ok(path)
}

#[test]
fn a_kernel_without_time_for_its_code_is_unknown() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = doubling(folder.path(), 13)?;
    let suite = folder.path().join("suite.toml");
    let args = "a = { fill = 0, len = 64 }, b = { fill = 0, len = 64 }, n = 64";
    std::fs::write(
        &suite,
        format!("kernel = \"doubling.cl\"\n[[test]]\nname = \"one\"\nglobal = [64]\nargs = {{ {args} }}\n"),
    )?;
    // For the kernel alone the inputs come first, whose form and reading may take as long; for the suite its code.
    for (target, what) in [(kernel, " of this kernel"), (suite, "code of this kernel")] {
        let (result, code, took) = check(&target, &["--budget", "2", "--no-cache"])?;
        assert!(took < Duration::from_secs(2) + SLACK, "{took:?}");
        assert_eq!((result["verdict"].as_str(), code), (Some("unknown"), 1));
        assert!(list(&result, "inputs").is_empty());
        assert!(
            says(&result, "no input was run") && says(&result, what) && says(&result, " was done"),
            "{}",
            result["notes"]
        );
    }
    Ok(())
}

#[test]
fn a_kernel_beyond_the_simulators_limit_is_refused_at_once() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = doubling(folder.path(), 20)?;
    let started = Instant::now();
    let run = kassay().arg("check").arg(&kernel).args(["--budget", "60", "--no-cache"]).output()?;
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(message.contains("too large for the simulator"), "{message}");
    assert!(started.elapsed() < SLACK, "{:?}", started.elapsed());
    Ok(())
}

#[test]
fn clang_ends_with_the_budget() -> TestResult {
    let folder = tempfile::tempdir()?;
    let mut text = "#define S0 x = x * 3 + i;\n".to_owned();
    for n in 1..=21 {
        text += &format!("#define S{n} S{0} S{0}\n", n - 1);
    }
    text += "kernel void k(global int *a) { int i = get_global_id(0), x = i; S21 a[i] = x; }\n";
    let kernel = folder.path().join("macros.cl");
    std::fs::write(&kernel, text)?;
    let started = Instant::now();
    let run = kassay().arg("check").arg(&kernel).args(["--budget", "1", "--no-cache"]).output()?;
    assert!(started.elapsed() < Duration::from_secs(1) + SLACK, "{:?}", started.elapsed());
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(
        message.contains("the time was over before clang's run was done") && message.contains("--budget"),
        "{message}"
    );
    Ok(())
}

#[test]
fn without_a_completed_input_the_verdict_is_unknown() -> TestResult {
    let (result, code, took) = check(&testdata("budget/relax.toml"), &["--budget", "3"])?;
    assert!(took < Duration::from_secs(3) + SLACK, "{took:?}");
    assert_eq!((result["verdict"].as_str(), code), (Some("unknown"), 1));
    assert!(says(&result, "the input did not come to an end within the budget of 3 s"), "{}", result["notes"]);
    Ok(())
}

#[test]
fn a_long_launch_is_not_a_memory_fault() -> TestResult {
    for name in ["relax.cl", "queens.cl", "queens.toml"] {
        let more = if name.ends_with("cl") { "--evolve" } else { "--schedules=3" };
        let (result, _, took) = check(&testdata("budget").join(name), &["--budget", "3", more])?;
        assert!(took < Duration::from_secs(3) + SLACK, "{name}: {took:?}");
        let verdict = result["verdict"].as_str().unwrap_or_default();
        assert!(["clean", "unknown"].contains(&verdict), "{name}: {verdict}: {}", result["findings"]);
    }
    Ok(())
}

#[test]
fn any_number_of_jobs_finds_the_same() -> TestResult {
    for name in ["check/clean_tiled_product", "check/race_halo_of_tile", "check/redundant_second", "check/divergent_if"]
    {
        let kernel = testdata(name).join(format!("{}.cl", name.trim_start_matches("check/")));
        let mut first = None;
        for jobs in ["1", "2", "3"] {
            let (mut result, ..) = check(&kernel, &["-j", jobs, "--prove"])?;
            result["elapsed_s"] = Value::Null;
            for proof in result["proofs"].as_array_mut().into_iter().flatten() {
                proof["milliseconds"] = Value::Null;
            }
            match &first {
                None => first = Some(result),
                Some(first) => assert_eq!(*first, result, "{name} with -j {jobs}"),
            }
        }
    }
    Ok(())
}

#[test]
fn launches_too_large_to_be_watched_run_a_sample_of_their_groups() -> TestResult {
    let folder = tempfile::tempdir()?;
    let kernel = |body: &str| format!("kernel void k(global uint *x) {{ size_t i = get_global_id(0); {body} }}");
    let suite = "kernel = \"k.cl\"\n[[test]]\nname = \"large\"\nglobal = [2147483648]\nlocal = [64]\nargs = { x = { fill = 0, len = 4096 } }\n";
    std::fs::write(folder.path().join("suite.toml"), suite)?;
    for (body, verdict) in [("if (i < 4096) x[i] = i;", "clean"), ("x[i % 4096] = i;", "racy")] {
        std::fs::write(folder.path().join("k.cl"), kernel(body))?;
        let (result, ..) = check(&folder.path().join("suite.toml"), &[])?;
        assert_eq!(result["verdict"], verdict);
        let input = &list(&result, "inputs")[0];
        let (run, all) = (input["groups_run"].as_u64().ok_or("all groups were run")?, input["work_groups"].as_u64());
        assert!(all == Some(1 << 25) && run > 1000 && run < 1 << 20, "{run} of {all:?}");
        assert_eq!(result["holds_for"], "explored-schedules");
        let because = list(&result, "holds_for_because");
        assert!(because.iter().any(|b| b.as_str().is_some_and(|b| b.contains("sample"))), "{because:?}");
    }
    Ok(())
}
