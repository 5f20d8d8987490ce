//! Private folders of kassay, which vanish with it; and those that one that was killed has left.
//!
//! A folder is in use as long as its kassay holds the lock of a file in it, or a program runs in it or whose
//! environment names it: a program goes on when kassay is killed, and what it starts later finds its drivers through
//! the folder.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::TempDir;

/// How the names of private folders begin.
pub const PREFIXES: [&str; 4] = [SPOOL, LIBRARY, SOCKET, TEMPORARY];
/// Of spools, also inside of the folder of a capture.
pub const SPOOL: &str = ".spool-";
/// Of folders that hold the layer's library where a spool cannot.
pub const LIBRARY: &str = "kassay-layer-";
/// Of folders that hold a socket where a spool cannot.
pub const SOCKET: &str = "kassay-socket-";
/// Of folders with temporary files.
pub const TEMPORARY: &str = "kassay-tmp-";

/// The file whose lock says that kassay is there.
const OWNER: &str = "owner";

/// A folder that only its owner can use (mode 0700). It vanishes when dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    folder: TempDir,
    /// The lock is let go with the file, also if kassay is killed. Programs do not inherit it.
    _owner: Option<File>,
}

impl PrivateFolder {
    /// Makes a folder.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<PrivateFolder> {
        // The default is what the umask leaves.
        let mode = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(prefix).permissions(mode).tempdir_in(parent)?;
        // Under its name the file is locked from the first moment on. Where there are no locks it is missing, and
        // no other process takes the folder for one that was left.
        let draft = folder.path().join(".owner");
        let owner = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        let owner = owner.try_lock().is_ok().then_some(owner);
        match owner {
            Some(_) => fs::rename(&draft, folder.path().join(OWNER))?,
            None => fs::remove_file(&draft)?,
        }
        Ok(PrivateFolder { folder, _owner: owner })
    }

    /// Makes a folder for temporary files.
    ///
    /// # Errors
    /// Errors of the file system, with the name of the folder for temporary files.
    pub fn temporary() -> io::Result<PrivateFolder> {
        let parent = std::env::temp_dir();
        PrivateFolder::new(&parent, TEMPORARY).map_err(|error| in_temporary(&error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns a file for temporary data that has no name.
///
/// # Errors
/// Errors of the file system, with the name of the folder for temporary files.
pub fn temporary_file() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| in_temporary(&error))
}

/// An error with what helps against it.
fn in_temporary(error: &io::Error) -> io::Error {
    let folder = std::env::temp_dir();
    let what = format!("{error}; temporary files are made in {}, or where TMPDIR says", folder.display());
    io::Error::new(error.kind(), what)
}

/// Removes the private folders in `parent` that kassays of this user have left and that no program uses any more. What
/// cannot be removed stays.
pub fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes())) {
            remove_if_abandoned(&entry.path());
        }
    }
}

fn remove_if_abandoned(folder: &Path) {
    // Until the folder is gone the lock keeps others from removing it, too.
    if let Some(_owner) = left_behind(folder)
        && !is_named_by_a_process(folder)
    {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Returns whether a kassay or a program uses a private folder.
pub fn is_in_use(folder: &Path) -> bool {
    let owner = File::open(folder.join(OWNER));
    let is_owned = owner.is_ok_and(|owner| matches!(owner.try_lock_shared(), Err(TryLockError::WouldBlock)));
    is_owned || is_named_by_a_process(folder)
}

/// Locks the file of a folder of this user's whose kassay is gone; `None` if it is there, or the folder is something
/// else.
fn left_behind(folder: &Path) -> Option<File> {
    let user = rustix::process::geteuid().as_raw();
    let about = fs::symlink_metadata(folder).ok()?;
    if !about.is_dir() || about.uid() != user || about.mode() & 0o077 != 0 {
        return None;
    }
    let owner =
        fs::OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(folder.join(OWNER));
    let owner = owner.ok()?;
    let is_ours = owner.metadata().is_ok_and(|about| about.is_file() && about.uid() == user && about.len() == 0);
    (is_ours && owner.try_lock().is_ok()).then_some(owner)
}

/// Whether the environment that a process was started with names a path, or it runs there.
fn is_named_by_a_process(path: &Path) -> bool {
    let wanted = path.as_os_str().as_bytes();
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        // Those of others cannot be read, and are not ours.
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        environment.windows(wanted.len().max(1)).any(|part| part == wanted)
            || fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder.starts_with(path))
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What a killed kassay leaves: a folder with a file that is not locked.
    fn left(parent: &Path, prefix: &str) -> std::path::PathBuf {
        let folder = PrivateFolder::new(parent, prefix).unwrap();
        fs::write(folder.path().join("config.json"), "{}").unwrap();
        folder.folder.keep()
    }

    #[test]
    fn what_killed_ones_have_left_goes_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let gone = PREFIXES.map(|prefix| left(parent, prefix));
        let alive = PrivateFolder::new(parent, SPOOL).unwrap();
        let other = left(parent, "other-");
        let unlocked = parent.join(".spool-without");
        fs::create_dir(&unlocked).unwrap();
        let elsewhere = left(parent, "target-");
        std::os::unix::fs::symlink(&elsewhere, parent.join(".spool-link")).unwrap();
        let open = left(parent, SPOOL);
        fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
        let foreign = left(parent, SPOOL);
        fs::write(foreign.join(OWNER), "of something else").unwrap();
        let used = left(parent, SPOOL);
        assert_eq!(fs::metadata(alive.path()).unwrap().mode() & 0o777, 0o700);
        let mut program = Command::new("sleep").arg("60").env("KASSAY_SPOOL", used.join("x")).spawn().unwrap();

        // The system tells of a new process's environment a moment after `spawn` returns.
        let started = std::time::Instant::now();
        while !is_in_use(&used) && started.elapsed() < std::time::Duration::from_secs(30) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(is_in_use(&used), "a process names it");
        assert!(is_in_use(alive.path()) && !is_in_use(&gone[0]) && !is_in_use(&unlocked));
        remove_abandoned(parent);
        assert!(gone.iter().all(|folder| !folder.exists()), "{gone:?}");
        for folder in [alive.path(), &other, &unlocked, &elsewhere.join("config.json"), &open, &foreign, &used] {
            assert!(folder.exists(), "{}", folder.display());
        }
        program.kill().unwrap();
        program.wait().unwrap();
        remove_abandoned(parent);
        assert!(!used.exists() && alive.path().join(OWNER).exists());
    }
}
