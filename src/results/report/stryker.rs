//! Converts mutation results to a report in Stryker's mutation-testing schema (version 2) for its viewers
//! and dashboards.
//!
//! Contains first-order mutants only, because the schema has no pairs. Undecided mutants become `Survived`;
//! equivalent and duplicate mutants become `Ignored`, so that they count in no score. In each case the reason gives
//! the actual status.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_base::json::{self, Layout};
use serde_json::{Map, Value, json};

use super::parts;
use super::texts::{read_file, utf16_column};
use crate::result::any::Part;
use crate::result::mutate::{Location, Mutant, MutateResult, Position, Status, TestName};
use crate::result::store::ResultFile;

/// Score from which viewers show green.
const HIGH: u32 = 80;
/// Score below which viewers show red.
const LOW: u32 = 60;

/// Returns the report of loaded results.
///
/// # Errors
/// As [`report`].
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let results = parts::parts(results).into_iter().filter_map(|part| match part {
        Part::Mutate(mutate) => Some(mutate),
        _ => None,
    });
    let results: Vec<&MutateResult> = results.collect();
    let report = report(&results, &|path| read_file(path).map_err(|e| e.kind()))?;
    json::text(&report, Layout::Indented)
        .map(|text| text + "\n")
        .map_err(|e| Error::internal(format!("cannot turn the report into JSON: {e}")))
}

/// A source file in the report.
struct File {
    lines: Vec<String>,
    text: String,
    mutants: Vec<Value>,
}

/// Returns the report of `results`. `read` returns the bytes of a file.
///
/// # Errors
/// `Caller` if a source file no longer exists or has changed since the run; `Environment` if it cannot be read.
pub fn report(
    results: &[&MutateResult],
    read: &dyn Fn(&Path) -> std::result::Result<Vec<u8>, ErrorKind>,
) -> Result<Value> {
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    let mut tests = Map::new();
    // Names of tests and ids of mutants in shared functions may occur in several results; the kernel's name is
    // then added.
    let mut taken = BTreeSet::new();
    let mut unique = |kernel: &str, id: &str| {
        let candidates = std::iter::once(id.to_owned()).chain((1..).map(|n| match n {
            1 => format!("{kernel}: {id}"),
            n => format!("{kernel}: {id} ({n})"),
        }));
        candidates.into_iter().find(|c| taken.insert(c.clone())).unwrap_or_default()
    };
    for result in results {
        let ids: BTreeMap<&str, String> =
            result.tests.iter().map(|t| (t.name.as_str(), unique(&result.header.kernel, &t.name))).collect();
        let list: Vec<Value> =
            result.tests.iter().map(|t| json!({ "id": ids[t.name.as_str()], "name": t.name })).collect();
        let mut key = format!("tests of {}", result.header.kernel);
        while tests.contains_key(&key) {
            key.push('\'');
        }
        tests.insert(key, json!({ "tests": list }));
        for mutant in result.mutants.iter().filter(|m| !m.is_pair()) {
            let name = file_of(mutant, result);
            if !files.contains_key(name) {
                files.insert(name.to_owned(), load(name, result, read)?);
            }
            let Some(file) = files.get_mut(name) else { continue };
            let id = unique(&result.header.kernel, &mutant.id);
            file.mutants.push(entry(mutant, id, name, &file.lines, &ids)?);
        }
    }
    let files: Map<String, Value> = files
        .into_iter()
        .map(|(name, file)| {
            let value = json!({ "language": language(&name), "source": file.text, "mutants": file.mutants });
            (name, value)
        })
        .collect();
    let mut report = json!({
        "schemaVersion": "2",
        "thresholds": { "high": HIGH, "low": LOW },
        "files": files,
        "testFiles": tests,
        "framework": { "name": "kassay", "version": results.first().map_or("", |r| r.header.version.as_str()) },
    });
    if let [one] = results {
        report["config"] =
            json::tree(&one.options).map_err(|e| Error::internal(format!("cannot turn the options into JSON: {e}")))?;
    }
    Ok(report)
}

/// Returns the file in which a mutant is shown: the kernel's file if it has no location.
fn file_of<'a>(mutant: &'a Mutant, result: &'a MutateResult) -> &'a str {
    if mutant.location.start.line == 0 || mutant.location.file.is_empty() {
        &result.header.source
    } else {
        &mutant.location.file
    }
}

/// Reads a source file by its name, or else from the folder of the kernel's file.
fn load(
    name: &str,
    result: &MutateResult,
    read: &dyn Fn(&Path) -> std::result::Result<Vec<u8>, ErrorKind>,
) -> Result<File> {
    let named = PathBuf::from(name);
    let folder = Path::new(&result.header.source).parent().unwrap_or(Path::new(""));
    let mut beside = vec![folder.join(name)];
    beside.extend(named.file_name().map(|file| folder.join(file)));
    let bytes = std::iter::once(&named).chain(&beside).find_map(|path| match read(path) {
        Err(
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput,
        ) => None,
        outcome => Some(outcome),
    });
    let bytes = match bytes {
        Some(Ok(bytes)) => bytes,
        Some(Err(kind)) => {
            return Err(Error::environment(format!("cannot read {name}: {kind}")).help("make the file readable"));
        }
        None => {
            return Err(Error::caller(format!("{name} is not there: the report holds the source"))
                .help("run `kassay report` in the folder in which `kassay mutate` was run"));
        }
    };
    if result.texts.get(name).is_some_and(|hash| *hash != hash::hex_digest(&bytes)) {
        return Err(changed(name));
    }
    // Binary modules have no text to show.
    let text = if language(name) == "none" { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() };
    Ok(File { lines: text.lines().map(str::to_owned).collect(), text, mutants: Vec::new() })
}

