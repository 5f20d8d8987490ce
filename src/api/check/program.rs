//! Checks the launches of a host program while it runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_judge::sync::budget::Budget;
use kassay_results::result::Header;
use kassay_results::result::check::{CheckResult, CheckSet, HostLaunch};
use kassay_results::result::set::{Failed, InSet, KernelResult, LeftOut, ProgramRun};
use kassay_run::exec::simulator;
use kassay_run::host::{
    self, Arrival, CaptureSettings, Ended, Launch, LaunchedKernel, Process, Reason, Session, SourceFiles, Spool, Watch,
};

use super::super::executors;
use super::super::host_kernel::{cannot_write, no_call};
use super::super::options::OpenOptions;
use super::kernels::Kernels;
use super::options::{CheckOptions, CheckProgramOptions};
use super::queue::LaunchId;

/// The texts of kernels, by the names that results give their files.
#[derive(Debug, Default)]
pub struct Texts(BTreeMap<String, String>);

impl Texts {
    /// The text of a file.
    pub fn text(&self, file: &str) -> Option<String> {
        let read = || fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        self.0.get(file).cloned().or_else(read)
    }
}

/// The longest time limit that a launch can have.
const LONGEST: Duration = Duration::from_secs(86_400);

/// How long to wait where there is nothing to do.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs a host program and checks launches of its kernels on the simulator meanwhile, and until
/// [`CheckOptions::budget`] after its end. The program runs with this process's standard streams and working directory.
/// Also returns the texts of kernels, some of which are in no file any more.
///
/// # Errors
/// `Caller` if an option is wrong or there is no such program; `Environment` if the program made no OpenCL call, or
/// files cannot be written. Kernels that cannot be checked are part of the result.
pub fn check_program(
    command: &[OsString],
    open: &OpenOptions,
    options: &CheckOptions,
    program: &CheckProgramOptions,
) -> Result<(CheckSet, Texts)> {
    open.check()?;
    options.check()?;
    options.check_for_program(open)?;
    let started = Instant::now();
    // That a launch takes longer on the simulator says nothing of it: the program goes on if it ends. Only its share of
    // the budget ends it.
    let open = &open.clone().timeout(LONGEST);
    let CheckProgramOptions { shown_as_gpu, max_launches, max_bytes, kernels, keep, texts } = program.clone();
    let settings =
        CaptureSettings { after: false, max_launches, max_bytes, kernels, ..CaptureSettings::nothing(shown_as_gpu) };
    let session = Session::new(&std::env::temp_dir(), &settings)?;
    let kept = keep.as_ref().or(options.reproduce.as_ref());
    let base = kept.map_or_else(|| session.spool().join("kernels"), Clone::clone);
    fs::create_dir_all(&base).map_err(|error| cannot_write(&base, &error))?;
    let base = base.canonicalize().map_err(|error| cannot_write(&base, &error))?;
    let mut watch = Watch::new(session.spool());
    let mut kernels = Kernels::new(open, options, program.max_launches, (&base, kept.is_some()), watch.spool())?;
    let ended = run(&session, command, &mut watch, &mut kernels, options.budget)?;
    let after = Budget::of(Instant::now(), options.budget.as_secs_f64());
    while !after.up_to(kassay_judge::sync::checking::EXPLORING).is_over() && kernels.round(watch.spool(), after)? {}
    let spool = Spool::read(session.spool())?;
    if spool.processes.is_empty() {
        return Err(no_call(&ended, session.drivers()));
    }
    let names = Names::of(&base, kept.is_some(), texts.as_deref(), &kernels)?;
    if keep.is_some() {
        kernels.write_suites(|arrival| launch_name(&spool.processes, arrival))?;
    }
    Report { command, ended, spool, started, names }.assemble(&mut kernels, after)
}

