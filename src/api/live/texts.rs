//! Where the text of a program is, for people: in their own files, or in a copy that is kept beside the result.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::host::SameText;
use crate::result::Location;

use super::super::host_kernel::cannot_write;

/// The name of a program's file, without an extension, if no file holds its text.
const NAME: &str = "program";

/// Returns a name for the file of a program, without an extension: that of the file with the same text. Ids of sites have it in them.
pub fn base_name(same: &[SameText]) -> String {
    let whole = if let [one] = same { one.file.file_stem() } else { None };
    let name: String = whole.unwrap_or_default().to_string_lossy().chars().take(100).collect();
    if name.is_empty() { NAME.to_owned() } else { name }
}

/// The text of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Texts {
    /// The file that was compiled; its folder has the texts that it includes, too.
    pub path: PathBuf,
    folder: PathBuf,
    /// By file in the folder: files of the user's own that hold its text, or pieces of it.
    pieces: HashMap<PathBuf, Vec<Piece>>,
    working: PathBuf,
}

/// A part of the text that a file holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Piece {
    /// Relative to the working directory.
    file: PathBuf,
    /// Its lines in the program's text, from 1.
    first: u64,
    last: u64,
}

impl Texts {
    /// `same` are files, relative to `working`, by the file that holds the same text, or has it as a piece: `path` and others in
    /// its folder.
    pub fn new(path: PathBuf, same: HashMap<PathBuf, Vec<SameText>>, working: &Path) -> Texts {
        let piece = |same: SameText| {
            let text = fs::read(working.join(&same.file)).unwrap_or_default();
            let ends = text.iter().filter(|byte| **byte == b'\n').count() as u64;
            let lines = ends + u64::from(text.last().is_some_and(|byte| *byte != b'\n'));
            Piece { file: same.file, first: same.line, last: same.line + lines.saturating_sub(1) }
        };
        let pieces = same.into_iter().map(|(file, same)| (file, same.into_iter().map(piece).collect())).collect();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Texts { path, folder, pieces, working: working.to_owned() }
    }

    /// Returns whether any of these locations is in a text that no file of the user's own holds.
    pub fn is_needed(&self, used: &[Location]) -> bool {
        self.elsewhere(used).next().is_some()
    }

    /// Returns the files of the folder that users do not have, for each of these locations that is in one.
    fn elsewhere<'l>(&'l self, used: &'l [Location]) -> impl Iterator<Item = (&'l Path, &'l Path)> {
        used.iter().filter_map(|location| {
            let file = Path::new(&location.file);
            let relative = file.strip_prefix(&self.folder).ok()?;
            self.in_own_file(file, location.line).is_none().then_some((file, relative))
        })
    }

    /// Copies the texts that are in no file of the user's own to `folder/ID/…`. Returns whether there were any.
    ///
    /// # Errors
    /// `Environment` if files cannot be written.
    pub fn keep(&self, folder: &Path, id: &str, used: &[Location]) -> Result<bool> {
        let target = folder.join(short(id));
        let relative: BTreeSet<(&Path, &Path)> = self.elsewhere(used).collect();
        for (from, relative) in &relative {
            let to = target.join(relative);
            let copied = fs::create_dir_all(to.parent().unwrap_or(&target)).and_then(|()| fs::copy(from, &to));
            copied.map_err(|error| cannot_write(&to, &error))?;
        }
        Ok(!relative.is_empty())
    }

    /// Moves a location in the file that was compiled to where people find it. `kept` is the folder of [`Texts::keep`].
    pub fn translate(&self, location: &mut Location, kept: &Path, id: &str) {
        let file = Path::new(&location.file);
        let found = match self.in_own_file(file, location.line) {
            Some((own, line)) => {
                location.line = line;
                own.to_owned()
            }
            None => match (file.strip_prefix(&self.folder), file.strip_prefix(&self.working)) {
                (Ok(relative), _) => kept.join(short(id)).join(relative),
                (_, Ok(relative)) => relative.to_owned(),
                _ => return,
            },
        };
        location.file = found.display().to_string();
    }

    /// Returns the file of the user's own that holds a line of the text, and the line's number there.
    fn in_own_file(&self, file: &Path, line: u32) -> Option<(&Path, u32)> {
        let pieces = self.pieces.get(file)?;
        let number = u64::from(line);
        let piece = match line {
            // Of an unknown line, at least the file is told.
            0 => pieces.first().filter(|_| pieces.len() == 1)?,
            _ => pieces.iter().find(|piece| (piece.first..=piece.last).contains(&number))?,
        };
        let line = if line == 0 { 0 } else { u32::try_from(number - piece.first + 1).unwrap_or(line) };
        Some((&piece.file, line))
    }
}

/// The beginning of a program's id, which is enough to tell it from others.
pub fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_the_users_files() {
        let root = tempfile::tempdir().unwrap();
        let (working, folder) = (root.path().join("work"), root.path().join("spool"));
        for (path, text) in [
            ("work/a.cl", "1\n2\n"),
            ("work/b.cl", "3\n4"),
            ("spool/program.cl", "1\n2\n#\n3\n4"),
            ("spool/part.h", ""),
        ] {
            fs::create_dir_all(root.path().join(path).parent().unwrap()).unwrap();
            fs::write(root.path().join(path), text).unwrap();
        }
        let same = [("a.cl", 1), ("b.cl", 4)].map(|(file, line)| SameText { file: file.into(), line });
        assert_eq!((base_name(&same), base_name(&same[..1])), ("program".to_owned(), "a".to_owned()));
        let program = folder.join("program.cl");
        let texts = Texts::new(program.clone(), HashMap::from([(program.clone(), same.to_vec())]), &working);
        let at = |file: &Path, line: u32| Location { file: file.display().to_string(), line, column: 7 };
        let translated = |file: &Path, line: u32| {
            let mut location = at(file, line);
            texts.translate(&mut location, Path::new("kept"), "0123456789");
            assert_eq!(location.column, 7);
            (location.file, location.line)
        };
        assert_eq!(translated(&program, 2), ("a.cl".to_owned(), 2));
        assert_eq!(translated(&program, 5), ("b.cl".to_owned(), 2));
        assert_eq!(translated(&program, 3), ("kept/01234567/program.cl".to_owned(), 3));
        assert_eq!(translated(&folder.join("part.h"), 1), ("kept/01234567/part.h".to_owned(), 1));
        assert_eq!(translated(&working.join("inc/x.h"), 9), ("inc/x.h".to_owned(), 9));
        assert_eq!(translated(Path::new("/usr/x.h"), 9), ("/usr/x.h".to_owned(), 9));
        let kept = root.path().join("kept");
        assert!(!texts.keep(&kept, "0123456789", &[at(&program, 1)]).unwrap());
        assert!(texts.keep(&kept, "0123456789", &[at(&program, 3)]).unwrap());
        assert_eq!(fs::read_to_string(kept.join("01234567/program.cl")).unwrap(), "1\n2\n#\n3\n4");
        assert!(!kept.join("01234567/part.h").exists());
    }
}
