//! A folder with kernels, suites and results, in which kassay runs as a user runs it. Not a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::testdata::testdata;
use super::{TestResult, program};

/// A folder that is deleted at the end.
pub struct Bench {
    folder: tempfile::TempDir,
}

/// The output of a run.
pub struct FinishedRun {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> TestResult<Bench> {
        Ok(Bench { folder: tempfile::tempdir()? })
    }

    /// Makes a folder with a kernel `k.cl` and a suite for it.
    pub fn of(kernel: &str, suite: &str) -> TestResult<Bench> {
        let bench = Bench::new()?;
        bench.put("k.cl", kernel)?;
        bench.put("suite.toml", suite)?;
        Ok(bench)
    }

    /// Makes a folder with the files of a folder of `testdata`.
    pub fn copy_of(name: &str) -> TestResult<Bench> {
        let bench = Bench::new()?;
        bench.copy(name, ".")?;
        Ok(bench)
    }

    /// Copies the files of a folder of `testdata` to a folder here.
    pub fn copy(&self, name: &str, to: &str) -> TestResult {
        let to = self.path(to);
        std::fs::create_dir_all(&to)?;
        for entry in std::fs::read_dir(testdata(name))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) -> TestResult {
        Ok(std::fs::write(self.path(name), text)?)
    }

    pub fn text(&self, name: &str) -> TestResult<String> {
        Ok(std::fs::read_to_string(self.path(name))?)
    }

    /// Replaces the only occurrence of a text in a file.
    pub fn replace(&self, file: &str, from: &str, to: &str) -> TestResult {
        let text = self.text(file)?;
        assert_eq!(text.matches(from).count(), 1, "{from} in {file}");
        self.put(file, text.replace(from, to))
    }

    /// Reads a file of JSON.
    pub fn read(&self, name: &str) -> TestResult<Value> {
        program::read(&self.path(name))
    }

    /// Returns a command that runs kassay in this folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program::kassay();
        command.args(args).current_dir(self.folder()).env_remove("NO_COLOR");
        command
    }

    /// Runs kassay in this folder. A panic is an error.
    pub fn run(&self, args: &[&str]) -> TestResult<FinishedRun> {
        let Output { status, stdout, stderr } = self.command(args).output()?;
        let finished =
            FinishedRun { code: status.code(), out: String::from_utf8(stdout)?, err: String::from_utf8(stderr)? };
        if finished.err.contains("panicked") {
            return Err(format!("{args:?}: {}", finished.err).into());
        }
        Ok(finished)
    }

    /// Runs kassay, which has to end with `code`.
    pub fn ends(&self, code: i32, args: &[&str]) -> TestResult<FinishedRun> {
        let finished = self.run(args)?;
        if finished.code == Some(code) {
            return Ok(finished);
        }
        Err(format!("{args:?} ended with {:?}: {}{}", finished.code, finished.err, finished.out).into())
    }

    /// Returns the JSON result of a command that ends with `code`.
    pub fn json(&self, code: i32, args: &[&str]) -> TestResult<Value> {
        Ok(serde_json::from_str(&self.ends(code, &[args, &["--format", "json"]].concat())?.out)?)
    }

    /// Runs `kassay mutate` with a result file; it has to end with `code`.
    pub fn mutated(&self, code: i32, suite: &str, args: &[&str]) -> TestResult<Value> {
        self.ends(code, &[&["mutate", suite, "--quiet", "-o", "result.json"], args].concat())?;
        self.read("result.json")
    }

    /// Runs `kassay mutate`, which has to succeed.
    pub fn mutate(&self, suite: &str, args: &[&str]) -> TestResult<Value> {
        self.mutated(0, suite, args)
    }
}
