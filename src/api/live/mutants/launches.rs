//! Mutants that no launch of the program notices: they run on the launches of a run of which all were captured, without the
//! program.
//!
//! A mutant that leaves the same bytes in all memory as the program's own kernel, in every launch of it, leaves the program in
//! the same state after each, by induction. So the program could not notice, and needs no run.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::super::host_kernel::HostKernel;
use super::super::super::input::SyntaxTree;
use super::super::super::observer::{self, Work};
use super::super::super::options::OpenOptions;
use super::GRACE;
use super::judge::{Entry, Measured};
use super::options::MutateProgramOptions;
use super::oracle::Shown;
use super::runs::{Bounds, MOST_OUTPUT, Runner};
use super::weaver::KernelKey;
use crate::coverage::build::KernelUnderTest;
use crate::error::{Error, Result};
use crate::exec::{
    Code, DeviceRequest, Executor, ProgramId, Reference, RunOptions, StartedExecutors, Sweep, Target, Variation,
    VariationOutcome,
};
use crate::host::{self, CaptureSettings, Contents, Converted, LaunchedKernel, Session, Spool};
use crate::instrument::layout::{FaultKind, GuardLayout, argument};
use crate::kernel::builtins::{self, Family};
use crate::llvm::View;
use crate::mutation::{baseline, item_interaction, synchronisation};
use crate::result::probe_map::{GuardMap, Mutant, Origin};
use crate::suite::compare::Tolerance;
use crate::suite::launch::{ArgValue, Launch};
use crate::sync::inputs;

/// Runs of the original on each launch, which must all leave what the program's own launch left.
const REPEATS: u32 = 3;
/// Bytes in memory to which nothing was written before a launch, in a second run: what is there then is a matter of chance.
const PATTERN: u8 = 0xa5;

/// What is needed to run mutants on the program's launches.
pub struct Launches<'a> {
    pub command: &'a [OsString],
    pub open: &'a OpenOptions,
    pub options: &'a MutateProgramOptions,
    /// What the program shows.
    pub original: &'a Shown,
    /// Seconds of the program's longest run.
    pub slowest: f64,
    /// The folder of the woven modules.
    pub woven: &'a Path,
}

/// What the launches decide.
#[derive(Default)]
pub struct Decided {
    /// Mutants that survive.
    pub entries: Vec<Entry>,
    /// Why they decide about no mutant of a kernel, for people.
    pub not: BTreeMap<KernelKey, String>,
    /// Seconds, by kernel.
    pub seconds: BTreeMap<KernelKey, f64>,
}

/// A kernel whose launches may decide about these mutants.
struct Wanted<'a> {
    kernel: &'a Measured,
    mutants: Vec<&'a Mutant>,
}

/// Something that holds, or the reason why it does not, for people.
type Possible<T> = std::result::Result<T, String>;

