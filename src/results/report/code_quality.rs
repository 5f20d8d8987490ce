//! Writes problems as a code quality report: the subset of Code Climate's JSON that GitLab shows in merge requests.

use kassay_base::error::{Error, Result};
use kassay_base::json::{self, Layout};
use serde::Serialize;

use super::problems::{self, Level, Problem};
use super::texts::Texts;
use crate::result::store::ResultFile;

/// An entry of the report.
#[derive(Serialize)]
struct Entry<'a> {
    description: &'a str,
    check_name: &'static str,
    /// Unique in the report.
    fingerprint: &'a str,
    /// `info`, `minor`, `major`, `critical` or `blocker`.
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    /// From 1.
    begin: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u32>,
}

/// Returns the report of loaded results.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    let problems = problems::collect(results, &Texts::of_files());
    let entries: Vec<Entry<'_>> = problems.iter().map(entry).collect();
    json::text(&entries, Layout::Indented)
        .map(|text| text + "\n")
        .map_err(|e| Error::internal(format!("cannot turn the report into JSON: {e}")))
}

fn entry(problem: &Problem) -> Entry<'_> {
    let severity = match problem.level {
        Level::Error => "major",
        Level::Warning => "minor",
        Level::Note => "info",
    };
    let place = &problem.place;
    let end = Some(place.end_line).filter(|end| *end > place.line);
    Entry {
        description: &problem.message,
        check_name: problem.rule.id,
        fingerprint: &problem.fingerprint,
        severity,
        // What is of a whole file stands at its beginning, because a line is required.
        location: Location { path: &place.file, lines: Lines { begin: place.line.max(1), end } },
    }
}
