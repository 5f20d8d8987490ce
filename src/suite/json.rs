//! Parses JSON into the tree of [`super::document`].
//!
//! `serde_json` decides what is well-formed and decodes strings; this module only adds the span of each value, which
//! `serde_json` does not report.

use kassay_base::error::{Error, Place, Result};

use super::document::{Entry, Node, Source, Span, Value};

/// Parses a JSON text into a tree.
///
/// # Errors
/// `Caller`, with line and column, if the text is not JSON or an object has the same key twice.
pub fn parse(source: &Source) -> Result<Node> {
    serde_json::from_str::<serde::de::IgnoredAny>(&source.text).map_err(|e| syntax_error(source, &e))?;
    let mut scanner = Scanner { source, at: 0 };
    scanner.value()
}

fn syntax_error(source: &Source, e: &serde_json::Error) -> Error {
    let line = source.text.split('\n').nth(e.line().saturating_sub(1)).unwrap_or("");
    let message = e.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    let number = |n: usize| u32::try_from(n.max(1)).unwrap_or(u32::MAX);
    Error::caller(format!("not valid JSON: {what}")).at(Place {
        file: source.path.clone(),
        line: number(e.line()),
        column: number(e.column()),
        text: Some(line.trim_end_matches('\r').to_owned()),
    })
}

/// Scans text that is known to be valid JSON, and therefore nests no deeper than `serde_json`'s recursion limit.
struct Scanner<'a> {
    source: &'a Source,
    at: usize,
}

impl Scanner<'_> {
    /// Skips white space and returns the next byte without consuming it; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.source.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self) -> Result<Node> {
        match self.peek() {
            b'{' => self.table(),
            b'[' => self.list(),
            b'"' => {
                let (span, text) = self.string()?;
                Ok(Node { span, value: Value::Text(text) })
            }
            _ => self.scalar(),
        }
    }

    fn table(&mut self) -> Result<Node> {
        let start = self.at;
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        while self.peek() != b'}' {
            let (key_span, key) = self.string()?;
            if entries.iter().any(|e| e.key == key) {
                return Err(self.source.error(&key_span, format!("the key `{key}` stands here twice")));
            }
            self.peek();
            self.at += 1; // skip the colon
            let node = self.value()?;
            entries.push(Entry { key, key_span, node });
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(Node { span: start..self.at, value: Value::Table(entries) })
    }

    fn list(&mut self) -> Result<Node> {
        let start = self.at;
        self.at += 1;
        let mut items = Vec::new();
        while self.peek() != b']' {
            items.push(self.value()?);
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(Node { span: start..self.at, value: Value::List(items) })
    }

    fn string(&mut self) -> Result<(Span, String)> {
        self.peek();
        let start = self.at;
        let bytes = self.source.text.as_bytes();
        self.at += 1;
        while bytes.get(self.at).is_some_and(|b| *b != b'"') {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let span = start..self.at;
        let text = self.source.text.get(span.clone()).unwrap_or("");
        match serde_json::from_str(text) {
            Ok(s) => Ok((span, s)),
            Err(e) => Err(self.source.error(&span, format!("not a JSON string: {e}"))),
        }
    }

    /// A number, a boolean or null.
    fn scalar(&mut self) -> Result<Node> {
        let start = self.at;
        let bytes = self.source.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| !matches!(b, b',' | b']' | b'}') && !b.is_ascii_whitespace()) {
            self.at += 1;
        }
        let span = start..self.at;
        let value = match &self.source.text[span.clone()] {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => {
                return Err(self.source.error(&span, "null means nothing in a suite").help("leave the key out"));
            }
            number => match number.parse::<i128>() {
                Ok(i) => Value::Integer(i),
                Err(_) => Value::Float(
                    number
                        .parse()
                        .map_err(|_| self.source.error(&span, format!("cannot read the number `{number}`")))?,
                ),
            },
        };
        Ok(Node { span, value })
    }
}