/// Runs the program, and checks what comes meanwhile.
fn run(
    session: &Session,
    command: &[OsString],
    watch: &mut Watch,
    kernels: &mut Kernels<'_>,
    budget: Duration,
) -> Result<Ended> {
    thread::scope(|scope| {
        let program = scope.spawn(|| session.run(command));
        loop {
            // Asked first, so that the last look finds all.
            let is_over = program.is_finished();
            kernels.add(watch.poll());
            if is_over {
                break;
            }
            // The budget begins when the program ends: as if it ended now.
            if !kernels.round(watch.spool(), Budget::of(Instant::now(), budget.as_secs_f64()))? {
                thread::sleep(PAUSE);
            }
        }
        program.join().map_err(|_| Error::internal("the thread that waited for the program died"))?
    })
}

/// The names of kernels' files in results.
struct Names {
    /// By the path at which kassay compiled it.
    by_path: HashMap<String, String>,
    texts: Texts,
}

impl Names {
    /// A kernel whose text is in a file below the working directory gets that name; others get that of the file in
    /// `base` if that stays, or of a copy in `texts`; only its last part if there are no copies.
    fn of(base: &Path, stays: bool, texts: Option<&Path>, kernels: &Kernels<'_>) -> Result<Names> {
        let working = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let mut below = None;
        let mut names = Names { by_path: HashMap::new(), texts: Texts::default() };
        for (folder, kernel) in kernels.compiled() {
            for path in kernel.code_files() {
                let Ok(text) = fs::read(&path) else { continue };
                let below = below.get_or_insert_with(|| SourceFiles::below(&working, base));
                let same = host::same_texts(below, std::slice::from_ref(&text)).into_iter().next();
                let relative = Path::new(folder).join(path.strip_prefix(&kernel.folder).unwrap_or(&path));
                let shown = match (same, texts) {
                    (Some(same), _) => same.file,
                    (None, _) if stays => path.clone(),
                    (None, None) => relative,
                    (None, Some(texts)) => {
                        let copy = texts.join(&relative);
                        let written = fs::create_dir_all(copy.parent().unwrap_or(texts));
                        written.and_then(|()| fs::write(&copy, &text)).map_err(|error| cannot_write(&copy, &error))?;
                        copy
                    }
                };
                let shown = shown.display().to_string();
                names.texts.0.insert(shown.clone(), String::from_utf8_lossy(&text).into_owned());
                names.by_path.insert(path.display().to_string(), shown);
            }
        }
        Ok(names)
    }

    fn apply(&self, result: &mut CheckResult) {
        let rename = |file: &mut String| {
            if let Some(shown) = self.by_path.get(file.as_str()) {
                file.clone_from(shown);
            }
        };
        rename(&mut result.header.source);
        for finding in &mut result.findings {
            for access in &mut finding.accesses {
                rename(&mut access.location.file);
                access.called_from.iter_mut().for_each(|location| rename(&mut location.file));
            }
            finding.branch.iter_mut().for_each(|branch| rename(&mut branch.location.file));
        }
        result.barriers.iter_mut().for_each(|barrier| rename(&mut barrier.location.file));
    }
}

/// What the result is made of.
struct Report<'a> {
    command: &'a [OsString],
    ended: Ended,
    spool: Spool,
    started: Instant,
    names: Names,
}

