//! Looks up source text by the file names that debug locations use; each file is read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kassay_base::files::{self, Sandbox};

/// Finds source files and caches their lines.
#[derive(Debug, Default)]
pub struct Sources {
    /// Folders in which relative names are looked up, after the current one.
    folders: Vec<PathBuf>,
    /// The folders of which files may be read: names come from debug information, which may say anything.
    sandbox: Option<Sandbox>,
    files: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl Sources {
    /// Looks names up as they are, then relative to the folder of `kernel`, then by their last component in that
    /// folder, because debug information may come from another machine.
    pub fn beside(kernel: &Path) -> Sources {
        let folders = kernel.parent().map(Path::to_path_buf).into_iter().collect();
        Sources { folders, ..Sources::default() }
    }

    /// The same, of a sandbox if there is one.
    #[must_use]
    pub fn within(self, sandbox: Option<Sandbox>) -> Sources {
        Sources { sandbox, ..self }
    }

    /// Reads a file by exactly this name.
    ///
    /// # Errors
    /// As [`files::read`].
    pub fn read(&self, file: &Path) -> std::io::Result<Vec<u8>> {
        files::read(file, self.sandbox.as_ref())
    }

    /// The lines of a file, or `None` if the file cannot be found.
    pub fn lines(&self, file: &str) -> Option<Rc<Vec<String>>> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let text = self
            .read(Path::new(file))
            .ok()
            .or_else(|| self.folders.iter().find_map(|folder| self.read(&folder.join(file)).ok()))
            .or_else(|| {
                let name = Path::new(file).file_name()?;
                self.folders.iter().find_map(|folder| self.read(&folder.join(name)).ok())
            });
        let lines = text.map(|bytes| Rc::new(lines_of(&bytes)));
        self.files.borrow_mut().insert(file.to_owned(), lines.clone());
        lines
    }

    /// The complete text of a file.
    pub fn text(&self, file: &str) -> Option<String> {
        self.lines(file).map(|lines| lines.iter().map(|l| format!("{l}\n")).collect())
    }

    /// The rest of the line from a line and column on (both count from 1, the column in bytes).
    pub fn at(&self, file: &str, line: u32, column: u32) -> Option<String> {
        let lines = self.lines(file)?;
        let text = lines.get((line as usize).checked_sub(1)?)?;
        text.get((column as usize).saturating_sub(1)..).map(str::to_owned)
    }
}

/// The lines of a text, as clang counts them, without their ends. Each byte that is no UTF-8 (comments may be in
/// Latin-1) becomes one character, so that columns in bytes stay what they are.
fn lines_of(text: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut begin = 0;
    for (end, next) in line_ends(text) {
        lines.push(in_utf8(&text[begin..end]));
        begin = next;
    }
    if begin < text.len() {
        lines.push(in_utf8(&text[begin..]));
    }
    lines
}

/// The length of the literal of a string or a character with which a text begins; `None` if its line does not close it.
pub fn quoted_length(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Where the lines of a text end and the next ones begin: a line feed, a carriage return or both.
pub fn line_ends(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = at + text.get(at..)?.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        at = end + if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        Some((end, at))
    })
}

fn in_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_clangs() {
        assert_eq!(lines_of(b"a\r\nb\rc\n\nd"), ["a", "b", "c", "", "d"]);
        assert_eq!(lines_of(b"a\n"), ["a"]);
        assert!(lines_of(b"").is_empty());
        assert_eq!(lines_of("/* gr\u{fc}n */ x".as_bytes()), ["/* gr\u{fc}n */ x"]);
        // The same comment in Latin-1: `x` stays in its column.
        assert_eq!(lines_of(b"/* gr\xfcn */ x"), ["/* gr?n */ x"]);
    }
}
