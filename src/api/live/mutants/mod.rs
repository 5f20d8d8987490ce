//! Mutation testing of the kernels of an unmodified host program, judged by the program itself.
//!
//! The program runs as it is, then with the original in the place of its kernels, once to learn what that needs and
//! once to learn which mutants it reaches. In one more run all launches are captured; mutants that none of them tells
//! from the original survive. For each of the others the program runs once.

mod judge;
mod launches;
mod measure;
mod options;
mod oracle;
mod outputs;
mod replay;
mod resume;
mod runs;
mod weaver;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_judge::mutation::run::baseline;
use kassay_results::result::journal::Journal;
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::probe_map::Mutant;
use kassay_results::result::set::{Failed, InSet as _, KernelResult, LeftOut, MutateSet, ProgramRun, SetResult};
use kassay_results::result::{Header, store};
use kassay_run::host::{self, CaptureSettings, DIFFERS, Ended, LaunchedKernel, NOT_SELECTED, Session, Spool, Tried};

use self::judge::{Entry, Measured, TEST};
use self::launches::Launches;
use self::measure::{Found, Measuring, Original};
pub use self::options::MutateProgramOptions;
pub use self::oracle::Oracle;
use self::runs::{Bounds, GRACE, MOST_OUTPUT, Runner, ended};
use self::weaver::{MutantWeaver, RunOf, Wanted};
use super::super::mutate::too_low;
use super::super::observer::{self, Work};
use super::super::options::OpenOptions;
use super::{device, programs};

/// Bytes of output that a mutant may write beyond ten times the original's.
const MORE_OUTPUT: u64 = 16 << 20;

/// Makes mutants of the kernels that a host program launches, and runs the program for each of them that could differ
/// from the original. The program gets no input, and its output is not shown. `open` says how kernels are compiled, how
/// many processes of the program run at a time ([`OpenOptions::jobs`]) and the seed of samples.
///
/// # Errors
/// `Caller` if an option is wrong, there is no such program, or its own runs do not agree; `Environment` if it made no
/// OpenCL call, or files cannot be written. Kernels without mutants are part of the result.
pub fn mutate_program(command: &[OsString], open: &OpenOptions, options: &MutateProgramOptions) -> Result<MutateSet> {
    open.check()?;
    let selection = options.check()?;
    let started = Instant::now();
    let request = resume::request(command, options, open);
    if let Some(mut result) = resume::completed(options, &request)? {
        result.complaints = too_low(options.fail_under, result.total.score).into_iter().collect();
        return Ok(result);
    }
    if options.oracle == Oracle::Outputs {
        let mut result = outputs::mutate_outputs(command, open, options)?;
        result.complaints.extend(too_low(options.fail_under, result.total.score));
        options.output.as_deref().map_or(Ok(()), |output| store::write(&result, output))?;
        return Ok(result);
    }
    let settings = CaptureSettings { verify: options.verify, ..CaptureSettings::nothing(options.shown_as_gpu) };
    let mut session = Session::new(&std::env::temp_dir(), &settings)?;
    let Original { ran, slowest } = measure::original(&runner(&session, command, options))?;
    let (shown, mut spool) = (ran.shown, ran.spool);
    let kernels = host::kernels_of(&mut spool.processes, None);
    let mut set = Set { options, failed: Vec::new(), left_out: Vec::new(), notes: spool.notes.clone() };
    let chosen = set.choose(&kernels);
    let wanted = Wanted { spool: session.spool(), open, selection: &selection };
    let weaver = Arc::new(MutantWeaver::new(set.weave(&wanted, &chosen, open)));
    session.answer(weaver.clone())?;
    let runner = runner(&session, command, options);
    let limit = GRACE + Duration::from_secs_f64(slowest) * 10;
    let bounds = Bounds { time: limit.max(Duration::from_secs(600)), output: MOST_OUTPUT };
    let measuring = Measuring { runner: &runner, weaver: &weaver, original: &shown, bounds };
    let (measured, slowest) = measuring.all(
        &chosen,
        slowest,
        &mut Found { failed: &mut set.failed, left_out: &mut set.left_out, notes: &mut set.notes },
    )?;
    let mut measured = set.locate(measured, &weaver)?;
    measure::draw(&mut measured, options.sample, open.seed.unwrap_or(0));
    let configuration = resume::configuration(command, options, open, &measured);
    let (journal, known) = resume::journal(command, options, &configuration)?;
    let time = GRACE + Duration::from_secs_f64(slowest * options.timeout_factor);
    let output = shown.tried.stdout.len() as u64 * 10 + MORE_OUTPUT;
    let campaign = Campaign {
        runner: &runner,
        options,
        original: &shown,
        bounds: Bounds { time, output },
        journal: journal.as_ref(),
    };
    let mut wanted = campaign.wanted(&measured, &known);
    let mut entries = known;
    if options.replay && !wanted.is_empty() {
        let launches = Launches { command, open, options, original: &shown, slowest, woven: session.spool() };
        let decided = launches.decide(&wanted)?;
        entries.extend(campaign.keep(&decided.entries)?);
        for kernel in &mut measured {
            kernel.replayed_s = decided.seconds.get(&kernel.key).copied().unwrap_or(0.0);
            let note = |why: &String| format!("the program's launches decide about none of its mutants: {why}");
            kernel.map.notes.extend(decided.not.get(&kernel.key).map(note));
        }
        wanted = campaign.wanted(&measured, &entries);
    }
    entries.extend(campaign.run(&wanted, open)?);
    let mut result =
        set.result(command, (&shown.tried, &spool), &measured, &entries, (started, open, &configuration))?;
    result.elapsed_s = started.elapsed().as_secs_f64();
    result.complaints.extend(result.left_out.iter().filter(|row| row.reason == DIFFERS).map(LeftOut::complaint));
    result.complaints.extend(too_low(options.fail_under, result.total.score));
    if let Some(program) = &mut result.program {
        program.request = Some(request);
    }
    if let Some(output) = &options.output {
        store::write(&result, output)?;
    }
    journal.map_or(Ok(()), Journal::remove)?;
    Ok(result)
}

