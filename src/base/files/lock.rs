//! Keeps two processes from writing one result: the second fails at once. The lock is the system's, so that it ends
//! with the process, however that ends.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::draft;
use crate::error::{Error, Result};

/// Longest wait for the lock of a process that is gone: its last children may outlive it for a moment.
const WAIT: Duration = Duration::from_secs(5);

/// The files of this process's locks.
static HELD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// As long as this lives no other kassay writes the same output.
#[derive(Debug)]
pub struct OutputLock {
    _handle: File,
    /// The file that was made for the lock.
    path: Option<PathBuf>,
    owner: u32,
}

impl OutputLock {
    /// Locks the result file `output`, by a file beside it: `<output>.lock`. A lock that a killed process has left is
    /// taken. Nothing is locked if the output is no regular file (as `/dev/stdout`) or the file system has no locks.
    ///
    /// # Errors
    /// `Caller` if another process writes it; `Environment` if the folder cannot be written.
    pub fn of_file(output: &Path) -> Result<Option<OutputLock>> {
        let is_stream = ["/dev", "/proc"].iter().any(|folder| output.starts_with(folder));
        if is_stream || fs::metadata(output).is_ok_and(|about| !about.is_file()) {
            return Ok(None);
        }
        let path = beside(output);
        loop {
            let failed = |error: io::Error| cannot_write(output, &error);
            let file =
                File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
            if !take(&file, &format!("{}", output.display()))? {
                return Ok(None);
            }
            // The one that had it may have removed it meanwhile, and a third one made another.
            let own = file.metadata().map_err(failed)?;
            if fs::metadata(&path).is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())) {
                held(|all| all.push(path.clone()));
                path.parent().into_iter().for_each(draft::remove_left);
                return Ok(Some(OutputLock { _handle: file, path: Some(path), owner: std::process::id() }));
            }
        }
    }

    /// Locks a folder that is there.
    ///
    /// # Errors
    /// `Caller` if another process writes into it; `Environment` if it cannot be opened.
    pub fn of_folder(folder: &Path) -> Result<Option<OutputLock>> {
        let file = File::open(folder).map_err(|error| cannot_write(folder, &error))?;
        let taken = take(&file, &format!("into {}", folder.display()))?;
        draft::remove_left(folder);
        Ok(taken.then(|| OutputLock { _handle: file, path: None, owner: std::process::id() }))
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // A forked child has a copy, which is not its own.
        if let Some(path) = self.path.as_ref().filter(|_| self.owner == std::process::id()) {
            let _ = fs::remove_file(path);
            held(|all| all.retain(|other| other != path));
        }
    }
}

/// Removes the files of all locks of this process, which is about to end.
pub fn release_all() {
    held(|all| all.drain(..).for_each(|path| drop(fs::remove_file(path))));
}

fn held(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut HELD.lock().unwrap_or_else(PoisonError::into_inner));
}

fn beside(output: &Path) -> PathBuf {
    // A link stays one; the file that it leads to is written. Paths stay the same when the working directory changes.
    let target = output.canonicalize().unwrap_or_else(|_| {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (folder.canonicalize(), output.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => output.to_owned(),
        }
    });
    let mut path = OsString::from(target);
    path.push(".lock");
    path.into()
}

/// Locks a file; `false` if there are no locks.
fn take(file: &File, what: &str) -> Result<bool> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if started.elapsed() < WAIT && has_dead_owner(file) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let who = owner(file).map(|process| format!(" (process {process})")).unwrap_or_default();
                return Err(Error::caller(format!("another kassay{who} is writing {what}"))
                    .help("wait until it is done, or write elsewhere with -o"));
            }
            Err(TryLockError::Error(_)) => return Ok(false),
        }
    }
}

/// Returns whether the process that locked a file is gone, so that its last children hold the lock, which end with it.
pub fn has_dead_owner(file: &File) -> bool {
    owner(file).is_some_and(|process| !draft::is_running(process))
}

/// Returns the process that locked a file, as far as the system tells (proc_locks(5)).
fn owner(file: &File) -> Option<u32> {
    let about = file.metadata().ok()?;
    let (device, inode) = (about.dev(), about.ino());
    let wanted = format!("{:02x}:{:02x}:{inode}", libc::major(device), libc::minor(device));
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let at = words.iter().position(|word| *word == "FLOCK")?;
        (words.get(at + 4) == Some(&wanted.as_str())).then(|| words.get(at + 3)?.parse().ok())?
    })
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    let what = format!("cannot write {}: {error}", path.display());
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::caller(what).help("name a file in an existing folder"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Error::environment(what).help("free some space, or write to another file system with -o")
        }
        _ => Error::environment(what).help("make its folder writable, or write elsewhere with -o"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_and_one_that_was_left_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("r.json");
        let lock = OutputLock::of_file(&output).unwrap();
        let started = Instant::now();
        let error = OutputLock::of_file(&folder.path().join(".").join("r.json")).unwrap_err();
        assert!(matches!(error, Error::Caller(_)) && error.to_string().contains("is writing"), "{error}");
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        assert!(started.elapsed() < WAIT / 2, "the owner lives: there is nothing to wait for");
        assert!(OutputLock::of_file(&folder.path().join("other.json")).is_ok());
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(folder.path().join("r.json.lock"), "").unwrap();
        drop(OutputLock::of_file(&output).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_are_locked_and_streams_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let lock = OutputLock::of_folder(folder.path()).unwrap();
        let error = OutputLock::of_folder(folder.path()).unwrap_err();
        assert!(error.to_string().contains("is writing into"), "{error}");
        drop(lock);
        assert!(OutputLock::of_folder(folder.path()).unwrap().is_some());
        assert!(OutputLock::of_file(Path::new("/dev/null")).unwrap().is_none());
    }
}
