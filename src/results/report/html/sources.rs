//! Finds the source text that results refer to. A report is written even if the text is gone or has changed: it then
//! says so and shows the places by their lines alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kassay_base::hash;

/// Larger files are not embedded, in bytes.
const LARGEST: u64 = 4 << 20;

/// The text of a file, or why it is not shown, in a clause.
pub(super) type Text = Result<String, String>;

/// Texts that were read, by name, kernel's file and hash.
#[derive(Default)]
pub(super) struct Sources {
    read: RefCell<BTreeMap<(String, String, String), Rc<Text>>>,
}

impl Sources {
    /// Returns the text of a file that a result names: that of this path, or in the folder of the kernel's file. `hash`
    /// is that of the text that was used, if it is known.
    pub(super) fn text(&self, name: &str, kernel_source: &str, hash: Option<&str>) -> Rc<Text> {
        let key = (name.to_owned(), kernel_source.to_owned(), hash.unwrap_or_default().to_owned());
        let mut read = self.read.borrow_mut();
        Rc::clone(read.entry(key).or_insert_with(|| Rc::new(load(name, kernel_source, hash))))
    }
}

fn load(name: &str, kernel_source: &str, hash: Option<&str>) -> Text {
    if name.is_empty() {
        return Err("its file is not known".to_owned());
    }
    let extension = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
    if matches!(extension, "bc" | "spv") {
        return Err("it is binary".to_owned());
    }
    let folder = Path::new(kernel_source).parent().unwrap_or(Path::new(""));
    let mut candidates = vec![PathBuf::from(name), folder.join(name)];
    candidates.extend(Path::new(name).file_name().map(|file| folder.join(file)));
    let Some((path, about)) = candidates.iter().find_map(|path| Some((path, fs::metadata(path).ok()?))) else {
        return Err("the file is not there; write the report in the folder in which the results were made".to_owned());
    };
    // A pipe or a device might never end.
    if !about.is_file() {
        return Err("it is not a file".to_owned());
    }
    if about.len() > LARGEST {
        return Err(format!("it has more than {} MiB", LARGEST >> 20));
    }
    let bytes = fs::read(path).map_err(|e| format!("it cannot be read: {e}"))?;
    if hash.is_some_and(|hash| hash != hash::hex_digest(&bytes)) {
        return Err("the file has changed since the run".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_shown_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let kernel = dir.path().join("k.cl").display().to_string();
        fs::write(&kernel, "kernel void k() {}\n").unwrap();
        let sources = Sources::default();
        let why = |name: &str, hash| sources.text(name, &kernel, hash).as_ref().clone().unwrap_err();
        assert!(why("/dev/zero", None).contains("not a file"));
        assert!(why("gone.cl", None).contains("not there"));
        assert!(why("k.bc", None).contains("binary"));
        assert!(why("", None).contains("not known"));
        assert!(why("k.cl", Some("0000000000000000")).contains("changed"));
        // Found by its name in the folder of the kernel.
        assert!(sources.text("elsewhere/k.cl", &kernel, None).is_ok());
    }
}
