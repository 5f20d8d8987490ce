//! `kassay capture` on the programs of `testdata/hosts/hosts.toml`: they end as natively, every launch is counted, and
//! what is kept passes as a suite.
//!
//! Those in C are built here, in four parts that run side by side. The others need more tools:
//! `scripts/build-hosts DIR` builds them, and `KASSAY_HOSTS=DIR` names the folder for the test that is left out of
//! ordinary runs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use serde::Deserialize;
use serde_json::Value;

use super::TestResult;
use super::programs::{check_counts, copy_folder, kassay, repository, vendors};

/// The parts of the list.
const PARTS: usize = 4;
/// The exit code of a program whose device lacks what it is for.
const SKIPPED: i32 = 77;
/// Reasons of sampling.
const SAMPLING: [&str; 2] = ["not-sampled", "max-launches"];

#[derive(Debug, Deserialize)]
struct List {
    host: Vec<Entry>,
}

/// An entry of the list; `testdata/hosts/README.md` describes the keys.
#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    source: PathBuf,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    spirv: Vec<PathBuf>,
    run: Option<Vec<String>>,
    first: Option<Vec<String>>,
    #[serde(default)]
    exit: i32,
    signal: Option<String>,
    #[serde(default)]
    others: bool,
    #[serde(default)]
    kernels: Vec<Kernel>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    left_out: Vec<String>,
    #[serde(default)]
    open: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Kernel {
    name: String,
    launches: u64,
    options: Option<String>,
}

/// Launches by kernel and, where the list has them, options.
type Counts = BTreeMap<(String, Option<String>), u64>;

fn entries() -> TestResult<Vec<Entry>> {
    let text = fs::read_to_string(repository("testdata/hosts/hosts.toml"))?;
    Ok(toml::from_str::<List>(&text)?.host)
}

impl Entry {
    fn program(&self) -> String {
        self.source.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is_c(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "c")
    }

    fn command(&self) -> Vec<String> {
        let script = self.source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let default = match script.ends_with(".py") {
            true => vec!["python".to_owned(), script],
            false => vec![format!("./{}", self.program())],
        };
        self.run.clone().unwrap_or(default)
    }

    /// Builds a program in C into `folder/PROGRAM`, with its files beside it, unless another entry has.
    fn build(&self, folder: &Path) -> TestResult {
        let list = repository("testdata/hosts");
        let into = folder.join(self.program());
        if into.exists() {
            return Ok(());
        }
        fs::create_dir(&into)?;
        for file in &self.files {
            let (from, to) = (list.join(file), into.join(file.file_name().unwrap_or_default()));
            if from.is_dir() { copy_folder(&from, &to)? } else { fs::copy(from, to).map(|_| ())? }
        }
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O1", "-o"]).arg(into.join(self.program()));
        succeeds(compiler.arg(list.join(&self.source)).args(["-lOpenCL", "-lpthread"]))?;
        for text in &self.spirv {
            let module = into.join(text.file_stem().unwrap_or_default()).with_extension("spv");
            succeeds(
                Command::new("spirv-as").args(["--target-env", "spv1.0"]).arg(list.join(text)).arg("-o").arg(module),
            )?;
        }
        Ok(())
    }

    /// Runs the program natively and under `kassay capture`, and compares.
    fn check(&self, folder: &Path) -> TestResult {
        let place = folder.join(self.program());
        let run = |words: &[String]| -> TestResult<Output> {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            if let (None, Some(vendors)) = (std::env::var_os("OCL_ICD_VENDORS"), vendors()) {
                command.env("OCL_ICD_VENDORS", vendors);
            }
            Ok(in_place(&mut command, folder, &place).output()?)
        };
        if let Some(first) = &self.first {
            run(first)?;
        }
        let native = run(&self.command())?;
        let needs_gpu = self.needs.iter().any(|need| need == "gpu");
        let is_skipped = native.status.code() == Some(SKIPPED);
        assert!(is_skipped || self.ends(native.status), "natively: {native:?}");

        let scratch = tempfile::tempdir()?;
        let target = scratch.path().join("captured");
        let mut command = kassay();
        command.arg("capture").arg("-o").arg(&target).args(needs_gpu.then_some("--as-gpu"));
        let output = in_place(command.arg("--").args(self.command()), folder, &place).output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{error}");
        let result: Value = serde_json::from_str(&fs::read_to_string(target.join("capture.json"))?)?;
        // A program with a cache of its own says that it found it empty.
        if !(is_skipped && needs_gpu) && self.first.is_none() {
            assert_eq!(lines(&output), lines(&native), "{error}");
        }
        let end = (result["exit_code"].as_i64(), result["signal"].as_str());
        if is_skipped && !needs_gpu {
            assert_eq!(end, (Some(SKIPPED.into()), None));
            return Ok(());
        }
        let expected = self.signal.as_deref().map_or((Some(self.exit.into()), None), |signal| (None, Some(signal)));
        assert_eq!(end, expected, "{error}");
        check_counts(&result);
        self.check_launches(&result);
        for kernel in result["kernels"].as_array().into_iter().flatten() {
            self.check_kernel(kernel);
        }
        Ok(())
    }

    fn ends(&self, status: ExitStatus) -> bool {
        match &self.signal {
            Some(name) => status.signal().is_some_and(|number| signal_name(number) == name),
            None => status.code() == Some(self.exit),
        }
    }

