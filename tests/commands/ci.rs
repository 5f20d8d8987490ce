//! `kassay ci`: a project's file, its flags and thresholds, one result and one exit code.

use std::path::Path;

use crate::common::TestResult;
use crate::common::program::{kassay, read, valid};
use crate::common::testdata::repository;

/// Makes a project of these kernels of the testdata.
fn project(kernels: &[&str], file: &str) -> TestResult<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    for kernel in kernels {
        let to = folder.path().join("kernels").join(kernel);
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(repository("testdata").join(kernel))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
    }
    std::fs::write(folder.path().join("kassay.toml"), file)?;
    Ok(folder)
}

/// Returns standard output, standard error and the exit code of `kassay ci` in a folder.
fn ci(folder: &Path, args: &[&str]) -> TestResult<(String, String, i32)> {
    let output = kassay().arg("ci").args(args).current_dir(folder).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let err = text(&output.stderr);
    assert!(!err.contains("panicked"), "{args:?}: {err}");
    Ok((text(&output.stdout), err, output.status.code().unwrap_or(-1)))
}

const PROJECT: &str = r#"
suites = ["kernels/**/suite.toml"]
exclude = "kernels/saxpy_tail"

[options]
device = "sim"

[run]
[cover]
fail-under = { branch = 90 }
[mutate]
sample = 10
[check]
budget = 1000

[[kernel]]
suites = "kernels/divergent_exit"
mutate = false
cover = { fail-under = { branch = 50, loop = 10 }, mcdc = "unique" }

[profile.quick]
cover = false
check = false
mutate = false

[profile.thorough]
schedule = { schedules = 3 }
mutate = { sample = 20 }
"#;

