//! Provides bodies of builtins: from LLVM's libclc for NVPTX, whose functions are target-independent IR, and from
//! libraries that are embedded.

pub(super) mod adapters;
pub(super) mod assembled;
pub(super) mod library;
pub(super) mod mangling;
pub(super) mod unknown;

use std::path::{Path, PathBuf};

use kassay_base::cache;
use kassay_base::error::{Error, Result};

/// The environment variable with the path of libclc's bitcode, if it is not in a distribution's location.
const LIBCLC_VARIABLE: &str = "KASSAY_LIBCLC";
const LIBCLC_PATHS: [&str; 3] =
    ["/usr/lib/clc/nvptx64--.bc", "/usr/share/clc/nvptx64--.bc", "/usr/local/share/clc/nvptx64--.bc"];

/// Builds the error for a libclc that is missing or unusable.
pub(super) fn missing(what: String) -> Error {
    Error::environment(what).help(format!(
        "install Debian's package libclc-22, or name its file nvptx64--.bc in the variable {LIBCLC_VARIABLE}"
    ))
}

/// Returns the path of libclc's bitcode for NVPTX.
pub(super) fn path() -> Result<PathBuf> {
    let path = match std::env::var_os(LIBCLC_VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => LIBCLC_PATHS
            .map(PathBuf::from)
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| missing("LLVM's libclc is needed, and was not found".into()))?,
    };
    let is_bitcode = |path: &Path| {
        use std::io::Read;
        let mut head = [0; 4];
        std::fs::File::open(path)?.read_exact(&mut head)?;
        std::io::Result::Ok(&head == b"BC\xc0\xde")
    };
    match is_bitcode(&path) {
        Ok(true) => Ok(path),
        Ok(false) => Err(missing(format!("{} is no LLVM bitcode", path.display()))),
        Err(e) => Err(missing(format!("{} cannot be read: {e}", path.display()))),
    }
}

/// Identifies the installed libclc for cache keys.
pub(super) fn stamp() -> Vec<u8> {
    let Ok(path) = path() else { return Vec::new() };
    let mut stamp = path.as_os_str().as_encoded_bytes().to_vec();
    stamp.extend(cache::stamp(&path));
    stamp
}
