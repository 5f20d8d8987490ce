//! Sudden ends and hostile surroundings: kills, two kassays on one output, full disks. `scripts/test-kills` does the first
//! of these for all commands; `tests/cli/streams-and-files.md` has closed streams, and files that are none.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, kassay, read, run};
use crate::common::testdata::{kernel, suite};

/// Longest wait for something that takes a moment.
const LONG: Duration = Duration::from_secs(60);

fn wait_for(what: impl Fn() -> bool, child: &mut Child) -> TestResult {
    let started = Instant::now();
    while !what() {
        assert!(child.try_wait()?.is_none() && started.elapsed() < LONG, "it ended, or took too long");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// A run that takes a while.
fn slow(output: &Path) -> Command {
    let mut command = kassay();
    command.args(["mutate", at(&suite("palette_1d")), "--strategy", "rebuild", "--sample", "12", "--quiet", "-o"]);
    command.arg(output).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn a_second_kassay_on_the_same_output_is_refused_and_the_first_goes_on() -> TestResult {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("r.json");
    let lock = folder.path().join("r.json.lock");
    let mut first = slow(&output).spawn()?;
    wait_for(|| lock.exists(), &mut first)?;
    let own = suite("vector_add");
    for second in [
        &["mutate", at(&own), "-o", at(&output)][..],
        &["mutate", at(&own), "--resume", "-o", at(&output)],
        &["run", at(&own), "--device", "sim", "-o", at(&output)],
        &["merge", "a.json", "b.json", "-o", at(&output)],
    ] {
        let started = Instant::now();
        let (_, err, code) = run(second)?;
        assert!(code == 2 && err.contains(&format!("another kassay (process {}) is writing", first.id())), "{err}");
        assert!(err.contains("help:") && started.elapsed() < LONG / 4, "{:?}", started.elapsed());
    }
    assert_eq!(first.wait()?.code(), Some(0));
    assert_eq!(read(&output)?["kernel"], "palette_1d");
    assert_eq!(fs::read_dir(folder.path())?.count(), 1, "nothing is left but the result");
    Ok(())
}

#[test]
fn locks_of_killed_runs_are_no_hindrance() -> TestResult {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("r.json");
    let mut first = slow(&output).spawn()?;
    wait_for(|| folder.path().join("r.json.journal.jsonl").exists(), &mut first)?;
    first.kill()?;
    first.wait()?;
    assert!(folder.path().join("r.json.lock").exists());
    let (_, err, code) = run(&["run", at(&suite("vector_add")), "--device", "sim", "--quiet", "-o", at(&output)])?;
    assert_eq!(code, 0, "{err}");
    assert!(!folder.path().join("r.json.lock").exists());
    Ok(())
}

#[test]
fn folders_have_one_writer() -> TestResult {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("k.cl");
    // Nothing covers the outcome.
    fs::write(&source, "__kernel void k(__global int *a, int n) { if (n * n % 4 == 3) a[0] = 1; }\n")?;
    let out = folder.path().join("made");
    let args = ["generate", at(&source), "--no-smt", "--quiet", "-o", at(&out), "--budget"];
    let endless = ["60", "--attempts", "1000000000"];
    let mut first = kassay().args(args).args(endless).stdout(Stdio::null()).spawn()?;
    wait_for(|| out.join("generate.json.journal.jsonl").exists(), &mut first)?;
    let (_, err, code) = run(&[&args[..], &["1"]].concat())?;
    assert!(code == 2 && err.contains("is writing into"), "{code} {err}");
    assert!(first.try_wait()?.is_none());
    first.kill()?;
    first.wait()?;
    let (_, err, code) = run(&[&args[..], &["1"]].concat())?;
    assert_eq!(code, 0, "{err}");
    Ok(())
}

/// Whether a process with this mark in its environment is alive.
fn is_alive(mark: &str) -> bool {
    let mut processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.any(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        environment.windows(mark.len()).any(|part| part == mark.as_bytes()) && !matches!(state, None | Some('Z' | 'X'))
    })
}

/// Kills a command a few times at random moments, in several ways, and checks what is left.
fn killed(args: &[&str], prepare: impl Fn(&Path) -> TestResult) -> TestResult {
    let mut random = ChaCha8Rng::seed_from_u64(args.len() as u64);
    let ways = [(libc::SIGKILL, false), (libc::SIGINT, true), (libc::SIGTERM, false), (libc::SIGKILL, true)];
    for (number, (signal, group)) in ways.into_iter().enumerate() {
        let folder = tempfile::tempdir()?;
        prepare(folder.path())?;
        let mark = format!("KASSAY_KILL_TEST={}-{}-{number}-{}", std::process::id(), args[0], args.len());
        let (name, value) = mark.split_once('=').ok_or("a mark")?;
        let temporary = folder.path().join("tmp");
        fs::create_dir(&temporary)?;
        let mut command = kassay();
        command.args(args).current_dir(folder.path()).env(name, value).env("TMPDIR", &temporary).process_group(0);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        std::thread::sleep(Duration::from_millis(random.random_range(0..1500)));
        let process = i32::try_from(child.id())?;
        if child.try_wait()?.is_none() {
            // SAFETY: a signal to a process, or its group, that this test has started and not reaped.
            unsafe { libc::kill(if group { -process } else { process }, signal) };
        }
        let mut said = String::new();
        child.stderr.take().ok_or("no standard error")?.read_to_string(&mut said)?;
        child.wait()?;
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        let started = Instant::now();
        while is_alive(&mark) {
            assert!(started.elapsed() < LONG, "{args:?}, signal {signal}: a process is left");
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Ok(text) = fs::read_to_string(folder.path().join("r.json")) {
            serde_json::from_str::<Value>(&text)?;
        }
        // The same again, undisturbed: it succeeds and leaves the result alone.
        let output = kassay().args(args).current_dir(folder.path()).env("TMPDIR", &temporary).output()?;
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let left: Vec<PathBuf> = fs::read_dir(folder.path())?.flatten().map(|entry| entry.path()).collect();
        let is_ours =
            |path: &&PathBuf| path.to_string_lossy().contains("r.json") || path.extension().is_some_and(|e| e == "tmp");
        assert_eq!(left.iter().filter(is_ours).count(), 1, "{left:?}");
        assert_eq!(fs::read_dir(&temporary)?.count(), 0, "temporary files are left");
    }
    Ok(())
}

fn nothing(_: &Path) -> TestResult {
    Ok(())
}

#[test]
fn suites_side_by_side_are_killed() -> TestResult {
    let (a, b) = (suite("vector_add"), suite("saxpy_tail"));
    for command in ["run", "cover"] {
        killed(&[command, at(&a), at(&b), "--device", "sim", "-j2", "--no-cache", "-o", "r.json"], nothing)?;
    }
    killed(&["check", at(&a), at(&b), "--budget", "100", "-j2", "--no-cache", "-o", "r.json"], nothing)
}

#[test]
fn schedules_comparisons_and_projects_are_killed() -> TestResult {
    let own = suite("vector_add");
    killed(&["schedule", at(&own), "--device", "sim", "--schedules", "3", "--no-cache", "-o", "r.json"], nothing)?;
    killed(&["compare", at(&own), "--device", "sim", "--levels", "canonical", "--no-cache", "-o", "r.json"], nothing)?;
    let project = |folder: &Path| -> TestResult {
        for name in ["vector_add", "saxpy_tail"] {
            fs::create_dir(folder.join(name))?;
            fs::copy(kernel(name), folder.join(name).join(format!("{name}.cl")))?;
            fs::copy(suite(name), folder.join(name).join("suite.toml"))?;
        }
        let text = "suites = \"*/suite.toml\"\n[options]\ndevice = \"sim\"\n[run]\n[cover]\n[mutate]\nsample = 5\n";
        Ok(fs::write(folder.join("kassay.toml"), text)?)
    };
    killed(&["ci", "-j2", "--no-cache", "-o", "r.json"], project)
}

#[test]
fn disks_that_are_full_or_read_only_are_told_before_the_work() -> TestResult {
    let folder = tempfile::tempdir()?;
    let script = "mount -t tmpfs -o size=16k kassay-test \"$1\" || exit 99
        dd if=/dev/zero of=\"$1/fill\" bs=1k 2>/dev/null
        \"$2\" run \"$3\" --device sim --quiet -o \"$1/r.json\"; echo $?; ls -A \"$1\"
        rm \"$1/fill\"; mount -o remount,ro \"$1\" || exit 99
        \"$2\" run \"$3\" --device sim --quiet -o \"$1/r.json\"; echo $?; ls -A \"$1\"";
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", at(folder.path())]);
    let output = match command.args([env!("CARGO_BIN_EXE_kassay"), at(&suite("vector_add"))]).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        output => output?,
    };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(99) || err.contains("unshare failed") || err.contains("uid_map") {
        println!("skipped: file systems cannot be mounted here");
        return Ok(());
    }
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(out.lines().filter(|line| *line == "3").count(), 2, "{out}{err}");
    assert!(err.contains("No space left") && err.contains("Read-only") && err.contains("help:"), "{err}");
    assert!(!out.contains("r.json\n") && !out.contains(".tmp"), "{out}");
    Ok(())
}
