//! The layer's library, which `build.rs` builds from `layer/` and which is part of this program, so that installing
//! kassay installs one thing.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use rustix::fs::StatVfsMountFlags;
use rustix::io::Errno;

/// The shared library.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libkassay_layer.so"));

/// Writes the library into `folder`, which must be private. Returns its path.
///
/// # Errors
/// `Environment` if it cannot be written.
pub fn write(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("libkassay_layer.so");
    let file = OpenOptions::new().write(true).create_new(true).mode(0o500).open(&path);
    file.and_then(|mut file| file.write_all(LIBRARY)).map_err(|error| {
        Error::environment(format!("cannot write {}: {error}", path.display()))
            .help("free some space, or name a folder on another file system")
    })?;
    Ok(path)
}

/// Returns whether libraries in a folder can be loaded: not on file systems that are mounted with `noexec`.
pub fn can_be_loaded_from(folder: &Path) -> bool {
    match rustix::fs::statvfs(folder) {
        Ok(about) => !about.f_flag.contains(StatVfsMountFlags::NOEXEC),
        // No name of a folder.
        Err(Errno::INVAL) => false,
        // If the file system does not tell, loading is tried.
        Err(_) => true,
    }
}
