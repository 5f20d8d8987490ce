//! Finds OpenCL drivers: the ICD files that kassay's set-up and the system have installed.
//!
//! OpenCL's loader reads one folder of `.icd` files (`OCL_ICD_VENDORS`). kassay's set-up installs a runtime into a
//! folder of its own, without root, and conda's loader reads the folder of the active environment, so several folders
//! have to appear as one. If the user sets `OCL_ICD_VENDORS` (or
//! `OPENCL_VENDOR_PATH`, `OCL_ICD_FILENAMES`), only that setting counts.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsString, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::external_tools::{self, Origin};
use kassay_base::files::private::PrivateFolder;
use kassay_base::forked::{self, Failure, Job, Limit};

/// How long a driver may take to be loaded. Compilers take a tenth of a second from a slow disk.
const LONGEST_LOAD: Duration = Duration::from_secs(60);

/// Where ICD files are below `/`, and below the prefix of a conda environment.
const VENDORS: &str = "etc/OpenCL/vendors";

/// Variables by which a user directs the loader.
const USER_VARIABLES: [&str; 3] = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"];

/// One installable client driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Icd {
    /// The `.icd` file, or the library that the user's variable names.
    pub file: PathBuf,
    /// The library that the file names; empty if the file cannot be read.
    pub library: String,
    /// Where it was found.
    pub origin: Origin,
}

/// The drivers that can be loaded, and where they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vendors {
    /// The drivers: those of kassay's set-up before those of an active conda environment and of the system, each
    /// ordered by file name, or the user's as named.
    pub icds: Vec<Icd>,
    /// The folders that were searched; empty if the user's variables decide.
    pub folders: Vec<PathBuf>,
    /// The user's variable that decides, with its value.
    pub user: Option<(String, String)>,
}

/// The folders that loaders read of themselves: that of the active conda environment, if it has one, and the system's.
fn system_folders(conda: Option<OsString>) -> Vec<PathBuf> {
    let of_conda = conda.filter(|prefix| !prefix.is_empty()).map(|prefix| Path::new(&prefix).join(VENDORS));
    let of_conda = of_conda.filter(|folder| folder.is_dir());
    of_conda.into_iter().chain([Path::new("/").join(VENDORS)]).collect()
}

/// kassay's own folder of ICD files: `$XDG_DATA_HOME/kassay/opencl/vendors`, by default under `$HOME/.local/share`.
pub fn kassay_folder() -> Option<PathBuf> {
    Some(external_tools::data_folder()?.join("opencl/vendors"))
}

impl Vendors {
    /// Finds the installed drivers; loads nothing.
    pub fn discover() -> Vendors {
        for name in USER_VARIABLES {
            let Some(value) = std::env::var_os(name).filter(|v| !v.is_empty()) else { continue };
            let value = value.to_string_lossy().into_owned();
            let icds = if Path::new(&value).is_dir() {
                icds_in(Path::new(&value), Origin::User)
            } else {
                // Files or libraries; the system searches for a library without a folder.
                let there = |v: &&str| !v.is_empty() && (!v.contains('/') || Path::new(v).exists());
                value.split(':').filter(there).map(|v| icd(Path::new(v), Origin::User)).collect()
            };
            return Vendors { icds, folders: Vec::new(), user: Some((name.to_owned(), value)) };
        }
        let mut folders = Vec::new();
        let mut icds = Vec::new();
        if let Some(folder) = kassay_folder() {
            icds.extend(icds_in(&folder, Origin::Kassay));
            folders.push(folder);
        }
        for folder in system_folders(std::env::var_os("CONDA_PREFIX")) {
            icds.extend(icds_in(&folder, Origin::System));
            folders.push(folder);
        }
        // An environment may hold links to the system's files.
        let mut known = HashSet::new();
        icds.retain(|icd| known.insert((icd.origin == Origin::Kassay, icd.library.clone())));
        Vendors { icds, folders, user: None }
    }

    /// The one folder that `OCL_ICD_VENDORS` must name so that the loader sees all drivers; `None`: leave the
    /// environment as it is. The folder may be temporary: keep the guard until the loader has listed its platforms.
    ///
    /// # Errors
    /// `Environment` if a temporary folder is needed and cannot be created.
    pub fn loader_folder(&self) -> Result<(Option<PathBuf>, Option<PrivateFolder>)> {
        if self.user.is_some() {
            return Ok((None, None));
        }
        let of = |origin| self.icds.iter().filter(move |icd| icd.origin == origin);
        // What every loader reads of itself.
        if self.icds.iter().all(|icd| icd.file.starts_with(Path::new("/").join(VENDORS))) {
            return Ok((None, None));
        }
        if of(Origin::System).next().is_none() {
            return Ok((kassay_folder(), None));
        }
        let folder = folder_of(&self.icds)?;
        Ok((Some(folder.path().to_owned()), Some(folder)))
    }
}

