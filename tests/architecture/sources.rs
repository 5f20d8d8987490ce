//! Reads the sources, by module.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 600;

#[test]
fn no_source_file_is_longer_than_600_lines() {
    let long: Vec<String> = sources()
        .iter()
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("  {}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines; split them by concern:\n{}", long.join("\n"));
}

/// Returns every Rust file under `src/` with its text, by its path from the project's root.
pub fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join("src"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources found");
    paths.into_iter().map(|p| (p.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&p).unwrap())).collect()
}

/// Returns a file's module path: `src/exec/mod.rs` is `[exec]`, `src/exec/opencl.rs` is `[exec, opencl]`.
pub fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}
