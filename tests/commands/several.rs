//! Several suites in one call: each as alone, stopped and resumed. `tests/cli/several.md` has the rest.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json, kassay, read, run, valid};
use crate::common::testdata::repository;

/// What differs from run to run.
const TIMES: &[&str] = &[
    "elapsed_s",
    "timing",
    "overhead",
    "kernel_s",
    "original_s",
    "instrumented_s",
    "suite",
    "time_s",
    "fuzz_s",
    "smt_s",
    "milliseconds",
];

/// Returns a result without times.
fn timeless(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                TIMES.iter().for_each(|key| drop(fields.remove(*key)));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

fn suite(name: &str) -> String {
    repository("testdata").join(name).join("suite.toml").display().to_string()
}

#[test]
fn each_kernel_has_the_result_that_it_has_alone() -> TestResult {
    let suites = [suite("vector_add"), suite("saxpy_tail"), suite("divergent_exit")];
    let commands: [(&[&str], &str, i32); 5] = [
        (&["run"], "run-set.schema.json", 1),
        (&["cover", "--mcdc"], "cover-set.schema.json", 1),
        (&["mutate", "--sample", "20"], "mutate-set.schema.json", 1),
        (&["check", "--budget", "1000"], "check-set.schema.json", 1),
        (&["schedule", "--schedules", "3"], "schedule-set.schema.json", 1),
    ];
    for (command, schema, code) in commands {
        let flags = [command, &["--device", "sim", "--quiet"]].concat();
        let all: Vec<&str> =
            flags.iter().copied().chain(["-j", "3"]).chain(suites.iter().map(String::as_str)).collect();
        let set = json(&all, code)?;
        valid(&set, schema)?;
        assert_eq!(set["kernels"].as_array().map(Vec::len), Some(3), "{command:?}");
        for (number, suite) in suites.iter().enumerate() {
            let (out, ..) = run(&[&flags[..], &[suite, "--format", "json"]].concat())?;
            let alone = timeless(serde_json::from_str(&out)?);
            let mut of_set = set["kernels"][number].clone();
            assert_eq!(of_set["suite"], suite.as_str());
            of_set = timeless(of_set);
            assert_eq!(of_set, alone, "{command:?} {suite}");
        }
    }
    Ok(())
}

/// Begins a run, and ends it with a signal as soon as it has written something that `is_far` accepts.
fn interrupted(args: &[&str], signal: i32, is_far: impl Fn() -> bool) -> TestResult<(Option<i32>, String)> {
    use std::os::unix::process::ExitStatusExt;
    let mut child = kassay().args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let started = Instant::now();
    while !is_far() && child.try_wait()?.is_none() && started.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: a child of this process that was not waited for.
    unsafe { libc::kill(i32::try_from(child.id())?, signal) };
    let status = child.wait()?;
    let mut err = String::new();
    child.stderr.take().ok_or("no standard error")?.read_to_string(&mut err)?;
    Ok((status.signal(), err))
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_interrupted_run_keeps_what_is_decided_and_goes_on() -> TestResult {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("all.json");
    let parts = folder.path().join("all.json.parts");
    let suites = [suite("vector_add"), suite("saxpy_tail"), suite("stencil_2d")];
    let mut args: Vec<&str> = vec!["mutate", "--device", "sim", "-o", at(&output)];
    args.extend(suites.iter().map(String::as_str));
    let is_far = || files(&parts).iter().any(|name| name.ends_with(".json"));
    let (signal, err) = interrupted(&args, libc::SIGINT, is_far)?;
    assert_eq!(signal, Some(libc::SIGINT), "{err}");
    assert!(err.contains("interrupted:") && err.contains("--resume"), "{err}");
    assert!(!output.exists() && parts.is_dir());
    // Another set of files is another run.
    let (_, err, code) = run(&["mutate", &suites[0], &suites[1], "--device", "sim", "-o", at(&output), "--resume"])?;
    assert!(code == 2 && err.contains("journal of another run"), "{err}");
    let (_, err, code) = run(&[&args[..], &["--resume", "--quiet"]].concat())?;
    assert_eq!(code, 0, "{err}");
    let resumed = read(&output)?;
    assert_eq!(files(folder.path()), ["all.json"]);
    let whole = folder.path().join("whole.json");
    args[4] = at(&whole);
    let (_, err, code) = run(&[&args[..], &["--quiet"]].concat())?;
    assert_eq!(code, 0, "{err}");
    assert_eq!(timeless(resumed), timeless(read(&whole)?));
    Ok(())
}
