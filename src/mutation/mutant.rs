//! A mutant: one change of a kernel, in the user's terms and in the IR's.

use std::fmt;

use crate::instrument::mutants::Edit;

/// A place in a file: line and column from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    pub line: u32,
    pub column: u32,
}

/// A piece of source text; `end` is behind its last character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceRange {
    pub file: String,
    pub start: Spot,
    pub end: Spot,
}

/// A first-order mutant.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutant {
    /// Stable: `function.OPERATOR@file:line:column:replacement`, with `#2` and so on where several are alike; without debug
    /// information `block B instruction I` instead of line and column. Launch mutants: `OPERATOR@launch:replacement`.
    pub id: String,
    /// The operator's id, such as `ROR`.
    pub operator: &'static str,
    /// The function it stands in; the kernel's for launches.
    pub function: String,
    /// As in the source (`<`), where there is one.
    pub original: String,
    /// What the source would say instead (`<=`); empty for a deletion.
    pub replacement: String,
    /// Where `original` stands: in a macro, where the macro is expanded. `None` without debug information.
    pub range: Option<SourceRange>,
    /// Where it is spelt, if that is in a macro's body.
    pub spelling: Option<SourceRange>,
    pub edit: Edit,
    /// It changes synchronisation, atomics, launches, loops or whole statements: the infection run says nothing of it.
    pub is_structural: bool,
}

/// A place that an operator leaves alone, with the reason, for `inspect -v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    pub operator: &'static str,
    pub function: String,
    pub range: Option<SourceRange>,
    pub reason: String,
}

/// As `inspect -v` says it.
impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.range {
            Some(SourceRange { file, start, .. }) => write!(f, "{file}:{}:{}", start.line, start.column)?,
            None => f.write_str(&self.function)?,
        }
        write!(f, ": {}: {}", self.operator, self.reason)
    }
}
