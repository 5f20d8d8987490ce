//! Repairs of what a check found: as part of its result, as a patch, and in the kernel's file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::files::{self, draft_in};
use kassay_judge::sync::budget::Budget;
use kassay_judge::sync::checking::{Case, Simulate};
use kassay_judge::sync::repair::{self, Rig, diff};
use kassay_model::code::NativeCode;
use kassay_results::result::check::CheckResult;
use kassay_results::result::repairs::Repair;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_run::exec::{ProgramId, Simulator};
use kassay_suite::launch::Launch;

use super::super::input::Parsed;
use super::super::opened::Opened;
use super::options::{CheckOptions, Proving};

/// Makes simulators for changed kernels.
struct Simulators {
    timeout: Duration,
    warp_sync: Option<u32>,
}

struct OwnSimulator {
    simulator: Simulator,
    program: ProgramId,
    timeout: Duration,
}

impl Rig for Simulators {
    type Loaded = OwnSimulator;

    fn load(&mut self, code: &Arc<NativeCode>) -> Result<OwnSimulator> {
        let mut simulator = Simulator::new(1)?;
        simulator.run_in_lockstep(self.warp_sync);
        let program = simulator.load_native(code)?;
        Ok(OwnSimulator { simulator, program, timeout: self.timeout })
    }
}

impl Simulate for OwnSimulator {
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation> {
        self.simulator.observe(self.program, launch, options, self.timeout, &[], None)
    }
}

/// Checks that a kernel has a text that could be repaired, before it is checked.
pub(super) fn check_text(opened: &Opened, parsed: &Parsed<'_>) -> Result<()> {
    match repair::without_text(&parsed.loaded, opened.kernel_options()) {
        Some(why) => Err(Error::caller(format!("it cannot be repaired: {why}"))
            .help("give a kernel's source, or leave --fix and --write out")),
        None => Ok(()),
    }
}

/// Adds repairs to a result. `cases` are the inputs that changed kernels have to be clean in.
pub(super) fn add(
    result: &mut CheckResult,
    (opened, parsed): (&Opened, &Parsed<'_>),
    options: &CheckOptions,
    mut cases: Vec<&Case>,
    budget: Budget,
) -> Result<()> {
    // What shows that a change is none is run first.
    let shows = |case: &&Case| result.inputs.iter().find(|i| i.name == case.name).map_or(0, |input| input.findings);
    cases.sort_by_key(|case| std::cmp::Reverse(shows(case)));
    let request = repair::Request {
        under_test: &parsed.under_test,
        loaded: &parsed.loaded,
        options: opened.kernel_options(),
        cases,
        is_suite: opened.is_suite(),
        findings: &result.findings,
        budget,
        jobs: (opened.options().jobs as usize).max(1),
        proves: options.prove != Proving::Never,
    };
    let mut rig = Simulators { timeout: opened.options().timeout, warp_sync: options.warp_sync };
    let (repairs, notes) = repair::repairs(&request, &mut rig)?;
    result.repairs = repairs;
    result.notes.extend(notes);
    Ok(())
}

/// The text of a kernel's file as it is before a check, which repairs are made in.
#[derive(Debug)]
pub struct KernelText {
    path: PathBuf,
    text: Vec<u8>,
}

impl KernelText {
    /// Reads the file of the kernel that was opened.
    ///
    /// # Errors
    /// `Caller` if it cannot be read.
    pub fn of(opened: &Opened) -> Result<KernelText> {
        let path = opened.kernel_file().to_owned();
        let text = read(opened, &path)?;
        Ok(KernelText { path, text })
    }

    /// Returns all repairs of a result as one unified diff; empty if there are none.
    ///
    /// # Errors
    /// `Caller` if they do not fit the text.
    pub fn patch(&self, repairs: &[Repair]) -> Result<String> {
        let new = self.repaired(repairs)?;
        Ok(diff::unified(&self.path.display().to_string(), &self.text, &new))
    }

    /// Makes all repairs of a result in the file, in one step, and returns whether there are any.
    ///
    /// # Errors
    /// `Caller` if the file has changed since it was read; `Environment` if it cannot be written.
    pub fn write(&self, opened: &Opened, repairs: &[Repair]) -> Result<bool> {
        let new = self.repaired(repairs)?;
        if new == self.text {
            return Ok(false);
        }
        if read(opened, &self.path)? != self.text {
            return Err(self.changed());
        }
        self.replace(&new)
            .map_err(|e| Error::environment(format!("{} cannot be written: {e}", self.path.display())))?;
        Ok(true)
    }

    fn repaired(&self, repairs: &[Repair]) -> Result<Vec<u8>> {
        repair::repaired(&self.text, repairs).ok_or_else(|| self.changed())
    }

    fn changed(&self) -> Error {
        Error::caller(format!("{} has changed since it was read, and was not edited", self.path.display()))
            .help("check it again")
    }

    /// Puts a text in the place of the file's, whose mode stays, and whose link stays one.
    fn replace(&self, new: &[u8]) -> io::Result<()> {
        let path = self.path.canonicalize()?;
        let folder = path.parent().ok_or_else(|| io::Error::other("it is no file in a folder"))?;
        let mut draft = draft_in(folder)?;
        draft.write_all(new)?;
        draft.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
        draft.as_file().sync_all()?;
        draft.persist(&path).map_err(|e| e.error)?;
        Ok(())
    }
}

fn read(opened: &Opened, path: &Path) -> Result<Vec<u8>> {
    files::read(path, opened.kernel_options().sandbox.as_ref())
        .map_err(|e| Error::caller(format!("{} cannot be read: {e}", path.display())))
}
