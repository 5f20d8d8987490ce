//! Copies the headers that a kernel includes into its folder, so that the suite can move.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::absolute_names::Places;
use super::origin::IncludedFile;

/// The folder for headers that are named by absolute paths outside of all include folders.
const ABSOLUTE: &str = "absolute";

/// Where the files that the layer has copied belong in a kernel's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedHeaders<'a> {
    /// By path in the folder: `include/…`, `absolute/…`.
    pub files: Vec<(PathBuf, &'a [u8])>,
    /// The folders to search, in order: each include folder, which may hold what the layer has not seen, after that of
    /// its copies. Folders of copies are relative to the kernel's.
    pub search: Vec<PathBuf>,
    /// Where each of them was.
    pub places: Places,
}

/// Finds a place for each file that the layer has copied.
pub fn place_headers<'a>(include_dirs: &[PathBuf], includes: &'a [IncludedFile]) -> PlacedHeaders<'a> {
    let mut placed = PlacedHeaders::default();
    for (at, dir) in include_dirs.iter().enumerate() {
        // A folder that is named twice is searched once.
        let is_first = !include_dirs[..at].contains(dir);
        let is_any = is_first && placed.add(&target(at), dir, includes);
        placed.search.extend(is_any.then(|| target(at)));
        placed.search.push(dir.clone());
    }
    let root = Path::new("/");
    if !include_dirs.iter().any(|dir| dir == root) {
        placed.add(Path::new(ABSOLUTE), root, includes);
    }
    placed
}

impl<'a> PlacedHeaders<'a> {
    /// Adds the files that were found below `from`, and returns whether there are any.
    fn add(&mut self, target: &Path, from: &Path, includes: &'a [IncludedFile]) -> bool {
        let before = self.files.len();
        for file in includes.iter().filter(|file| file.folder == from) {
            let place = target.join(&file.name);
            self.places.entry(from.join(&file.name)).or_insert_with(|| place.clone());
            self.files.push((place, &file.bytes));
        }
        self.files.len() > before
    }
}

/// The folder for the headers of an include folder.
fn target(at: usize) -> PathBuf {
    PathBuf::from(if at == 0 { "include".to_owned() } else { format!("include-{}", at + 1) })
}

/// Copies the files that clang found below the include folders to `folder/include/…`, and returns the folders to name
/// in the place of those, relative to `folder`: only those in which something was found. Of the files that
/// [`place_headers`] has put there, only those stay that clang found. `None` if a header reaches another one by a path
/// that leaves its folder; the folders then have to stay what they are.
///
/// # Errors
/// If a file cannot be copied.
pub fn copy_headers(folder: &Path, include_dirs: &[PathBuf], found: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let own = folder.canonicalize()?;
    let canonical: Vec<Option<PathBuf>> = include_dirs.iter().map(|dir| dir.canonicalize().ok()).collect();
    let mut copies: Vec<(usize, PathBuf, PathBuf)> = Vec::new();
    let (mut used, mut stay) = (Vec::new(), BTreeSet::new());
    for file in found {
        let Ok(real) = file.canonicalize() else { continue };
        // clang looks for folders, too.
        if !real.is_file() {
            continue;
        }
        if let Ok(path) = real.strip_prefix(&own) {
            used.extend((0..include_dirs.len()).find(|at| path.starts_with(target(*at))));
            stay.insert(real);
            continue;
        }
        let at = canonical.iter().position(|dir| dir.as_ref().is_some_and(|dir| real.starts_with(dir)));
        match at {
            Some(at) => {
                let relative = real.strip_prefix(canonical[at].as_deref().unwrap_or(Path::new(""))).map(Path::to_owned);
                copies.push((at, relative.unwrap_or_default(), real));
            }
            // Clang's own header; a file with an absolute path that the layer has not seen is found there as before.
            None if is_clangs(&real) || !include_dirs.iter().any(|dir| file.starts_with(dir)) => {}
            None => return Ok(None),
        }
    }
    for target in (0..include_dirs.len()).map(target).chain([ABSOLUTE.into()]) {
        remove_others(&own.join(target), &stay);
    }
    for (at, relative, real) in copies {
        let to = folder.join(target(at)).join(relative);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(real, to)?;
        used.push(at);
    }
    used.sort_unstable();
    used.dedup();
    Ok(Some(used.into_iter().map(target).collect()))
}

