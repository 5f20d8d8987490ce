//! The three kinds of failure, as types: what the caller got wrong, what the environment lacks, what is our own fault.
//!
//! Every room returns [`Error`]; only `cli` turns it into an exit code (2, 3 and 4).
//! A message says what, where (file:line:column with the line shown) and what helps (`help:`).

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A place in a text file, for messages. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
    /// The line itself, without its end; shown under the message with a caret at `column`.
    pub text: Option<String>,
}

/// What one message says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    pub place: Option<Place>,
    /// Lines shown as they are, such as a compiler's diagnostics.
    pub details: Option<String>,
    /// What the reader can do about it.
    pub help: Option<String>,
    /// Nothing is wrong but that the caller's time was over.
    pub late: bool,
}

/// A failure, by whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Error {
    /// The caller's mistake: a bad flag or suite, a kernel that does not compile (exit code 2).
    #[error("{0}")]
    Caller(Box<Report>),
    /// The environment lacks something: a device, a tool, disk space (exit code 3).
    #[error("{0}")]
    Environment(Box<Report>),
    /// A fault of kassay or of a tool it calls on valid input (exit code 4).
    #[error("{0}")]
    Internal(Box<Report>),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Report {
    pub fn new(what: impl Into<String>) -> Self {
        Report { what: what.into(), place: None, details: None, help: None, late: false }
    }
}

impl Error {
    pub fn caller(what: impl Into<String>) -> Self {
        Error::Caller(Box::new(Report::new(what)))
    }

    pub fn environment(what: impl Into<String>) -> Self {
        Error::Environment(Box::new(Report::new(what)))
    }

    pub fn internal(what: impl Into<String>) -> Self {
        Error::Internal(Box::new(Report::new(what)))
    }

    /// The time that the caller gave was over before `what` was done.
    pub fn late(what: impl fmt::Display) -> Self {
        let report = Report::new(format!("the time was over before {what} was done"));
        let help = Some("--budget gives more time".to_owned());
        Error::Caller(Box::new(Report { late: true, help, ..report }))
    }

    /// Whether it is one of [`Error::late`].
    pub fn is_late(&self) -> bool {
        self.report().late
    }

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

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.report_mut().place = Some(place);
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.report_mut().help = Some(help.into());
        self
    }

    #[must_use]
    pub fn details(mut self, details: impl Into<String>) -> Self {
        self.report_mut().details = Some(details.into());
        self
    }

    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Caller(_) => 2,
            Error::Environment(_) => 3,
            Error::Internal(_) => 4,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.file.display(), place.line, place.column)?;
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

/// The most characters of a line that a message shows.
const SHOWN: usize = 160;

/// What a message shows of a line, and what stands below it left of the caret. Of long lines the part around the column;
/// control characters, with which a terminal would do something, as `\u{fffd}`.
fn excerpt(text: &str, column: u32) -> (String, String) {
    let before = column.saturating_sub(1) as usize;
    let caret = text.char_indices().take_while(|(at, _)| *at < before).count();
    let skipped = if text.chars().count() > SHOWN { caret.saturating_sub(SHOWN / 2) } else { 0 };
    let visible = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    let shown: String = text.chars().skip(skipped).take(SHOWN).map(visible).collect();
    // Behind the last character the column counts on.
    let beyond = before.saturating_sub(text.len()).min(SHOWN);
    let pad = shown.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).chain(std::iter::repeat_n(' ', beyond));
    (shown.clone(), pad.take(caret - skipped + beyond).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_its_column() {
        assert_eq!(excerpt("\tab = 1", 2), ("\tab = 1".into(), "\t".into()));
        // Columns count bytes; `ä` has two.
        assert_eq!(excerpt("ä = ?", 6).1, "    ");
        assert_eq!(excerpt("end", 4).1, "   ");
        assert_eq!(excerpt("a\u{1b}[31m", 2), ("a\u{fffd}[31m".into(), " ".into()));
        let long = format!("{}!{}", "x".repeat(1000), "y".repeat(1000));
        let (shown, pad) = excerpt(&long, 1001);
        assert_eq!(shown.chars().count(), SHOWN);
        assert_eq!(shown.chars().nth(pad.len()), Some('!'));
    }
}
