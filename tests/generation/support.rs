//! Reads kernels for the tests of generation.

use std::path::{Path, PathBuf};

use kassay::coverage::build::KernelUnderTest;
use kassay::suite::resolve::Suite;

pub use crate::common::kernels::with_file;

/// Calls `f` with the only kernel of a source text.
pub fn with_source<T>(source: &str, f: impl FnOnce(&KernelUnderTest<'_>) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    with_file(&path, None, &[], f)
}

/// Returns the suites below `testdata`, one for each kernel.
pub fn fixtures() -> Vec<Suite> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut all: Vec<Suite> = Vec::new();
    let sorted = |folder: &Path| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    };
    for folder in sorted(&root).into_iter().filter(|f| f.is_dir()) {
        for file in sorted(&folder) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with("suite") || !name.ends_with(".toml") {
                continue;
            }
            let suite = Suite::load(&file).unwrap();
            if !all.iter().any(|s| s.kernel == suite.kernel && s.entry == suite.entry) {
                all.push(suite);
            }
        }
    }
    all
}
