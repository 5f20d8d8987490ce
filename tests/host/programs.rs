//! Builds host programs, runs kassay on them, and reads what it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::TestResult;

/// A folder of this repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A host program in a folder of its own, which is deleted with it.
pub struct Program {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
    /// Where it runs.
    pub directory: PathBuf,
}

impl Program {
    /// Compiles a C program of `testdata/hosts`.
    pub fn of(name: &str) -> TestResult<Program> {
        Program::compile(&repository("testdata/hosts/c").join(name).with_extension("c"))
    }

    /// Runs the program without kassay's layer.
    pub fn native(&self, directory: &Path) -> TestResult<Output> {
        let mut command = Command::new(&self.path);
        command.current_dir(directory);
        if std::env::var_os("OCL_ICD_VENDORS").is_none() && !Path::new("/etc/OpenCL/vendors").is_dir() {
            let home = std::env::var_os("HOME").ok_or("no home")?;
            command.env("OCL_ICD_VENDORS", Path::new(&home).join(".local/share/kassay/opencl/vendors"));
        }
        Ok(command.output()?)
    }

    /// Compiles a C program.
    pub fn compile(source: &Path) -> TestResult<Program> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("program");
        let output = Command::new("cc")
            .arg("-I")
            .arg(repository("testdata/hosts/c"))
            .arg("-o")
            .arg(&path)
            .arg(source)
            .args(["-lOpenCL", "-lpthread"])
            .output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(Program { folder, path, directory: repository("testdata/hosts/c") })
    }

    /// The folder that captures go to.
    pub fn captured(&self) -> PathBuf {
        self.folder.path().join("captured")
    }

    /// Captures the program with these flags and arguments. Returns kassay's output.
    pub fn capture(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Output> {
        let output = kassay()
            .arg("capture")
            .arg("-o")
            .arg(self.captured())
            .args(flags)
            .arg("--")
            .arg(&self.path)
            .args(arguments)
            .current_dir(&self.directory)
            .output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{error}");
        Ok(output)
    }

    /// Captures the program, which must work, and returns the result.
    pub fn result(&self, flags: &[&str], arguments: &[&str]) -> TestResult<Value> {
        let output = self.capture(flags, arguments)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_str(&std::fs::read_to_string(self.captured().join("capture.json"))?)?;
        check_counts(&result);
        Ok(result)
    }

    /// Checks that `kassay run` passes the suite of a kernel.
    pub fn passes(&self, kernel: &Value) -> TestResult {
        let suite = kernel["suite"].as_str().ok_or_else(|| format!("no suite: {kernel:#}"))?;
        let output = kassay().arg("run").arg(self.captured().join(suite)).args(["--format", "json"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{suite}: {}{text}", String::from_utf8_lossy(&output.stderr));
        let ran: Value = serde_json::from_str(&text)?;
        assert_eq!(ran["summary"]["total"], kernel["kept"], "{suite}");
        Ok(())
    }
}

/// The program under test.
pub fn kassay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kassay"))
}

/// Returns the kernels of a result that have this name.
pub fn kernels<'a>(result: &'a Value, name: &str) -> Vec<&'a Value> {
    result["kernels"].as_array().into_iter().flatten().filter(|kernel| kernel["name"] == name).collect()
}

/// Returns how often the kernels of this name were launched.
pub fn launches(result: &Value, name: &str) -> u64 {
    kernels(result, name).iter().filter_map(|kernel| kernel["launches"].as_u64()).sum()
}

/// The folder of the drivers that `scripts/setup` has installed, for programs that run natively; nothing if it is not
/// there.
pub fn vendors() -> Option<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
    data.or_else(home).map(|data| data.join("kassay/opencl/vendors")).filter(|folder| folder.is_dir())
}

/// Copies a folder with all that is in it.
pub fn copy_folder(from: &Path, to: &Path) -> TestResult {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Checks that each launch was kept or left out.
pub fn check_counts(result: &Value) {
    for kernel in result["kernels"].as_array().into_iter().flatten() {
        let left_out = kernel["left_out"].as_array().into_iter().flatten();
        let left_out: u64 = left_out.filter_map(|row| row["count"].as_u64()).sum();
        let kept = kernel["kept"].as_u64().unwrap_or(0);
        assert_eq!(kernel["launches"].as_u64(), Some(kept + left_out), "{kernel:#}");
    }
}
