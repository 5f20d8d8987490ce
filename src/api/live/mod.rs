//! Measures coverage of an unmodified host program while it runs: its launches run with probes.

mod compiled;
mod mutants;
mod tally;
mod texts;
mod variants;
pub(super) mod verified;
mod weaver;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_results::result::cover::CoverResult;
use kassay_results::result::mcdc::Criterion;
use kassay_results::result::set::{CoverSet, Failed, Fault, InSet, KernelResult, LeftOut, ProgramRun, SetResult};
use kassay_results::result::{Device, Header, Location};
use kassay_run::host::{self, CaptureSettings, Ended, LaunchedKernel, NOT_SELECTED, NotWoven, Session, Spool, Verify};

pub use self::mutants::{MutateProgramOptions, Oracle, mutate_program};
pub(super) use self::weaver::CoverageWeaver;
use super::host_kernel::no_call;
use super::options::{OpenOptions, options};

options! {
    /// Options of [`cover_program`].
    pub struct CoverProgramOptions {
        /// Whether requests for a GPU get the CPU device where there is no GPU.
        shown_as_gpu: bool = false,
        /// Which launches of a woven kernel are compared with the program's own.
        verify: Verify = Verify::First,
        /// Shell patterns of kernels' names (`fnmatch`); empty: all kernels.
        kernels: Vec<String> = Vec::new(),
        /// What MC/DC is measured by, if it is.
        mcdc: Option<Criterion> = None,
        /// Whether the variants of a kernel are united: programs whose texts differ in the macros that are defined in
        /// front, or in their options, alone.
        unite: bool = false,
        /// The folder for texts of programs that are in no file below the working directory; it is made if there are
        /// any. `None`: they are not kept.
        texts: Option<PathBuf> = None,
    }
}

/// Runs a host program with coverage probes in all of its kernels, and returns what its launches cover. The program
/// runs with this process's standard streams and working directory. `open` says how kernels are compiled.
///
/// # Errors
/// `Caller` if there is no such program; `Environment` if the program made no OpenCL call, or files cannot be written.
/// What cannot be measured is part of the result.
pub fn cover_program(command: &[OsString], open: &OpenOptions, options: &CoverProgramOptions) -> Result<CoverSet> {
    open.check()?;
    let started = Instant::now();
    let settings = CaptureSettings { verify: options.verify, ..CaptureSettings::nothing(options.shown_as_gpu) };
    let mut session = Session::new(&std::env::temp_dir(), &settings)?;
    let weaver = Arc::new(CoverageWeaver::new(session.spool(), open, options.mcdc.is_some(), options.kernels.clone()));
    session.answer(weaver.clone())?;
    let ended = session.run(command)?;
    session.fall_silent();
    let mut spool = Spool::read(session.spool())?;
    if spool.processes.is_empty() {
        return Err(no_call(&ended, session.drivers()));
    }
    let mut measured = Measured::new(&weaver, options, ended);
    for kernel in host::kernels_of(&mut spool.processes, None) {
        measured.kernel(&spool, &kernel)?;
    }
    measured.result(command, &spool, started)
}

/// The result in the making.
struct Measured<'a> {
    weaver: &'a CoverageWeaver,
    options: &'a CoverProgramOptions,
    ended: Ended,
    tallied: Vec<variants::Tallied>,
    kernels: Vec<KernelResult<CoverResult>>,
    failed: Vec<Failed>,
    left_out: Vec<LeftOut>,
    complaints: Vec<String>,
    notes: Vec<String>,
    /// Programs whose texts are in no file of the user's own.
    without_file: BTreeSet<String>,
}

impl<'a> Measured<'a> {
    fn new(weaver: &'a CoverageWeaver, options: &'a CoverProgramOptions, ended: Ended) -> Measured<'a> {
        let (tallied, kernels, failed, left_out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (complaints, notes, without_file) = (Vec::new(), Vec::new(), BTreeSet::new());
        Measured { weaver, options, ended, tallied, kernels, failed, left_out, complaints, notes, without_file }
    }

