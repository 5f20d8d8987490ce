//! Files that become others by rename once they are whole, and those that killed processes have left.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::{NamedTempFile, TempDir};

const PREFIX: &str = ".kassay-";
const SUFFIX: &str = ".tmp";

/// Makes a file in the folder of the one that it is to become. It vanishes when dropped.
///
/// # Errors
/// Errors of the file system.
pub fn draft_in(folder: &Path) -> io::Result<NamedTempFile> {
    let file = tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .suffix(SUFFIX)
        // The umask applies, as for any new file; the default mode (0600) would hide results from other users.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    // Says that it is in use; where there are no locks, the number of the process does.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Makes a folder for files that are to be moved into the one that it lies in. It vanishes when dropped.
///
/// # Errors
/// Errors of the file system.
pub fn draft_folder_in(folder: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", std::process::id())).suffix(SUFFIX).tempdir_in(folder)
}

/// Removes the drafts in a folder whose processes are gone. What cannot be removed stays.
pub fn remove_left(folder: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(process_of) else { continue };
        let Ok(about) = fs::symlink_metadata(entry.path()) else { continue };
        if about.uid() != user || is_running(process) {
            continue;
        }
        // Folders are made only where the folder itself is locked.
        let _ = match () {
            () if about.is_dir() => fs::remove_dir_all(entry.path()),
            () if about.is_file() && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) => {
                fs::remove_file(entry.path())
            }
            () => Ok(()),
        };
    }
}

fn process_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.split_once('-')?.0.parse().ok()
}

/// Returns whether a process has not ended. One that has stays in the table of processes until its parent, or the
/// process that takes the parent's place, asks for it.
pub fn is_running(process: u32) -> bool {
    // The state follows the name in brackets, which may have any letters (proc(5)).
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_none_or(|(_, rest)| !matches!(rest.trim_start().as_bytes(), [b'Z' | b'X', ..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_has_asked_for_has_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let started = std::time::Instant::now();
        while is_running(child.id()) {
            assert!(started.elapsed().as_secs() < 60);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(Path::new("/proc").join(child.id().to_string()).exists());
        child.wait().unwrap();
        assert!(is_running(std::process::id()) && !is_running(4_999_999));
    }

    #[test]
    fn drafts_of_the_dead_go_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Larger than any process's number (4194304 at most, proc(5)).
        let (left, locked) = (at(".kassay-4999999-abc.tmp"), at(".kassay-4999998-abc.tmp"));
        for file in [&left, &locked, &at(".kassay-x-abc.tmp"), &at("r.json")] {
            fs::write(file, "{").unwrap();
        }
        let holder = File::open(&locked).unwrap();
        holder.try_lock().unwrap();
        let (own, gone) = (draft_in(folder.path()).unwrap(), at(".kassay-4999997-abc.tmp"));
        fs::create_dir(&gone).unwrap();
        fs::write(gone.join("x.npy"), "").unwrap();
        let made = draft_folder_in(folder.path()).unwrap();
        remove_left(folder.path());
        assert!(!left.exists() && !gone.exists() && made.path().exists());
        assert!([&locked, &at(".kassay-x-abc.tmp"), &at("r.json"), &own.path().to_owned()].iter().all(|f| f.exists()));
    }
}
