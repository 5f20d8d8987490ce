//! What kassay asks for: `config.json` in the folder that `KASSAY_SPOOL` names.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

/// The settings. What `config.json` leaves out has the value of [`Config::default`]; keys that are unknown are ignored.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default)]
pub struct Config {
    /// The spool; not from the file.
    #[serde(skip)]
    pub spool: Option<PathBuf>,
    /// Why the file could not be read; not from the file.
    #[serde(skip)]
    pub error: Option<String>,
    /// Where kassay answers requests for woven code (`KASSAY_SOCKET`); not from the file.
    #[serde(skip)]
    pub socket: Option<PathBuf>,
    /// The mutant to ask for (`KASSAY_MUTANT`); not from the file.
    #[serde(skip)]
    pub mutant: Option<String>,
    /// The drivers that the proxy opens.
    pub drivers: Vec<PathBuf>,
    /// Whether these are kassay's own because neither the user nor the system names any.
    pub stand_in: bool,
    /// Requests for a GPU get the CPU device where there is no GPU; it then calls itself one.
    pub as_gpu: bool,
    /// Launches kept of a kernel and process.
    pub max_launches: u64,
    /// Shapes of which the first launch is kept.
    pub max_shapes: u64,
    /// Bytes of contents in the spool, of all processes together.
    pub max_bytes: u64,
    /// Bytes of contents of one launch.
    pub max_launch_bytes: Option<u64>,
    /// Globs of which one must match a kernel's name; none: all kernels.
    pub kernels: Vec<String>,
    /// All launches are candidates, `max_launches` and `max_shapes` do not count.
    pub all: bool,
    /// Launches that cover what no earlier launch of their kernel has covered are kept, too, as far as replacements
    /// tell.
    pub sample_by_coverage: bool,
    /// Whether contents are also read after a launch. Without, a launch is written before the driver sees it.
    pub after: bool,
    /// How long kassay may take for an answer, in milliseconds.
    pub weave_timeout_ms: u64,
    /// Whether probe buffers are read through the driver, also where the device works in their files.
    pub read_probes: bool,
    /// Which launches of a woven kernel are compared with the program's own.
    pub verify: Verify,
}

static CONFIG: LazyLock<Config> = LazyLock::new(Config::read);

/// What kassay asks for.
pub fn config() -> &'static Config {
    &CONFIG
}

/// The spool, if there is one.
pub fn folder() -> Option<&'static Path> {
    config().spool.as_deref()
}

/// Which launches of a woven kernel are compared with the program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// The first, and some later ones.
    First,
    All,
    None,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            spool: None,
            error: None,
            socket: None,
            mutant: None,
            drivers: Vec::new(),
            stand_in: false,
            as_gpu: false,
            max_launches: 8,
            max_shapes: 16,
            max_bytes: 1 << 30,
            max_launch_bytes: None,
            kernels: Vec::new(),
            all: false,
            sample_by_coverage: false,
            after: true,
            weave_timeout_ms: 120_000,
            read_probes: false,
            verify: Verify::First,
        }
    }
}

impl Config {
    /// Reads what the environment names. Without a spool, or if it cannot be read, nothing is captured.
    fn read() -> Config {
        let spool = std::env::var_os("KASSAY_SPOOL").filter(|name| !name.is_empty()).map(PathBuf::from);
        // The program may change its working directory.
        let spool = spool.and_then(|spool| std::path::absolute(spool).ok());
        let mut config = spool.as_deref().map_or_else(Config::default, Config::of_spool);
        config.spool = spool;
        let socket = std::env::var_os("KASSAY_SOCKET").filter(|name| !name.is_empty());
        config.socket = socket.and_then(|socket| std::path::absolute(socket).ok());
        config.mutant = std::env::var_os("KASSAY_MUTANT").map(|mutant| mutant.to_string_lossy().into_owned());
        if let Some(drivers) = std::env::var_os("KASSAY_DRIVERS").filter(|drivers| !drivers.is_empty()) {
            config.drivers = std::env::split_paths(&drivers).filter(|path| !path.as_os_str().is_empty()).collect();
        }
        if config.drivers.is_empty() {
            config.drivers = system_drivers(Path::new("/etc/OpenCL/vendors"));
        }
        config
    }

    fn of_spool(spool: &Path) -> Config {
        let path = spool.join("config.json");
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
            Ok(config) => config,
            Err(error) => {
                let error = Some(format!("{}: {error}", path.display()));
                Config { error, max_launches: 0, ..Config::default() }
            }
        }
    }

    /// Whether launches of a kernel with this name are to be kept.
    pub fn selects(&self, kernel: &str) -> bool {
        self.kernels.is_empty() || self.kernels.iter().any(|glob| matches(glob, kernel))
    }
}

/// Whether a name matches a shell pattern (`fnmatch(3)`).
fn matches(glob: &str, name: &str) -> bool {
    match (CString::new(glob), CString::new(name)) {
        // SAFETY: both are strings.
        (Ok(glob), Ok(name)) => unsafe { libc::fnmatch(glob.as_ptr(), name.as_ptr(), 0) == 0 },
        _ => false,
    }
}

/// The drivers that a loader would find in a folder of `.icd` files, each of which holds a path.
fn system_drivers(vendors: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(vendors)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|path| path.extension() == Some(OsStr::new("icd")));
    files.sort();
    let driver = |path: &PathBuf| {
        let text = std::fs::read(path).ok()?;
        let line = text.split(|byte| *byte == b'\n').next()?.trim_ascii();
        (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
    };
    files.iter().filter_map(driver).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_leaves_out_has_its_default() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("config.json"),
            r#"{"mode": "capture", "as_gpu": true, "kernels": ["a*", "b?"]}"#,
        )
        .unwrap();
        let config = Config::of_spool(folder.path());
        assert_eq!(config, Config { as_gpu: true, kernels: vec!["a*".into(), "b?".into()], ..Config::default() });
        assert!(config.selects("axpy") && config.selects("b1") && !config.selects("b12") && !config.selects("c"));
        assert!(Config::default().selects("anything"));
    }

    #[test]
    fn nothing_is_captured_without_a_readable_file() {
        let folder = tempfile::tempdir().unwrap();
        for text in [None, Some("{"), Some(r#"{"max_launches": "many"}"#)] {
            if let Some(text) = text {
                std::fs::write(folder.path().join("config.json"), text).unwrap();
            }
            let config = Config::of_spool(folder.path());
            assert_eq!(config.max_launches, 0);
            assert!(config.error.unwrap().contains("config.json"));
        }
    }

    #[test]
    fn drivers_are_found_as_a_loader_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("b.icd"), "/lib/b.so\n").unwrap();
        std::fs::write(folder.path().join("a.icd"), "  liba.so \nrest").unwrap();
        std::fs::write(folder.path().join("c.icd"), "\n").unwrap();
        std::fs::write(folder.path().join("d.txt"), "/lib/d.so").unwrap();
        assert_eq!(system_drivers(folder.path()), [PathBuf::from("liba.so"), PathBuf::from("/lib/b.so")]);
        assert!(system_drivers(&folder.path().join("none")).is_empty());
    }
}