/// Removes the files below a folder but for these, and folders that are then empty. What cannot be removed stays.
fn remove_others(folder: &Path, stay: &BTreeSet<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            remove_others(&path, stay);
        } else if !stay.contains(&path) {
            let _ = fs::remove_file(path);
        }
    }
    // Only an empty folder can be removed so.
    let _ = fs::remove_dir(folder);
}

/// Returns whether a file is one of clang's own headers.
fn is_clangs(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"opencl-c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_copied_with_their_folders() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in ["a/x.h", "a/sub/y.h", "b/z.h", "c/never.h", "out/k.cl"] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), path).unwrap();
        }
        let dirs = [at("c"), at("a"), at("b")];
        let found = [at("a"), at("a/x.h"), at("a/sub/y.h"), at("b/z.h"), at("out/k.cl")];
        let used = copy_headers(&at("out"), &dirs, &found).unwrap().unwrap();
        assert_eq!(used, [Path::new("include-2"), Path::new("include-3")]);
        assert_eq!(fs::read_to_string(at("out/include-2/sub/y.h")).unwrap(), "a/sub/y.h");
        assert_eq!(fs::read_to_string(at("out/include-3/z.h")).unwrap(), "b/z.h");
        // A link out of the folder: what it includes beside itself would not be found.
        fs::write(at("apart.h"), "").unwrap();
        std::os::unix::fs::symlink(at("apart.h"), at("b/link.h")).unwrap();
        assert_eq!(copy_headers(&at("out"), &dirs, &[at("b/link.h")]).unwrap(), None);
    }

    #[test]
    fn headers_as_they_were_come_before_those_that_are_there_now() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in ["a/x.h", "a/now.h", "out/k.cl"] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "now").unwrap();
        }
        let dirs = [at("gone"), at("a"), at("gone")];
        let file = |folder: &str, name: &str| IncludedFile {
            folder: at(folder),
            name: name.to_owned(),
            bytes: b"then".to_vec(),
        };
        let files = [file("gone", "sub/y.h"), file("a", "x.h"), file("a", "unused.h"), file("elsewhere", "z.h")];
        let PlacedHeaders { files, search, .. } = place_headers(&dirs, &files);
        for (name, bytes) in files {
            fs::create_dir_all(at("out").join(&name).parent().unwrap()).unwrap();
            fs::write(at("out").join(name), bytes).unwrap();
        }
        assert_eq!(search, ["include".into(), at("gone"), "include-2".into(), at("a"), at("gone")]);
        let found = [at("out/include/sub/y.h"), at("out/include-2/x.h"), at("a/now.h")];
        let used = copy_headers(&at("out"), &dirs, &found).unwrap().unwrap();
        assert_eq!(used, [Path::new("include"), Path::new("include-2")]);
        let text = |path: &str| fs::read_to_string(at(path)).ok();
        assert_eq!(text("out/include/sub/y.h").as_deref(), Some("then"));
        assert_eq!(text("out/include-2/x.h").as_deref(), Some("then"));
        assert_eq!(text("out/include-2/now.h").as_deref(), Some("now"));
        assert!(!at("out/include-2/unused.h").exists());
    }

    #[test]
    fn headers_of_no_include_folder_have_a_place() {
        let file =
            |folder: &str, name: &str| IncludedFile { folder: folder.into(), name: name.to_owned(), bytes: Vec::new() };
        let files = [file("/", "b/y.h"), file("/a", "x.h")];
        let placed = place_headers(&["/a".into()], &files);
        let places = [("/a/x.h", "include/x.h"), ("/b/y.h", "absolute/b/y.h")];
        assert_eq!(placed.places, places.map(|(from, to)| (from.into(), to.into())).into());
        assert_eq!(placed.search, [Path::new("include"), Path::new("/a")]);
        assert_eq!(place_headers(&["/".into()], &files).search, [Path::new("include"), Path::new("/")]);
    }
}
