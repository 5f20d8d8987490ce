//! Copies the files that a program's source includes, as they are during its build: a program may write them, build,
//! and delete them, and only here it is certain that they are still there.
//!
//! This is no preprocessor. It takes every line that looks like `#include "NAME"` or `#include <NAME>` for one, also in
//! a branch or comment that no compiler reads. Where a text includes a macro, it takes what the text and the options
//! define for such names. Too many copies do no harm; kassay, which has a compiler, uses those that it needs and looks
//! for the others on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::spool::blobs::{self, Piece};

/// Files copied of a program, at most.
const MOST_FILES: usize = 2000;
/// Bytes copied of a program, at most.
const MOST_BYTES: u64 = 64 << 20;

/// What follows `#include`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    File {
        name: PathBuf,
        /// With quotation marks: first looked for beside the file that includes it.
        is_quoted: bool,
    },
    /// A macro, which options may define.
    Macro,
}

/// A file that was there.
#[derive(Debug, Clone, Serialize)]
pub struct Included {
    /// The folder below which it was found: of an option `-I`, the working directory, or the root. Absolute.
    folder: String,
    /// Its path in that folder, without `.` and `..`.
    name: String,
    #[serde(flatten)]
    piece: Piece,
}

/// Finds the names that a text includes.
pub fn names(text: &[u8]) -> Vec<Name> {
    let lines = || text.split(|byte| *byte == b'\n');
    let mut all: Vec<Name> = lines().filter_map(|line| included(directive(line, b"include")?)).collect();
    if all.contains(&Name::Macro) {
        let value = |line| directive(line, b"define")?.splitn(2, u8::is_ascii_whitespace).nth(1);
        all.extend(lines().filter_map(|line| file(value(line)?.trim_ascii())));
    }
    all
}

/// What follows a directive in its line.
fn directive<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start().strip_prefix(name)?;
    rest.first().is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_').then(|| rest.trim_ascii_start())
}

/// What a `#include` includes.
fn included(rest: &[u8]) -> Option<Name> {
    let is_macro = rest.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    if is_macro { Some(Name::Macro) } else { file(rest) }
}

