//! Runs the commands of a page in a folder of its own, in their order, and compares what they print.
//!
//! The folder, which outputs have as `[FOLDER]`, has `testdata` and the files that the page shows. A command may be
//! whatever bash takes; the program under test is first in PATH. With `BLESS=1`, the page gets what commands print now.

use std::path::Path;
use std::process::{Command, Stdio};

use super::page::{self, Block, Page};
use super::{output, part};
use crate::common::testdata::repository;

/// A command of a block with what the page shows of its output.
struct Step {
    /// The command's first line, counted from 1.
    line: usize,
    command: String,
    shown: String,
    /// Whether what is shown is a part of a JSON result.
    is_json: bool,
    /// The exit code.
    code: i32,
}

/// What is wrong with a step.
struct Complaint {
    text: String,
    /// What the command prints, if only that differs.
    accepted: Option<String>,
}

/// What it means that a page shows nothing below a command.
#[derive(Clone, Copy, PartialEq)]
pub enum Unshown {
    /// The output is left out.
    LeftOut,
    /// There is none.
    Nothing,
}

/// Runs a page. Panics with all that differs.
pub fn run(path: &str, unshown: Unshown) {
    let page = page::read(path);
    assert!(page.blocks.iter().any(Block::is_run), "{path} shows no commands");
    let mut wrong = complaints(&page, unshown);
    if std::env::var_os("BLESS").is_some() {
        accept(path, &mut wrong);
    }
    let wrong: Vec<String> =
        wrong.iter().map(|(step, wrong)| format!("{path}:{}: $ {}\n{}", step.line, step.command, wrong.text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the blocks of a page, in a folder of their own.
fn complaints(page: &Page, unshown: Unshown) -> Vec<(Step, Complaint)> {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    std::os::unix::fs::symlink(repository("testdata"), folder.join("testdata")).unwrap();
    let mut preparation = String::new();
    let mut wrong = Vec::new();
    for block in &page.blocks {
        write_file(folder, block);
        if block.language == "setup" {
            preparation += &prepare(&format!("{}:{}", page.path, block.line), folder, &preparation, block);
        } else if block.is_run() {
            let steps = steps(&page.path, block).into_iter();
            wrong.extend(steps.filter_map(|step| {
                let complaint = check(folder, &preparation, &step, unshown)?;
                Some((step, complaint))
            }));
        }
    }
    wrong
}

/// Runs commands that readers do not see. Returns the lines that export variables, which hold for all later commands.
fn prepare(place: &str, folder: &Path, preparation: &str, block: &Block) -> String {
    let exports = block.text.lines().filter(|line| line.starts_with("export ")).map(|line| format!("{line}\n"));
    let (output, code) = shell(folder, &format!("set -e\n{preparation}{}", block.text));
    assert_eq!(code, 0, "{place}: the preparation failed:\n{output}");
    exports.collect()
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

/// Runs a command, and compares its exit code and what it prints with what the page shows.
fn check(folder: &Path, preparation: &str, step: &Step, unshown: Unshown) -> Option<Complaint> {
    let (printed, code) = shell(folder, &format!("{preparation}{}", step.command));
    if printed.contains("panicked at ") || code != step.code {
        let text = format!("ends with {code}, expected {}:\n{printed}", step.code);
        return Some(Complaint { text, accepted: None });
    }
    if step.shown.is_empty() && unshown == Unshown::LeftOut {
        return None;
    }
    let compare = if step.is_json { part::difference } else { output::difference };
    let text = compare(&printed, &step.shown)?;
    // What a page shows of a JSON result is chosen by hand.
    let accepted = (!step.is_json).then_some(printed);
    Some(Complaint { text, accepted })
}

/// Writes what commands print into the page, and takes it from the list of what is wrong. A page that includes others
/// has the commands at other lines, and stays as it is.
fn accept(path: &str, wrong: &mut Vec<(Step, Complaint)>) {
    let file = repository(path);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let accepted = wrong.extract_if(.., |(step, complaint)| {
        let own = step.command.lines().next().unwrap_or_default();
        complaint.accepted.is_some()
            && lines.get(step.line - 1).is_some_and(|line| line.strip_prefix("$ ") == Some(own))
    });
    let accepted: Vec<(Step, Complaint)> = accepted.collect();
    // From the end, so that the lines of those before stay what they are.
    for (step, complaint) in accepted.iter().rev() {
        let from = step.line - 1 + step.command.lines().count();
        let new = complaint.accepted.as_deref().unwrap_or_default().trim_matches('\n').lines();
        lines.splice(from..from + step.shown.lines().count(), new);
    }
    std::fs::write(&file, lines.join("\n") + "\n").unwrap();
}

/// Splits a block into its commands.
fn steps(path: &str, block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    let is_json = block.attribute("json").is_some();
    let code = |key: &str| block.attribute(key).map(|code| code.parse::<i32>().unwrap());
    for (at, text) in block.text.lines().enumerate() {
        let line = block.line + 1 + at;
        if continues {
            let command = &mut steps.last_mut().unwrap().command;
            *command += &format!("\n{text}");
            continues = text.ends_with('\\');
        } else if let Some(command) = text.strip_prefix("$ ") {
            let (command, shown, code) = (command.to_owned(), String::new(), code("exits").unwrap_or(0));
            continues = command.ends_with('\\');
            steps.push(Step { line, command, shown, is_json, code });
        } else {
            let step = steps.last_mut().unwrap_or_else(|| panic!("{path}:{line}: output without a command"));
            step.shown += &format!("{text}\n");
        }
    }
    let last = steps.last_mut();
    let last = last.unwrap_or_else(|| panic!("{path}:{}: a block `console` without a command `$ …`", block.line));
    last.code = code("exit").unwrap_or(last.code);
    steps
}

/// Returns what a shell prints, to both streams and with its folder's name replaced, and its exit code.
fn shell(folder: &Path, script: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_kassay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    // A command that hangs fails its page.
    let mut bash = Command::new("timeout");
    bash.args(["600", "bash", "-c", &format!("exec 2>&1\n{script}")]).current_dir(folder).env("PATH", path);
    bash.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env_remove("BLESS").stdin(Stdio::null());
    let output = bash.output().unwrap_or_else(|e| panic!("bash: {e}"));
    let printed = String::from_utf8_lossy(&output.stdout).replace(&folder.display().to_string(), "[FOLDER]");
    (printed, output.status.code().unwrap_or(-1))
}
