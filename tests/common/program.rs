//! Runs the program as a user does.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::TestResult;
use super::testdata::repository;

pub fn kassay() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kassay"))
}

/// Returns standard output, standard error and the exit code. A panic fails the test.
pub fn run(args: &[&str]) -> TestResult<(String, String, i32)> {
    let output = kassay().args(args).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let err = text(&output.stderr);
    assert!(!err.contains("panicked"), "{args:?}: {err}");
    Ok((text(&output.stdout), err, output.status.code().unwrap_or(-1)))
}

/// Returns the names of the commands that `kassay --help` lists, but for `help`.
pub fn commands() -> TestResult<Vec<String>> {
    let (help, ..) = run(&["--help"])?;
    let list = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).ok_or("no commands")?;
    let names = list.lines().filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let names = names.filter_map(|rest| rest.split(' ').next()).filter(|name| *name != "help");
    Ok(names.map(str::to_owned).collect())
}

/// Returns the JSON result of a command that ends with `code`.
pub fn json(args: &[&str], code: i32) -> TestResult<Value> {
    let (out, err, found) = run(&[args, &["--format", "json"]].concat())?;
    assert_eq!(found, code, "{args:?}: {err}{out}");
    Ok(serde_json::from_str(&out)?)
}

/// Returns a path as an argument.
pub fn at(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// Reads a file of JSON.
pub fn read(path: &Path) -> TestResult<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
}

/// Checks a result against a published schema of `docs/schema`.
pub fn valid(result: &Value, schema: &str) -> TestResult {
    let validator = jsonschema::validator_for(&read(&repository("docs/schema").join(schema))?)?;
    let errors: Vec<String> = validator.iter_errors(result).map(|e| e.to_string()).collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("{schema}: {errors:?}").into()) }
}
