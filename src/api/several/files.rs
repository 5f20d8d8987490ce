//! Finds the files that arguments of a command mean.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use kassay_base::error::{Error, Result};
use kassay_model::kernel_files::KernelFile;

/// What a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Suites.
    Suites,
    /// Kernels.
    Kernels,
    /// Results.
    Results,
}

impl Wanted {
    /// Patterns of the names of files below a folder.
    fn names(self) -> Vec<String> {
        match self {
            Wanted::Suites => vec!["suite.toml".to_owned(), "suite.json".to_owned()],
            // Other forms of kernels are often made of sources.
            Wanted::Kernels => KernelFile::source_names(),
            Wanted::Results => vec!["*.json".to_owned()],
        }
    }

    fn plural(self) -> String {
        match self {
            Wanted::Suites => "suites (suite.toml or suite.json)".to_owned(),
            Wanted::Kernels => format!("kernels ({})", KernelFile::sources_listed()),
            Wanted::Results => "results (.json)".to_owned(),
        }
    }
}

/// Returns whether arguments mean several files, so that the result is that of a set: more than one is given, or a
/// folder.
pub fn are_several(given: &[PathBuf]) -> bool {
    given.len() > 1 || given.iter().any(|path| path.is_dir())
}

/// Returns the files that arguments mean, each once: files as they are given, and for folders what is wanted below
/// them, in the order of their names. Hidden folders and links to folders are passed over.
///
/// # Errors
/// `Caller` if nothing is found in a folder; `Environment` if a folder cannot be read.
pub fn expand(given: &[PathBuf], wanted: Wanted) -> Result<Vec<PathBuf>> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for path in given {
        let files = if path.is_dir() { below(path, wanted)? } else { vec![path.clone()] };
        // Two ways to write a path lead to one file.
        let is_new = |file: &PathBuf| known.insert(file.canonicalize().unwrap_or_else(|_| file.clone()));
        found.extend(files.into_iter().filter(is_new));
    }
    Ok(found)
}

fn below(folder: &Path, wanted: Wanted) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in &wanted.names() {
        let text = folder.to_str().ok_or_else(|| {
            Error::caller(format!("the name of the folder {} is not UTF-8", folder.display()))
                .help("name the files one by one")
        })?;
        found.extend(matching(&format!("{}/**/{name}", Pattern::escape(text.trim_end_matches('/'))))?);
    }
    found.sort();
    match found.is_empty() {
        true => Err(Error::caller(format!("there are no {} below {}", wanted.plural(), folder.display()))
            .help("name files, or a folder that has some in it")),
        false => Ok(found),
    }
}

/// Returns the files that a pattern matches, in the order of their names: `*` is part of a name, `**` any folders.
///
/// # Errors
/// `Caller` if it is no pattern; `Environment` if a folder cannot be read.
pub fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let options =
        MatchOptions { require_literal_leading_dot: true, require_literal_separator: true, ..MatchOptions::new() };
    let paths = glob::glob_with(pattern, options).map_err(|e| {
        Error::caller(format!("`{pattern}` is no pattern of files: {e}"))
            .help("`*` stands for a part of a name, `**` for any folders")
    })?;
    let mut found = Vec::new();
    for path in paths {
        let path =
            path.map_err(|e| Error::environment(format!("cannot read {}: {}", e.path().display(), e.error())))?;
        if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stand_for_what_is_below_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in
            ["b/suite.toml", "a [1]/deep/suite.json", "a [1]/other.toml", ".git/suite.toml", "k/one.cl", "k/one.h"]
        {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "").unwrap();
        }
        let all = expand(&[folder.path().to_owned()], Wanted::Suites).unwrap();
        assert_eq!(all, [at("a [1]/deep/suite.json"), at("b/suite.toml")]);
        // In the order of the arguments, and each once.
        let given = [at("b/suite.toml"), at("a [1]/other.toml"), at("a [1]"), at("a [1]/../b/suite.toml")];
        let found = expand(&given, Wanted::Suites).unwrap();
        assert_eq!(found, [at("b/suite.toml"), at("a [1]/other.toml"), at("a [1]/deep/suite.json")]);
        assert_eq!(expand(&[at("k")], Wanted::Kernels).unwrap(), [at("k/one.cl")]);
        let empty = expand(&[at("k")], Wanted::Suites).unwrap_err().to_string();
        assert!(empty.contains("there are no suites"), "{empty}");
        assert!(are_several(&[at("k")]) && are_several(&given) && !are_several(&[at("b/suite.toml")]));
    }
}
