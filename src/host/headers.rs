//! Copies the headers that a kernel includes into its folder, so that the suite can move.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Copies the files that clang found below the include folders to `folder/include/…`, and returns the folders to name in
/// the place of those, relative to `folder`: only those in which something was found. `None` if a header reaches another
/// one by a path that leaves its folder; the folders then have to stay what they are.
///
/// # Errors
/// If a file cannot be copied.
pub fn copy_headers(folder: &Path, include_dirs: &[PathBuf], found: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let canonical: Vec<Option<PathBuf>> = include_dirs.iter().map(|dir| dir.canonicalize().ok()).collect();
    let mut copies: Vec<(usize, PathBuf, PathBuf)> = Vec::new();
    for file in found {
        let Ok(real) = file.canonicalize() else { continue };
        // clang looks for folders, too.
        if !real.is_file() || real.starts_with(folder.canonicalize()?) {
            continue;
        }
        let at = canonical.iter().position(|dir| dir.as_ref().is_some_and(|dir| real.starts_with(dir)));
        match at {
            Some(at) => {
                let relative = real.strip_prefix(canonical[at].as_deref().unwrap_or(Path::new(""))).map(Path::to_owned);
                copies.push((at, relative.unwrap_or_default(), real));
            }
            // Clang's own header; what the kernel names by an absolute path is found there as before.
            None if is_clangs(&real) || !include_dirs.iter().any(|dir| file.starts_with(dir)) => {}
            None => return Ok(None),
        }
    }
    let target = |at: usize| PathBuf::from(if at == 0 { "include".to_owned() } else { format!("include-{}", at + 1) });
    let mut used: Vec<usize> = copies.iter().map(|(at, ..)| *at).collect();
    used.sort_unstable();
    used.dedup();
    for (at, relative, real) in copies {
        let to = folder.join(target(at)).join(relative);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(real, to)?;
    }
    Ok(Some(used.into_iter().map(target).collect()))
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
}