fn runner<'a>(session: &'a Session, command: &'a [OsString], options: &'a MutateProgramOptions) -> Runner<'a> {
    Runner { session, command, oracle: &options.oracle, most_bytes: options.max_bytes }
}

/// The runs of mutants.
struct Campaign<'a> {
    runner: &'a Runner<'a>,
    options: &'a MutateProgramOptions,
    original: &'a oracle::Shown,
    bounds: Bounds,
    journal: Option<&'a Journal>,
}

impl Campaign<'_> {
    /// Returns the mutants that could differ from the original and are not known yet.
    fn wanted<'m>(&self, measured: &'m [Measured], known: &[Entry]) -> Vec<(&'m Measured, &'m Mutant)> {
        let done: BTreeSet<(&str, &str, &str)> =
            known.iter().map(|entry| (entry.program.as_str(), entry.kernel.as_str(), entry.id.as_str())).collect();
        let mut wanted = Vec::new();
        for kernel in measured {
            for mutant in &kernel.map.mutants {
                let is_done = done.contains(&(kernel.key.0.as_str(), kernel.key.1.as_str(), mutant.id.as_str()));
                let is_decided = mutant.duplicate_of.is_some() || mutant.equivalent.is_some();
                if !is_done && !is_decided && kernel.observed(mutant.module, mutant.number).1 {
                    wanted.push((kernel, mutant));
                }
            }
        }
        wanted
    }

    /// Runs the program for each of these mutants.
    fn run(&self, wanted: &[(&Measured, &Mutant)], open: &OpenOptions) -> Result<Vec<Entry>> {
        let mut runners = vec![(); open.jobs as usize];
        observer::run_parallel(&mut runners, wanted, "mutants", open.observer.as_ref(), |(), (kernel, mutant)| {
            let fuel = baseline::fuel(kernel.fuel_used, self.options.timeout_factor);
            let (module, number) = (mutant.module as usize, mutant.number);
            let of = RunOf::Mutant { kernel: kernel.key.clone(), module, number, fuel };
            let ran = self.runner.run(Some(&of), self.bounds)?;
            let entry = judge::entry(kernel, &mutant.id, self.original, &ran, &self.options.oracle)?;
            self.journal.map_or(Ok(()), |journal| journal.append(&entry))?;
            Ok(entry)
        })
    }

    /// Writes entries into the journal.
    fn keep(&self, entries: &[Entry]) -> Result<Vec<Entry>> {
        for entry in entries {
            self.journal.map_or(Ok(()), |journal| journal.append(entry))?;
        }
        Ok(entries.to_vec())
    }
}

/// The result in the making.
struct Set<'a> {
    options: &'a MutateProgramOptions,
    failed: Vec<Failed>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
}