/// Creates a temporary folder from which the loader reads exactly these drivers.
///
/// # Errors
/// `Environment` if it cannot be created.
pub fn folder_of(icds: &[Icd]) -> Result<PrivateFolder> {
    let broken = |e: std::io::Error| {
        Error::environment(format!("cannot make a temporary folder for OpenCL's vendor files: {e}"))
            .help("free some space in the temporary folder, or set TMPDIR")
    };
    let folder = PrivateFolder::temporary().map_err(broken)?;
    for (n, icd) in icds.iter().enumerate() {
        let name = icd.file.file_name().unwrap_or_default().to_string_lossy();
        let file = std::path::absolute(&icd.file).map_err(broken)?;
        std::os::unix::fs::symlink(file, folder.path().join(format!("{n:02}-{name}"))).map_err(broken)?;
    }
    Ok(folder)
}

/// Loads a library, with the libraries that it names in front of whatever this process has, and returns its handle,
/// which stays valid.
///
/// # Errors
/// What the system says.
pub fn open_library(name: &str) -> std::result::Result<*mut c_void, String> {
    let name = CString::new(name).ok().filter(|name| !name.is_empty()).ok_or("it names no library")?;
    // SAFETY: the name ends with a zero. What the library does as it is loaded is what a driver does in any program.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_DEEPBIND) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: the text, if there is one, ends with a zero and is there until this thread calls such a function again.
    let why = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text).to_string_lossy().into_owned()) };
    Err(why.unwrap_or_else(|| "the system does not say why".to_owned()))
}

/// Why a driver's library cannot be loaded; `None` if it can. A child tries it.
pub fn why_not(icd: &Icd) -> Option<String> {
    fn load(library: String, _: &[u8]) -> std::result::Result<Vec<u8>, String> {
        open_library(&library).map(|_| Vec::new())
    }
    match forked::run(Limit::of(LONGEST_LOAD), Job::new(load, &icd.library, &[])) {
        Ok(done) => done.err(),
        Err(Failure::Crashed { how, .. }) => Some(format!("it {how} as it is loaded")),
        Err(Failure::TimedOut(limit)) => Some(format!("it is not loaded after {} s", limit.as_secs())),
        Err(Failure::Late | Failure::System(_)) => None,
    }
}

fn icds_in(folder: &Path, origin: Origin) -> Vec<Icd> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "icd")).collect();
    files.sort();
    files.iter().map(|file| icd(file, origin)).collect()
}

fn icd(file: &Path, origin: Origin) -> Icd {
    let library = if file.extension().is_some_and(|e| e == "icd") {
        fs::read_to_string(file).map(|t| t.lines().next().unwrap_or_default().trim().to_owned()).unwrap_or_default()
    } else {
        file.to_string_lossy().into_owned()
    };
    Icd { file: file.to_owned(), library, origin }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_active_conda_environment_has_drivers_too() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let prefix = tempfile::tempdir()?;
        let of = |prefix: &Path| system_folders(Some(prefix.as_os_str().to_owned()));
        let system = PathBuf::from("/etc/OpenCL/vendors");
        assert_eq!(of(prefix.path()), std::slice::from_ref(&system));
        let folder = prefix.path().join(VENDORS);
        fs::create_dir_all(&folder)?;
        assert_eq!(of(prefix.path()), [folder, system.clone()]);
        assert_eq!(system_folders(None), [system]);
        Ok(())
    }

    #[test]
    fn two_folders_appear_as_one() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let mut icds = Vec::new();
        for (folder, origin) in [("a", Origin::Kassay), ("b", Origin::System)] {
            let folder = root.path().join(folder);
            fs::create_dir(&folder)?;
            fs::write(folder.join("same.icd"), format!("lib{}.so\n", origin.name()))?;
            fs::write(folder.join("notes.txt"), "no driver")?;
            icds.extend(icds_in(&folder, origin));
        }
        assert_eq!(icds.iter().map(|i| i.library.as_str()).collect::<Vec<_>>(), ["libkassay.so", "libsystem.so"]);
        let (folder, guard) = Vendors { icds, folders: Vec::new(), user: None }.loader_folder()?;
        let merged = icds_in(&folder.ok_or("no folder")?, Origin::User);
        assert_eq!(merged.len(), 2);
        assert!(guard.is_some());
        Ok(())
    }
}