    fn check_launches(&self, result: &Value) {
        let mut expected = Counts::new();
        for kernel in &self.kernels {
            *expected.entry((kernel.name.clone(), kernel.options.clone())).or_default() += kernel.launches;
        }
        let programs: BTreeMap<&str, &Value> =
            result["programs"].as_array().into_iter().flatten().fold(BTreeMap::new(), |mut all, program| {
                all.insert(program["id"].as_str().unwrap_or_default(), program);
                all
            });
        let mut seen = Counts::new();
        for kernel in result["kernels"].as_array().into_iter().flatten() {
            let name = kernel["name"].as_str().unwrap_or_default();
            let is_listed = self.kernels.iter().any(|listed| listed.name == name);
            assert!(is_listed || self.others, "{name} is not listed");
            let program = programs.get(kernel["program"].as_str().unwrap_or_default());
            let options = program.and_then(|program| program["options"].as_str());
            let listed = self.kernels.iter().filter(|listed| listed.name == name);
            let by_options = listed.filter(|listed| listed.options.is_some()).find(|l| l.options.as_deref() == options);
            let key = (name.to_owned(), by_options.and_then(|listed| listed.options.clone()));
            let launches = kernel["launches"].as_u64().unwrap_or(0);
            if is_listed && launches > 0 {
                *seen.entry(key).or_default() += launches;
            }
        }
        assert_eq!(seen, expected);
    }

    /// Checks that launches are kept and their suite reproduces them, but for what the list excepts.
    fn check_kernel(&self, kernel: &Value) {
        if kernel["launches"].as_u64() == Some(0) {
            return;
        }
        let rows = kernel["left_out"].as_array().into_iter().flatten();
        let mut reasons = rows.filter_map(|row| row["reason"].as_str()).filter(|reason| !SAMPLING.contains(reason));
        let is_excepted = reasons.clone().next().is_some();
        assert!(reasons.all(|reason| self.left_out.iter().any(|known| known == reason)), "{kernel:#}");
        let kept = kernel["kept"].as_u64().unwrap_or(0);
        assert!(kept > 0 || is_excepted, "{kernel:#}");
        let replay = &kernel["replay"];
        assert!(kernel["error"].is_null() && replay["error"].is_null(), "{kernel:#}");
        let count = |key: &str| replay[key].as_u64().unwrap_or(0);
        let is_open = self.open.iter().any(|name| kernel["name"] == **name);
        let reproduced = count("exact") + count("within_tolerance");
        assert!(reproduced == kept || is_open && reproduced <= kept, "{kernel:#}");
    }
}

/// Sets where a program of the list runs, and what it finds in its environment.
fn in_place<'c>(command: &'c mut Command, folder: &Path, place: &Path) -> &'c mut Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.join("venv/bin").display());
    command.current_dir(place).env("PATH", path).stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", folder.join("cache")).env("PYTHONDONTWRITEBYTECODE", "1")
}

fn succeeds(command: &mut Command) -> TestResult {
    let output = command.output()?;
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// What a program printed, as sorted lines: work-items print in any order.
fn lines(output: &Output) -> Vec<String> {
    let mut all: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    all.sort();
    all
}

fn signal_name(number: i32) -> &'static str {
    let all = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGKILL, "SIGKILL"),
    ];
    all.into_iter().find(|(known, _)| *known == number).map_or("", |(_, name)| name)
}

/// Checks all of these entries, and then tells which failed.
fn check(entries: &[&Entry], folder: &Path) -> TestResult {
    let failed: Vec<&str> = entries
        .iter()
        .filter(|entry| {
            let checked = std::panic::AssertUnwindSafe(|| entry.check(folder).map_err(|error| error.to_string()));
            let outcome = std::panic::catch_unwind(checked);
            if let Ok(Err(error)) = &outcome {
                eprintln!("{error}");
            }
            let is_right = matches!(outcome, Ok(Ok(())));
            if !is_right {
                eprintln!("^ {}", entry.name);
            }
            !is_right
        })
        .map(|entry| entry.name.as_str())
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    Ok(())
}

fn check_part(part: usize) -> TestResult {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("cache"))?;
    let entries = entries()?;
    let wanted: Vec<&Entry> = entries.iter().filter(|entry| entry.is_c()).skip(part).step_by(PARTS).collect();
    assert!(wanted.len() > 10, "{}", wanted.len());
    for entry in &wanted {
        entry.build(folder.path())?;
    }
    check(&wanted, folder.path())
}

#[test]
fn programs_in_c_are_captured_as_listed_1() -> TestResult {
    check_part(0)
}

#[test]
fn programs_in_c_are_captured_as_listed_2() -> TestResult {
    check_part(1)
}

#[test]
fn programs_in_c_are_captured_as_listed_3() -> TestResult {
    check_part(2)
}

#[test]
fn programs_in_c_are_captured_as_listed_4() -> TestResult {
    check_part(3)
}

/// C++, Rust and Python.
#[test]
#[ignore = "needs KASSAY_HOSTS=DIR, the folder of scripts/build-hosts DIR"]
fn programs_in_other_languages_are_captured_as_listed() -> TestResult {
    let folder = std::env::var_os("KASSAY_HOSTS").ok_or("KASSAY_HOSTS does not name a folder")?;
    let entries = entries()?;
    let wanted: Vec<&Entry> = entries.iter().filter(|entry| !entry.is_c()).collect();
    let folder = fs::canonicalize(folder)?;
    fs::create_dir_all(folder.join("cache"))?;
    check(&wanted, &folder)
}
