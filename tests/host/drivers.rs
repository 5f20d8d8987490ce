//! Drivers that lack something.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::TestResult;
use super::programs::{Program, kassay, repository};

/// Compiles a library in a folder.
fn library(source: &Path, to: &Path) -> TestResult {
    let output = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(to).arg(source).arg("-ldl").output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The library of the first driver that kassay finds.
fn first_driver() -> TestResult<PathBuf> {
    let devices: Value = serde_json::from_slice(&kassay().args(["devices", "--format", "json"]).output()?.stdout)?;
    Ok(devices["drivers"][0]["library"].as_str().ok_or("no driver")?.into())
}

#[test]
fn without_spirv_nothing_is_measured_and_that_is_said() -> TestResult {
    let program = Program::of("sub_buffers")?;
    let driver = program.folder.path().join("libno_il.so");
    library(&repository("tests/host/no_il.c"), &driver)?;
    let real = first_driver()?;
    let run = |words: &[&str]| -> TestResult<(Output, String)> {
        let mut command = kassay();
        command.args(words).arg("--").arg(&program.path).current_dir(&program.directory);
        let output = command.env("OCL_ICD_VENDORS", &driver).env("REAL_DRIVER", &real).output()?;
        let error = String::from_utf8(output.stderr.clone())?;
        Ok((output, error))
    };
    for words in [&["cover"][..], &["mutate", "--sample", "5"]] {
        let (output, error) = run(words)?;
        assert_eq!(output.status.code(), Some(3), "{words:?}: {error}");
        assert!(error.contains("add_shifted was not measured: the device takes no SPIR-V"), "{words:?}: {error}");
        assert!(
            error.contains("kassay: nothing was measured: the device that the program uses takes no SPIR-V"),
            "{error}"
        );
        assert!(error.contains("help: have it use another device"), "{words:?}: {error}");
    }
    let captured = program.captured();
    let (output, error) = run(&["capture", "-o", captured.to_str().ok_or("no text")?])?;
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("takes no SPIR-V") && !error.contains("PTX"), "{error}");
    let (output, error) = run(&["check", "--budget", "5"])?;
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("clean"), "{error}");
    Ok(())
}

#[test]
fn a_driver_that_cannot_be_loaded_says_why() -> TestResult {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("driver.c");
    std::fs::write(&source, "int of_another_version(void);\nint use(void) { return of_another_version(); }\n")?;
    let driver = folder.path().join("libdriver.so");
    library(&source, &driver)?;
    let devices = |name: &str, folders: Option<&str>| -> TestResult<String> {
        let mut command = kassay();
        command.arg("devices").env("OCL_ICD_VENDORS", folder.path().join(name)).env_remove("LD_LIBRARY_PATH");
        let output = command.envs(folders.map(|folders| ("LD_LIBRARY_PATH", folders))).output()?;
        assert_eq!(output.status.code(), Some(3));
        Ok(String::from_utf8(output.stdout)?)
    };
    let said = devices("libdriver.so", None)?;
    assert!(said.contains("cannot be loaded: ") && said.contains("undefined symbol: of_another_version"), "{said}");
    assert!(said.contains("help: install that driver again"), "{said}");
    let said = devices("libdriver.so", Some("/nowhere"))?;
    assert!(said.contains("libraries of another version in LD_LIBRARY_PATH (/nowhere)"), "{said}");

    std::fs::write(folder.path().join("gone.icd"), "libthat-is-nowhere.so\n")?;
    let said = devices("gone.icd", None)?;
    assert!(said.contains("libthat-is-nowhere.so: cannot open shared object file"), "{said}");
    assert!(said.contains("source setvars.sh"), "{said}");
    Ok(())
}
