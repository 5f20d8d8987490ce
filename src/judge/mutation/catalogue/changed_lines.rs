//! The lines of files that a change made or altered, so that only what changed is mutated.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

use diffy::Line;
use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use kassay_base::error::{Error, Place, Result};

use super::mutant::{Mutant, SourceRange};

/// Lines of files.
#[derive(Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChangedLines {
    /// Where they are from, for people: the name of a diff, or a revision.
    pub origin: String,
    /// By absolute path, without symbolic links; or as the diff has it if there is no such file in the folders to which
    /// its paths may be relative.
    #[serde(with = "kassay_base::files::paths")]
    files: BTreeMap<PathBuf, Vec<RangeInclusive<u32>>>,
}

impl ChangedLines {
    /// Reads a unified diff, as `diff -u` and `git diff` write it. `roots` are folders to which its paths may be
    /// relative. `origin` names the diff in messages.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is none.
    pub fn of_diff(text: &str, origin: &str, roots: &[PathBuf]) -> Result<ChangedLines> {
        let mut changed = ChangedLines { origin: origin.to_owned(), files: BTreeMap::new() };
        let is_of_git = text.lines().any(|line| line.starts_with("diff --git "));
        let options = if is_of_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
        if text.trim().is_empty() {
            return Ok(changed);
        }
        for patch in PatchSet::parse(text, options) {
            let patch = patch.map_err(|e| wrong(text, origin, &e.to_string()))?;
            let path = match patch.operation() {
                FileOperation::Create(path) | FileOperation::Modify { modified: path, .. } => path,
                FileOperation::Rename { to, .. } | FileOperation::Copy { to, .. } => to,
                FileOperation::Delete(_) => continue,
            };
            let Some(patch) = patch.patch().as_text() else { continue };
            let mut lines = Vec::new();
            for hunk in patch.hunks() {
                let mut at = u32::try_from(hunk.new_range().start()).unwrap_or(u32::MAX);
                for line in hunk.lines() {
                    match line {
                        Line::Context(_) => at = at.saturating_add(1),
                        Line::Insert(_) => {
                            extend(&mut lines, at);
                            at = at.saturating_add(1);
                        }
                        Line::Delete(_) => {}
                    }
                }
            }
            changed.add(&find(path, roots), lines);
        }
        Ok(changed)
    }

    /// Adds a file all of whose lines are new.
    pub fn add_whole(&mut self, path: &Path) {
        self.add(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), vec![1..=u32::MAX]);
    }

    fn add(&mut self, path: &Path, lines: Vec<RangeInclusive<u32>>) {
        self.files.entry(path.to_owned()).or_default().extend(lines);
    }

    /// Returns whether a mutant changes something on these lines. Mutants of the launch, which are in no file, do not.
    pub fn touch(&self, mutant: &Mutant) -> bool {
        [&mutant.range, &mutant.spelling].into_iter().flatten().any(|range| self.overlap(range))
    }

    fn overlap(&self, range: &SourceRange) -> bool {
        let path = fs::canonicalize(&range.file).unwrap_or_else(|_| PathBuf::from(&range.file));
        let is_meant = |known: &Path| if known.is_absolute() { known == path } else { path.ends_with(known) };
        // The end is just past the last character: at the beginning of a line it is not on it.
        let last = if range.end.column <= 1 { range.end.line.saturating_sub(1) } else { range.end.line };
        let last = last.max(range.start.line);
        let meets = |lines: &RangeInclusive<u32>| *lines.start() <= last && range.start.line <= *lines.end();
        self.files.iter().any(|(known, lines)| is_meant(known) && lines.iter().any(meets))
    }
}

/// Formats where they are from: the lines themselves are in the mutants' ids.
impl fmt::Debug for ChangedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChangedLines({})", self.origin)
    }
}

/// Adds a line, to the last range if it follows.
fn extend(lines: &mut Vec<RangeInclusive<u32>>, at: u32) {
    match lines.last_mut() {
        Some(last) if last.end().checked_add(1) == Some(at) => *last = *last.start()..=at,
        _ => lines.push(at..=at),
    }
}

