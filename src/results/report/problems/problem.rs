//! A problem: what it is, where, and what belongs to it.

use std::collections::BTreeMap;

use super::rules::{Level, Rule};
use crate::report::style::visible;
use crate::report::texts::{Texts, utf16_column};
use crate::result::Location;
use crate::result::mutate::Location as Range;
use crate::result::repairs::Replacement;

/// A place in a file. Numbers count from 1; 0: unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The file, relative to the working directory if it is below it.
    pub(crate) file: String,
    pub(crate) line: u32,
    /// In UTF-16 code units; 0 also if the line's text is not at hand to count them.
    pub(crate) column: u32,
    /// In bytes, as in the result: it tells places apart.
    pub(super) bytes: u32,
    /// The last line.
    pub(crate) end_line: u32,
    /// Just past the last character, like `column`.
    pub(crate) end_column: u32,
    /// The text of the line, if it is at hand.
    pub(crate) text: Option<String>,
}

/// A step on the way to a problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) place: Option<Place>,
    pub(crate) what: String,
}

/// What happens under one schedule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    /// The schedule, and what it leaves.
    pub(crate) what: String,
    /// By the name of a work-item: its steps; never empty.
    pub(crate) threads: Vec<(String, Vec<Step>)>,
}

/// A change of the source that mends a problem.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fix {
    /// What it does.
    pub(crate) what: String,
    /// The pieces of the kernel's file that are replaced, each with its new text.
    pub(crate) pieces: Vec<(Place, String)>,
}

/// Something to look at.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) rule: &'static Rule,
    pub(crate) level: Level,
    /// The kernel that it was found in.
    pub(crate) kernel: String,
    /// The function that contains it; empty if unknown.
    pub(crate) function: String,
    /// Sentences.
    pub(crate) message: String,
    pub(crate) place: Place,
    /// Other places that belong to it, each with a remark.
    pub(crate) related: Vec<(Place, String)>,
    /// Schedules that show it.
    pub(crate) flows: Vec<Flow>,
    /// What mends it.
    pub(crate) fix: Option<Fix>,
    /// What it is, in words that do not change when lines move.
    pub(super) key: String,
    /// A hash, unique in the report, that stays the same while what it is about does, also if lines move: of the rule,
    /// the file, the kernel, the function, the text of the line and the problem's own words.
    pub(crate) fingerprint: String,
}

impl Problem {
    pub(super) fn new(rule: &'static Rule, kernel: &str, place: Place, message: String, key: String) -> Problem {
        let message = sentence(&message);
        let (related, flows) = (Vec::new(), Vec::new());
        let (kernel, function, fingerprint) = (kernel.to_owned(), String::new(), String::new());
        Problem {
            rule,
            level: rule.level,
            kernel,
            function,
            message,
            place,
            related,
            flows,
            fix: None,
            key,
            fingerprint,
        }
    }

    pub(super) fn within(mut self, function: &str) -> Problem {
        self.function = function.to_owned();
        self
    }
}

/// Returns the text as a sentence, without control characters.
fn sentence(text: &str) -> String {
    let mut text = text.lines().map(visible).collect::<Vec<_>>().join("\n");
    if !text.ends_with(['.', '!', '?', ':']) {
        text.push('.');
    }
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first.is_ascii_lowercase() => first.to_ascii_uppercase().to_string() + letters.as_str(),
        _ => text,
    }
}

/// Finds places of a result in the texts of its files.
pub(super) struct Places<'a> {
    pub(super) texts: &'a Texts,
    /// The kernel's file.
    pub(super) source: &'a str,
    /// Hashes of texts that must not have changed.
    pub(super) digests: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Places<'a> {
    pub(super) fn of(texts: &'a Texts, source: &'a str) -> Places<'a> {
        Places { texts, source, digests: None }
    }

    /// The kernel's file as a whole.
    pub(super) fn file(&self) -> Place {
        Place { file: self.texts.shown(self.source), ..Place::default() }
    }

    fn line(&self, file: &str, line: u32) -> Option<String> {
        self.texts.line(self.source, file, self.digests.and_then(|digests| digests.get(file)), line)
    }

    /// Columns of results are in bytes.
    fn column(&self, file: &str, line: u32, column: u32) -> u32 {
        if column == 0 { 0 } else { self.line(file, line).map_or(0, |text| utf16_column(&text, column)) }
    }

    pub(super) fn at(&self, at: &Location) -> Place {
        if at.line == 0 {
            let file = if at.file.is_empty() { self.source } else { &at.file };
            return Place { file: self.texts.shown(file), ..Place::default() };
        }
        Place {
            file: self.texts.shown(&at.file),
            line: at.line,
            column: self.column(&at.file, at.line, at.column),
            bytes: at.column,
            text: self.line(&at.file, at.line),
            ..Place::default()
        }
    }

    pub(super) fn range(&self, at: &Range) -> Place {
        let start = Location { file: at.file.clone(), line: at.start.line, column: at.start.column };
        let place = self.at(&start);
        let is_forward = (at.end.line, at.end.column) > (at.start.line, at.start.column);
        if place.line == 0 || !is_forward {
            return place;
        }
        let end_column = self.column(&at.file, at.end.line, at.end.column);
        Place { end_line: at.end.line, end_column, ..place }
    }

    /// The place of a text that is replaced, which may be empty.
    pub(super) fn replaced(&self, file: &str, replacement: &Replacement) -> Place {
        let Replacement { line, column, end_line, end_column, .. } = replacement;
        let place = self.at(&Location { file: file.to_owned(), line: *line, column: *column });
        Place { end_line: *end_line, end_column: self.column(file, *end_line, *end_column), ..place }
    }
}