    /// Adds a kernel that was launched.
    fn kernel(&mut self, spool: &Spool, kernel: &LaunchedKernel) -> Result<()> {
        let why: BTreeSet<&NotWoven> = spool.processes.iter().flat_map(|process| &process.not_woven).collect();
        let why = why.into_iter().filter(|not| (&not.program, &not.kernel) == (&kernel.program, &kernel.name));
        let why: Vec<&NotWoven> = why.collect();
        let is_selected = self.options.kernels.is_empty() || host::matches_one(&kernel.name, &self.options.kernels);
        if let Some(differs) = verified::differs(spool, kernel) {
            self.complaints.push(differs.complaint());
            self.left_out.push(differs);
            return Ok(());
        }
        // With `--verify all`, what could not be compared ran as it is.
        let not_verified: Vec<&NotWoven> = spool.processes.iter().flat_map(|process| &process.not_verified).collect();
        let of_kernel = |not: &&NotWoven| (&not.program, &not.kernel) == (&kernel.program, &kernel.name);
        let why = if why.is_empty() { not_verified.into_iter().filter(of_kernel).take(1).collect() } else { why };
        let plain = kernel.launches.saturating_sub(kernel.woven);
        if plain > 0 {
            self.leave_out(kernel, plain, &why, is_selected);
        }
        if !is_selected {
            return Ok(());
        }
        let program = self.weaver.woven(&kernel.program);
        let unwoven =
            || why.first().map_or("none of its launches ran with probes".to_owned(), |not| not.meaning.clone());
        let error =
            match program.as_ref().map(|woven| woven.as_ref().map(|program| (program, program.kernel(&kernel.name)))) {
                Some(Ok((program, Ok(woven)))) if kernel.woven > 0 => {
                    let mut result = tally::tally(spool, kernel, woven, self.options.mcdc.unwrap_or_default())?;
                    result.header.device = device(spool, &kernel.program);
                    result.elapsed_s = self.ended.seconds;
                    let (id, launches, program) = (kernel.program.clone(), kernel.launches, Arc::clone(program));
                    self.tallied.push(variants::Tallied { result, id, launches, program });
                    return Ok(());
                }
                Some(Ok((_, Err(reason)))) => reason,
                Some(Err(reason)) => reason.clone(),
                Some(Ok((_, Ok(_)))) | None => unwoven(),
            };
        let (name, program) = (Some(kernel.name.clone()), Some(kernel.program.clone()));
        let lacks_il = why.first().is_some_and(|not| not.reason == LeftOut::NO_IL);
        let fault = lacks_il.then_some(Fault::Environment);
        self.failed.push(Failed { kernel: name, suite: None, program, error, fault });
        Ok(())
    }

    fn leave_out(&mut self, kernel: &LaunchedKernel, count: u64, why: &[&NotWoven], is_selected: bool) {
        let joined = |part: fn(&NotWoven) -> &str| {
            let mut parts: Vec<&str> = why.iter().map(|not| part(not)).collect();
            parts.dedup();
            parts.join("; ")
        };
        let (reason, meaning) = match why {
            _ if !is_selected => (NOT_SELECTED.name.to_owned(), NOT_SELECTED.meaning.to_owned()),
            [] => ("not-woven".to_owned(), "they ran without probes".to_owned()),
            // What kassay answered is no word.
            [first, ..] if first.reason.contains(char::is_whitespace) => {
                ("not-woven".to_owned(), joined(|not| &not.meaning))
            }
            [first, ..] => (first.reason.clone(), joined(|not| &not.meaning)),
        };
        let (name, program) = (Some(kernel.name.clone()), Some(kernel.program.clone()));
        self.left_out.push(LeftOut { kernel: name, program, reason, meaning, count });
    }

    /// Puts locations where the user finds them.
    fn locate(&mut self, result: &mut CoverResult, texts: &texts::Texts, program: &str) -> Result<()> {
        let mut all = tally::locations(result);
        let nowhere = PathBuf::new();
        let kept = self.options.texts.as_ref().unwrap_or(&nowhere);
        let used: Vec<_> = all.iter().map(|location| (**location).clone()).collect();
        let whole = Location { file: texts.path.display().to_string(), line: 0, column: 0 };
        let used = [used, vec![whole.clone()]].concat();
        let is_elsewhere = match &self.options.texts {
            Some(folder) => texts.keep(folder, &used)?,
            None => texts.is_needed(&used),
        };
        if is_elsewhere {
            self.without_file.insert(program.to_owned());
        }
        all.iter_mut().for_each(|location| texts.translate(location, kept));
        let mut source = whole;
        texts.translate(&mut source, kept);
        result.header.source = source.file;
        result.sites.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(())
    }

