//! Lists the suites that several benchmarks run.

use std::error::Error;
use std::path::{Path, PathBuf};

/// A suite's name, and its file.
type Named = (String, PathBuf);

/// Returns every suite of `testdata` with its name: the folder's, and the file's where a folder has several. If `words`
/// is not empty, returns only those whose names contain one of the words, in the words' order.
pub fn suites(words: &[String]) -> Result<Vec<Named>, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut all = Vec::new();
    for folder in std::fs::read_dir(root)? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder)? {
            let file = file?.path();
            let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match name(&file).strip_prefix("suite") {
                Some(rest) if file.extension().is_some_and(|e| e == "toml") => {
                    all.push((format!("{}{}", name(&folder), rest.replacen('_', "/", 1)), file));
                }
                _ => {}
            }
        }
    }
    all.sort();
    if words.is_empty() {
        return Ok(all);
    }
    // A suite that several words match comes once, at the first of them.
    let place = |name: &str| words.iter().position(|w| name.contains(w.as_str()));
    all.retain(|(name, _)| place(name).is_some());
    all.sort_by_key(|(name, _)| place(name));
    Ok(all)
}
