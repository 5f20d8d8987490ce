//! Converts coverage results to an lcov tracefile for `genhtml`, editors and coverage services.
//!
//! The records are those of geninfo(1) in lcov 1.16. Lines, functions and branches are carried over; the format has no
//! records for loops, conditions and barriers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use kassay_base::error::Result;

use super::by_file::{self, File};
use super::parts;
use super::style::visible;
use crate::result::any::Part;
use crate::result::cover::{CoverResult, SiteOutcome};
use crate::result::store::ResultFile;

/// Returns the tracefile of loaded results.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let covers = parts::parts(results).into_iter().filter_map(|part| match part {
        Part::Cover(cover) => Some(cover),
        _ => None,
    });
    Ok(tracefile(&covers.collect::<Vec<_>>()))
}

/// Returns the tracefile of `results`, with one section per test and source file. Counts are numbers of work-items in
/// results with `--counts`, otherwise 1 for "hit by this test". Paths are those of the results, relative to where
/// kassay was run.
pub fn tracefile(results: &[&CoverResult]) -> String {
    let mut out = String::new();
    let mut names = BTreeSet::new();
    for result in results {
        let files = by_file::files(result);
        let tests = tests(result);
        for test in &tests {
            let name = test.map(|t| test_name(t, &mut names)).unwrap_or_default();
            // Sites without a file cannot be represented.
            for file in files.iter().filter(|f| !f.name.is_empty() && !f.functions.is_empty()) {
                section(&mut out, &name, *test, file);
            }
        }
    }
    out
}

/// Returns the tests that get sections of their own; `[None]` if the result does not attribute every hit to a test.
fn tests(result: &CoverResult) -> Vec<Option<&str>> {
    let names: BTreeSet<&str> = result.tests.iter().map(|t| t.name.as_str()).collect();
    let is_attributed = |site: &SiteOutcome| {
        !site.covered || site.hits_by_test.iter().any(|(test, &n)| n > 0 && names.contains(test.as_str()))
    };
    if names.is_empty() || !result.sites.iter().all(is_attributed) {
        return vec![None];
    }
    result.tests.iter().map(|t| Some(t.name.as_str())).collect()
}

/// Returns a unique name that lcov accepts (letters, digits, underscores).
fn test_name(test: &str, taken: &mut BTreeSet<String>) -> String {
    let plain: String = test.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut name = plain.clone();
    let mut n = 2;
    while !taken.insert(name.clone()) {
        name = format!("{plain}_{n}");
        n += 1;
    }
    name
}

/// Returns how often an outcome was hit by a test; without one, 1 if it is covered at all.
fn hits(outcome: &SiteOutcome, test: Option<&str>) -> u64 {
    match test {
        Some(test) => outcome.hits_by_test.get(test).copied().unwrap_or(0),
        None => u64::from(outcome.covered),
    }
}

/// Writes the section of `file` under `test`. Results of `fmt::Write` to a `String` are ignored because it cannot fail.
fn section(out: &mut String, name: &str, test: Option<&str>, file: &File<'_>) {
    let line_hits: BTreeMap<u32, u64> = file
        .lines
        .iter()
        .map(|(&number, line)| {
            let n = match test {
                Some(test) => line.hits.get(test).copied().unwrap_or(0),
                None => u64::from(line.covered),
            };
            (number, n)
        })
        .collect();
    let _ = writeln!(out, "TN:{name}\nSF:{}", visible(file.name));
    functions(out, test, file);
    branches(out, test, file);
    for (line, n) in &line_hits {
        let _ = writeln!(out, "DA:{line},{n}");
    }
    let hit = line_hits.values().filter(|n| **n > 0).count();
    let _ = writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", line_hits.len());
}

/// Writes the function records. A function starts at its first line with a site; its count is the largest of
/// its outcomes.
fn functions(out: &mut String, test: Option<&str>, file: &File<'_>) {
    for (name, function) in &file.functions {
        let _ = writeln!(out, "FN:{},{}", function.first_line, visible(name));
    }
    let mut hit = 0;
    for (name, function) in &file.functions {
        let n = function.outcomes.iter().map(|o| hits(o, test)).max().unwrap_or(0);
        hit += u64::from(n > 0);
        let _ = writeln!(out, "FNDA:{n},{}", visible(name));
    }
    let _ = writeln!(out, "FNF:{}\nFNH:{hit}", file.functions.len());
}

/// Writes the branch records: each branch is a block of its line, with its outcomes as the branches of the block.
fn branches(out: &mut String, test: Option<&str>, file: &File<'_>) {
    let (mut found, mut hit) = (0, 0);
    let mut last = (0, 0);
    for site in file.sites.iter().filter(|s| s.is("branch") && s.shared().location.line > 0) {
        let line = site.shared().location.line;
        let block = if last.0 == line { last.1 + 1 } else { 0 };
        last = (line, block);
        let reached = site.outcomes.iter().any(|o| hits(o, test) > 0);
        for (branch, outcome) in site.outcomes.iter().enumerate() {
            let n = hits(outcome, test);
            found += 1;
            hit += u64::from(n > 0);
            // "-" means that the decision was never evaluated.
            let taken = if reached { n.to_string() } else { "-".to_owned() };
            let _ = writeln!(out, "BRDA:{line},{block},{branch},{taken}");
        }
    }
    let _ = writeln!(out, "BRF:{found}\nBRH:{hit}");
}
