//! Defines the three kinds of failure as types: the caller's mistakes, deficiencies of the environment, and
//! kassay's own faults.
//!
//! Every room returns [`Error`]; only `cli` turns it into an exit code (2, 3 or 4). A message states what is wrong,
//! where (file:line:column with the line shown) and what helps (`help:`).

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A position in a text file, for messages. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Path of the file.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The text of the line, without its line break; shown under the message with a caret at `column`.
    pub text: Option<String>,
}

/// The content of one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// Where it is wrong; `None` if no place in a file is at fault.
    pub place: Option<Place>,
    /// Lines that are shown verbatim, such as a compiler's diagnostics.
    pub details: Option<String>,
    /// What the reader can do about it.
    pub help: Option<String>,
    /// Whether the only thing wrong is that the caller's time was over.
    pub late: bool,
}

/// A failure, by who is responsible for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Error {
    /// The caller's mistake: an invalid flag or suite, a kernel that does not compile (exit code 2).
    #[error("{0}")]
    Caller(Box<Report>),
    /// The environment lacks something: a device, a tool, disk space (exit code 3).
    #[error("{0}")]
    Environment(Box<Report>),
    /// A fault of kassay, or of a tool that it calls with valid input (exit code 4).
    #[error("{0}")]
    Internal(Box<Report>),
}

/// The result type of fallible functions throughout kassay.
pub type Result<T> = std::result::Result<T, Error>;

impl Report {
    /// A message that only states what is wrong.
    pub fn new(what: impl Into<String>) -> Self {
        Report { what: what.into(), place: None, details: None, help: None, late: false }
    }
}

impl Error {
    /// An error of the caller. `what` is one sentence without a full stop.
    pub fn caller(what: impl Into<String>) -> Self {
        Error::Caller(Box::new(Report::new(what)))
    }

    /// An error of the environment. `what` is one sentence without a full stop.
    pub fn environment(what: impl Into<String>) -> Self {
        Error::Environment(Box::new(Report::new(what)))
    }

    /// A fault of kassay or of a tool. `what` is one sentence without a full stop.
    pub fn internal(what: impl Into<String>) -> Self {
        Error::Internal(Box::new(Report::new(what)))
    }

    /// The caller's time was over before `what` was done.
    pub fn late(what: impl fmt::Display) -> Self {
        let report = Report::new(format!("the time was over before {what} was done"));
        let help = Some("--budget gives more time".to_owned());
        Error::Caller(Box::new(Report { late: true, help, ..report }))
    }

    /// Returns whether this is an error made by [`Error::late`].
    pub fn is_late(&self) -> bool {
        self.report().late
    }

    /// The message.
    pub fn report(&self) -> &Report {
        match self {
            Error::Caller(r) | Error::Environment(r) | Error::Internal(r) => r,
        }
    }

    fn report_mut(&mut self) -> &mut Report {
        match self {
            Error::Caller(r) | Error::Environment(r) | Error::Internal(r) => r,
        }
    }

    /// Adds the position that the message refers to.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.report_mut().place = Some(place);
        self
    }

    /// Adds what the reader can do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.report_mut().help = Some(help.into());
        self
    }

    /// Adds lines that are shown verbatim.
    #[must_use]
    pub fn details(mut self, details: impl Into<String>) -> Self {
        self.report_mut().details = Some(details.into());
        self
    }

    /// The command's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Caller(_) => 2,
            Error::Environment(_) => 3,
            Error::Internal(_) => 4,
        }
    }
}

/// Line and column as messages write them: `line:column`, or `line` alone where the column is not known (0), as past
/// the 65,535 columns that debug information has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Counts from 1; 0 if it is not known.
    pub line: u32,
    /// Counts from 1, in bytes; 0 if it is not known.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}", self.line),
            column => write!(f, "{}:{column}", self.line),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            let position = Position { line: place.line, column: place.column };
            write!(f, "{}:{position}: ", place.file.display())?;
        }
        write!(f, "{}", self.what)?;
        if let Some(Place { line, column, text: Some(text), .. }) = &self.place {
            let gutter = line.to_string();
            let (text, pad) = excerpt(text, *column);
            write!(f, "\n  {gutter} | {text}\n  {:width$} | {pad}^", "", width = gutter.len())?;
        }
        if let Some(details) = &self.details {
            write!(f, "\n{}", details.trim_end())?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// The largest number of characters of a line that a message shows.
const MAX_SHOWN: usize = 160;

/// The part of a line that a message shows, and the padding that aligns the caret below it. Long lines are cut to the
/// part around the column; control characters, which could affect a terminal, are replaced by `\u{fffd}`.
fn excerpt(text: &str, column: u32) -> (String, String) {
    let before = column.saturating_sub(1) as usize;
    let caret = text.char_indices().take_while(|(at, _)| *at < before).count();
    let skipped = if text.chars().count() > MAX_SHOWN { caret.saturating_sub(MAX_SHOWN / 2) } else { 0 };
    let visible = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let shown: String = text.chars().skip(skipped).take(MAX_SHOWN).map(visible).collect();
    // Beyond the last character, one column is one character.
    let beyond = before.saturating_sub(text.len()).min(MAX_SHOWN);
    let pad = shown.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).chain(std::iter::repeat_n(' ', beyond));
    (shown.clone(), pad.take(caret - skipped + beyond).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_is_not_known_is_left_out() {
        assert_eq!(Position { line: 3, column: 7 }.to_string(), "3:7");
        assert_eq!(Position { line: 3, column: 0 }.to_string(), "3");
    }

    #[test]
    fn the_caret_stands_below_its_column() {
        assert_eq!(excerpt("\tab = 1", 2), ("\tab = 1".into(), "\t".into()));
        // Columns count bytes; `ä` has two.
        assert_eq!(excerpt("ä = ?", 6).1, "    ");
        assert_eq!(excerpt("end", 4).1, "   ");
        assert_eq!(excerpt("a\u{1b}[31m", 2), ("a\u{fffd}[31m".into(), " ".into()));
        let long = format!("{}!{}", "x".repeat(1000), "y".repeat(1000));
        let (shown, pad) = excerpt(&long, 1001);
        assert_eq!(shown.chars().count(), MAX_SHOWN);
        assert_eq!(shown.chars().nth(pad.len()), Some('!'));
    }
}
