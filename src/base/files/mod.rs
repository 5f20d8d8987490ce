//! Files on disk, whatever is in them: reads those that people name, keeps suites that are not trusted to their
//! folders, keeps two processes from writing one result, and makes folders that vanish. Also files in memory, and
//! descriptors on their way to other processes.

mod descriptors;
mod draft;
mod lock;
pub mod paths;
pub mod pieces;
pub mod private;
mod sandbox;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

pub use descriptors::{memory_file, receive, send};
pub use draft::{draft_folder_in, draft_in, remove_left};
pub use lock::{OutputLock, has_dead_owner, release_all};
pub use sandbox::{Sandbox, escape_help, is_escape};

/// Opens a file for reading; of a sandbox, if there is one.
///
/// # Errors
/// Errors of the file system; `InvalidInput` if it is a folder, a pipe or a device: some of these never end, others
/// never begin; an [escape](is_escape) if it lies outside of the sandbox.
pub fn open(path: &Path, sandbox: Option<&Sandbox>) -> io::Result<File> {
    if let Some(sandbox) = sandbox {
        // Before it is opened, so that nothing is revealed of what there is outside.
        sandbox.check(path)?;
    }
    // The flag makes pipes without a writer open at once. It means nothing for files.
    let file = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("it is {}, not a file", kind_name(kind))));
    }
    if let Some(sandbox) = sandbox {
        sandbox.check_open(&file)?;
    }
    Ok(file)
}

/// Reads a file as [`open`] opens it.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, sandbox: Option<&Sandbox>) -> io::Result<Vec<u8>> {
    read_open(open(path, sandbox)?)
}

fn read_open(mut file: File) -> io::Result<Vec<u8>> {
    let size = file.metadata().map_or(0, |about| usize::try_from(about.len()).unwrap_or(0));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| io::Error::from(ErrorKind::OutOfMemory))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of text as [`open`] opens it.
///
/// # Errors
/// As [`open`]; `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, sandbox: Option<&Sandbox>) -> io::Result<String> {
    text(read(path, sandbox)?)
}

/// Reads a file of text as [`open`] opens it, if it has at most `most` bytes.
///
/// # Errors
/// As [`read_text`]; `FileTooLarge` if it has more bytes.
pub fn read_short_text(path: &Path, most: u64, sandbox: Option<&Sandbox>) -> io::Result<String> {
    let file = open(path, sandbox)?;
    let bytes = file.metadata()?.len();
    if bytes > most {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("it has {} MB, and no more than {} MB are read", bytes / 1_000_000, most / 1_000_000),
        ));
    }
    text(read_open(file)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads the text of a file or of a pipe, such as `/dev/stdin`, but not of devices, which need not end.
///
/// # Errors
/// As [`read_text`].
pub fn read_text_or_pipe(path: &Path) -> io::Result<String> {
    match fs::metadata(path) {
        Ok(about) if about.file_type().is_fifo() => fs::read_to_string(path),
        _ => read_text(path, None),
    }
}

fn kind_name(kind: fs::FileType) -> &'static str {
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_or_begin_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, what) in [(Path::new("/dev/zero"), "a device"), (&pipe, "a pipe"), (folder.path(), "a folder")] {
            let error = read(path, None).unwrap_err();
            assert!(error.to_string().contains(what), "{}: {error}", path.display());
        }
        let file = folder.path().join("file");
        fs::write(&file, b"\xff").unwrap();
        assert_eq!(read(&file, None).unwrap(), b"\xff");
        assert!(read_text(&file, None).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn a_text_that_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_short_text(&path, 4, None).unwrap(), "four");
        assert_eq!(read_short_text(&path, 3, None).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
