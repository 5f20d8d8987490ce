//! Represents the text of a suite file as a tree whose nodes carry their source spans.
//!
//! TOML and JSON give the same tree, so that later stages see one format and every message can name its place. The
//! meaning of the keys is not decided here.

use std::io::ErrorKind;
use std::iter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kassay_base::error::{Error, Place, Result};
use kassay_base::files::{self, Sandbox};

/// A byte range of the source text.
pub type Span = Range<usize>;

/// A value with its source span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The bytes of the value.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A value of TOML or JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// Wide enough for every `long` and `ulong`.
    Integer(i128),
    /// A number with a point or an exponent, or a TOML `inf` or `nan`.
    Float(f64),
    /// A string.
    Text(String),
    /// The elements of an array.
    List(Vec<Node>),
    /// Entries in file order.
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The bytes of the key.
    pub key_span: Span,
    /// The value of the key.
    pub node: Node,
}

/// The most bytes of a suite's text: with its values as a tree it takes about eighteen times as many in memory
/// (`docs/trust.md`).
const MOST_TEXT: u64 = 512_000_000;

/// The path and text of a file; converts spans to places (line and column).
#[derive(Debug, Clone)]
pub struct Source {
    /// Path of the file, as given.
    pub path: PathBuf,
    /// The complete text.
    pub text: String,
    /// Where each line begins, once a place was asked for: a suite of thousands of tests asks for thousands.
    lines: OnceLock<Vec<usize>>,
}

impl Node {
    /// Returns the kind of the value, with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Bool(_) => "a boolean",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Returns the value of a table's key; `None` for other values.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    /// Returns the entries of a table; `None` for other values.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }
}

impl Source {
    /// Takes a text and the path that it has in messages.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// Reads the text of a suite's file.
    ///
    /// # Errors
    /// `Caller` if the file cannot be read, is not UTF-8, has more than `MOST_TEXT` bytes or lies outside of the
    /// sandbox.
    pub fn read(path: &Path, sandbox: Option<&Sandbox>) -> Result<Source> {
        let text = files::read_short_text(path, MOST_TEXT, sandbox).map_err(|e| {
            let help = match e.kind() {
                ErrorKind::FileTooLarge => "put large contents of buffers into .npy files, and name these in the suite",
                _ => files::escape_help(&e).unwrap_or("give the path of a suite file (TOML or JSON)"),
            };
            Error::caller(format!("cannot read the suite `{}`: {e}", path.display())).help(help)
        })?;
        Ok(Source::new(path, text))
    }

    /// Returns the place of the start of a span.
    pub fn place(&self, span: &Span) -> Place {
        let mut at = span.start.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let lines =
            self.lines.get_or_init(|| iter::once(0).chain(self.text.match_indices('\n').map(|(i, _)| i + 1)).collect());
        let line = lines.partition_point(|start| *start <= at);
        let start = lines[line - 1];
        let end = self.text[at..].find('\n').map_or(self.text.len(), |i| at + i);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place {
            file: self.path.clone(),
            line: count(line),
            column: count(at - start + 1),
            text: Some(self.text[start..end].trim_end_matches('\r').to_owned()),
        }
    }

    /// Returns a `Caller` error at the start of a span.
    pub fn error(&self, span: &Span, what: impl Into<String>) -> Error {
        Error::caller(what).at(self.place(span))
    }
}

/// Returns the closest member of `known` by optimal-string-alignment distance, if that distance is at most a third of
/// the length of `given` (but at least one letter is allowed).
pub fn closest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (given.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|k| (distance(&given.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(d, k)| *d <= limit && *d < k.chars().count().max(2))
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Returns the list of known names, preceded by "did you mean `x`?" if one is close.
pub fn suggestion(given: &str, known: &[&str], list: &str) -> String {
    let all = known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    match closest(given, known.iter().copied()) {
        Some(k) => format!("did you mean `{k}`? {list}: {all}"),
        None => format!("{list}: {all}"),
    }
}

/// Optimal-string-alignment distance: insertions, deletions, substitutions and swaps of neighbours cost 1.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_its_line_and_column_wherever_it_is() {
        let text = "a = 1\r\nb = \"é\"\n\nlast";
        let source = Source::new("suite.toml", text);
        let place = |at: usize| {
            let Place { line, column, text, .. } = source.place(&(at..at + 1));
            (line, column, text.unwrap_or_default())
        };
        assert_eq!(place(0), (1, 1, "a = 1".into()));
        assert_eq!(place(5), (1, 6, "a = 1".into()));
        assert_eq!(place(7), (2, 1, "b = \"é\"".into()));
        // In the middle of a letter.
        assert_eq!((place(12), text.is_char_boundary(13)), ((2, 6, "b = \"é\"".into()), false));
        assert_eq!(place(13).1, 6);
        assert_eq!(place(16), (3, 1, String::new()));
        assert_eq!(place(17), (4, 1, "last".into()));
        assert_eq!(place(99), (4, 5, "last".into()));
        assert_eq!(Source::new("empty", "").place(&(0..0)).line, 1);
    }
}
