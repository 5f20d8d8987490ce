//! The layer's library, which `build.rs` builds from `layer/` and which is part of this program, so that installing
//! kassay installs one thing.

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};

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
    let Ok(name) = CString::new(folder.as_os_str().as_bytes()) else { return false };
    // SAFETY: the structure is plain data that the call fills in; the name is a C string.
    let flags = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(name.as_ptr(), &raw mut about) == 0).then_some(about.f_flag)
    };
    // If the file system does not tell, loading is tried.
    flags.is_none_or(|flags| flags & libc::ST_NOEXEC == 0)
}
