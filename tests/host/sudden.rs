//! Sudden ends: of the program, of kassay, of the room on the disk. The program ends as it would have, and results are
//! whole or absent.

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

/// The programs that a process has started, without the server that forks for it, which is there from its first moment,
/// and without what is no program yet.
fn children(process: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let name = |child: i32| fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
    let children = text.split_ascii_whitespace().filter_map(|number| number.parse().ok());
    children.filter(|child| !name(*child).starts_with("kassay")).collect()
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

/// Captures a program into a file system of `size` that is mounted for it alone, and returns kassay's output and what
/// it has left in the folder; nothing if this machine does not allow mounts.
fn on_a_small_disk(program: &Program, size: u64) -> TestResult<Option<(std::process::Output, std::path::PathBuf)>> {
    let disk = program.folder.path().join("disk");
    let saved = program.folder.path().join(format!("saved-{size}"));
    fs::create_dir_all(&disk)?;
    // What is on the disk goes with the name space, so it is copied out of it.
    let script = "mount -t tmpfs -o size=$1 kassay-test \"$2\" || exit 99
        \"$4\" capture --no-replay --all -o \"$2/captured\" -- \"$5\"; code=$?
        cp -r \"$2\" \"$3\"; exit $code";
    let mut command = std::process::Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", &size.to_string()]);
    command.arg(&disk).arg(&saved).arg(env!("CARGO_BIN_EXE_kassay")).arg(&program.path);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let error = String::from_utf8_lossy(&output.stderr);
    let is_refused = output.status.code() == Some(99) || error.contains("unshare failed") || error.contains("uid_map");
    Ok((!is_refused).then_some((output, saved)))
}

#[test]
fn a_full_disk_takes_no_whole_launch_and_is_told() -> TestResult {
    let program = Program::of("tasks")?;
    let (mut some_lost, mut all_kept) = (0, 0);
    // The layer's library alone has more than one megabyte.
    for size in [512 << 10, 1600 << 10, 1800 << 10, 2 << 20, 2500 << 10, 3 << 20, 4 << 20, 64 << 20] {
        let Some((output, disk)) = on_a_small_disk(&program, size)? else {
            println!("skipped: file systems cannot be mounted here");
            return Ok(());
        };
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{size}: {error}");
        let result = fs::read_to_string(disk.join("captured/capture.json"));
        let code = output.status.code();
        if !output.stdout.is_empty() || code == Some(0) {
            assert_eq!(String::from_utf8_lossy(&output.stdout), "tasks: right\n", "{size}: {error}");
        }
        assert!(code == Some(0) || code == Some(3) && error.contains("help:"), "{size}: {code:?}: {error}");
        let Ok(result) = result else {
            assert_eq!(code, Some(3), "{size}: {error}");
            continue;
        };
        let result: Value = serde_json::from_str(&result)?;
        check_counts(&result);
        assert_eq!(result["exit_code"], 0, "{size}");
        for kernel in kernels(&result, "parse_number") {
            assert_eq!(kernel["launches"], 500, "{size}");
            let lost = kernel["left_out"].as_array().into_iter().flatten().any(|row| row["reason"] == "unwritable");
            some_lost += u32::from(lost);
            all_kept += u32::from(kernel["kept"] == 500);
            assert!(lost || code == Some(0), "{size}: {error}");
            if let Some(suite) = kernel["suite"].as_str() {
                check_suite(disk.join("captured").join(suite).parent().unwrap_or(&disk))?;
            }
        }
    }
    assert!(some_lost > 0 && all_kept > 0, "{some_lost} {all_kept}");
    Ok(())
}
