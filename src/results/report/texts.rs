//! The texts of the source files that results name, as far as they are at hand: lines, and columns as other tools count
//! them.
//!
//! Not for formats that cannot do without the text: those say what is missing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kassay_base::hash;

/// Returns the bytes of a file, if it can be read.
type Reader = dyn Fn(&Path) -> Option<Vec<u8>>;

/// Reads a file that a result names. A pipe or a device might never end.
///
/// # Errors
/// As the system reports; `InvalidInput` if it is no file.
pub(super) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.is_file() { std::fs::read(path) } else { Err(std::io::ErrorKind::InvalidInput.into()) }
}

/// A text with the hash of its bytes.
struct Text {
    digest: String,
    lines: Vec<String>,
}

/// Source files; each is read once.
pub(super) struct Texts {
    read: Box<Reader>,
    /// The folder that paths in reports are relative to.
    folder: Option<PathBuf>,
    known: RefCell<HashMap<PathBuf, Option<Rc<Text>>>>,
}

impl Texts {
    /// Reads files of the file system; paths in reports are relative to the working directory.
    pub(super) fn of_files() -> Texts {
        Texts::new(|path| read_file(path).ok(), std::env::current_dir().ok())
    }

    pub(super) fn new(read: impl Fn(&Path) -> Option<Vec<u8>> + 'static, folder: Option<PathBuf>) -> Texts {
        Texts { read: Box::new(read), folder, known: RefCell::default() }
    }

    /// Returns a line (from 1) of `file`, which a result of the kernel's file `source` names: by its name, or from the
    /// folder of `source`. `None` if there is no such file or line, or its text has not the hash `digest`.
    pub(super) fn line(&self, source: &str, file: &str, digest: Option<&String>, line: u32) -> Option<String> {
        let named = PathBuf::from(file);
        let folder = Path::new(source).parent().unwrap_or(Path::new(""));
        let beside = [Some(folder.join(file)), named.file_name().map(|name| folder.join(name))];
        let text =
            std::iter::once(named.clone()).chain(beside.into_iter().flatten()).find_map(|path| self.text(path))?;
        if digest.is_some_and(|digest| *digest != text.digest) {
            return None;
        }
        text.lines.get((line as usize).checked_sub(1)?).cloned()
    }

    fn text(&self, path: PathBuf) -> Option<Rc<Text>> {
        if let Some(known) = self.known.borrow().get(&path) {
            return known.clone();
        }
        let bytes = (self.read)(&path);
        let text = bytes.map(|bytes| {
            let lines = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
            Rc::new(Text { digest: hash::hex_digest(&bytes), lines })
        });
        self.known.borrow_mut().insert(path, text.clone());
        text
    }

    /// Returns a path as reports name it: relative to the working directory if it is below it, without `./` in front.
    pub(super) fn shown(&self, file: &str) -> String {
        let path = Path::new(file);
        let path = self.folder.as_ref().and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
        let shown = path.to_string_lossy();
        let mut shown = shown.as_ref();
        while let Some(rest) = shown.strip_prefix("./") {
            shown = rest.trim_start_matches('/');
        }
        shown.to_owned()
    }
}

/// Converts a column of `line` from bytes to UTF-16 code units, both from 1. Columns after the end become the one just
/// past it.
pub(super) fn utf16_column(line: &str, column: u32) -> u32 {
    let bytes = (column.max(1) as usize - 1).min(line.len());
    let before = line.char_indices().take_while(|(at, _)| *at < bytes);
    before.map(|(_, c)| c.len_utf16() as u32).sum::<u32>() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_name_or_beside_the_kernel_and_only_as_it_was() {
        let read = |path: &Path| (path == Path::new("k/a.h")).then(|| b"one\ntwo".to_vec());
        let texts = Texts::new(read, None);
        assert_eq!(texts.line("k/a.cl", "a.h", None, 2).as_deref(), Some("two"));
        assert_eq!(texts.line("k/a.cl", "/gone/a.h", None, 1).as_deref(), Some("one"));
        assert_eq!(texts.line("other/a.cl", "a.h", None, 1), None);
        assert_eq!((texts.line("k/a.cl", "a.h", None, 0), texts.line("k/a.cl", "a.h", None, 3)), (None, None));
        assert_eq!(texts.line("k/a.cl", "a.h", Some(&"other".to_owned()), 1), None);
        assert!(texts.line("k/a.cl", "a.h", Some(&hash::hex_digest(b"one\ntwo")), 1).is_some());
    }

    #[test]
    fn paths_are_relative_to_the_working_directory() {
        let texts = Texts::new(|_| None, Some(PathBuf::from("/home/me/project")));
        let shown = ["/home/me/project/k/a.cl", "././/a.cl", "k/a.cl", "/usr/a.h"].map(|path| texts.shown(path));
        assert_eq!(shown, ["k/a.cl", "a.cl", "k/a.cl", "/usr/a.h"]);
    }

    #[test]
    fn columns_count_utf16_units() {
        assert_eq!(["a = b", "é = b", "😀 = b"].map(|line| utf16_column(line, 5)), [5, 4, 3]);
        assert_eq!((utf16_column("ab", 0), utf16_column("ab", 9)), (1, 3));
    }
}