impl Launches<'_> {
    /// Runs the program once, captures all launches of the kernels, and runs the mutants on them. Those that are not decided have to
    /// be judged by the program.
    ///
    /// # Errors
    /// Those of [`Runner::first`]; `Environment` if files cannot be read, or a worker fails.
    pub fn decide(&self, wanted: &[(&Measured, &Mutant)]) -> Result<Decided> {
        let mut decided = Decided::default();
        let mut kernels: BTreeMap<KernelKey, Wanted<'_>> = BTreeMap::new();
        for (kernel, mutant) in wanted {
            // Whether these show is a matter of luck.
            if !synchronisation::is_of_synchronisation(&mutant.operator) {
                let new = || Wanted { kernel, mutants: Vec::new() };
                kernels.entry(kernel.key.clone()).or_insert_with(new).mutants.push(mutant);
            }
        }
        kernels.retain(|key, wanted| match refused(wanted.kernel) {
            Some(why) => {
                decided.not.insert(key.clone(), why.to_owned());
                false
            }
            None => true,
        });
        if kernels.is_empty() {
            return Ok(decided);
        }
        let names: BTreeSet<&String> = kernels.keys().map(|(_, name)| name).collect();
        let settings = CaptureSettings {
            after: true,
            as_gpu: self.options.as_gpu,
            max_launches: u64::from(u32::MAX),
            max_bytes: self.options.max_bytes,
            kernels: names.into_iter().cloned().collect(),
            all: true,
        };
        let session = Session::new(&std::env::temp_dir(), &settings)?;
        let runner = Runner {
            session: &session,
            command: self.command,
            oracle: &self.options.oracle,
            most_bytes: self.options.max_bytes,
        };
        // It must not take longer than what it may save.
        let count: usize = kernels.values().map(|wanted| wanted.mutants.len()).sum();
        let time = GRACE + Duration::from_secs_f64(self.slowest * count as f64);
        let ran = {
            let _work = Work::begin(self.open.observer.as_ref(), "launches", None);
            runner.first(Bounds { time, output: MOST_OUTPUT })?
        };
        if let Some(difference) = self.options.oracle.difference(self.original, &ran.shown) {
            let why = format!("in the run that was to capture them, {difference}");
            decided.not.extend(kernels.into_keys().map(|key| (key, why.clone())));
            return Ok(decided);
        }
        let mut spool = ran.spool;
        let mut launched: BTreeMap<KernelKey, LaunchedKernel> = host::kernels_of(&mut spool.processes, None)
            .into_iter()
            .map(|kernel| ((kernel.program.clone(), kernel.name.clone()), kernel))
            .collect();
        let mut contents = Contents::new(&spool);
        for (number, (key, wanted)) in kernels.into_iter().enumerate() {
            let begun = Instant::now();
            let folder = session.spool().join(format!("replay-{number}"));
            let of_kernel = match launched.remove(&key) {
                Some(launched) => self.kernel(&wanted, launched, &spool, &mut contents, &folder)?,
                None => Err("the run that was to capture them did not launch it".to_owned()),
            };
            match of_kernel {
                Ok(entries) => decided.entries.extend(entries),
                Err(why) => decided.not.extend([(key.clone(), why)]),
            }
            decided.seconds.insert(key, begun.elapsed().as_secs_f64());
        }
        Ok(decided)
    }

    /// Runs the mutants of a kernel on its launches.
    fn kernel(
        &self,
        wanted: &Wanted<'_>,
        launched: LaunchedKernel,
        spool: &Spool,
        contents: &mut Contents,
        folder: &Path,
    ) -> Result<Possible<Vec<Entry>>> {
        if let Some((reason, count)) = launched.left_out.iter().next() {
            return Ok(Err(format!("{count} of its launches were not captured: {}", reason.meaning)));
        }
        if launched.launches != wanted.kernel.launches || launched.kept.len() as u64 != launched.launches {
            let (launches, before) = (launched.kept.len(), wanted.kernel.launches);
            return Ok(Err(format!("{launches} launches were captured, and {before} in another run")));
        }
        let opened = match self.opened(&launched, spool, folder) {
            Ok(opened) => opened,
            Err(error) if error.exit_code() == 3 => return Err(error),
            Err(error) => return Ok(Err(error.to_string())),
        };
        let interacts = opened.opened.with(SyntaxTree::NotNeeded, |parsed| {
            let under_test = &parsed.under_test;
            Ok((!prints(under_test)).then(|| item_interaction::work_items_interact(under_test)))
        })?;
        let Some(interacts) = interacts else { return Ok(Err("it prints, which memory does not show".to_owned())) };
        let (map, interface) = (&wanted.kernel.map, opened.opened.interface());
        let Some(guards) = map.guards.as_ref() else { return Ok(Err("its modules have no guards".to_owned())) };
        let layout = GuardLayout { args: interface.args.len() as u32 };
        if layout.words(1, 0) != u64::from(guards.length) {
            return Ok(Err("it has other arguments where its mutants are".to_owned()));
        }
        let jobs = (self.open.jobs as usize).clamp(1, wanted.mutants.len().max(1));
        let started = opened.opened.start(jobs).and_then(|starting| starting.ready());
        let mut executors = match started {
            Ok(StartedExecutors { executors, .. }) => executors,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if executors.iter().any(|executor| executor.target() != Target::SpirV) {
            return Ok(Err("no device runs its modules".to_owned()));
        }
        let mut modules: BTreeMap<u32, Vec<&Mutant>> = BTreeMap::new();
        for mutant in &wanted.mutants {
            modules.entry(mutant.module).or_default().push(mutant);
        }
        let mut loaded = Vec::new();
        for (module, mutants) in modules {
            let about = map.modules.get(module as usize);
            let Some((about, file)) = about.and_then(|about| Some((about, about.file.as_ref()?))) else { continue };
            let path = self.woven.join(file);
            let code = fs::read(&path).map_err(|error| {
                Error::environment(format!("a woven module cannot be read: {error}"))
                    .help("leave kassay's temporary folder alone while it runs")
            })?;
            let code = Code::spirv(code, &wanted.kernel.key.1, about.build_options.clone());
            let programs: Result<Vec<ProgramId>> = executors.iter_mut().map(|executor| executor.load(&code)).collect();
            match programs {
                Ok(programs) => loaded.push(Loaded { programs, mutants }),
                Err(error) if error.exit_code() == 3 => return Err(error),
                Err(_) => return Ok(Err("the driver does not build its modules".to_owned())),
            }
        }
        let mut replay = Replay {
            launches: self,
            kernel: wanted.kernel,
            guards,
            layout,
            outputs: inputs::outputs(interface).iter().map(|output| (output.position, output.name())).collect(),
            repeats: if interacts { REPEATS } else { 1 },
            executors: &mut executors,
            loaded,
        };
        let _work = Work::begin(self.open.observer.as_ref(), "launches", Some(launched.launches));
        let begun = Instant::now();
        let mut seen = HashSet::new();
        for (done, (_, launch)) in (1..).zip(&launched.kept) {
            // Programs often make the same launch again.
            let inputs = (&launch.offset, &launch.global, &launch.local, &launch.arguments, &launch.memory);
            if seen.insert(inputs) {
                let converted = match host::convert(launch, interface, contents) {
                    Ok(converted) => converted,
                    Err(reason) => {
                        return Ok(Err(format!("launch {} cannot be replayed: {}", launch.launch, reason.meaning)));
                    }
                };
                if let Err(why) = replay.launch(converted)? {
                    return Ok(Err(format!("launch {}: {why}", launch.launch)));
                }
            }
            let open: usize = replay.loaded.iter().map(|loaded| loaded.mutants.len()).sum();
            if open == 0 {
                break;
            }
            if done < launched.kept.len() && begun.elapsed().as_secs_f64() > self.slowest * open as f64 {
                return Ok(Err("running its mutants on all launches takes longer than running the program".to_owned()));
            }
            self.open.observer.progress(done as u64, "");
        }
        let left = replay.loaded.iter().flat_map(|loaded| &loaded.mutants);
        Ok(Ok(left.map(|mutant| Entry::same_in_launches(&wanted.kernel.key, &mutant.id)).collect()))
    }

    /// Compiles the kernel for its interface, on the program's device.
    fn opened(&self, launched: &LaunchedKernel, spool: &Spool, folder: &Path) -> Result<HostKernel> {
        let program = spool.programs.get(&launched.program);
        let device = program.map(|program| program.device.name.clone()).filter(|name| !name.is_empty());
        let device = device.map_or(DeviceRequest::Auto, DeviceRequest::Name);
        let open = self.open.clone().syntax_tree(false).device(device);
        let forms = program.map(|program| host::code_of(spool, program)).unwrap_or_default();
        let mut why = None;
        for form in &forms {
            match HostKernel::open(&open, folder, &launched.name, form, &BTreeSet::new()) {
                Err(error) if error.exit_code() != 3 => {
                    why.get_or_insert(error);
                    let _ = fs::remove_dir_all(folder);
                }
                done => return done,
            }
        }
        Err(why.unwrap_or_else(|| Error::caller("its program's code is in no form that kassay reads")))
    }
}