/// The file that is named in quotation marks or angle brackets.
fn file(text: &[u8]) -> Option<Name> {
    let (mark, rest) = text.split_first()?;
    let end = match mark {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let name = rest.split(|byte| *byte == end).next().filter(|name| name.len() < rest.len())?;
    // Folders and names reach kassay as JSON, which has no other text.
    let name = PathBuf::from(std::str::from_utf8(name).ok()?);
    name.file_name().is_some().then_some(Name::File { name, is_quoted: *mark == b'"' })
}

/// The files that options define macros as. A value without marks may be made a string by another macro.
fn defined(options: &str) -> impl Iterator<Item = Name> {
    values(options, "-D").into_iter().filter_map(|macro_| {
        let value = macro_.split_once('=')?.1.trim();
        let plain = || Some(Name::File { name: value.into(), is_quoted: true }).filter(|_| value.starts_with('/'));
        file(value.as_bytes()).or_else(plain)
    })
}

/// Copies what these names, and the files that they name, include. `options` are those of a build in `directory`.
pub fn copy(names: Vec<Name>, options: Option<&str>, directory: &Path) -> Vec<Included> {
    if names.is_empty() {
        return Vec::new();
    }
    let options = options.unwrap_or_default();
    let folders = folders(options, directory);
    // The root is searched for absolute paths alone.
    let root = folders.len() - 1;
    let mut copied = Vec::new();
    let (mut known, mut are_defined_open) = (BTreeSet::new(), false);
    let mut left = MOST_BYTES;
    // What is still to be found: a name, and the file (of which folder) in which it stands, but for the program's own
    // text.
    let mut open: Vec<(Name, Option<(usize, PathBuf)>)> = names.into_iter().map(|name| (name, None)).collect();
    while let Some((name, within)) = open.pop() {
        let (name, is_quoted) = match name {
            Name::File { name, is_quoted } => (name, is_quoted),
            Name::Macro => {
                if !std::mem::replace(&mut are_defined_open, true) {
                    open.extend(defined(options).map(|name| (name, None)));
                }
                continue;
            }
        };
        let mut places: Vec<(usize, PathBuf)> = Vec::new();
        if let Ok(rest) = name.strip_prefix("/") {
            let path = below(rest).map(|rest| folders[root].join(rest)).unwrap_or_default();
            // As a file of the folder in which other names find it, so that there is one copy.
            places.extend((0..=root).filter_map(|at| Some((at, path.strip_prefix(&folders[at]).ok()?.to_owned()))));
        } else {
            let beside = within.filter(|_| is_quoted);
            places.extend(beside.map(|(folder, file)| (folder, file.with_file_name("").join(&name))));
            places.extend((0..root).map(|folder| (folder, name.clone())));
        }
        let found = places
            .into_iter()
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
    // The order in which they were found matters only as part of the program's id.
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

/// The folders in which includes are looked for: those of `-I`, then the working directory, last the root.
fn folders(options: &str, directory: &Path) -> Vec<PathBuf> {
    let own = values(options, "-I").into_iter().map(|folder| directory.join(folder));
    own.chain([directory.to_owned(), PathBuf::from("/")]).collect()
}

/// The values of an option of two characters, which may be words of their own.
fn values(options: &str, option: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(option) {
            Some("") => all.extend(words.next()),
            Some(value) => all.push(value.to_owned()),
            None => {}
        }
    }
    all
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
        let file = |name: &str, is_quoted| Name::File { name: name.into(), is_quoted };
        let own = [file("a.h", true), file("b/c.h", false), Name::Macro, file("/abs.h", true)];
        assert_eq!(names(text), own);
        // Definitions count only where a macro is included.
        let defines = "#define A \"x.h\"\n # define B  </y.h> // z\n#define C(a) \"z.h\"\n#defined \"z.h\"\n#define\n";
        assert_eq!(names(defines.as_bytes()), []);
        let found = names(format!("{defines}#include A").as_bytes());
        assert_eq!(found, [Name::Macro, file("x.h", true), file("/y.h", false), file("z.h", true)]);
        let options = r#"-DA=\"/x.h\" -D B='</y.h>' -D C=/z.h -D N=4 -DM -D"#;
        let found: Vec<_> = defined(options).collect();
        assert_eq!(found, [file("/x.h", true), file("/y.h", false), file("/z.h", true)]);
        assert_eq!(names(b"\xff\n#include \"\xff\"\n#"), []);
    }

    #[test]
    fn folders_are_found_in_options() {
        let found = folders(r#"-Ia -I "b c" -D I='-I d' -Ie\ f -cl-mad-enable -I"#, Path::new("/w"));
        assert_eq!(found, ["/w/a", "/w/b c", "/w/e f", "/w", "/"].map(PathBuf::from));
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

    #[test]
    fn files_with_absolute_names_are_copied() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path).display().to_string();
        for (path, text) in [
            ("a/x.h", "#include \"../b/y.h\"\n".to_owned()),
            ("b/y.h", format!("#include <{}>\n", at("c/./z.h"))),
            ("c/z.h", String::new()),
            ("d/by_macro.h", String::new()),
        ] {
            std::fs::create_dir_all(root.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(root.path().join(path), text).unwrap();
        }
        let text = format!("#include \"{}\"\n", at("d/../a/x.h"));
        let options = format!("-I{} -D M=\\\"{}\\\"", at("c"), at("d/by_macro.h"));
        let places = |text: &str| {
            let copied = copy(names(text.as_bytes()), Some(&options), Path::new("/nowhere"));
            copied.into_iter().map(|file| (file.folder, file.name)).collect::<Vec<_>>()
        };
        let in_root = |path: &str| ("/".to_owned(), at(path)[1..].to_owned());
        let mut all = vec![in_root("a/x.h"), in_root("b/y.h"), (at("c"), "z.h".to_owned())];
        assert_eq!(places(&text), all);
        all.insert(2, in_root("d/by_macro.h"));
        assert_eq!(places(&format!("{text}#include M")), all);
    }
}
