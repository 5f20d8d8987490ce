//! Calls that cannot be: refused before the program runs, or told when no OpenCL call was seen.

use std::fs;
use std::path::Path;

use super::TestResult;
use super::programs::kassay;

/// Calls a command with arguments that it must refuse; the second text of a row is part of what it must say. `MARK` stands for a file that
/// the program would make.
fn are_refused(command: &str, calls: &[(&str, &str)]) -> TestResult {
    let folder = tempfile::tempdir()?;
    let mark = folder.path().join("ran");
    fs::create_dir(folder.path().join("mine"))?;
    fs::write(folder.path().join("mine/mine.txt"), "precious")?;
    for (arguments, what) in calls {
        let arguments =
            arguments.split_whitespace().map(|word| if word == "MARK" { mark.as_os_str() } else { word.as_ref() });
        let output = kassay().arg(command).args(arguments.clone()).current_dir(folder.path()).output()?;
        let error = String::from_utf8(output.stderr)?;
        let arguments: Vec<_> = arguments.collect();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(what) && !error.contains("panicked"), "{arguments:?}: {error}");
        assert!(!mark.exists(), "{arguments:?}: the program ran");
        assert!(!folder.path().join("x").exists(), "{arguments:?}: a folder was made");
    }
    Ok(())
}

/// Calls a command with a program that makes no OpenCL call.
fn tells_that_no_call_was_seen(command: &str, flags: &[&str], folder: &Path) -> TestResult {
    let output = kassay().arg(command).args(flags).args(["--", "sh", "-c", "exit 4"]).current_dir(folder).output()?;
    let error = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(3), "{command}: {error}");
    let is_told = error.contains("no OpenCL call was seen; it ended with exit code 4") && error.contains("help:");
    assert!(is_told, "{command}: {error}");
    Ok(())
}

#[test]
fn capture_refuses_wrong_calls() -> TestResult {
    are_refused(
        "capture",
        &[
            ("-o mine -- touch MARK", "holds files that are not of a capture"),
            ("-o x --max-bytes much -- touch MARK", "no number of bytes"),
            ("-o x --max-launches 0 -- touch MARK", "--max-launches"),
            ("-o x -j 0 -- touch MARK", "--jobs"),
            ("-o x", "COMMAND"),
            ("-- touch MARK", "--output"),
            ("-o x -- /nonexistent/program", "cannot run /nonexistent/program"),
            ("-o x --measure-native -- /nonexistent/program", "cannot run /nonexistent/program"),
        ],
    )
}

#[test]
fn cover_refuses_wrong_calls() -> TestResult {
    are_refused(
        "cover",
        &[
            ("", "SUITE"),
            ("suite.toml -- touch MARK", "cannot be used with"),
            ("suite.toml --as-gpu", "--as-gpu"),
            ("suite.toml --verify all", "--verify is for host programs"),
            ("suite.toml --kernel x", "--kernel"),
            ("--counts -- touch MARK", "--counts"),
            ("--device sim -- touch MARK", "--device"),
            ("-D A=1 -- touch MARK", "-D"),
            ("--fail-under def_use=1 -- touch MARK", "not measured of host programs"),
            ("-o no/such/folder/x.json -- touch MARK", "does not exist"),
        ],
    )
}

#[test]
fn check_refuses_wrong_calls() -> TestResult {
    are_refused(
        "check",
        &[
            ("-D N=1 -- touch MARK", "cannot be used with"),
            ("--evolve -- touch MARK", "cannot be used with"),
            ("--device opencl -- touch MARK", "cannot be used with"),
            ("suite.toml -- touch MARK", "cannot be used with"),
            ("suite.toml --as-gpu", "--as-gpu is for host programs"),
            ("suite.toml --kernel k", "cannot be used with"),
            ("", "required arguments were not provided"),
            ("-- no-such-program-here", "cannot run no-such-program-here"),
        ],
    )
}

#[test]
fn a_program_without_opencl_is_told() -> TestResult {
    let folder = tempfile::tempdir()?;
    tells_that_no_call_was_seen("capture", &["-o", "captured"], folder.path())?;
    assert!(!folder.path().join("captured").exists());
    tells_that_no_call_was_seen("cover", &[], folder.path())?;
    tells_that_no_call_was_seen("check", &[], folder.path())
}
