//! The folders that the files of a suite have to lie in if the suite is not trusted.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};

/// Folders; nothing outside of them is read for the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Without links.
    folders: Arc<Vec<PathBuf>>,
}

/// A file lies outside of the sandbox.
#[derive(Debug, thiserror::Error)]
#[error("it lies outside of {}, which --sandbox does not allow", .0.display())]
struct Escape(PathBuf);

impl Sandbox {
    /// Returns the sandbox of the folder that a file is in.
    ///
    /// # Errors
    /// `Caller` if it is not there.
    pub fn around(file: &Path) -> Result<Sandbox> {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Sandbox { folders: Arc::default() }.and(folder)
    }

    /// Adds a folder that the user has named.
    ///
    /// # Errors
    /// `Caller` if it is not there.
    pub fn and(&self, folder: &Path) -> Result<Sandbox> {
        let real = folder
            .canonicalize()
            .map_err(|e| Error::caller(format!("cannot read the folder {}: {e}", folder.display())))?;
        let folders = self.folders.iter().cloned().chain([real]).collect();
        Ok(Sandbox { folders: Arc::new(folders) })
    }

    /// Returns the folders, without links.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Checks where a path leads.
    ///
    /// # Errors
    /// An [escape](is_escape) if that is outside; those of the file system if there is nothing inside.
    pub fn check(&self, path: &Path) -> io::Result<()> {
        match path.canonicalize() {
            Ok(real) => self.check_real(&real),
            // Whether something outside exists is not revealed.
            Err(error) => std::path::absolute(path).and_then(|path| self.check_real(&plain(&path))).and(Err(error)),
        }
    }

    /// Checks what has been opened: a link may have been changed since [`Sandbox::check`].
    ///
    /// # Errors
    /// As [`Sandbox::check`].
    pub(super) fn check_open(&self, file: &File) -> io::Result<()> {
        self.check_real(&fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?)
    }

    fn check_real(&self, real: &Path) -> io::Result<()> {
        // Folders are few.
        match self.folders.iter().any(|folder| real.starts_with(folder)) || self.is_below_link(real) {
            true => Ok(()),
            false => {
                let folder = self.folders.first().cloned().unwrap_or_default();
                Err(io::Error::new(io::ErrorKind::PermissionDenied, Escape(folder)))
            }
        }
    }

    /// Whether a path that is not there would be below a folder to which a link leads.
    fn is_below_link(&self, path: &Path) -> bool {
        let existing = path.ancestors().find_map(|above| above.canonicalize().ok());
        existing.is_some_and(|real| self.folders.iter().any(|folder| real.starts_with(folder)))
    }
}

/// Removes `.` and `..` from an absolute path, as text.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            _ => plain.push(part),
        }
    }
    plain
}

/// Returns whether an error says that a file lies outside of the sandbox.
pub fn is_escape(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Escape>())
}

/// What helps if a file lies outside; nothing for other errors.
pub fn escape_help(error: &io::Error) -> Option<&'static str> {
    is_escape(error).then_some("copy the file into the suite's folder, or leave out --sandbox if you trust the suite")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::files;

    #[test]
    fn what_leads_out_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("out"));
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        for file in [inside.join("a"), inside.join("deep/b"), outside.join("secret")] {
            fs::write(file, "text").unwrap();
        }
        symlink(outside.join("secret"), inside.join("link")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        symlink(inside.join("a"), inside.join("deep/back")).unwrap();
        let sandbox = Sandbox::around(&inside.join("suite.toml")).unwrap();
        let read = |path: &str| files::read(&inside.join(path), Some(&sandbox));
        for path in ["a", "deep/b", "deep/../a", "deep/back", "../in/a"] {
            assert_eq!(read(path).unwrap(), b"text", "{path}");
        }
        let absolute = outside.join("secret").display().to_string();
        for path in ["../out/secret", "link", "folder/secret", &absolute, "../out/absent", "/etc/passwd"] {
            assert!(is_escape(&read(path).unwrap_err()), "{path}");
        }
        assert_eq!(read("absent").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(read("none/absent").unwrap_err().kind(), io::ErrorKind::NotFound);
        let wider = sandbox.and(&outside).unwrap();
        assert!(files::read(&inside.join("link"), Some(&wider)).is_ok());
    }

    #[test]
    fn what_was_opened_counts() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("in")).unwrap();
        fs::write(root.path().join("secret"), "text").unwrap();
        let sandbox = Sandbox::around(&root.path().join("in/suite.toml")).unwrap();
        let file = File::open(root.path().join("secret")).unwrap();
        assert!(is_escape(&sandbox.check_open(&file).unwrap_err()));
    }
}