/// Returns the file that a path of a diff means: with or without the `b/` that git puts before it.
fn find(path: &str, roots: &[PathBuf]) -> PathBuf {
    let plain: PathBuf = Path::new(path).components().filter(|part| *part != Component::CurDir).collect();
    let mut parts = plain.components();
    let stripped = match parts.next() {
        Some(Component::Normal(first)) if first == "b" => Some(parts.as_path().to_owned()),
        _ => None,
    };
    let candidates: Vec<&PathBuf> =
        stripped.iter().chain([&plain]).filter(|path| !path.as_os_str().is_empty()).collect();
    let mut found = roots.iter().flat_map(|root| candidates.iter().map(|path| root.join(path)));
    let existing = found.find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()));
    existing.unwrap_or_else(|| stripped.unwrap_or(plain))
}

fn wrong(text: &str, origin: &str, why: &str) -> Error {
    // Its messages name a byte.
    let at = why
        .rsplit_once("at byte ")
        .and_then(|(_, number)| number.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok());
    let mut at = at.unwrap_or_default().min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let line = text[..at].matches('\n').count();
    let place = Place {
        file: PathBuf::from(origin),
        line: u32::try_from(line + 1).unwrap_or(u32::MAX),
        column: 1,
        text: text.lines().nth(line).map(str::to_owned),
    };
    Error::caller(format!("this is no unified diff: {why}")).at(place).help("`git diff` and `diff -u` write one")
}

#[cfg(test)]
mod tests {
    use super::super::mutant::Spot;
    use super::*;

    const DIFF: &str = "\
diff --git a/kernels/old.cl b/kernels/new.cl
similarity index 90%
rename from kernels/old.cl
rename to kernels/new.cl
index 1111111..2222222 100644
--- a/kernels/old.cl
+++ b/kernels/new.cl
@@ -2,3 +2,4 @@ kernel void k
 a
-b
+c
+d
 e
@@ -20 +21,0 @@
-gone
diff --git a/gone.cl b/gone.cl
deleted file mode 100644
index 1111111..0000000
--- a/gone.cl
+++ /dev/null
@@ -1 +0,0 @@
-x
";

    fn range(file: &Path, from: (u32, u32), to: (u32, u32)) -> SourceRange {
        let spot = |(line, column)| Spot { line, column };
        SourceRange { file: file.display().to_string(), start: spot(from), end: spot(to) }
    }

    #[test]
    fn only_lines_that_are_new_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernels/new.cl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        let changed = ChangedLines::of_diff(DIFF, "a diff", &[folder.path().to_owned()]).unwrap();
        let touched = |from, to| changed.overlap(&range(&file, from, to));
        assert!(!touched((2, 1), (2, 5)) && touched((3, 1), (3, 2)) && touched((4, 9), (4, 10)));
        assert!(!touched((5, 1), (30, 1)));
        // A range over several lines, of which one is new; one that ends before a new line begins.
        assert!(touched((1, 1), (3, 2)) && !touched((1, 1), (3, 1)));
        let other = folder.path().join("kernels/old.cl");
        assert!(!changed.overlap(&range(&other, (3, 1), (3, 2))));
    }

    #[test]
    fn files_that_are_elsewhere_are_known_by_the_ends_of_their_paths() {
        let plain = "--- old/x.cl\t2026-01-01\n+++ new/x.cl\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n";
        let changed = ChangedLines::of_diff(plain, "a diff", &[]).unwrap();
        assert!(changed.overlap(&range(Path::new("/nowhere/new/x.cl"), (1, 1), (1, 2))));
        assert!(!changed.overlap(&range(Path::new("/nowhere/other/x.cl"), (1, 1), (1, 2))));
        let mut whole = ChangedLines::default();
        whole.add_whole(Path::new("/nowhere/y.cl"));
        assert!(whole.overlap(&range(Path::new("/nowhere/y.cl"), (900, 1), (900, 2))));
    }

    #[test]
    fn what_is_no_diff_is_told() {
        assert_eq!(ChangedLines::of_diff("\n", "empty", &[]).unwrap().files.len(), 0);
        let text = "--- a/x.cl\n+++ b/x.cl\n@@ -1,9 +1 @@\n-a\n+b\n";
        let error = ChangedLines::of_diff(text, "x.diff", &[]).unwrap_err().to_string();
        assert!(error.contains("x.diff:") && error.contains("no unified diff") && error.contains("help:"), "{error}");
        let error = ChangedLines::of_diff("what is this?\n", "x.diff", &[]).unwrap_err().to_string();
        assert!(error.contains("no unified diff"), "{error}");
    }
}
