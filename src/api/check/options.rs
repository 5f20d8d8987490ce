//! What a check looks for, and what with.

use std::path::PathBuf;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::super::options::{MAX_BUDGET, OpenOptions, check_range, options};

options! {
    /// Options of [`check`](super::check).
    #[derive(Serialize, Deserialize)]
    pub struct CheckOptions {
        /// The global work size of the launches that are generated for a kernel without a suite, in one to three
        /// dimensions; if empty, several small ones are tried.
        global: Vec<u64> = Vec::new(),
        /// The work-group size of the launches that are generated for a kernel without a suite.
        local: Vec<u64> = Vec::new(),
        /// Whether to determine the input values for which a clean verdict holds.
        amplify: bool = true,
        /// How long to try to prove properties of all launches.
        prove: Proving = Proving::Briefly,
        /// Whether to look for redundant barriers, which takes further runs without each barrier.
        redundant: bool = true,
        /// Whether to measure bank conflicts of local memory, which takes a further run of each input; they are notes.
        measure: bool = false,
        /// The time limit, opening included; notes say what was left undone. [`OpenOptions::budget`] limits the
        /// compilation.
        ///
        /// [`OpenOptions::budget`]: super::super::OpenOptions::budget
        budget: Duration = Duration::from_secs(30),
        /// Whether to search also for inputs in which work-items access the same addresses.
        evolve: bool = false,
        /// The folder to which a suite is written for each finding, as `<n>/suite.toml`, that reproduces it.
        #[serde(with = "kassay_base::files::paths")]
        reproduce: Option<PathBuf> = None,
        /// The number of schedules under which every input runs.
        schedules: u32 = 1,
        /// Whether to look for changes of the source that mend what was found.
        fix: bool = false,
        /// How many consecutive work-items of a work-group run in lockstep, as programs written for warps of early GPUs
        /// rely on: two of their accesses race only if one instruction makes both at once, or on different sides of a
        /// branch.
        warp_sync: Option<u32> = None,
    }
}

/// How long a check tries to prove what holds of launches that are not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proving {
    /// Not at all.
    Never,
    /// Within a tenth of the time limit.
    Briefly,
    /// As long as time is left.
    Long,
}

options! {
    /// How a host program runs, and which of its launches are looked at.
    pub struct CheckProgramOptions {
        /// Whether requests for a GPU get the CPU device where there is no GPU.
        shown_as_gpu: bool = false,
        /// Launches of a kernel that are looked at, at most.
        max_launches: u64 = 8,
        /// Bytes of contents kept of all launches together, at most.
        max_bytes: u64 = 1 << 30,
        /// Shell patterns of kernels' names (`fnmatch`); empty: all kernels.
        kernels: Vec<String> = Vec::new(),
        /// The folder that keeps kernels and launches as suites.
        keep: Option<PathBuf> = None,
        /// The folder for texts of kernels that are in no other file that lasts; it is made if there are any. `None`:
        /// they are not kept.
        texts: Option<PathBuf> = None,
    }
}

impl CheckOptions {
    /// Checks that what was opened, or will be, can be checked.
    ///
    /// # Errors
    /// `Caller` if an option is wrong.
    pub(crate) fn check(&self) -> Result<()> {
        check_range("budget", self.budget, Duration::from_nanos(1)..=MAX_BUDGET)?;
        check_range("schedules", self.schedules, 1..=100_000)?;
        self.warp_sync.map_or(Ok(()), |items| check_range("warp-sync", items, 1..=64))?;
        self.global.iter().try_for_each(|size| check_range("global", *size, 1..=u64::MAX))?;
        self.local.iter().try_for_each(|size| check_range("local", *size, 1..=u64::MAX))?;
        if self.global.is_empty() && !self.local.is_empty() {
            return Err(Error::caller("--local was given without --global").help("give both the same number of sizes"));
        }
        Ok(())
    }

    /// Returns whether the requested device is one for a first pass, because it does not check races itself. No device
    /// knows of lockstep.
    pub(super) fn wants_first_pass(&self, open: &OpenOptions) -> bool {
        self.warp_sync.is_none() && !open.device.admits(|executor| executor.checks.races)
    }

    /// Checks that the options fit a suite.
    ///
    /// # Errors
    /// `Caller` if they give sizes, which its tests have.
    pub(crate) fn check_for_suite(&self) -> Result<()> {
        if self.global.is_empty() {
            return Ok(());
        }
        Err(Error::caller("--global and --local are for kernels; the tests of a suite have their own sizes")
            .help("leave them out, or give the kernel's file instead of the suite"))
    }

    /// Checks that the options fit a program.
    ///
    /// # Errors
    /// `Caller` if they are about launches that kassay makes.
    pub(super) fn check_for_program(&self, open: &OpenOptions) -> Result<()> {
        if self.wants_first_pass(open) {
            let what = format!("the launches of a program are checked on the simulator, not on `{}`", open.device);
            return Err(Error::caller(what).help("leave --device out"));
        }
        let wrong = [
            ("--fix", self.fix),
            ("--evolve", self.evolve),
            ("--global", !self.global.is_empty()),
            ("--schedules", self.schedules > 1),
        ];
        match wrong.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Error::caller(format!("{flag} cannot be given with a program"))
                .help("leave it out: the launches of the program are the inputs")),
        }
    }
}