fn changed(name: &str) -> Error {
    Error::caller(format!("{name} has changed since the mutants were made"))
        .help("run `kassay mutate` again, or restore the file as it was")
}

/// Returns the language as named by Prism, the syntax highlighter of Stryker's viewers.
fn language(file: &str) -> &'static str {
    match Path::new(file).extension().and_then(|e| e.to_str()) {
        Some("ll") => "llvm",
        Some("bc" | "spv" | "spvasm") => "none",
        _ => "opencl",
    }
}

fn entry(mutant: &Mutant, id: String, file: &str, lines: &[String], tests: &BTreeMap<&str, String>) -> Result<Value> {
    let (status, reason) = status(mutant);
    let ids = |names: &[TestName]| names.iter().filter_map(|n| tests.get(&**n)).cloned().collect::<Vec<String>>();
    let (at, replacement) = match in_words(mutant, lines) {
        Some((at, text)) => (at, text),
        None => (mutant.location.clone(), mutant.replacement.clone()),
    };
    let mut entry = json!({
        "id": id,
        "mutatorName": mutant.operator,
        "replacement": replacement,
        "description": description(mutant),
        "location": location(&at, file, lines)?,
        "status": status,
        "killedBy": ids(&mutant.killed_by),
        "coveredBy": ids(&mutant.covered_by),
    });
    if let Some(reason) = reason {
        entry["statusReason"] = reason.into();
    }
    Ok(entry)
}

/// Viewers put the replacement in the place of the text at the location. Where that is not what is replaced, but a
/// macro that it comes from, or the point of an instruction, the change is written beside the whole word in a comment
/// instead; returns its range and that text.
fn in_words(mutant: &Mutant, lines: &[String]) -> Option<(Location, String)> {
    let Location { start, end, .. } = mutant.location;
    let line = lines.get((start.line as usize).checked_sub(1)?)?;
    let is_known = start.line == end.line && start.column > 0 && start.column <= end.column;
    let (from, to) = (start.column as usize - usize::from(is_known), (end.column as usize).saturating_sub(1));
    let text = line.get(from..to.max(from)).filter(|_| is_known)?;
    // A shortened original stands for a longer text.
    if mutant.original.is_empty() || mutant.original.contains('…') || squeezed(text) == squeezed(&mutant.original) {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let touches = text.chars().next().or_else(|| line[from..].chars().next()).is_some_and(is_word);
    let before = line[..from].chars().rev().take_while(|c| touches && is_word(*c)).count();
    let ends_in_word = text.chars().next_back().map_or(touches, is_word);
    let after = line[to.max(from)..].chars().take_while(|c| ends_in_word && is_word(*c)).count();
    let (from, to) = (from - before, to.max(from) + after);
    let change = match mutant.replacement.as_str() {
        "" => format!("delete {}", mutant.original),
        new => format!("{} -> {new}", mutant.original),
    };
    // A comment must not end early.
    let shown = format!("{} /* {} */", &line[from..to], change.replace("*/", "* /"));
    let mut at = mutant.location.clone();
    (at.start.column, at.end.column) = (from as u32 + 1, to as u32 + 1);
    Some((at, shown))
}

/// The text without blanks, in which sources and results may differ.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn description(mutant: &Mutant) -> String {
    let what = match (mutant.original.as_str(), mutant.replacement.as_str()) {
        ("", new) => new.to_owned(),
        (old, "") => format!("delete {old}"),
        (old, new) => format!("{old} -> {new}"),
    };
    format!("{what} in {}", mutant.function)
}

/// Returns the status by the schema's names, and its reason.
fn status(mutant: &Mutant) -> (&'static str, Option<String>) {
    let because = |what: &str| match &mutant.reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    if let Some(original) = &mutant.duplicate_of {
        return ("Ignored", Some(format!("duplicate of {original}")));
    }
    let reason = mutant.reason.clone();
    match mutant.status {
        Status::Killed => ("Killed", reason),
        Status::Survived => ("Survived", reason),
        Status::Timeout => ("Timeout", reason),
        Status::RuntimeError => ("RuntimeError", reason),
        Status::CompileError => ("CompileError", reason),
        Status::NoCoverage => ("NoCoverage", reason),
        Status::Ignored => ("Ignored", reason),
        Status::Pending => ("Pending", reason),
        Status::Undecided => ("Survived", Some(because("undecided"))),
        Status::Equivalent => ("Ignored", Some(because("equivalent"))),
        Status::EquivalentForLaunches => ("Survived", Some(because("equivalent for these launches"))),
    }
}

/// Converts a location: columns become UTF-16 code units, as viewers count; kassay's are in bytes. The range is at
/// least one column wide; an unknown location becomes line 1, column 1.
///
/// # Errors
/// `Caller` if the file no longer has such a line.
fn location(at: &Location, file: &str, lines: &[String]) -> Result<Value> {
    if at.start.line == 0 || at.file.is_empty() {
        return Ok(json!({ "start": { "line": 1, "column": 1 }, "end": { "line": 1, "column": 2 } }));
    }
    let units = |p: Position| {
        let line = lines.get(p.line as usize - 1)?;
        Some(utf16_column(line, p.column))
    };
    let start = units(at.start).ok_or_else(|| changed(file))?;
    let (end_line, end) = if (at.end.line, at.end.column) > (at.start.line, at.start.column) {
        (at.end.line, units(at.end).ok_or_else(|| changed(file))?)
    } else {
        (at.start.line, start + 1)
    };
    Ok(json!({ "start": { "line": at.start.line, "column": start }, "end": { "line": end_line, "column": end } }))
}
