//! Checks what `kassay generate` does with its folder: the journal of a search that is killed, and files that
//! exist already.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::kernel_and_out;
use crate::common::TestResult;
use crate::common::program::{kassay, read};

/// Returns standard error and the exit code.
fn generate(kernel: &Path, folder: &Path, more: &[&str]) -> TestResult<(String, i32)> {
    let output = command(kernel, folder, more).output()?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("panicked"), "{err}");
    Ok((err, output.status.code().unwrap_or(-1)))
}

fn command(kernel: &Path, folder: &Path, more: &[&str]) -> Command {
    let mut command = kassay();
    command.arg("generate").arg(kernel).arg("-o").arg(folder).arg("--quiet").args(more);
    command
}

/// One outcome cannot be covered, so that the search goes on as long as it may.
const ENDLESS: &str = "kernel void k(global int *out, global const int *in, int n, int magic) {
    int i = get_global_id(0);
    if (i >= n) return;
    if (magic == 123456789) out[i] = 1;
    else if (in[i] == 77) out[i] = 2;
    else if (in[i] * 0 == 1) out[i] = 3;
    else out[i] = in[i];
}
";

const LONG: [&str; 6] = ["--no-smt", "--attempts", "1000000000", "--seed", "3", "--budget"];

/// Returns the site and outcome of the covered goals.
fn covered<'a>(goals: impl Iterator<Item = &'a Value>) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let mut all: Vec<_> =
        goals.filter(|g| g["status"] == "covered").map(|g| (text(&g["site"]), text(&g["outcome"]))).collect();
    all.sort();
    all
}

#[test]
fn a_killed_search_resumes_and_loses_nothing() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(ENDLESS);
    let journal = out.join("generate.json.journal.jsonl");
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let goals_of = |lines: &[Value]| covered(lines.iter().filter_map(|l| l.get("goal")));
    let mut child = command(&kernel, &out, &[&LONG[..], &["60"]].concat()).stdout(Stdio::null()).spawn()?;
    let started = Instant::now();
    // Waits for all goals except the one that nothing covers, so that the kill hits a search that would not end.
    while goals_of(&lines()).len() < 7 && started.elapsed() < Duration::from_secs(50) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    let before = lines();
    let found = goals_of(&before);
    assert_eq!(found.len(), 7, "{before:?}");
    assert_eq!(before[0]["command"], "generate");
    assert!(!out.join("generate.json").exists() && !out.join("suite.toml").exists());
    // A line that was only partly written when the search was killed.
    let torn = std::fs::read_to_string(&journal)? + "{\"test\":{\"na";
    std::fs::write(&journal, &torn)?;

    let (err, code) = generate(&kernel, &out, &["--resume", "--no-smt", "--seed", "4"])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("journal of another run") && err.contains("configuration"), "{err}");
    assert_eq!(std::fs::read_to_string(&journal)?, torn);

    let (err, code) = generate(&kernel, &out, &[&LONG[..], &["1", "--resume"]].concat())?;
    assert_eq!(code, 0, "{err}");
    let result = read(&out.join("generate.json"))?;
    assert_eq!(covered(result["goals"].as_array().into_iter().flatten()), found);
    let tests = before.iter().filter_map(|l| l.get("test"));
    let executions = tests.clone().filter_map(|t| t["tried"]["executions"].as_u64()).max().unwrap_or(0);
    assert!(result["summary"]["executions"].as_u64().is_some_and(|n| n >= executions), "{result}");
    // Goals keep their times.
    for goal in before.iter().filter_map(|l| l.get("goal")) {
        let same = |g: &&Value| g["site"] == goal["site"] && g["outcome"] == goal["outcome"];
        let row = result["goals"].as_array().into_iter().flatten().find(same).ok_or("no such goal")?;
        let (now, then) = (row["time_s"].as_f64().unwrap_or(-1.0), goal["time_s"].as_f64().unwrap_or(-2.0));
        assert!((now - then).abs() < 1.0, "{now} {then}");
        assert_eq!(row["by"], goal["by"]);
    }
    assert!(!journal.exists());
    // The result is complete: resuming again leaves it as it is.
    let stored = std::fs::read_to_string(out.join("generate.json"))?;
    let (err, code) = generate(&kernel, &out, &[&LONG[..], &["1", "--resume"]].concat())?;
    assert_eq!((code, std::fs::read_to_string(out.join("generate.json"))?), (0, stored.clone()), "{err}");
    let (err, code) = generate(&kernel, &out, &["--resume", "--no-smt", "--seed", "4"])?;
    assert_eq!(code, 2, "{err}");
    assert_eq!(std::fs::read_to_string(out.join("generate.json"))?, stored);
    Ok(())
}

#[test]
fn data_of_an_earlier_suite_is_removed_and_other_files_stay() -> TestResult {
    let (_folder, kernel, out) = kernel_and_out(ENDLESS);
    let run = |seed: &str| -> TestResult {
        let (err, code) = generate(&kernel, &out, &["--no-smt", "--max-execs", "60", "--seed", seed])?;
        assert_eq!(code, 0, "{err}");
        Ok(())
    };
    let data = || -> TestResult<Vec<String>> {
        let names = std::fs::read_dir(&out)?.filter_map(|e| e.ok()?.file_name().into_string().ok());
        let mut all: Vec<String> = names.filter(|n| n.ends_with(".npy")).collect();
        all.sort();
        Ok(all)
    };
    let named = || -> TestResult<Vec<String>> {
        let suite: toml::Table = std::fs::read_to_string(out.join("suite.toml"))?.parse()?;
        let mut all = Vec::new();
        for test in suite["test"].as_array().into_iter().flatten() {
            let args = test["args"].as_table().into_iter().flatten();
            all.extend(args.filter_map(|(_, v)| Some(v.get("npy")?.as_str()?.to_owned())));
        }
        all.sort();
        all.dedup();
        Ok(all)
    };
    std::fs::create_dir(&out)?;
    // The user's own file has the name that the data would get.
    std::fs::write(out.join("in.npy"), "mine")?;
    run("1")?;
    assert!(!named()?.is_empty());
    assert!(!named()?.contains(&"in.npy".to_owned()));
    // The user has changed one of kassay's files.
    let taken = named()?.first().cloned().ok_or("no data")?;
    std::fs::write(out.join(&taken), "edited")?;
    run("2")?;
    run("3")?;
    let mut expected = named()?;
    assert!(!expected.contains(&taken), "{expected:?}");
    expected.extend(["in.npy".to_owned(), taken.clone()]);
    expected.sort();
    assert_eq!(data()?, expected);
    assert_eq!(std::fs::read_to_string(out.join("in.npy"))?, "mine");
    assert_eq!(std::fs::read_to_string(out.join(&taken))?, "edited");
    // A suite that kassay did not write is not replaced.
    let own = "kernel = \"../k.cl\"\n";
    std::fs::write(out.join("suite.toml"), own)?;
    let (err, code) = generate(&kernel, &out, &["--no-smt"])?;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("did not write it") && err.contains("help:"), "{err}");
    assert_eq!(std::fs::read_to_string(out.join("suite.toml"))?, own);
    Ok(())
}
