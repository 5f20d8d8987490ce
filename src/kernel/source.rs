//! Looks up source text by the file names that debug locations use; each file is read once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Finds source files and caches their lines.
#[derive(Debug, Default)]
pub struct Sources {
    /// Folders in which relative names are looked up, after the current one.
    folders: Vec<PathBuf>,
    files: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl Sources {
    /// Looks names up as they are, then relative to the folder of `kernel`, then by their last component in that
    /// folder, because debug information may come from another machine.
    pub fn beside(kernel: &Path) -> Sources {
        let folders = kernel.parent().map(Path::to_path_buf).into_iter().collect();
        Sources { folders, files: RefCell::default() }
    }

    /// The lines of a file, or `None` if the file cannot be found.
    pub fn lines(&self, file: &str) -> Option<Rc<Vec<String>>> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let text = read(Path::new(file))
            .or_else(|| self.folders.iter().find_map(|folder| read(&folder.join(file))))
            .or_else(|| {
                let name = Path::new(file).file_name()?;
                self.folders.iter().find_map(|folder| read(&folder.join(name)))
            });
        let lines = text.map(|bytes| Rc::new(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()));
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

/// Reads a file that a module names. A pipe or a device might never end.
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::metadata(path).is_ok_and(|about| about.is_file()).then(|| std::fs::read(path).ok()).flatten()
}
