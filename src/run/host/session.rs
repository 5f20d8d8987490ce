//! A run of a program with the layer in it: the private folder that they share, and the environment that brings the
//! layer in.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::external_tools::Origin;
use kassay_base::files::private::{self, PrivateFolder};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::command::{self, Ended};
use super::library;
use super::server::{Answers, Server};
use super::trial::{self, Trial, Tried};
use crate::exec::discover::{Icd, Vendors};

/// What the layer is asked to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureSettings {
    /// Whether contents after launches are kept, too. Without, a launch is there before the driver gets it.
    pub after: bool,
    /// Whether requests for a GPU get the CPU device.
    pub as_gpu: bool,
    /// Launches kept of a kernel in each process.
    pub max_launches: u64,
    /// Bytes of contents kept of all launches together.
    pub max_bytes: u64,
    /// Shell patterns of which one must match a kernel's name; none: all kernels.
    pub kernels: Vec<String>,
    /// Whether all launches are kept, as far as `max_bytes` goes.
    pub all: bool,
    /// Whether launches that cover what no earlier one of their kernel has covered are kept, too. The layer needs
    /// answers ([`Session::answer`]) for that.
    pub sample_by_coverage: bool,
    /// Which launches of a woven kernel are compared with the program's own.
    pub verify: Verify,
}

/// Which launches of a woven kernel are compared with the program's own kernel before the one takes the place of the
/// other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verify {
    /// The first, and the 2nd, 4th, 8th …, up to eight of each kernel.
    #[default]
    First,
    /// All; what cannot be compared runs as it is.
    All,
    /// None.
    None,
}

impl CaptureSettings {
    /// Settings with which nothing is kept: launches are only counted.
    pub fn nothing(as_gpu: bool) -> CaptureSettings {
        CaptureSettings {
            after: true,
            as_gpu,
            max_launches: 0,
            max_bytes: 0,
            kernels: Vec::new(),
            all: false,
            sample_by_coverage: false,
            verify: Verify::default(),
        }
    }
}

/// `config.json`, as `layer/README.md` describes it.
#[derive(Serialize)]
struct Config<'a> {
    mode: &'static str,
    drivers: &'a [String],
    stand_in: bool,
    #[serde(flatten)]
    settings: &'a CaptureSettings,
}

/// Variables by which a user names drivers; the layer opens these drivers instead of the loader.
const DRIVER_VARIABLES: [&str; 3] = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"];

/// A folder for a program and the layer in it. It vanishes when dropped.
#[derive(Debug)]
pub struct Session {
    /// Ends before its folder vanishes.
    server: Option<Server>,
    spool: PrivateFolder,
    /// Holds the library where the spool's file system does not let libraries be loaded.
    _elsewhere: Option<PrivateFolder>,
    environment: BTreeMap<&'static str, OsString>,
    drivers: Vec<String>,
}

/// Variables of the layer that a program under another kassay may have.
const OWN_VARIABLES: [&str; 2] = [SOCKET, MUTANT];

/// Where the layer asks for woven kernels.
const SOCKET: &str = "KASSAY_SOCKET";

/// Runs a program as it runs without kassay, until it ends.
///
/// # Errors
/// As [`Session::run`].
pub fn run_natively(command: &[OsString]) -> Result<Ended> {
    command::run(command, |_| {})
}

