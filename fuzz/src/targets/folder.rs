//! The folders in which files of the targets are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDERS: RefCell<HashMap<&'static str, TempDir>> = RefCell::default();
}

/// Returns this thread's folder of that name, which `fill` has filled.
pub fn folder(name: &'static str, fill: impl FnOnce(&Path)) -> PathBuf {
    FOLDERS.with_borrow_mut(|folders| {
        let made = || {
            let folder = tempfile::tempdir().expect("there are temporary folders");
            fill(folder.path());
            folder
        };
        folders.entry(name).or_insert_with(made).path().to_owned()
    })
}

/// Writes a file; returns its path.
pub fn file(folder: &Path, name: &str, contents: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, contents).expect("temporary files can be written");
    path
}