#[test]
fn a_project_gets_one_result_and_one_exit_code() -> TestResult {
    let folder = project(&["vector_add", "saxpy_tail", "divergent_exit"], PROJECT)?;
    // From a folder below, and with a path from there.
    let below = folder.path().join("kernels/vector_add");
    let (out, err, code) = ci(&below, &["-o", "result.json"])?;
    assert_eq!(code, 1, "{err}");
    let result = read(&below.join("result.json"))?;
    valid(&result, "ci.schema.json")?;
    let suites = |command: &str| -> Vec<String> {
        let kernels = result[command]["kernels"].as_array().cloned().unwrap_or_default();
        kernels.iter().filter_map(|kernel| Some(kernel["suite"].as_str()?.to_owned())).collect()
    };
    let (first, second) = ("kernels/divergent_exit/suite.toml", "kernels/vector_add/suite.toml");
    for command in ["run", "cover", "check"] {
        assert_eq!(suites(command), [first, second], "{command}");
    }
    assert_eq!(suites("mutate"), [second]);
    assert!(result["schedule"].is_null());
    assert_eq!(result["mutate"]["kernels"][0]["summary"]["total"], 10);
    assert!(result["cover"]["kernels"][0]["coverage"]["mcdc"].is_object());
    assert!(result["cover"]["kernels"][1]["coverage"]["mcdc"].is_null());
    assert_eq!(result["run"]["kernels"][1]["device"]["kind"], "simulator");
    // What is wrong is told of each suite and command.
    let complaints: Vec<(String, String)> = result["complaints"]
        .as_array()
        .ok_or("no complaints")?
        .iter()
        .map(|one| {
            (
                one["suite"].as_str().unwrap_or_default().to_owned(),
                one["command"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    assert!(complaints.iter().all(|(suite, _)| suite == first), "{complaints:?}");
    assert!(["run", "check"].iter().all(|command| complaints.iter().any(|(_, one)| one == command)), "{complaints:?}");
    assert!(out.contains("the verdict is divergent (kassay check)"), "{out}");
    // Nothing is kept beside a complete result.
    assert_eq!(
        std::fs::read_dir(&below)?
            .flatten()
            .filter(|e| e.file_name().to_string_lossy().starts_with("result.json"))
            .count(),
        1
    );
    Ok(())
}

#[test]
fn profiles_and_arguments_limit_what_is_done() -> TestResult {
    let folder = project(&["vector_add", "divergent_exit"], PROJECT)?;
    let json = |args: &[&str], code: i32| -> TestResult<serde_json::Value> {
        let (out, err, found) = ci(folder.path(), &[args, &["--format", "json"]].concat())?;
        assert_eq!(found, code, "{err}");
        Ok(serde_json::from_str(&out)?)
    };
    let quick = json(&["--profile", "quick", "kernels/vector_add"], 0)?;
    assert_eq!(quick["profile"], "quick");
    assert_eq!(quick["run"]["kernels"].as_array().map(Vec::len), Some(1));
    assert!(["cover", "check", "mutate", "schedule"].iter().all(|command| quick[*command].is_null()), "{quick}");
    let thorough = json(&["--profile", "thorough", "kernels/vector_add/suite.toml"], 0)?;
    assert_eq!(thorough["mutate"]["kernels"][0]["summary"]["total"], 20);
    assert_eq!(thorough["schedule"]["kernels"][0]["schedules"], 3);
    // What a kernel says of itself is stronger than a profile.
    let other = json(&["--profile", "thorough"], 1)?;
    assert_eq!(other["mutate"]["kernels"].as_array().map(Vec::len), Some(1));
    let (_, err, code) = ci(folder.path(), &["kernels/nothing"])?;
    assert!(code == 2 && err.contains("is no suite of kassay.toml"), "{err}");
    Ok(())
}

#[test]
fn a_missed_threshold_is_told_of_its_kernel() -> TestResult {
    let file = "[cover]\ndevice = \"sim\"\nfail-under = { loop = 100 }\n[mutate]\ndevice = \"sim\"\nfail-under = 99\noperators = [\"ROR\", \"AOR\"]\n";
    let folder = project(&["vector_add", "saxpy_tail"], file)?;
    let (out, err, code) = ci(folder.path(), &["-j", "1"])?;
    assert_eq!(code, 1, "{err}");
    let saxpy = "kernels/saxpy_tail/suite.toml: loop coverage is 75.0 %, below 100 % (kassay cover)";
    assert!(out.contains(saxpy), "{out}");
    assert!(!out.contains("vector_add/suite.toml: loop"), "{out}");
    let (out, err, code) = ci(folder.path(), &["--quiet"])?;
    assert!(code == 1 && out.is_empty() && err.contains("loop coverage is 75.0 %"), "{out}{err}");
    Ok(())
}

#[test]
fn a_project_has_more_tests_generated() -> TestResult {
    let file = "suites = \"kernels\"\n[generate]\noutput = \"more\"\nmax-execs = 60\n[[kernel]]\nsuites = \"kernels/saxpy_tail\"\nrun = true\n";
    let folder = project(&["vector_add", "saxpy_tail"], file)?;
    let (out, err, code) = ci(folder.path(), &["-o", "result.json"])?;
    assert_eq!(code, 0, "{err}");
    let result = read(&folder.path().join("result.json"))?;
    valid(&result, "ci.schema.json")?;
    let kernels = result["generate"]["kernels"].as_array().cloned().unwrap_or_default();
    assert_eq!(kernels.len(), 2, "{err}");
    for (kernel, name) in kernels.iter().zip(["saxpy_tail", "vector_add"]) {
        assert_eq!(kernel["suite"], format!("kernels/{name}/suite.toml"));
        // It began with the suite's launches.
        assert!(kernel["from"]["launches"].as_u64().is_some_and(|launches| launches > 0), "{kernel}");
        let suite = folder.path().join("more").join(name).join("suite.toml");
        let run = kassay().args(["run", "--device", "sim", "--quiet"]).arg(&suite).output()?;
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert!(out.lines().any(|line| line.contains(name) && line.contains(" goals")), "{out}");
    }
    let (out, err, code) = ci(folder.path(), &["kernels/vector_add", "--quiet", "--format", "json"])?;
    assert_eq!(code, 0, "{err}");
    assert!(serde_json::from_str::<serde_json::Value>(&out)?["run"].is_null(), "{out}");
    let report =
        kassay().args(["report", "result.json", "--format", "markdown"]).current_dir(folder.path()).output()?;
    assert!(String::from_utf8_lossy(&report.stdout).contains("### Generated tests"), "{report:?}");
    Ok(())
}

#[test]
fn wrong_projects_are_told_where_they_are_wrong() -> TestResult {
    let cases = [
        ("sutes = [\"x\"]\n", "kassay.toml:1:1: `sutes` is no key here", "did you mean `suites`?"),
        ("[run]\n[covr]\n", "kassay.toml:2:2: `covr` is no key here", "did you mean `cover`?"),
        ("[cover]\nsamples = 3\n", "kassay.toml:2:1: `samples` is no flag of kassay cover", "there are"),
        ("[cover]\nfail-under = { brunch = 3 }\n", "kassay.toml:2:1: invalid value 'brunch=3'", "help:"),
        ("[mutate]\nlevel = \"ir:O9\"\n", "kassay.toml:2:1: invalid value 'ir:O9'", "possible values: source"),
        ("[run]\noutput = \"x\"\n", "kassay.toml:2:1: `output` is no flag", "help:"),
        ("[generate]\n", "kassay generate is asked for, but not where its suites go", "output = "),
        ("[generate]\noutput = \"x\"\nfrom = \"y\"\n", "kassay.toml:3:1: `from` is no flag", "help:"),
        ("suites = [\"none/*\"]\n[run]\n", "kassay.toml:1:11: `none/*` matches no file", "help:"),
        ("", "kassay.toml:1:1: nothing is asked", "[run], [cover]"),
        ("[[kernel]]\nrun = true\n", "kassay.toml:1:1: it does not say which suites", "suites = "),
        ("[run\n", "kassay.toml:1:5: not valid TOML", "unclosed"),
        ("[profile.a]\n[run]\n", "there is no profile `b`", "did you mean `a`?"),
    ];
    let folder = project(&["vector_add"], "")?;
    for (text, what, help) in cases {
        std::fs::write(folder.path().join("kassay.toml"), text)?;
        let profile: &[&str] = if text.contains("profile") { &["--profile", "b"] } else { &[] };
        let (_, err, code) = ci(folder.path(), profile)?;
        assert!(code == 2 && err.contains(what) && err.contains(help), "{text}: {code} {err}");
    }
    std::fs::remove_file(folder.path().join("kassay.toml"))?;
    let (_, err, code) = ci(folder.path(), &["--resume"])?;
    assert!(code == 2 && err.contains("--output"), "{err}");
    Ok(())
}

#[test]
fn an_interrupted_project_goes_on() -> TestResult {
    let folder =
        project(&["vector_add", "saxpy_tail"], "[options]\ndevice = \"sim\"\n[run]\n[cover]\n[mutate]\nsample = 30\n")?;
    let (_, err, code) = ci(folder.path(), &["-o", "whole.json"])?;
    assert_eq!(code, 0, "{err}");
    // A run that has decided one question: what it kept is taken over, whatever the kernel would do now.
    let mut child = kassay().args(["ci", "-j", "1", "-o", "cut.json"]).current_dir(folder.path()).spawn()?;
    let parts = folder.path().join("cut.json.parts");
    let kept = || {
        std::fs::read_dir(&parts)
            .into_iter()
            .flatten()
            .flatten()
            .any(|e| e.file_name().to_string_lossy().starts_with("run-saxpy"))
    };
    while !kept() && child.try_wait()?.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    let (_, err, code) = ci(folder.path(), &["-o", "cut.json", "--resume"])?;
    assert_eq!(code, 0, "{err}");
    let (whole, cut) = (read(&folder.path().join("whole.json"))?, read(&folder.path().join("cut.json"))?);
    for command in ["run", "cover", "mutate"] {
        assert_eq!(whole[command]["total"], cut[command]["total"], "{command}");
    }
    assert!(!parts.exists());
    Ok(())
}
