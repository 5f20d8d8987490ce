//! Sudden ends: of the program, of kassay, of the room on the disk. The program ends as it would have, and results are whole
//! or absent.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::TestResult;
use super::programs::{Program, check_counts, kassay, kernels};

/// Starts a capture of this command in `folder`.
fn start(target: &Path, folder: &Path, command: &[&str]) -> TestResult<Child> {
    let mut capture = kassay();
    capture.args(["capture", "--no-replay", "-o"]).arg(target).arg("--").args(command).current_dir(folder);
    Ok(capture.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// The processes that a process has started.
fn children(process: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn kill(process: i32) {
    // SAFETY: a signal to a process that this test has started; it is not reaped before its parent is.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Checks that every file that a suite names is there.
fn check_suite(folder: &Path) -> TestResult {
    let suite: toml::Table = toml::from_str(&fs::read_to_string(folder.join("suite.toml"))?)?;
    let mut open = vec![toml::Value::Table(suite)];
    while let Some(value) = open.pop() {
        match value {
            toml::Value::Table(table) => open.extend(table.into_iter().map(|(_, value)| value)),
            toml::Value::Array(all) => open.extend(all),
            toml::Value::String(text) if text.ends_with(".npy") => {
                assert!(fs::metadata(folder.join(&text))?.len() > 64, "{text}");
            }
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn a_program_may_be_killed_at_any_moment() -> TestResult {
    let program = Program::of("tasks")?;
    let path = program.path.to_string_lossy().into_owned();
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let (mut killed, mut whole) = (0, 0);
    for trial in 0..30 {
        let target = program.folder.path().join(format!("trial-{trial}"));
        let mut capture = start(&target, program.folder.path(), &[&path])?;
        let latest = if trial % 2 == 0 { 200_000 } else { 1_000_000 };
        let moment = Duration::from_micros(random.random_range(0..latest));
        // From the start of the program on, which kassay takes a while to reach.
        while children(capture.id()).is_empty() && capture.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(moment);
        children(capture.id()).into_iter().for_each(kill);
        let output = capture.wait_with_output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{moment:?}: {error}");
        match output.status.code() {
            Some(0) => {
                let result: Value = serde_json::from_str(&fs::read_to_string(target.join("capture.json"))?)?;
                check_counts(&result);
                let end = (result["exit_code"].as_i64(), result["signal"].as_str());
                assert!(end == (Some(0), None) || end == (None, Some("SIGKILL")), "{moment:?}: {end:?}");
                killed += u32::from(end.0.is_none());
                for kernel in kernels(&result, "parse_number") {
                    whole += u32::from(kernel["launches"] == 500);
                    if let Some(suite) = kernel["suite"].as_str() {
                        check_suite(target.join(suite).parent().unwrap_or(&target))?;
                    }
                }
                let left: Vec<_> = fs::read_dir(&target)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
                assert!(left.iter().flatten().all(|name| !name.as_encoded_bytes().starts_with(b".")), "{left:?}");
            }
            Some(3) => {
                assert!(error.contains("no OpenCL call was seen; SIGKILL ended it"), "{moment:?}: {error}");
                assert!(!target.exists());
                killed += 1;
            }
            other => panic!("{moment:?}: {other:?}: {error}"),
        }
    }
    println!("{killed} of 30 killed, {whole} with all launches");
    Ok(())
}

#[test]
fn a_program_goes_on_when_kassay_is_killed() -> TestResult {
    let program = Program::of("tasks")?;
    let script = format!("{}; echo \"it ended with $?\"; exit 7", program.path.display());
    let mut random = ChaCha8Rng::seed_from_u64(15);
    let target = program.folder.path().join("captured");
    for _ in 0..10 {
        let mut capture = start(&target, program.folder.path(), &["sh", "-c", &script])?;
        while children(capture.id()).is_empty() && capture.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.random_range(0..300_000)));
        capture.kill()?;
        // The pipe is open until the program has ended, too.
        let output = capture.wait_with_output()?;
        assert_eq!(String::from_utf8_lossy(&output.stdout), "tasks: right\nit ended with 0\n");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.signal() == Some(libc::SIGKILL) || output.status.success(), "{error}");
    }
    // What a killed capture has left is no hindrance.
    let result = program.result(&["--no-replay"], &[])?;
    assert_eq!(kernels(&result, "parse_number")[0]["launches"], 500);
    let left = fs::read_dir(&target)?.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"."));
    assert_eq!(left.count(), 0);
    Ok(())
}

#[test]
fn a_program_does_not_notice_that_nothing_can_be_written() -> TestResult {
    let program = Program::of("in_place")?;
    for blocks in ["0", "1", "8", "64"] {
        let script = format!("ulimit -f {blocks}; {}; exit $(($? + 5))", program.path.display());
        let target = program.folder.path().join(format!("blocks-{blocks}"));
        let output = start(&target, program.folder.path(), &["sh", "-c", &script])?.wait_with_output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "in_place: right\n", "{blocks}: {error}");
        match output.status.code() {
            Some(0) => {
                let result: Value = serde_json::from_str(&fs::read_to_string(target.join("capture.json"))?)?;
                assert_eq!(result["exit_code"], 5, "{blocks}");
                check_counts(&result);
            }
            Some(3) => assert!(error.contains("it ended with exit code 5"), "{blocks}: {error}"),
            other => panic!("{blocks}: {other:?}: {error}"),
        }
    }
    Ok(())
}
