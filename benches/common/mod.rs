//! Lists the suites that several benchmarks run, and judges their ratios. Each benchmark uses a part of it.

#![allow(dead_code)]

use std::error::Error;
use std::path::{Path, PathBuf};

/// Returns the repository: where the benchmark was built or, if that is not here, the current folder.
pub fn root() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR"));
    if built.join("testdata").is_dir() { built.to_owned() } else { PathBuf::from(".") }
}

/// Returns kassay's program: that which was built with the benchmark or, if that is not here, the one in its folder.
pub fn program(built: &str) -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("kassay")).filter(|path| path.exists());
    let built = PathBuf::from(built);
    if built.exists() { built } else { beside().unwrap_or(built) }
}

/// A suite's name, and its file.
type Named = (String, PathBuf);

/// Returns every suite of `testdata` with its name: the folder's, and the file's where a folder has several. If `words`
/// is not empty, returns only those whose names contain one of the words, in the words' order.
pub fn suites(words: &[String]) -> Result<Vec<Named>, Box<dyn Error>> {
    let root = root().join("testdata");
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

/// Returns the median, which is not a number if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The limits that a benchmark missed. Only ratios of figures of one run have limits: times depend on the machine.
#[derive(Debug, Default)]
pub struct Limits {
    missed: Vec<String>,
}

impl Limits {
    /// Judges a ratio that may not exceed `limit`. Returns the verdict in a word.
    pub fn at_most(&mut self, what: &str, ratio: f64, limit: f64) -> &'static str {
        self.judge(ratio <= limit, format!("{what} is {ratio:.2}, more than {limit}"))
    }

    /// Judges a ratio that has to reach `limit`. Returns the verdict in a word.
    pub fn at_least(&mut self, what: &str, ratio: f64, limit: f64) -> &'static str {
        self.judge(ratio >= limit, format!("{what} is {ratio:.2}, less than {limit}"))
    }

    fn judge(&mut self, is_kept: bool, complaint: String) -> &'static str {
        if is_kept {
            return "kept";
        }
        self.missed.push(complaint);
        "MISSED"
    }

    /// Fails if a limit was missed.
    pub fn end(self) -> Result<(), Box<dyn Error>> {
        match self.missed.as_slice() {
            [] => Ok(()),
            [one] => Err(format!("a limit is missed: {one}").into()),
            all => Err(format!("{} limits are missed: {}", all.len(), all.join("; ")).into()),
        }
    }
}