    /// Adds the results of kernels, with their variants united if that is asked for.
    fn unite(&mut self) -> Result<()> {
        let tallied = std::mem::take(&mut self.tallied);
        let has_several = tallied.len() > 1;
        for united in variants::united(tallied, self.options.unite) {
            let variants::United { mut result, id, launches, program, variants } = united;
            self.locate(&mut result, &program.texts, &id)?;
            self.kernels.push(KernelResult { variants, ..KernelResult::of_program(result, &id, launches) });
        }
        if self.options.unite && has_several && self.kernels.iter().all(|kernel| kernel.variants.is_empty()) {
            let text = "no kernels are united: no two of the same name differ in definitions in front of their text or in options alone";
            self.notes.push(text.to_owned());
        }
        Ok(())
    }

    fn result(mut self, command: &[OsString], spool: &Spool, started: Instant) -> Result<CoverSet> {
        self.unite()?;
        let command: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let names: Vec<&str> = self.kernels.iter().map(|kernel| kernel.result.header.kernel.as_str()).collect();
        let device = self.kernels.iter().find_map(|kernel| kernel.result.header.device.clone());
        let source = command.first().cloned().unwrap_or_default();
        let header = Header::new(CoverResult::SET_SCHEMA, names.join(", "), source, device, 0);
        let run = ProgramRun {
            command,
            exit_code: self.ended.exit_code,
            signal: self.ended.signal.map(host::signal_name),
            processes: spool.processes.len() as u64,
            program_s: self.ended.seconds,
            request: None,
        };
        self.notes.extend(spool.notes.iter().cloned());
        self.notes.extend(verified::not_compared(spool));
        if self.kernels.is_empty() && self.failed.is_empty() && self.left_out.is_empty() {
            self.notes.push("the program launched no kernel".to_owned());
        }
        match (self.without_file.len(), &self.options.texts) {
            (0, _) => {}
            (n, Some(folder)) => self.notes.push(format!(
                "no file below the working directory holds the text of {}: it is kept in {}",
                programs(n),
                folder.display()
            )),
            (n, None) => self.notes.push(format!(
                "no file below the working directory holds the text of {}; -o or --keep keeps it",
                programs(n)
            )),
        }
        let unknown = host::unknown_launches(&spool.processes).into_iter();
        self.left_out.extend(unknown.map(|(reason, count)| LeftOut {
            kernel: None,
            program: None,
            reason: reason.name.to_owned(),
            meaning: reason.meaning.to_owned(),
            count,
        }));
        Ok(SetResult {
            elapsed_s: started.elapsed().as_secs_f64(),
            failed: self.failed,
            left_out: self.left_out,
            complaints: self.complaints,
            notes: self.notes,
            ..CoverSet::new(header, Some(run), self.kernels)
        })
    }
}

fn programs(count: usize) -> String {
    if count == 1 { "a program".to_owned() } else { format!("{count} programs") }
}

/// Returns the device of a program, as far as the layer knows it.
fn device(spool: &Spool, program: &str) -> Option<Device> {
    let device = &spool.programs.get(program)?.device;
    let (name, driver) = (device.name.clone(), device.driver.clone());
    let kind = if device.kind.is_empty() { "unknown" } else { &device.kind }.to_owned();
    let il_versions = device.il_version.split_whitespace().map(str::to_owned).collect();
    Some(Device { name, driver, kind, il_versions })
}

/// The folder for texts of programs beside a result file, if the user names none.
pub fn texts_beside(result: &Path) -> PathBuf {
    let mut name = result.file_stem().unwrap_or_default().to_owned();
    name.push("-texts");
    result.with_file_name(name)
}
