//! Where the text of a program is, for people: in their own files, or in a copy that is kept beside the result.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::error::Result;
use kassay_base::hash;
use kassay_results::result::Location;
use kassay_run::host::{Code, SameText};
use serde::{Deserialize, Serialize};

use super::super::host_kernel::cannot_write;

/// The name of a program's file, without an extension, if no file holds its text.
const NAME: &str = "program";

/// Returns a name for the file of a program, without an extension: that of the file with the same text. Ids of sites
/// have it in them.
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
    /// The name of the folder for copies.
    name: String,
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
    /// `same` are files, relative to `working`, by the file that holds the same text, or has it as a piece: `path` and
    /// others in its folder. `name`: that of the folder for copies ([`folder_name`]).
    pub fn new(path: PathBuf, same: HashMap<PathBuf, Vec<SameText>>, working: &Path, name: String) -> Texts {
        let piece = |same: SameText| {
            let text = fs::read(working.join(&same.file)).unwrap_or_default();
            let ends = text.iter().filter(|byte| **byte == b'\n').count() as u64;
            let lines = ends + u64::from(text.last().is_some_and(|byte| *byte != b'\n'));
            Piece { file: same.file, first: same.line, last: same.line + lines.saturating_sub(1) }
        };
        let pieces = same.into_iter().map(|(file, same)| (file, same.into_iter().map(piece).collect())).collect();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Texts { path, folder, pieces, working: working.to_owned(), name }
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

    /// Copies the texts that are in no file of the user's own to `folder/NAME/…`. Returns whether there were any.
    ///
    /// # Errors
    /// `Environment` if files cannot be written.
    pub fn keep(&self, folder: &Path, used: &[Location]) -> Result<bool> {
        let target = folder.join(&self.name);
        let relative: BTreeSet<(&Path, &Path)> = self.elsewhere(used).collect();
        for (from, relative) in &relative {
            let to = target.join(relative);
            let copied = fs::create_dir_all(to.parent().unwrap_or(&target)).and_then(|()| fs::copy(from, &to));
            copied.map_err(|error| cannot_write(&to, &error))?;
        }
        Ok(!relative.is_empty())
    }

    /// Moves a location in the file that was compiled to where people find it. `kept` is the folder of [`Texts::keep`].
    pub fn translate(&self, location: &mut Location, kept: &Path) {
        let file = Path::new(&location.file);
        let found = match self.in_own_file(file, location.line) {
            Some((own, line)) => {
                location.line = line;
                own.to_owned()
            }
            None => match (file.strip_prefix(&self.folder), file.strip_prefix(&self.working)) {
                (Ok(relative), _) => kept.join(&self.name).join(relative),
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
            // For an unknown line, at least the file is reported.
            0 => pieces.first().filter(|_| pieces.len() == 1)?,
            _ => pieces.iter().find(|piece| (piece.first..=piece.last).contains(&number))?,
        };
        let line = if line == 0 { 0 } else { u32::try_from(number - piece.first + 1).unwrap_or(line) };
        Some((&piece.file, line))
    }
}

/// Returns a name for the folder of a program's texts: one for each code and its options, whatever device and driver it
/// is built for, because results of different machines are compared.
pub fn folder_name(code: &Code) -> String {
    // Lengths keep what belongs to one part from counting as another's.
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut add = |part: &[u8]| parts.extend([(part.len() as u64).to_le_bytes().to_vec(), part.to_vec()]);
    match code {
        Code::Source { text, files, includes, options, .. } => {
            add(text);
            add(options.as_bytes());
            let beside = files.iter().map(|(name, bytes)| (name, bytes));
            for (name, bytes) in beside.chain(includes.iter().map(|included| (&included.name, &included.bytes))) {
                add(name.as_bytes());
                add(bytes);
            }
        }
        Code::Module { bytes, constants, .. } => {
            add(bytes);
            add(format!("{constants:?}").as_bytes());
        }
    }
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    format!("{:08x}", (hash::wide(&parts) >> 96) as u32)
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
        let texts = Texts::new(
            program.clone(),
            HashMap::from([(program.clone(), same.to_vec())]),
            &working,
            "01234567".to_owned(),
        );
        let at = |file: &Path, line: u32| Location { file: file.display().to_string(), line, column: 7 };
        let translated = |file: &Path, line: u32| {
            let mut location = at(file, line);
            texts.translate(&mut location, Path::new("kept"));
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
        assert!(!texts.keep(&kept, &[at(&program, 1)]).unwrap());
        assert!(texts.keep(&kept, &[at(&program, 3)]).unwrap());
        assert_eq!(fs::read_to_string(kept.join("01234567/program.cl")).unwrap(), "1\n2\n#\n3\n4");
        assert!(!kept.join("01234567/part.h").exists());
    }

    #[test]
    fn folders_are_named_after_code_and_options_alone() {
        let of = |text: &str, options: &str, header: &str, directory: &str| {
            let files = vec![("a.h".to_owned(), header.as_bytes().to_vec())];
            let (text, options, directory) = (text.as_bytes().to_vec(), options.to_owned(), directory.into());
            folder_name(&Code::Source { text, pieces: Vec::new(), files, includes: Vec::new(), options, directory })
        };
        let name = of("kernel", "-w", "1", "/here");
        assert_eq!((name.len(), of("kernel", "-w", "1", "/there")), (8, name.clone()));
        for other in
            [of("Kernel", "-w", "1", "/here"), of("kernel", "", "1", "/here"), of("kernel", "-w", "2", "/here")]
        {
            assert_ne!(other, name);
        }
    }
}
