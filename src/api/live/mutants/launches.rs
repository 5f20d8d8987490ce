//! Mutants that no launch of the program notices: they run on the launches of a run of which all were captured, without
//! the program.
//!
//! A mutant that leaves the same bytes in all memory as the program's own kernel, in every launch of it, leaves the
//! program in the same state after each, by induction. So the program could not notice, and needs no run.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_ir::instrument::layout::GuardLayout;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::View;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::mutation::catalogue::item_interaction;
use kassay_judge::mutation::run::synchronisation;
use kassay_judge::sync::inputs;
use kassay_results::result::probe_map::{Mutant, Origin};
use kassay_run::exec::{Code, DeviceRequest, ProgramId, StartedExecutors};
use kassay_run::host::{self, CaptureSettings, Contents, LaunchedKernel, Session, Spool};

use super::super::super::host_kernel::{Folder, HostKernel};
use super::super::super::input::SyntaxTree;
use super::super::super::observer::Work;
use super::super::super::options::OpenOptions;
use super::judge::{Entry, Measured};
use super::options::MutateProgramOptions;
use super::oracle::Shown;
use super::replay::{Loaded, Possible, REPEATS, Replay};
use super::runs::{Bounds, GRACE, MOST_OUTPUT, Ran, Runner};
use super::weaver::KernelKey;

/// Launches of a kernel that are captured at most: each is a file, with more for its contents.
const MOST_LAUNCHES: u64 = 2000;

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

/// A run of which launches were captured.
struct Captured {
    /// Holds the spool's files.
    session: Session,
    spool: Spool,
    launched: BTreeMap<KernelKey, LaunchedKernel>,
}

/// Hashes of what each launch of a kernel gets, in no order: threads and processes may take turns. Memory to which
/// nothing was written holds anything.
fn inputs_of(kernel: &LaunchedKernel) -> Vec<u64> {
    let launch = |(_, launch): &(usize, host::Launch)| {
        let host::Launch { offset, global, local, arguments, memory, .. } = launch;
        let before = memory.iter().map(|memory| memory.before.as_ref().filter(|_| memory.written != Some(false)));
        hash::of((offset, global, local, arguments, before.collect::<Vec<_>>()))
    };
    let mut all: Vec<u64> = kernel.kept.iter().map(launch).collect();
    all.sort_unstable();
    all
}

impl Launches<'_> {
    /// Runs the program twice, captures all launches of the kernels, and runs the mutants on them. Those that are not
    /// decided have to be judged by the program.
    ///
    /// # Errors
    /// As [`Runner::first`]; `Environment` if files cannot be read, or a worker fails.
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
            max_launches: u64::from(u32::MAX),
            max_bytes: self.options.max_bytes,
            kernels: names.into_iter().cloned().collect(),
            all: true,
            ..CaptureSettings::nothing(self.options.shown_as_gpu)
        };
        // It must not take longer than what it may save.
        let count: usize = kernels.values().map(|wanted| wanted.mutants.len()).sum();
        let time = GRACE + Duration::from_secs_f64(self.slowest * count as f64);
        let (first, second) = match (self.captured(&settings, time)?, self.captured(&settings, time)?) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(why), _) | (_, Err(why)) => {
                decided.not.extend(kernels.into_keys().map(|key| (key, why.clone())));
                return Ok(decided);
            }
        };
        kernels.retain(|key, _| {
            let of = |captured: &Captured| captured.launched.get(key).map(inputs_of);
            let is_same = of(&first) == of(&second);
            if !is_same {
                decided.not.insert(key.clone(), "its inputs are others in each run of the program".to_owned());
            }
            is_same
        });
        drop(second);
        let Captured { session, spool, mut launched } = first;
        let mut contents = Contents::new(&spool);
        for (number, (key, wanted)) in kernels.into_iter().enumerate() {
            let started = Instant::now();
            let folder = session.spool().join(format!("replay-{number}"));
            let of_kernel = match launched.remove(&key) {
                Some(launched) => self.kernel(&wanted, launched, &spool, &mut contents, &folder)?,
                None => Err("the run that was to capture them did not launch it".to_owned()),
            };
            match of_kernel {
                Ok(entries) => decided.entries.extend(entries),
                Err(why) => decided.not.extend([(key.clone(), why)]),
            }
            decided.seconds.insert(key, started.elapsed().as_secs_f64());
        }
        Ok(decided)
    }

    /// Runs the program and captures all launches. `Err` if it does not end as it should.
    fn captured(&self, settings: &CaptureSettings, time: Duration) -> Result<Possible<Captured>> {
        let session = Session::new(&std::env::temp_dir(), settings)?;
        let runner = Runner {
            session: &session,
            command: self.command,
            oracle: &self.options.oracle,
            most_bytes: self.options.max_bytes,
        };
        let _work = Work::begin(self.open.observer.as_ref(), "launches", None);
        let Ran { shown, mut spool, .. } = runner.first(Bounds { time, output: MOST_OUTPUT })?;
        if let Some(difference) = self.options.oracle.difference(self.original, &shown) {
            return Ok(Err(format!("in the run that was to capture them, {difference}")));
        }
        let launched = host::kernels_of(&mut spool.processes, None).into_iter();
        let launched = launched.map(|kernel| ((kernel.program.clone(), kernel.name.clone()), kernel)).collect();
        Ok(Ok(Captured { session, spool, launched }))
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
            let target = code.as_device().map(|code| code.target);
            if executors.iter().any(|executor| Some(executor.target()) != target) {
                return Ok(Err("no device runs its modules".to_owned()));
            }
            let programs: Result<Vec<ProgramId>> = executors.iter_mut().map(|executor| executor.load(&code)).collect();
            match programs {
                Ok(programs) => loaded.push(Loaded { programs, mutants }),
                Err(error) if error.exit_code() == 3 => return Err(error),
                Err(_) => return Ok(Err("the driver does not build its modules".to_owned())),
            }
        }
        let mut replay = Replay {
            factor: self.options.timeout_factor,
            timeout: self.open.timeout,
            kernel: wanted.kernel,
            guards,
            layout,
            outputs: inputs::outputs(interface).iter().map(|output| (output.position, output.name())).collect(),
            repeats: if interacts { REPEATS } else { 1 },
            executors: &mut executors,
            loaded,
        };
        let _work = Work::begin(self.open.observer.as_ref(), "launches", Some(launched.launches));
        let started = Instant::now();
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
            if done < launched.kept.len() && started.elapsed().as_secs_f64() > self.slowest * open as f64 {
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
            match HostKernel::open(&open, &Folder::Own(folder), &launched.name, form, &BTreeSet::new()) {
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
    if kernel.launches > MOST_LAUNCHES {
        return Some("it has more launches than are captured for that");
    }
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
