//! Keeps what is decided of each of several kernels in files, until the result of all is written.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_base::hash;
use kassay_results::result::journal::{self, Journal};

/// The folder `<result file>.parts` with a result, or the journal of one, for each kernel; and the journal of the
/// whole, which keeps other processes away.
pub struct Parts {
    folder: PathBuf,
    journal: Journal,
}

impl Parts {
    /// Begins, or goes on with, what an interrupted run kept.
    ///
    /// # Errors
    /// `Caller` if another process is at it, or what is there is of other files; `Environment` if files cannot be
    /// written.
    pub fn begin(command: &str, output: &Path, files: &[PathBuf], resume: bool) -> Result<Parts> {
        let absolute: Vec<PathBuf> =
            files.iter().map(|file| fs::canonicalize(file).unwrap_or_else(|_| file.clone())).collect();
        let configuration = format!("{:016x} of {} files", hash::of(&absolute), files.len());
        let (path, header) = (journal::path_for(output), journal::Header::new(command, "", &configuration));
        let journal = match resume {
            true => Journal::resume::<()>(&path, &header)?.0,
            false => Journal::create(&path, &header)?,
        };
        let mut folder = OsString::from(output);
        folder.push(".parts");
        let parts = Parts { folder: folder.into(), journal };
        if !resume {
            parts.clear()?;
        }
        fs::create_dir_all(&parts.folder).map_err(|e| {
            Error::environment(format!("cannot create {}: {e}", parts.folder.display())).help("write elsewhere with -o")
        })?;
        Ok(parts)
    }

    /// Returns the path of the result of a file.
    pub fn of(&self, file: &Path) -> PathBuf {
        self.named(&part_of(file))
    }

    /// Returns the path of a result with such a name.
    pub fn named(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// Removes everything; to be called once the result of all is stored.
    ///
    /// # Errors
    /// `Environment` if something cannot be removed.
    pub fn end(self) -> Result<()> {
        self.clear()?;
        self.journal.remove()
    }

    /// Removes the folder with the files that kassay writes there, and no others.
    fn clear(&self) -> Result<()> {
        let failed = |e: std::io::Error| {
            Error::environment(format!("cannot remove {}: {e}", self.folder.display())).help("remove it by hand")
        };
        // Processes that were killed while they wrote a result.
        files::remove_left(&self.folder);
        let entries = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "json" || extension == "jsonl") {
                fs::remove_file(&path).map_err(failed)?;
            }
        }
        fs::remove_dir(&self.folder).map_err(failed)
    }
}

/// Returns the name under which what belongs to a file is kept: one that tells people which file it is, and kassay that
/// it is no other.
pub fn part_of(file: &Path) -> String {
    let path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let readable = name_of(&path).unwrap_or_default();
    let plain: String = readable.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    format!("{plain}-{:016x}", hash::of(&path))
}

/// Returns the name of a file without its ending; of a `suite.toml`, that of its folder, which tells more.
pub fn name_of(file: &Path) -> Option<String> {
    let name = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match name(file)? {
        stem if stem == "suite" => Some(file.parent().and_then(name).unwrap_or(stem)),
        stem => Some(stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_others_away_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (output, files) = (folder.path().join("all.json"), [PathBuf::from("a/suite.toml"), "b/suite.toml".into()]);
        let parts = Parts::begin("mutate-set", &output, &files, false).unwrap();
        fs::write(parts.of(&files[0]), "{}").unwrap();
        assert_ne!(parts.of(&files[0]), parts.of(&files[1]));
        // An interrupted run, killed while it wrote: what it kept is there for one that goes on, with the same files.
        fs::write(parts.folder.join(".kassay-4999999-abc.tmp"), "{").unwrap();
        drop(parts);
        let other = Parts::begin("mutate-set", &output, &files[..1], true).err().unwrap().to_string();
        assert!(other.contains("journal of another run"), "{other}");
        let again = Parts::begin("mutate-set", &output, &files, true).unwrap();
        assert!(again.of(&files[0]).exists());
        drop(again);
        let anew = Parts::begin("mutate-set", &output, &files, false).unwrap();
        assert!(!anew.of(&files[0]).exists());
        anew.end().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