impl Set<'_> {
    /// Returns the kernels that are to have mutants, and counts the launches of the others.
    fn choose<'k>(&mut self, kernels: &'k [LaunchedKernel]) -> Vec<&'k LaunchedKernel> {
        let is_chosen = |kernel: &&LaunchedKernel| {
            self.options.kernels.is_empty() || host::matches_one(&kernel.name, &self.options.kernels)
        };
        let (chosen, others): (Vec<_>, Vec<_>) = kernels.iter().partition(is_chosen);
        self.left_out.extend(others.into_iter().map(|kernel| LeftOut {
            kernel: Some(kernel.name.clone()),
            program: Some(kernel.program.clone()),
            reason: NOT_SELECTED.name.to_owned(),
            meaning: NOT_SELECTED.meaning.to_owned(),
            count: kernel.launches,
        }));
        if kernels.is_empty() {
            self.notes.push("the program launched no kernel".to_owned());
        }
        chosen
    }

    /// Weaves the programs of these kernels.
    fn weave(
        &mut self,
        wanted: &Wanted<'_>,
        chosen: &[&LaunchedKernel],
        open: &OpenOptions,
    ) -> BTreeMap<String, weaver::Program> {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for kernel in chosen {
            names.entry(&kernel.program).or_default().insert(&kernel.name);
        }
        let _work = Work::begin(open.observer.as_ref(), "programs", Some(names.len() as u64));
        let mut woven = BTreeMap::new();
        for (done, (program, names)) in (1..).zip(names) {
            let made = wanted.program(program, &names);
            for name in names {
                let missing = || Err("kassay finds no such kernel in its program".to_owned());
                let why = match &made {
                    Ok(made) => made
                        .kernels
                        .get(name)
                        .map_or_else(missing, |map| map.as_ref().map(|_| ()).map_err(Clone::clone)),
                    Err(why) => Err(why.clone()),
                };
                if let Err(error) = why {
                    let (kernel, program) = (Some(name.to_owned()), Some(program.to_owned()));
                    self.failed.push(Failed { kernel, suite: None, program, error, fault: None });
                }
            }
            woven.extend(made.ok().map(|made| (program.to_owned(), made)));
            open.observer.progress(done, "");
        }
        woven
    }

    /// Puts locations where people find them.
    fn locate(&mut self, mut measured: Vec<Measured>, weaver: &MutantWeaver) -> Result<Vec<Measured>> {
        let mut without_file = BTreeSet::new();
        for Measured { key: (program, _), map, .. } in &mut measured {
            let Some(texts) = weaver.programs().get(program).map(|program| &program.texts) else { continue };
            if judge::locate(map, texts, self.options.texts.as_deref())? {
                without_file.insert(program.clone());
            }
        }
        let what = format!("no file below the working directory holds the text of {}", programs(without_file.len()));
        match (without_file.len(), &self.options.texts) {
            (0, _) => {}
            (_, Some(folder)) => self.notes.push(format!("{what}: it is kept in {}", folder.display())),
            (_, None) => self.notes.push(format!("{what}; -o or --keep keeps it")),
        }
        Ok(measured)
    }

    fn result(
        mut self,
        command: &[OsString],
        (original, spool): (&Tried, &Spool),
        measured: &[Measured],
        entries: &[Entry],
        (started, open, configuration): (Instant, &OpenOptions, &str),
    ) -> Result<MutateSet> {
        let mut kernels = Vec::new();
        for kernel in measured {
            let (program, name) = &kernel.key;
            let own = entries.iter().filter(|entry| (&entry.program, &entry.kernel) == (program, name));
            let own: BTreeMap<&str, &Entry> = own.map(|entry| (entry.id.as_str(), entry)).collect();
            let mut result = judge::result(kernel, &own)?;
            result.header.device = device(spool, program);
            result.header.seed = open.seed.unwrap_or(0);
            result.elapsed_s = started.elapsed().as_secs_f64();
            configuration.clone_into(&mut result.configuration);
            result.options.sample = self.options.sample;
            result.options.timeout_factor = self.options.timeout_factor;
            kernels.push(KernelResult::of_program(result, program, kernel.launches));
        }
        let all: u64 = kernels.iter().map(|kernel| kernel.result.summary.total).sum();
        let runs: u64 = kernels.iter().map(|kernel| kernel.result.timing.pairs).sum();
        let launches: u64 = kernels.iter().map(|kernel| kernel.result.timing.by_launches).sum();
        let without = match launches {
            0 => String::new(),
            _ => {
                format!("; {launches} survive without one: they leave the same memory as the original in all launches")
            }
        };
        self.notes.push(format!("{runs} of {all} mutants needed a run of {TEST}{without}"));
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.result.header.kernel.as_str()).collect();
        let device = kernels.iter().find_map(|kernel| kernel.result.header.device.clone());
        let command: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let source = command.first().cloned().unwrap_or_default();
        let header = Header::new(MutateResult::SET_SCHEMA, names.join(", "), source, device, open.seed.unwrap_or(0));
        let Ended { exit_code, signal, seconds } = ended(original);
        let run = ProgramRun {
            command,
            exit_code,
            signal: signal.map(host::signal_name),
            processes: spool.processes.len() as u64,
            program_s: seconds,
            request: None,
        };
        let unknown = host::unknown_launches(&spool.processes).into_iter();
        self.left_out.extend(unknown.map(|(reason, count)| LeftOut {
            kernel: None,
            program: None,
            reason: reason.name.to_owned(),
            meaning: reason.meaning.to_owned(),
            count,
        }));
        Ok(SetResult {
            failed: self.failed,
            left_out: self.left_out,
            notes: self.notes,
            ..MutateSet::new(header, Some(run), kernels)
        })
    }
}
