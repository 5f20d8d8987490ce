//! Provides kernels, and the folders that generation writes.

use std::path::PathBuf;

use kassay_suite::resolve::Suite;

use crate::common::kernels::source_file;
pub use crate::common::kernels::{with_file, with_source};
use crate::common::testdata::suites;

/// Writes a source text to a file whose folder is deleted with the first value; the last one is the path of a folder
/// there that does not exist yet.
pub fn kernel_and_out(source: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let (folder, kernel) = source_file(source);
    let out = folder.path().join("out");
    (folder, kernel, out)
}

/// Returns the suites below `testdata`, one for each kernel.
pub fn fixtures() -> Vec<Suite> {
    let mut all: Vec<Suite> = Vec::new();
    for file in suites() {
        let suite = Suite::load(&file).unwrap();
        if !all.iter().any(|s| s.kernel == suite.kernel && s.entry == suite.entry) {
            all.push(suite);
        }
    }
    all
}
