//! Reads the sources, by package and module.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 600;

/// The packages in folders of `src/`; what lies beside these folders is the root package.
pub const PACKAGES: &[&str] = &["base", "model", "suite", "results", "run", "ir", "prove", "judge", "study"];

/// Where the layer's library, a package, too, has its sources.
const LAYER: &str = "layer/src";

#[test]
fn no_source_file_is_longer_than_600_lines() {
    let long: Vec<String> = (sources().iter().chain(&layer_sources()))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("  {}: {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines; split them by concern:\n{}", long.join("\n"));
}

/// rustfmt keeps the width of code, not that of comments. Blocks of code in comments are as they are.
#[test]
fn comments_keep_120_columns() {
    let mut wide = Vec::new();
    for (path, text) in sources().into_iter().chain(layer_sources()) {
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("//")) {
            is_code ^= line.trim_start_matches(['/', '!', ' ']).starts_with("```");
            if !is_code && line.chars().count() > 120 {
                wide.push(format!("  {}:{number}", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "comments of more than 120 columns:\n{}", wide.join("\n"));
}

/// Returns every Rust file under `src/` with its text, by its path from the project's root.
pub fn sources() -> Vec<(PathBuf, String)> {
    files_below("src")
}

/// The same of the layer's library.
pub fn layer_sources() -> Vec<(PathBuf, String)> {
    files_below(LAYER)
}

fn files_below(folder: &str) -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // Links lead to what packages carry from elsewhere.
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join(folder), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources found in {folder}");
    paths.into_iter().map(|p| (p.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&p).unwrap())).collect()
}

/// Returns the package that a file belongs to, and the folder of its sources; the root package is "".
fn place_of(file: &Path) -> (&'static str, PathBuf) {
    if file.starts_with(LAYER) {
        return ("layer", LAYER.into());
    }
    let found = PACKAGES.iter().map(|package| (*package, Path::new("src").join(package)));
    found.into_iter().find(|(_, folder)| file.starts_with(folder)).unwrap_or(("", "src".into()))
}

/// Returns the package that a file belongs to; the root package is "".
pub fn package_of(file: &Path) -> &'static str {
    place_of(file).0
}

/// Returns a file's module path in its package: `src/run/exec/mod.rs` is `[exec]`, `src/run/exec/opencl.rs` is
/// `[exec, opencl]`.
pub fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(place_of(file).1).unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

#[test]
fn every_folder_with_a_manifest_is_a_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<String> = (fs::read_dir(root.join("src")).unwrap())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let mut expected = PACKAGES.to_vec();
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