impl Report<'_> {
    fn assemble(mut self, kernels: &mut Kernels<'_>, budget: Budget) -> Result<(CheckSet, Texts)> {
        let launched = host::kernels_of(&mut self.spool.processes, None);
        let (mut results, mut failed, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        // Whether something that was asked for was not checked at all.
        let mut is_open = false;
        let count = launched.len();
        for (done, mut kernel) in launched.into_iter().enumerate() {
            let kept: Vec<(LaunchId, Launch)> = std::mem::take(&mut kernel.kept)
                .into_iter()
                .map(|(process, launch)| ((self.spool.processes[process].name.clone(), launch.sequence), launch))
                .collect();
            let known: HashSet<&LaunchId> = kept.iter().map(|(id, _)| id).collect();
            let at = kernels.find(&kernel.program, &kernel.name);
            let judged = at.map(|at| self.judge(kernels, at, &known, budget.rest(count - done))).transpose();
            let mut checked = HashSet::new();
            match judged.map(Option::flatten) {
                Ok(Some((arrivals, mut result))) => {
                    checked.extend(arrivals.iter().map(Arrival::id));
                    self.names.apply(&mut result);
                    results.push(KernelResult::of_program(result, &kernel.program, kernel.launches));
                }
                Ok(None) => {
                    is_open |= !kept.is_empty() || kernel.left_out.keys().any(|reason| *reason != host::NOT_SELECTED)
                }
                Err(error) => failed.push(failure(&kernel, &error)),
            }
            if let Some(error) = at.and_then(|at| kernels.at(at).error.as_ref()) {
                failed.push(failure(&kernel, error));
            }
            for (id, _) in kept.iter().filter(|(id, _)| !checked.contains(id)) {
                kernel.leave_out(kernels.reason(id), 1);
            }
            left_out.extend(rows(Some((&kernel.name, &kernel.program)), &kernel.left_out));
        }
        left_out.extend(rows(None, &host::unknown_launches(&self.spool.processes)));
        let mut notes = self.spool.notes;
        if count == 0 {
            notes.push("the program launched no kernel".to_owned());
        }
        let command: Vec<String> = self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let source = command.first().cloned().unwrap_or_default();
        let mut names: Vec<&str> = results.iter().map(|kernel| kernel.result.header.kernel.as_str()).collect();
        names.dedup();
        let device = Some(executors::device(&simulator::device()));
        let header = Header::new(CheckResult::SET_SCHEMA, names.join(", "), source, device, 0);
        let program = ProgramRun {
            command,
            exit_code: self.ended.exit_code,
            signal: self.ended.signal.map(host::signal_name),
            processes: self.spool.processes.len() as u64,
            program_s: self.ended.seconds,
            request: None,
        };
        let set = CheckSet::new(header, Some(program), results);
        let mut set = CheckSet { elapsed_s: self.started.elapsed().as_secs_f64(), failed, left_out, notes, ..set };
        if is_open || !set.failed.is_empty() {
            set.total.add_unknown();
        }
        Ok((set, self.names.texts))
    }

    /// Judges a kernel by its launches that are in the spool: the driver refused the others.
    fn judge(
        &self,
        kernels: &mut Kernels<'_>,
        at: usize,
        known: &HashSet<&LaunchId>,
        budget: Budget,
    ) -> Result<Option<(Vec<Arrival>, CheckResult)>> {
        let processes = &self.spool.processes;
        let started = Instant::now();
        let name = |arrival: &Arrival| launch_name(processes, arrival).filter(|_| known.contains(&arrival.id()));
        let Some((arrivals, mut result)) = kernels.judge(at, budget, started, name)? else { return Ok(None) };
        for (input, arrival) in result.inputs.iter_mut().zip(&arrivals) {
            let process = processes.iter().find(|process| process.name == arrival.process);
            input.host = Some(HostLaunch {
                launch: arrival.launch.launch,
                process: process.map_or(0, |process| process.pid),
                thread: arrival.launch.thread,
            });
        }
        Ok(Some((arrivals, result)))
    }
}

/// The name of a launch as an input; `None` if its process is not known.
fn launch_name(processes: &[Process], arrival: &Arrival) -> Option<String> {
    let process = processes.iter().position(|process| process.name == arrival.process)?;
    let number = arrival.launch.launch;
    Some(match processes.len() {
        1 => format!("launch {number}"),
        _ => format!("process {}, launch {number}", process + 1),
    })
}

fn failure(kernel: &LaunchedKernel, error: &Error) -> Failed {
    Failed {
        kernel: Some(kernel.name.clone()),
        suite: None,
        program: Some(kernel.program.clone()),
        error: error.to_string(),
        fault: None,
    }
}

fn rows(kernel: Option<(&str, &str)>, reasons: &BTreeMap<Reason, u64>) -> Vec<LeftOut> {
    let row = |(reason, count): (&Reason, &u64)| LeftOut {
        kernel: kernel.map(|(name, _)| name.to_owned()),
        program: kernel.map(|(_, program)| program.to_owned()),
        reason: reason.name.to_owned(),
        meaning: reason.meaning.to_owned(),
        count: *count,
    };
    reasons.iter().map(row).collect()
}
