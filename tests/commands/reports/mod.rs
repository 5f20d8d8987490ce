//! Checks the forms of results: text, lcov, files and published schemas.
//!
//! Snapshots are in `tests/snapshots/`; `BLESS=1` accepts the current output.

mod examples;
mod files;
mod lcov;
mod mutation;
mod sync;
mod text;

use std::fs;
use std::path::Path;

/// Compares `actual` with a committed file, or rewrites the file if `BLESS=1`.
fn expect_file(path: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} is stale (BLESS=1 accepts what comes out now):\n{actual}\ninstead of:\n{expected}",
        path.display()
    );
}
