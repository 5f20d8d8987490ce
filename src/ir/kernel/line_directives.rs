//! Blanks out `#line` directives for the compiler, so that debug locations refer to the file itself, and appends lines
//! to a source.
//!
//! The new text replaces the file through clang's virtual file system overlay: paths, relative includes and byte
//! offsets stay the same. Edited texts (`variants`) take the place of files in the same way.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::files::private::PrivateFolder;
use kassay_base::files::{self, Sandbox};

/// Copies of the files that are blanked or longer for clang. The copies are deleted when this value is dropped.
pub(super) struct Overlay {
    folder: PrivateFolder,
    /// The original files that have a copy.
    pub originals: Vec<PathBuf>,
}

impl Overlay {
    /// The folder that holds the copies.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The file for clang's `-ivfsoverlay`.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("overlay.yaml")
    }
}

/// Copies of files, and of each several edited texts. They are deleted when this value is dropped.
pub(super) struct EditedCopies {
    folder: PrivateFolder,
    count: usize,
}

impl EditedCopies {
    /// A folder without copies.
    pub fn new() -> std::io::Result<EditedCopies> {
        Ok(EditedCopies { folder: PrivateFolder::temporary()?, count: 0 })
    }

    /// The folder that holds the copies.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Adds an overlay in which the file at `path` (absolute) has this text, and other files are as in `others`.
    /// Returns the file for clang's `-ivfsoverlay`.
    pub fn add(&mut self, path: &Path, text: &[u8], others: Option<&Overlay>) -> std::io::Result<PathBuf> {
        self.count += 1;
        let copy = self.folder.path().join(format!("{}.text", self.count));
        std::fs::write(&copy, blank(text).as_deref().unwrap_or(text))?;
        let copied = others.iter().flat_map(|others| {
            others
                .originals
                .iter()
                .enumerate()
                .map(|(index, path)| (path.as_path(), others.folder().join(index.to_string())))
        });
        let mut files: Vec<(&Path, PathBuf)> = copied.filter(|(other, _)| *other != path).collect();
        files.push((path, copy));
        let file = self.folder.path().join(format!("{}.yaml", self.count));
        std::fs::write(&file, description(&files))?;
        Ok(file)
    }
}

/// Builds an overlay for `source`, at whose end it has the lines `appended`, and the files it includes, as far as
/// quoted and `<>` includes can be resolved with `include_path`; `None` if there are no such lines and no file contains
/// a `#line`.
pub(super) fn overlay(
    source: &Path,
    include_path: &[PathBuf],
    sandbox: Option<&Sandbox>,
    appended: &str,
) -> Result<Option<Overlay>> {
    let mut changed = Vec::new();
    let mut seen = HashSet::new();
    let mut worklist = vec![source.to_owned()];
    let own = std::path::absolute(source).ok();
    while let Some(path) = worklist.pop() {
        let Ok(path) = std::path::absolute(path) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        let Ok(mut text) = files::read(&path, sandbox) else { continue };
        let is_longer = own.as_ref() == Some(&path) && !appended.is_empty();
        if is_longer {
            text.extend_from_slice(appended.as_bytes());
        }
        if let Some(text) = blank(&text).or_else(|| is_longer.then(|| text.clone())) {
            changed.push((path.clone(), text));
        }
        let beside = path.parent().unwrap_or(Path::new("/"));
        for name in included(&text) {
            let folders = std::iter::once(beside).chain(include_path.iter().map(PathBuf::as_path));
            worklist.extend(folders.map(|folder| folder.join(&name)).find(|file| file.is_file()));
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    write(&changed).map(Some).map_err(|error| Error::environment(format!("no temporary copy of the source: {error}")))
}

fn write(changed: &[(PathBuf, Vec<u8>)]) -> std::io::Result<Overlay> {
    let originals = changed.iter().map(|(path, _)| path.clone()).collect();
    let overlay = Overlay { folder: PrivateFolder::temporary()?, originals };
    let mut files = Vec::new();
    for (index, (path, text)) in changed.iter().enumerate() {
        let copy = overlay.folder.path().join(index.to_string());
        std::fs::write(&copy, text)?;
        files.push((path.as_path(), copy));
    }
    std::fs::write(overlay.file(), description(&files))?;
    Ok(overlay)
}

/// The text of an overlay's description: files, each with the one that has its contents.
fn description(files: &[(&Path, PathBuf)]) -> String {
    let root = |(path, copy): &(&Path, PathBuf)| {
        serde_json::json!({
            "name": path.to_string_lossy(), "type": "file", "external-contents": copy.to_string_lossy(),
        })
    };
    let roots: Vec<_> = files.iter().map(root).collect();
    let description = serde_json::json!({
        "version": 0, "case-sensitive": "true", "use-external-names": false, "roots": roots,
    });
    description.to_string()
}

/// The text with every `#line N …` and `# N …` line replaced by spaces; `None` if there is none.
fn blank(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut changed = false;
    let mut continued = false;
    let mut blanking = false;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        blanking = if continued { blanking } else { is_line_directive(line) };
        changed |= blanking;
        if blanking {
            out.extend(line.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' }));
        } else {
            out.extend_from_slice(line);
        }
        continued = line.trim_ascii_end().ends_with(b"\\");
    }
    changed.then_some(out)
}

fn directive(line: &[u8]) -> Option<&[u8]> {
    line.trim_ascii_start().strip_prefix(b"#").map(<[u8]>::trim_ascii_start)
}

fn is_line_directive(line: &[u8]) -> bool {
    let Some(rest) = directive(line) else { return false };
    let after_line = rest.strip_prefix(b"line").and_then(<[u8]>::first);
    rest.first().is_some_and(u8::is_ascii_digit) || after_line.is_some_and(u8::is_ascii_whitespace)
}

fn included(text: &[u8]) -> Vec<String> {
    let name = |line: &[u8]| {
        let rest = directive(line)?.strip_prefix(b"include")?.trim_ascii_start();
        let close = match rest.first()? {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let end = rest[1..].iter().position(|&byte| byte == close)?;
        Some(String::from_utf8_lossy(&rest[1..=end]).into_owned())
    };
    text.split(|&byte| byte == b'\n').filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_become_spaces_of_the_same_length() {
        let text = b"int a;\n#line 9 \"x.cl\"\n  # 3 \"y\" \\\n 1\n#linear\n#define line 1\n";
        let blanked = blank(text).unwrap();
        assert_eq!(blanked.len(), text.len());
        let lines: Vec<_> =
            blanked.split(|&b| b == b'\n').map(|l| String::from_utf8_lossy(l).trim().to_owned()).collect();
        assert_eq!(lines, ["int a;", "", "", "", "#linear", "#define line 1", ""]);
        assert_eq!(blank(b"#define A \\\n# 1\nint x;\n"), None);
    }

    #[test]
    fn includes_are_found_in_both_spellings() {
        assert_eq!(included(b"#include \"a.h\"\n # include <b/c.h> // x\n#include NAME\n"), ["a.h", "b/c.h"]);
    }
}
