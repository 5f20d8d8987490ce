//! Runs of the host program: unattended, each with a spool of its own, and what they leave.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_results::result::set::LeftOut;
use kassay_run::host::{Ended, NotWoven, Session, Spool, Spot, Trial, TrialEnd, Tried};

use super::super::compiled::working;
use super::oracle::{Oracle, Shown, Workplace};
use super::weaver::{KernelKey, RunOf};

/// Time for a run of the original.
pub const LONG: Duration = Duration::from_secs(24 * 3600);
/// What a run may take beyond the multiple of the original's time, in which the device's compiler has built a module of
/// mutants.
pub const GRACE: Duration = Duration::from_secs(3);
/// Bytes of output that a run of the original may write.
pub const MOST_OUTPUT: u64 = 1 << 30;

/// What bounds a run.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub time: Duration,
    /// Bytes of output.
    pub output: u64,
}

/// Runs the host program.
pub struct Runner<'a> {
    pub session: &'a Session,
    pub command: &'a [OsString],
    pub oracle: &'a Oracle,
    /// Bytes of a copy of the working directory.
    pub most_bytes: u64,
}

/// A run.
pub struct Ran {
    pub shown: Shown,
    pub spool: Spool,
    /// Holds the spool's files.
    _spot: Option<Spot>,
}

impl Runner<'_> {
    /// Runs the program as it is, with the layer in it, in the session's own spool.
    ///
    /// # Errors
    /// As [`Session::try_run`]; `Environment` if files cannot be read or written.
    pub fn first(&self, bounds: Bounds) -> Result<Ran> {
        let shown = self.show(None, None, bounds)?;
        Ok(Ran { shown, spool: Spool::read(self.session.spool())?, _spot: None })
    }

    /// Runs the program again; `of`: what the run is for, if not the program as it is.
    ///
    /// # Errors
    /// As for [`Runner::first`].
    pub fn run(&self, of: Option<&RunOf>, bounds: Bounds) -> Result<Ran> {
        let spot = self.session.spot()?;
        let mutant = of.map(RunOf::text).transpose()?;
        let shown = self.show(Some(&spot), mutant.as_deref(), bounds)?;
        let spool = Spool::read(spot.folder())?;
        Ok(Ran { shown, spool, _spot: Some(spot) })
    }

    fn show(&self, spot: Option<&Spot>, mutant: Option<&str>, bounds: Bounds) -> Result<Shown> {
        let (limit, most_output) = (bounds.time, bounds.output);
        let Oracle::Files(glob) = self.oracle else {
            let trial = Trial { command: self.command, directory: None, limit, most_output };
            let tried = self.session.try_run(&trial, spot, mutant)?;
            return Ok(Shown { tried, files: BTreeMap::new() });
        };
        let place = Workplace::of(&working(), self.session.spool(), self.most_bytes)?;
        let trial = Trial { command: self.command, directory: Some(place.folder()), limit, most_output };
        let tried = self.session.try_run(&trial, spot, mutant)?;
        Ok(Shown { tried, files: place.files(glob)? })
    }
}

impl Ran {
    /// Returns the probe buffers of a kernel, one for each context and sizes of arguments in each process.
    ///
    /// # Errors
    /// `Environment` if one cannot be read.
    pub fn probes(&self, (program, kernel): &KernelKey) -> Result<Vec<Vec<u32>>> {
        let of_all = self.spool.processes.iter().flat_map(|process| &process.probes);
        let own = of_all.filter(|file| (&file.program, &file.kernel) == (program, kernel));
        own.map(|file| {
            let bytes = fs::read(&file.path).map_err(|error| {
                Error::environment(format!("a probe buffer cannot be read: {error}"))
                    .help("leave kassay's temporary folder alone while it runs")
            })?;
            let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap_or_default()));
            Ok(words.take(usize::try_from(file.words).unwrap_or(usize::MAX)).collect())
        })
        .collect()
    }

    /// Returns why a kernel ran as it is.
    pub fn not_woven(&self, key: &KernelKey) -> String {
        self.left_alone(key).map_or_else(|| "none of its launches ran woven".to_owned(), |not| not.meaning.clone())
    }

    /// Whether the kernel did not run woven because the device takes no SPIR-V.
    pub fn lacks_il(&self, key: &KernelKey) -> bool {
        self.left_alone(key).is_some_and(|not| not.reason == LeftOut::NO_IL)
    }

    fn left_alone(&self, (program, kernel): &KernelKey) -> Option<&NotWoven> {
        let mut of_all = self.spool.processes.iter().flat_map(|process| &process.not_woven);
        of_all.find(|not| (&not.program, &not.kernel) == (program, kernel))
    }
}

/// How an unattended run ended, as one with kassay's own streams does.
pub fn ended(tried: &Tried) -> Ended {
    let (exit_code, signal) = match tried.end {
        TrialEnd::Exited(code) => (Some(code), None),
        TrialEnd::Signalled(signal) => (None, Some(signal)),
        TrialEnd::TimedOut | TrialEnd::TooMuchOutput => (None, None),
    };
    Ended { exit_code, signal, seconds: tried.seconds }
}