impl Session {
    /// Makes the folder inside of `parent`, which must exist.
    ///
    /// # Errors
    /// `Environment` if it cannot be made, or no file system lets the library be loaded.
    pub fn new(parent: &Path, settings: &CaptureSettings) -> Result<Session> {
        let broken = |error: std::io::Error| {
            Error::environment(format!("cannot make a folder in {}: {error}", parent.display()))
                .help("name a folder in which files can be made")
        };
        let parent = std::path::absolute(parent).map_err(broken)?;
        let spool = PrivateFolder::new(&parent, private::SPOOL).map_err(broken)?;
        let elsewhere = if library::can_be_loaded_from(spool.path()) {
            None
        } else {
            let other = PrivateFolder::new(&std::env::temp_dir(), private::LIBRARY).map_err(broken)?;
            if !library::can_be_loaded_from(other.path()) {
                let folder = other.path().parent().unwrap_or(other.path()).display().to_string();
                return Err(Error::environment(format!(
                    "no library can be loaded from {folder}: it is mounted with noexec"
                ))
                .help("set TMPDIR to a folder on a file system without noexec"));
            }
            Some(other)
        };
        let library = library::write(elsewhere.as_ref().unwrap_or(&spool).path())?;
        let vendors = spool.path().join("vendors");
        let caches = spool.path().join("caches");
        let (drivers, stand_in) = drivers(&Vendors::discover());
        let config = Config { mode: "capture", drivers: &drivers, stand_in, settings };
        let config = serde_json::to_vec_pretty(&config);
        let config = config.map_err(|error| Error::internal(format!("cannot write the layer's settings: {error}")))?;
        let icd = [library.as_os_str().as_bytes(), b"\n"].concat();
        fs::create_dir(&vendors)
            .and_then(|()| fs::create_dir(&caches))
            .and_then(|()| fs::write(vendors.join("kassay.icd"), icd))
            .and_then(|()| fs::write(spool.path().join("config.json"), config))
            .map_err(broken)?;
        let environment = environment(spool.path(), &library, &vendors, &caches, std::env::var_os("OPENCL_LAYERS"));
        Ok(Session { spool, _elsewhere: elsewhere, environment, drivers, server: None })
    }

    /// The spool: where the layer leaves what it has seen.
    pub fn spool(&self) -> &Path {
        self.spool.path()
    }

    /// The libraries of the real drivers.
    pub fn drivers(&self) -> &[String] {
        &self.drivers
    }

    /// Lets the layer ask for woven kernels of the programs that run from now on.
    ///
    /// # Errors
    /// `Environment` if no socket can be made.
    pub fn answer(&mut self, answers: Arc<dyn Answers>) -> Result<()> {
        let server = Server::start(self.spool.path(), answers)?;
        self.environment.insert(SOCKET, server.path().into());
        self.server = Some(server);
        Ok(())
    }

    /// Stops answering, after what is being answered.
    pub fn fall_silent(&mut self) {
        self.server = None;
        self.environment.remove(SOCKET);
    }

    /// Runs a program until it ends.
    ///
    /// # Errors
    /// `Caller` if there is no such program or it cannot be executed; `Environment` if no process can be made.
    pub fn run(&self, command: &[OsString]) -> Result<Ended> {
        command::run(command, |child: &mut Command| {
            for name in DRIVER_VARIABLES.iter().chain(&OWN_VARIABLES) {
                child.env_remove(name);
            }
            child.envs(&self.environment);
        })
    }

    /// Makes a spool of its own for one run beside others. It vanishes when dropped.
    ///
    /// # Errors
    /// `Environment` if files cannot be made.
    pub fn spot(&self) -> Result<Spot> {
        let make = || {
            let all = self.spool.path().join("runs");
            fs::create_dir_all(&all)?;
            let folder = tempfile::Builder::new().prefix("run-").tempdir_in(&all)?;
            fs::copy(self.spool.path().join("config.json"), folder.path().join("config.json"))?;
            fs::create_dir(folder.path().join("caches"))?;
            // Code that kassay has woven is one for all runs.
            std::os::unix::fs::symlink(self.spool.path().join(WOVEN), folder.path().join(WOVEN))?;
            Ok(folder)
        };
        let broken = |error: std::io::Error| {
            Error::environment(format!("cannot make a folder for a run of the program: {error}"))
                .help("free some space, or set TMPDIR to another file system")
        };
        make().map(|folder| Spot { folder }).map_err(broken)
    }

    /// Runs a program unattended until it ends or is killed. `spot`: its spool, if it is not the session's; `mutant`:
    /// what it asks kassay for.
    ///
    /// # Errors
    /// `Caller` if there is no such program or it cannot be executed; `Environment` if no process can be made.
    pub fn try_run(&self, trial: &Trial<'_>, spot: Option<&Spot>, mutant: Option<&str>) -> Result<Tried> {
        trial::run(trial, |child: &mut Command| {
            for name in DRIVER_VARIABLES.iter().chain(&OWN_VARIABLES) {
                child.env_remove(name);
            }
            child.envs(&self.environment);
            if let Some(spot) = spot {
                let caches = spot.folder().join("caches");
                child.env("KASSAY_SPOOL", spot.folder());
                child.env("POCL_CACHE_DIR", caches.join("pocl")).env("XDG_CACHE_HOME", caches);
            }
            child.envs(mutant.map(|mutant| (MUTANT, mutant)));
        })
    }
}

