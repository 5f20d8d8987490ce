//! Mutants: each is one change of a kernel, described both in terms of the source and as an edit of the IR.

use std::collections::BTreeSet;
use std::fmt;

use kassay_base::hash;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::llvm::{DebugLocation, LAST_COLUMN};

/// A position in a file: line and column count from 1, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// Counts from 1.
    pub line: u32,
    /// Counts from 1, in bytes.
    pub column: u32,
}

/// A range of source text; `end` is just past its last character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceRange {
    /// As debug information names it.
    pub file: String,
    /// Its first character.
    pub start: Spot,
    /// Just past its last character.
    pub end: Spot,
}

impl SourceRange {
    /// Returns whether it reaches beyond the last column that debug locations have, so that code in it is not found.
    pub fn is_too_wide(&self) -> bool {
        self.start.column > LAST_COLUMN || self.end.column > LAST_COLUMN.saturating_add(1)
    }

    /// Returns whether a debug location lies in it.
    pub fn contains(&self, at: &DebugLocation) -> bool {
        let spot = Spot { line: at.line, column: at.column };
        same_file(&at.file, &self.file) && self.start <= spot && spot < self.end
    }
}

/// Compares file names by their last component: debug information and syntax tree may spell a file's
/// folder differently.
pub fn same_file(a: &str, b: &str) -> bool {
    fn base(file: &str) -> &str {
        file.rsplit(['/', '\\']).next().unwrap_or(file)
    }
    a == b || base(a) == base(b)
}

/// A first-order mutant.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutant {
    /// Stable: `function.OPERATOR@file:line:column:replacement`, with `#2` and so on where several would
    /// be equal; without debug information `block B instruction I` replaces line and column. Launch
    /// mutants: `OPERATOR@launch:replacement`.
    pub id: String,
    /// The operator's id, such as `ROR`.
    pub operator: &'static str,
    /// The function that contains it; for launch mutants the kernel.
    pub function: String,
    /// The original text as in the source (`<`), if there is source.
    pub original: String,
    /// The text that would replace it (`<=`); empty for a deletion.
    pub replacement: String,
    /// Range of `original`; within a macro, the range of the macro expansion. `None` without debug information.
    pub range: Option<SourceRange>,
    /// Where it is spelled, if that is in a macro's body.
    pub spelling: Option<SourceRange>,
    /// What the mutant changes in the canonical form.
    pub edit: Edit,
    /// Whether it changes synchronisation, atomics, launches, loops or complete statements. The infection run decides
    /// nothing about such a mutant.
    pub is_structural: bool,
}

impl Mutant {
    /// Returns a hash, in hexadecimal, of what it changes.
    pub fn edit_hash(&self) -> String {
        format!("{:016x}", hash::of((self.operator, &self.edit)))
    }
}

/// Why something has no mutants whose range [is too wide](SourceRange::is_too_wide).
pub const TOO_WIDE: &str = "LLVM records no columns so far to the right, by which its code could be found";

/// States how much is not mutated because lines are longer than debug locations have columns.
pub fn too_wide(excluded: &[Excluded]) -> Option<String> {
    let is_it = |excluded: &&Excluded| excluded.reason == TOO_WIDE;
    let places: BTreeSet<&SourceRange> =
        excluded.iter().filter(is_it).filter_map(|excluded| excluded.range.as_ref()).collect();
    let mut operators: Vec<&str> = excluded.iter().filter(is_it).map(|excluded| excluded.operator).collect();
    operators.sort_unstable();
    operators.dedup();
    let count = match places.len() {
        0 => return None,
        1 => "1 place is".to_owned(),
        n => format!("{n} places are"),
    };
    Some(format!(
        "LLVM records no columns beyond {LAST_COLUMN}: {count} not mutated (by {}) because they reach further right on their line; break the line \
         to have them",
        operators.join(", ")
    ))
}

/// A place that an operator does not mutate, with the reason, for `inspect -v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// The operator's id.
    pub operator: &'static str,
    /// The function that contains it.
    pub function: String,
    /// Where it is; `None` without debug information.
    pub range: Option<SourceRange>,
    /// Why it is not mutated, as the end of a sentence.
    pub reason: String,
}

/// Formats it as `inspect -v` prints it.
impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.range {
            Some(SourceRange { file, start, .. }) => write!(f, "{file}:{}:{}", start.line, start.column)?,
            None => f.write_str(&self.function)?,
        }
        write!(f, ": {}: {}", self.operator, self.reason)
    }
}
