//! Copies the files that a program's source includes, as they are during its build: a program may write them, build, and
//! delete them, and only here it is certain that they are still there.
//!
//! This is no preprocessor. It takes every line that looks like `#include "NAME"` or `#include <NAME>` for one, also in a branch or
//! comment that no compiler reads, and does not see names that are macros. Too many copies do no harm; kassay, which has a
//! compiler, uses those that it needs and looks for the others on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::shadow::program::Piece;
use crate::spool::blobs;

/// Files copied of a program, at most.
const MOST_FILES: usize = 2000;
/// Bytes copied of a program, at most.
const MOST_BYTES: u64 = 64 << 20;

/// A name in a `#include`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    name: PathBuf,
    /// With quotation marks: first looked for beside the file that includes it.
    is_quoted: bool,
}

/// A file that was there.
#[derive(Debug, Clone, Serialize)]
pub struct Included {
    /// The folder below which it was found: of an option `-I`, or the working directory. Absolute.
    folder: String,
    /// Its path in that folder, without `.` and `..`.
    name: String,
    #[serde(flatten)]
    piece: Piece,
}

/// Finds the names that a text includes.
pub fn names(text: &[u8]) -> Vec<Name> {
    text.split(|byte| *byte == b'\n').filter_map(name_in).collect()
}

/// The name that a line includes.
fn name_in(line: &[u8]) -> Option<Name> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"include")?;
    let (mark, rest) = rest.trim_ascii_start().split_first()?;
    let end = match mark {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let name = rest.split(|byte| *byte == end).next().filter(|name| name.len() < rest.len())?;
    // Folders and names reach kassay as JSON, which has no other text.
    let name = PathBuf::from(std::str::from_utf8(name).ok()?);
    (name.is_relative() && name.components().next().is_some()).then_some(Name { name, is_quoted: *mark == b'"' })
}

/// Copies what these names, and the files that they name, include. `options` are those of a build in `directory`.
pub fn copy(names: Vec<Name>, options: Option<&str>, directory: &Path) -> Vec<Included> {
    if names.is_empty() {
        return Vec::new();
    }
    let folders = folders(options.unwrap_or_default(), directory);
    let mut copied = Vec::new();
    let mut known = BTreeSet::new();
    let mut left = MOST_BYTES;
    // What is still to be found: a name, and the file (of which folder) in which it stands, but for the program's own text.
    let mut open: Vec<(Name, Option<(usize, PathBuf)>)> = names.into_iter().map(|name| (name, None)).collect();
    while let Some((name, within)) = open.pop() {
        let beside = within.filter(|_| name.is_quoted);
        let beside = beside.map(|(folder, file)| (folder, file.with_file_name("").join(&name.name)));
        let places = beside.into_iter().chain((0..folders.len()).map(|folder| (folder, name.name.clone())));
        let found = places
            .filter_map(|(folder, name)| Some((folder, below(&name)?)))
            .find(|(folder, name)| folders[*folder].join(name).is_file());
        let Some((folder, name)) = found else { continue };
        if copied.len() >= MOST_FILES {
            break;
        }
        if !known.insert((folder, name.clone())) {
            continue;
        }
        let Some(bytes) = read(&folders[folder].join(&name), left) else { continue };
        left -= bytes.len() as u64;
        open.extend(self::names(&bytes).into_iter().map(|inner| (inner, Some((folder, name.clone())))));
        if let (Some(in_folder), Some(name)) = (folders[folder].to_str(), name.to_str()) {
            let (folder, name) = (in_folder.to_owned(), name.to_owned());
            copied.push(Included { folder, name, piece: blobs::keep_code(&bytes) });
        }
    }
    // The order in which they were found is nobody's concern, but part of the program's id.
    copied.sort_by(|a, b| (&a.folder, &a.name).cmp(&(&b.folder, &b.name)));
    copied
}

/// Reads a file of up to `most` bytes.
fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

/// A path without `.` and `..`; `None` if it leaves its folder.
fn below(name: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

/// The folders in which includes are looked for: those of `-I`, then the working directory.
fn folders(options: &str, directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("-I") {
            Some("") => all.extend(words.next()),
            Some(folder) => all.push(folder.to_owned()),
            None => {}
        }
    }
    all.iter().map(|folder| directory.join(folder)).chain([directory.to_owned()]).collect()
}

/// Splits options at white space outside of quotation marks.
fn words(options: &str) -> Vec<String> {
    let mut all = Vec::new();
    let (mut word, mut quote, mut is_word, mut is_plain) = (String::new(), None, false, false);
    for c in options.chars() {
        match c {
            _ if is_plain => {
                word.push(c);
                is_plain = false;
            }
            '\\' => (is_plain, is_word) = (true, true),
            _ if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => (quote, is_word) = (Some(c), true),
            _ if c.is_whitespace() && quote.is_none() => {
                if std::mem::take(&mut is_word) {
                    all.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_lines() {
        let text = b"#include \"a.h\"\n  # include <b/c.h> // x\nint include;\n#include MACRO\n#include \"open\n#include \"/abs.h\"\n#include \"\"";
        let found: Vec<_> = names(text).into_iter().map(|name| (name.name, name.is_quoted)).collect();
        assert_eq!(found, [("a.h".into(), true), ("b/c.h".into(), false)]);
        assert_eq!(names(b"\xff\n#include \"\xff\"\n#"), []);
    }

    #[test]
    fn folders_are_found_in_options() {
        let found = folders(r#"-Ia -I "b c" -D I='-I d' -Ie\ f -cl-mad-enable -I"#, Path::new("/w"));
        assert_eq!(found, ["/w/a", "/w/b c", "/w/e f", "/w"].map(PathBuf::from));
    }

    #[test]
    fn files_that_include_each_other_are_copied_once() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/x.h", "#include \"sub/y.h\"\n#include \"z.h\"\n"),
            ("a/sub/y.h", "#include \"../x.h\"\n#include \"y.h\"\n#include \"../../secret.h\"\n"),
            ("b/z.h", "#include <x.h>\n"),
            ("b/x.h", "never"),
            ("secret.h", "never: its path leaves the folder"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let copied = copy(names(b"#include \"x.h\"\n#include <none.h>\n"), Some("-Ia -I b"), root.path());
        let found: Vec<_> = copied.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(found, ["sub/y.h", "x.h", "z.h"]);
        assert!(copied[0].folder.ends_with("/a") && copied[2].folder.ends_with("/b"), "{copied:?}");
    }
}
