//! Mutation of changed lines only: `--since` and `--in-diff`. `tests/cli/wrong-diffs.md` has what is refused.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::bench::Bench;
use crate::common::program::kassay;

/// Runs git in a folder, whatever the user's settings are, and returns what it prints.
fn git(folder: &Path, args: &[&str]) -> TestResult<String> {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(folder)
        .output()?;
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8(done.stdout)?)
}

/// Makes a repository with a kernel and its suite, below a folder.
fn project() -> TestResult<Bench> {
    let bench = Bench::new()?;
    bench.copy("stencil_2d", "kernels/stencil")?;
    git(bench.folder(), &["init", "--quiet"])?;
    git(bench.folder(), &["add", "."])?;
    git(bench.folder(), &["commit", "--quiet", "-m", "a kernel"])?;
    Ok(bench)
}

/// Returns the result of `kassay mutate` in the folder of the kernel.
fn mutate(folder: &Path, flags: &[&str], input: &str) -> TestResult<(Option<Value>, String, i32)> {
    let mut child = kassay()
        .args(["mutate", "suite.toml", "--device", "sim", "--format", "json"])
        .args(flags)
        .current_dir(folder.join("kernels/stencil"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(input.as_bytes())?;
    let done = child.wait_with_output()?;
    let err = String::from_utf8_lossy(&done.stderr).into_owned();
    Ok((serde_json::from_slice(&done.stdout).ok(), err, done.status.code().unwrap_or(-1)))
}

/// Returns ids and statuses of mutants.
fn fates(result: &Option<Value>) -> Vec<(String, String)> {
    let mutants = result.as_ref().and_then(|result| result["mutants"].as_array()).cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    mutants.iter().map(|mutant| (text(&mutant["id"]), text(&mutant["status"]))).collect()
}

#[test]
fn only_lines_that_changed_are_mutated() -> TestResult {
    let bench = project()?;
    let at = bench.folder();
    let file = at.join("kernels/stencil/stencil_2d.cl");
    let text = std::fs::read_to_string(&file)?;
    // The last assignment gets another spelling, and a line before it.
    let line = text.lines().position(|line| line.contains("out[")).ok_or("no store")?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[line] = lines[line].replace(';', " ;");
    lines.insert(line, "    // A comment.".to_owned());
    std::fs::write(&file, lines.join("\n") + "\n")?;

    let (none, err, code) = mutate(at, &["--in-diff", "-"], "")?;
    assert_eq!((code, fates(&none).len()), (0, 0), "{err}");
    let (all, err, code) = mutate(at, &[], "")?;
    assert_eq!(code, 0, "{err}");
    let (since, err, code) = mutate(at, &["--since", "HEAD"], "")?;
    assert_eq!(code, 0, "{err}");
    let changed = u64::try_from(line)? + 2;
    let of_lines: Vec<Value> = all.as_ref().and_then(|all| all["mutants"].as_array()).cloned().unwrap_or_default();
    let mine = |mutant: &&Value| {
        let place = &mutant["location"];
        place["start"]["line"].as_u64() <= Some(changed) && place["end"]["line"].as_u64() >= Some(changed)
    };
    let expected: Vec<&str> = of_lines.iter().filter(mine).filter_map(|mutant| mutant["id"].as_str()).collect();
    assert!(!expected.is_empty() && expected.len() < of_lines.len());
    let found = fates(&since);
    assert_eq!(found.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), expected);
    // A mutant has the fate that it has among all, unless it equals one that was not made.
    let whole: std::collections::BTreeMap<String, String> = fates(&all).into_iter().collect();
    let other: Vec<_> = found.iter().filter(|(id, status)| whole.get(id) != Some(status)).collect();
    assert!(other.is_empty(), "{other:?}");
    let notes = since.as_ref().map(|result| result["notes"].to_string()).unwrap_or_default();
    let elsewhere = of_lines.len() - expected.len();
    assert!(notes.contains(&format!("{elsewhere} mutants are left out")) && notes.contains("git diff HEAD"), "{notes}");

    // The same lines by a diff, with paths from the repository's folder or from the kernel's.
    let diff = git(at, &["diff"])?;
    let (by_diff, err, code) = mutate(at, &["--in-diff", "-"], &diff)?;
    assert_eq!((code, fates(&by_diff)), (0, found.clone()), "{err}");
    let near = git(&at.join("kernels/stencil"), &["diff", "--relative", "--no-prefix"])?;
    std::fs::write(at.join("near.diff"), near)?;
    let (by_diff, err, code) = mutate(at, &["--in-diff", "../../near.diff"], "")?;
    assert_eq!((code, fates(&by_diff)), (0, found), "{err}");
    Ok(())
}

#[test]
fn files_that_git_does_not_know_are_new() -> TestResult {
    let bench = project()?;
    let kernel = bench.path("kernels/stencil");
    let suite = std::fs::read_to_string(kernel.join("suite.toml"))?;
    std::fs::rename(kernel.join("stencil_2d.cl"), kernel.join("other.cl"))?;
    std::fs::write(kernel.join("suite.toml"), suite.replace("stencil_2d.cl", "other.cl"))?;
    let flags = ["--operators", "ROR"];
    let (all, ..) = mutate(bench.folder(), &flags, "")?;
    let (since, err, code) = mutate(bench.folder(), &[&flags[..], &["--since", "main"]].concat(), "")?;
    assert_eq!(code, 0, "{err}");
    assert!(!fates(&all).is_empty());
    assert_eq!(fates(&since), fates(&all));
    Ok(())
}