/// Returns why launches cannot decide about mutants of a kernel, as far as it is known before they are captured.
fn refused(kernel: &Measured) -> Option<&'static str> {
    if kernel.has_faults {
        return Some("guards record faults of the original");
    }
    let is_variable = |origin: &Origin| matches!(origin, Origin::Variable { .. });
    // What they hold is not captured.
    kernel.map.args.iter().any(|arg| is_variable(&arg.origin)).then_some("it uses variables of its program")
}

/// Whether it calls `printf`.
fn prints(under_test: &KernelUnderTest<'_>) -> bool {
    View::of(&under_test.module)
        .functions()
        .iter()
        .any(|f| !f.has_body() && builtins::family(&f.name()) == Some(Family::Printf))
}

/// A module with the mutants that no launch has told from the original so far.
struct Loaded<'a> {
    /// By executor.
    programs: Vec<ProgramId>,
    mutants: Vec<&'a Mutant>,
}

/// Runs the mutants of a kernel on one launch after the other.
struct Replay<'a> {
    launches: &'a Launches<'a>,
    kernel: &'a Measured,
    guards: &'a GuardMap,
    layout: GuardLayout,
    /// The arguments that a kernel could write to: positions and names.
    outputs: Vec<(u32, String)>,
    /// Runs of each mutant on each launch.
    repeats: u32,
    /// At least one.
    executors: &'a mut [Box<dyn Executor>],
    loaded: Vec<Loaded<'a>>,
}

