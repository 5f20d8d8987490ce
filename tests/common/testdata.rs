//! Finds the files of this repository that tests read: paths do not depend on the current folder, and lists are sorted.

use std::path::{Path, PathBuf};

use kassay_model::options::KernelOptions;
use kassay_suite::resolve::Suite;

use super::kernels::options_of;

/// Returns a path of the repository.
pub fn repository(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns a path below `testdata`.
pub fn testdata(path: impl AsRef<Path>) -> PathBuf {
    repository("testdata").join(path)
}

/// Returns the suite of the folder `name` of `testdata`.
pub fn suite(name: &str) -> PathBuf {
    testdata(name).join("suite.toml")
}

/// Returns the kernel of the folder `name` of `testdata`.
pub fn kernel(name: &str) -> PathBuf {
    testdata(name).join(format!("{name}.cl"))
}

/// Returns the entries of a folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Returns the folders in a folder.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

/// Returns the files below a folder, at any depth, that have this extension.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { files_below(&path, extension) } else { vec![path] };
    let all = entries(folder).into_iter().flat_map(below);
    all.filter(|path| has_extension(path, extension)).collect()
}

pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// Returns whether a file is one of a folder's suites.
fn is_suite(path: &Path) -> bool {
    has_extension(path, "toml") && name(path).starts_with("suite")
}

/// Returns the last component of a path.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the files in the folders of `testdata`.
pub fn files() -> Vec<PathBuf> {
    folders(&testdata("")).iter().flat_map(|folder| entries(folder)).collect()
}

/// Returns the suites in the folders of `testdata`, several of some folders.
pub fn suites() -> Vec<PathBuf> {
    files().into_iter().filter(|file| is_suite(file)).collect()
}

/// Returns the suites in a folder.
pub fn suites_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|file| is_suite(file)).collect()
}

/// Returns the `suite.toml` of each folder of `testdata` that has one.
pub fn main_suites() -> Vec<PathBuf> {
    let found: Vec<PathBuf> = files().into_iter().filter(|file| name(file) == "suite.toml").collect();
    assert!(found.len() > 50, "only {} suites", found.len());
    found
}

/// Returns the kernel files of the suites of `testdata` with the suites' options, each pair once.
pub fn kernel_files() -> Vec<(PathBuf, KernelOptions)> {
    let mut found: Vec<(PathBuf, KernelOptions)> = Vec::new();
    for suite in suites() {
        let suite = Suite::load(&suite).unwrap();
        let pair = (suite.kernel.clone(), options_of(&suite));
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}