/// A spool for one run of the program.
#[derive(Debug)]
pub struct Spot {
    folder: TempDir,
}

impl Spot {
    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The folder of woven code in a spool.
const WOVEN: &str = "woven";

/// The variable whose value the layer hands on when it asks for woven kernels.
const MUTANT: &str = "KASSAY_MUTANT";

/// Returns the libraries of the drivers that the program would find by itself; those of kassay's set-up stand in if
/// there are none, and whether they do.
fn drivers(vendors: &Vendors) -> (Vec<String>, bool) {
    let is_there = |icd: &&Icd| !icd.library.is_empty();
    let of = |origin| vendors.icds.iter().filter(is_there).filter(move |icd| icd.origin == origin);
    let own: Vec<&Icd> = of(Origin::User).chain(of(Origin::System)).collect();
    let stand_in = own.is_empty() && vendors.user.is_none();
    let found = if stand_in { of(Origin::Kassay).collect() } else { own };
    (found.into_iter().map(|icd| icd.library.clone()).collect(), stand_in)
}

/// Returns the variables that bring the layer in both ways, and empty caches: from a cached binary it is not possible
/// to read the source.
fn environment(
    spool: &Path,
    library: &Path,
    vendors: &Path,
    caches: &Path,
    layers: Option<OsString>,
) -> BTreeMap<&'static str, OsString> {
    let mut all: BTreeMap<&'static str, OsString> = BTreeMap::from([
        ("KASSAY_SPOOL", spool.into()),
        ("OCL_ICD_VENDORS", vendors.into()),
        ("XDG_CACHE_HOME", caches.into()),
        ("POCL_CACHE_DIR", caches.join("pocl").into()),
        ("PYOPENCL_NO_CACHE", "1".into()),
    ]);
    // The list has no way to write a colon in a path; without it, the proxy driver is still in.
    if !library.as_os_str().as_bytes().contains(&b':') {
        let mut list = library.as_os_str().to_owned();
        if let Some(others) = layers.filter(|others| !others.is_empty()) {
            list.push(OsStr::new(":"));
            list.push(others);
        }
        all.insert("OPENCL_LAYERS", list);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn icd(library: &str, origin: Origin) -> Icd {
        Icd { file: PathBuf::from("x.icd"), library: library.to_owned(), origin }
    }

    #[test]
    fn the_programs_own_drivers_come_first() {
        let all = vec![icd("own.so", Origin::Kassay), icd("system.so", Origin::System), icd("", Origin::System)];
        let vendors = |icds: Vec<Icd>, user| Vendors { icds, folders: Vec::new(), user };
        assert_eq!(drivers(&vendors(all.clone(), None)), (vec!["system.so".to_owned()], false));
        assert_eq!(drivers(&vendors(all[..1].to_vec(), None)), (vec!["own.so".to_owned()], true));
        let user = Some(("OCL_ICD_VENDORS".to_owned(), "/x".to_owned()));
        assert_eq!(drivers(&vendors(Vec::new(), user)), (Vec::new(), false));
    }

    #[test]
    fn layers_that_the_user_has_set_stay() {
        let path = Path::new;
        let with = |library: &str, layers: Option<&str>| {
            let all = environment(path("/s"), path(library), path("/s/v"), path("/s/c"), layers.map(OsString::from));
            all.get("OPENCL_LAYERS").cloned()
        };
        assert_eq!(with("/s/l.so", Some("/a.so:/b.so")).unwrap(), "/s/l.so:/a.so:/b.so");
        assert_eq!(with("/s/l.so", Some("")).unwrap(), "/s/l.so");
        assert_eq!(with("/a:b/l.so", Some("/a.so")), None);
    }
}