impl Replay<'_> {
    /// Runs the mutants on a launch, and leaves only those that could not be told from the original. `Err` if the original could be
    /// told from itself.
    fn launch(&mut self, converted: Converted) -> Result<Possible<()>> {
        let Converted { launch, expectations } = converted;
        let left: BTreeMap<u32, Arc<Vec<u8>>> =
            expectations.into_iter().map(|expected| (expected.position, expected.bytes)).collect();
        let references = self.references(&launch, |position| left.get(&position).cloned());
        if let Err(why) = self.case(&launch, &references)? {
            return Ok(Err(why));
        }
        let Some(other) = with_pattern(&launch) else { return Ok(Ok(())) };
        let Some(first) = self.loaded.iter().find(|loaded| !loaded.mutants.is_empty()) else { return Ok(Ok(())) };
        let options = RunOptions {
            timeout: self.launches.open.timeout,
            repeats: 1,
            probe_words: Some(u64::from(self.guards.length)),
            outputs: true,
        };
        let head = self.head(&other);
        let observed = match self.executors[0].run_with_probe(first.programs[0], &other, &options, &head)? {
            Ok(observed) => observed,
            Err(fault) => {
                return Ok(Err(format!("with other contents of memory that was not written before, it {fault}")));
            }
        };
        let mut left: BTreeMap<u32, Arc<Vec<u8>>> =
            observed.outputs.into_iter().map(|(position, bytes)| (position, Arc::new(bytes))).collect();
        let references = self.references(&other, |position| left.remove(&position));
        Ok(self
            .case(&other, &references)?
            .map_err(|why| format!("{why}, with other contents of memory that was not written before")))
    }

    /// What is in memory afterwards, to the bit; where nothing is `left`, what was there before.
    fn references(&self, launch: &Launch, mut left: impl FnMut(u32) -> Option<Arc<Vec<u8>>>) -> Vec<Reference> {
        let reference = |(position, label): &(u32, String)| {
            let before = match launch.args.get(*position as usize)? {
                ArgValue::Buffer(bytes) | ArgValue::Image { texels: bytes, .. } if !bytes.is_empty() => bytes.clone(),
                _ => return None,
            };
            let bytes = left(*position).unwrap_or(before);
            let (position, label) = (*position, label.clone());
            Some(Reference { position, label, bytes, ty: None, tolerance: Tolerance::default() })
        };
        self.outputs.iter().filter_map(reference).collect()
    }

    /// The beginning of the probe buffer, as the layer fills it.
    fn head(&self, launch: &Launch) -> Vec<u32> {
        let fuel = baseline::fuel(self.kernel.fuel_used, self.launches.options.timeout_factor);
        let mut words = vec![0; self.guards.length as usize];
        words[self.guards.fuel as usize] = fuel;
        for position in 0..self.layout.args {
            let extent = match launch.value(position) {
                Some(ArgValue::Local(bytes)) => *bytes,
                _ => launch.reach(position).unwrap_or(0),
            };
            let at = (self.layout.argument(position) + argument::EXTENT) as usize;
            words[at..at + 2].copy_from_slice(&[extent as u32, (extent >> 32) as u32]);
        }
        words
    }

    /// Runs the original and the mutants on a launch, after which there must be these contents.
    fn case(&mut self, launch: &Launch, references: &[Reference]) -> Result<Possible<()>> {
        let (guards, open) = (self.guards, self.launches.open);
        let head = self.head(launch);
        let factor = self.launches.options.timeout_factor;
        for loaded in self.loaded.iter_mut().filter(|loaded| !loaded.mutants.is_empty()) {
            let sweep = |executor: &mut Box<dyn Executor>, program, numbers: &[u32], repeats, timeout| {
                let variation = |number: &u32| Variation { words: vec![(guards.mutant, *number)] };
                let variations: Vec<Variation> = numbers.iter().map(variation).collect();
                let sweep = Sweep {
                    launch,
                    probe: &head,
                    probe_words: u64::from(guards.length),
                    variations: &variations,
                    references,
                    repeats,
                    timeout,
                    words: guards.fault..guards.fault + 1,
                    decisive: Some(guards.fault),
                    batch: None,
                };
                executor.sweep(program, &sweep).map(|swept| swept.runs)
            };
            let begun = Instant::now();
            let original = sweep(&mut self.executors[0], loaded.programs[0], &[0], REPEATS, open.timeout)?;
            if let Some(why) = original.iter().find_map(difference) {
                return Ok(Err(format!("the program's own launch is not reproduced to the bit: {why}")));
            }
            let timeout = GRACE + (begun.elapsed() / REPEATS).mul_f64(factor);
            let share = loaded.mutants.len().div_ceil(self.executors.len()).max(1);
            let parts: Vec<Vec<u32>> =
                loaded.mutants.chunks(share).map(|part| part.iter().map(|mutant| mutant.number).collect()).collect();
            let mut runners: Vec<(&mut Box<dyn Executor>, ProgramId)> =
                self.executors.iter_mut().zip(loaded.programs.iter().copied()).collect();
            let repeats = self.repeats;
            let swept =
                observer::run_parallel(&mut runners, &parts, "", &observer::Silent, |(executor, program), part| {
                    sweep(executor, *program, part, repeats, timeout)
                })?;
            let mut outcomes = swept.into_iter().flatten();
            // One that faults or runs out of fuel is not decided, either.
            loaded.mutants.retain(|_| outcomes.next().is_some_and(|outcome| difference(&outcome).is_none()));
        }
        Ok(Ok(()))
    }
}

/// How a variation differs from the references: by contents, or by a fault.
fn difference(outcome: &VariationOutcome) -> Option<String> {
    match outcome {
        VariationOutcome::Fault(fault) => Some(format!("it {fault}")),
        VariationOutcome::Ran(runs) => runs.iter().find_map(|run| {
            let fault = run.words.first().and_then(|word| FaultKind::read(*word));
            run.difference.clone().or(fault.map(|(kind, _)| kind.words().to_owned()))
        }),
    }
}

/// The launch with other contents of memory to which nothing was written before; `None` if there is no such memory.
fn with_pattern(launch: &Launch) -> Option<Launch> {
    let mut other = launch.clone();
    let mut is_other = false;
    for (position, value) in (0..).zip(&mut other.args) {
        if let ArgValue::Buffer(bytes) = value
            && launch.view(position).uninitialised
        {
            *bytes = Arc::new(vec![PATTERN; bytes.len()]);
            is_other = true;
        }
    }
    is_other.then_some(other)
}
