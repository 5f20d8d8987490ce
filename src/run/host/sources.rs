//! Finds the files below a folder whose text a program was given.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use kassay_model::kernel_files::KernelFile;

use super::variants::lengths_of_fronts;

/// A file that holds the text of a program, or a piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameText {
    /// Its path relative to the folder.
    pub file: PathBuf,
    /// The line of the program's text at which it begins, from 1.
    pub line: u64,
}

/// Entries of folders that are looked at, at most.
const MOST_ENTRIES: usize = 100_000;
/// Bytes of a file that is compared, at most.
const MOST_BYTES: u64 = 16 << 20;
/// Shorter pieces are not looked for: they could belong to any text.
const LEAST_BYTES: usize = 40;

/// The files below a folder, by size.
#[derive(Debug)]
pub struct SourceFiles {
    folder: PathBuf,
    by_size: HashMap<u64, Vec<PathBuf>>,
}

impl SourceFiles {
    /// Lists the files below a folder, without hidden folders, links, and the folder `except`.
    pub fn below(folder: &Path, except: &Path) -> SourceFiles {
        let except = except.canonicalize().unwrap_or_else(|_| except.to_owned());
        let mut by_size: HashMap<u64, Vec<PathBuf>> = HashMap::new();
        let (mut folders, mut left) = (vec![folder.to_owned()], MOST_ENTRIES);
        while let Some(next) = folders.pop() {
            let Ok(entries) = fs::read_dir(&next) else { continue };
            for entry in entries.flatten() {
                left = left.saturating_sub(1);
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if left == 0 {
                    folders.clear();
                    break;
                } else if kind.is_dir() && !is_hidden && path.canonicalize().is_ok_and(|path| path != except) {
                    folders.push(path);
                } else if kind.is_file()
                    && let Ok(about) = entry.metadata()
                    && (1..=MOST_BYTES).contains(&about.len())
                {
                    by_size.entry(about.len()).or_default().push(path);
                }
            }
        }
        by_size.values_mut().for_each(|paths| paths.sort());
        SourceFiles { folder: folder.to_owned(), by_size }
    }

    /// Encodes the list, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.folder.as_os_str().as_bytes().to_vec();
        for (size, paths) in &self.by_size {
            for path in paths {
                bytes.push(0);
                bytes.extend_from_slice(size.to_string().as_bytes());
                bytes.push(b' ');
                bytes.extend_from_slice(path.as_os_str().as_bytes());
            }
        }
        bytes
    }

    /// Decodes what [`SourceFiles::to_bytes`] encoded.
    pub fn of_bytes(bytes: &[u8]) -> SourceFiles {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let mut parts = bytes.split(|byte| *byte == 0);
        let folder = path(parts.next().unwrap_or_default());
        let mut by_size: HashMap<u64, Vec<PathBuf>> = HashMap::new();
        for part in parts {
            let end = part.iter().position(|byte| *byte == b' ').unwrap_or(part.len());
            let size = str::from_utf8(&part[..end]).ok().and_then(|size| size.parse().ok()).unwrap_or(0);
            by_size.entry(size).or_default().push(path(part.get(end + 1..).unwrap_or_default()));
        }
        SourceFiles { folder, by_size }
    }

    fn with(&self, text: &[u8]) -> Option<PathBuf> {
        let candidates = self.by_size.get(&(text.len() as u64))?;
        // One with the extension of a source goes first: a build may have copied it.
        let is_source = |path: &&PathBuf| KernelFile::of(path).is_some_and(KernelFile::is_source);
        let (kernels, others): (Vec<_>, Vec<_>) = candidates.iter().partition(is_source);
        let found = kernels.into_iter().chain(others).find(|path| fs::read(path).is_ok_and(|bytes| bytes == text))?;
        Some(found.strip_prefix(&self.folder).unwrap_or(found).to_owned())
    }
}

/// Finds the files that hold a program's text: one that holds all of it, or those that hold pieces of it. What follows
/// definitions of macros in front is a piece, too.
pub fn same_texts(files: &SourceFiles, pieces: &[Vec<u8>]) -> Vec<SameText> {
    let whole = pieces.concat();
    if let Some(file) = files.with(&whole) {
        return vec![SameText { file, line: 1 }];
    }
    let (mut found, mut line) = (Vec::new(), 1);
    for piece in pieces {
        let own = lengths_of_fronts(piece).find_map(|(bytes, lines)| {
            let own = piece.get(bytes..).filter(|own| own.len() >= LEAST_BYTES && own.len() < whole.len())?;
            Some(SameText { file: files.with(own)?, line: line + lines as u64 })
        });
        found.extend(own);
        line += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_text() {
        let folder = tempfile::tempdir().unwrap();
        // Files may begin with definitions of their own.
        let text = "#define C 1\nkernel void k(global int *x) { x[get_global_id(0)] = 1; }\n";
        for name in ["src/k.cl", "out/k.cl", "a.txt"] {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), text).unwrap();
        }
        let files = SourceFiles::below(folder.path(), &folder.path().join("out"));
        let files = SourceFiles::of_bytes(&files.to_bytes());
        let found = |pieces: &[&str]| {
            let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect();
            same_texts(&files, &pieces).into_iter().map(|same| (same.file, same.line)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[text]), [(PathBuf::from("src/k.cl"), 1)]);
        assert_eq!(found(&["#define A\n#define B\n", text]), [(PathBuf::from("src/k.cl"), 3)]);
        assert_eq!(found(&[&format!("#define A\n#define B\n#line 1\n{text}")]), [(PathBuf::from("src/k.cl"), 4)]);
        assert_eq!(found(&["something else"]), []);
    }
}
