//! Runs the commands of a page in a folder of its own, in their order, and compares what they print.
//!
//! The folder has `testdata` and the files that the page shows. A command may be whatever bash takes; the program under
//! test is first in PATH.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::testdata::repository;
use crate::output::difference;
use crate::page::{self, Block};

/// A command of a block with what the page shows of its output.
struct Step {
    line: usize,
    command: String,
    shown: String,
}

/// Runs a page. Panics with all that differs.
pub fn run(path: &str) {
    let page = page::read(path);
    assert!(page.blocks.iter().any(Block::is_run), "{path} shows no commands");
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository("testdata"), folder.path().join("testdata")).unwrap();
    let mut preparation = String::new();
    let mut wrong = Vec::new();
    for block in &page.blocks {
        let place = format!("{path}:{}", block.line);
        write_file(folder.path(), block);
        if block.language == "setup" {
            // Variables that a preparation exports hold for all later commands.
            let exports = block.text.lines().filter(|line| line.starts_with("export "));
            exports.for_each(|line| preparation += &format!("{line}\n"));
            let (output, code) = shell(folder.path(), &format!("set -e\n{preparation}{}", block.text));
            assert_eq!(code, 0, "{place}: the preparation failed:\n{output}");
        } else if block.is_run() {
            wrong.extend(run_block(path, folder.path(), &preparation, block));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes a block that is a file (`file=NAME`) or more text of one (`append=NAME`).
fn write_file(folder: &Path, block: &Block) {
    if let Some(name) = block.attribute("file") {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &block.text).unwrap();
    }
    if let Some(name) = block.attribute("append") {
        let before =
            std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("line {}: {name}: {e}", block.line));
        std::fs::write(folder.join(name), format!("{before}\n{}", block.text)).unwrap();
    }
}

/// Runs the commands of a block: all must end with 0, but for the last one of a block that says `exit=N`.
fn run_block(path: &str, folder: &Path, preparation: &str, block: &Block) -> Vec<String> {
    let mut wrong = Vec::new();
    let steps = steps(path, block);
    let last = steps.len() - 1;
    for (at, step) in steps.iter().enumerate() {
        let (output, code) = shell(folder, &format!("{preparation}{}", step.command));
        let asked = if at == last { block.attribute("exit") } else { None };
        let expected: i32 = asked.unwrap_or("0").parse().unwrap();
        let place = format!("{path}:{}: $ {}", step.line, step.command);
        if code != expected {
            wrong.push(format!("{place}\nends with {code}, expected {expected}:\n{output}"));
        } else if !step.shown.is_empty()
            && let Some(difference) = difference(&output, &step.shown)
        {
            wrong.push(format!("{place}\n{difference}"));
        }
    }
    wrong
}

/// Splits a block into its commands. Nothing shown below a command means that its output is left out.
fn steps(path: &str, block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for (at, text) in block.text.lines().enumerate() {
        let line = block.line + 1 + at;
        if continues {
            let command = &mut steps.last_mut().unwrap().command;
            *command += &format!("\n{text}");
            continues = text.ends_with('\\');
        } else if let Some(command) = text.strip_prefix("$ ") {
            steps.push(Step { line, command: command.to_owned(), shown: String::new() });
            continues = command.ends_with('\\');
        } else {
            let step = steps.last_mut().unwrap_or_else(|| panic!("{path}:{line}: output without a command"));
            step.shown += &format!("{text}\n");
        }
    }
    assert!(!steps.is_empty(), "{path}:{}: a block `console` without a command `$ …`", block.line);
    steps
}

/// Returns what a shell prints, to both streams, and its exit code.
fn shell(folder: &Path, script: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_kassay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    // A command that hangs fails its page.
    let mut bash = Command::new("timeout");
    bash.args(["600", "bash", "-c", &format!("exec 2>&1\n{script}")]).current_dir(folder).env("PATH", path);
    bash.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env_remove("BLESS").stdin(Stdio::null());
    let output = bash.output().unwrap_or_else(|e| panic!("bash: {e}"));
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}
