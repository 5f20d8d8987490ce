//! Generates a suite for a kernel.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::files::{OutputLock, Sandbox};
use kassay_base::hash;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::observed;
use kassay_judge::generate::campaign::{self, Generated, Kernel, Log, Options};
use kassay_judge::generate::instrumented::Instrumented;
use kassay_judge::generate::interface_file::{self, UserConstraints};
use kassay_judge::generate::journal::{self, Entry};
use kassay_judge::generate::model::KernelModel;
use kassay_judge::generate::mutants::campaign::{self as mutants, CampaignServices, Job};
use kassay_judge::generate::output_dir;
use kassay_judge::generate::roles;
use kassay_judge::generate::search::{Limits, TestInput};
use kassay_judge::generate::seeds::Seeds;
use kassay_judge::mutation::Selection;
use kassay_model::interface::Interface;
use kassay_prove::solve;
use kassay_results::result::Header;
use kassay_results::result::any::AnyResult;
use kassay_results::result::generate::{GenerateResult, Scores};
use kassay_results::result::journal::{Header as JournalHeader, Journal, path_for};
use kassay_results::result::store;
use kassay_run::exec::StartingExecutors;
use kassay_run::exec::simulator;
use kassay_suite::write;
use serde::{Deserialize, Serialize};

use super::executors;
use super::input::{Parsed, SyntaxTree};
use super::observer::Work;
use super::opened::Opened;
use super::options::{MAX_BUDGET, OpenOptions, check_range, options};

/// Share of the budget that launches get even if the preparation has used it up, limited by [`MIN_LAUNCH_TIME`].
const MIN_LAUNCH_SHARE: f64 = 0.1;
const MIN_LAUNCH_TIME: Duration = Duration::from_secs(1);

/// The folder, in that of the suite, of tests that break what the seeds have in common.
const OUTSIDE_INVARIANTS: &str = "beyond";

options! {
    /// Options of [`generate`].
    #[derive(Serialize, Deserialize)]
    pub struct GenerateOptions {
        /// The goal of the search.
        goal: Goal = Goal::Branch,
        /// With [`Goal::Mutants`]: operators, as for [`mutate`](super::mutate).
        operators: String = "all".to_owned(),
        /// With [`Goal::Mutants`]: how many mutants are drawn; `None`: all.
        sample: Option<u64> = None,
        /// The time limit, opening included. [`OpenOptions::budget`] limits the compilation.
        ///
        /// [`OpenOptions::budget`]: super::OpenOptions::budget
        budget: Duration = Duration::from_secs(60),
        /// The limit on the number of launches; with it, equal seeds give equal suites on every machine.
        max_execs: Option<u64> = None,
        /// After how many attempts in a row without progress the search stops (after a quarter of that once all goals
        /// are covered).
        attempts: u64 = 200,
        /// Whether the solver is asked for what fuzzing leaves uncovered.
        smt: bool = true,
        /// With fewer tests, random ones are added that are not needed for the goal.
        tests: u64 = 0,
        /// Whether inputs are fuzzed; without, only the initial launches are made.
        fuzz: bool = true,
        /// Whether to resume an interrupted search from its journal.
        resume: bool = false,
    }
}

/// The goal of [`generate`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// Outcomes of branches.
    #[default]
    Branch,
    /// Test vectors of decisions with two conditions or more (MC/DC), and outcomes of branches.
    Mcdc,
    /// Mutants that survive the tests for the branches.
    Mutants,
}

/// Generates a suite for a kernel and writes it into `folder`, which is created if it does not exist: `suite.toml`
/// with its data, `interface.toml` and `generate.json`, the result. If a suite was opened, the search begins with its
/// launches, and keeps to what they have in common ([`GenerateResult::from`]); launches that break this and reach more
/// are a suite of their own, in the folder `beyond`.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{GenerateOptions, OpenOptions, generate};
///
/// # let folder = std::env::temp_dir().join(format!("kassay-doc-{}", std::process::id()));
/// let opened = OpenOptions::new().open_kernel("testdata/vector_add/vector_add.cl")?;
/// let result = generate(&opened, &folder, &GenerateOptions::new().max_execs(Some(100)))?;
/// assert_eq!(result.coverage.branch.percent(), Some(100.0));
/// assert!(folder.join("suite.toml").exists());
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if the kernel, an option or the interface file is wrong, or tests of a suite that was opened have different
/// values of specialisation constants; those of the device, the journal and the folder.
pub fn generate(opened: &Opened, folder: impl AsRef<Path>, options: &GenerateOptions) -> Result<GenerateResult> {
    let started = opened.begin();
    options.check(opened.options(), folder.as_ref())?;
    let device = &opened.options().device;
    // Detects a missing device before the work starts instead of halfway through it.
    if !device.admits(|executor| executor.checks.faults) {
        StartingExecutors::start(device, &opened.options().workers(), 1)?.ready()?;
    }
    opened.with(SyntaxTree::Needed, |parsed| {
        let with_vectors = (options.goal == Goal::Mcdc).then(|| parsed.under_test.with_vectors()).transpose()?;
        let under_test = with_vectors.as_ref().unwrap_or(&parsed.under_test);
        Generating { opened, parsed, under_test, options, folder: folder.as_ref(), started }.run()
    })
}

impl GenerateOptions {
    /// Checks the options, as far as this can be done without a kernel.
    ///
    /// # Errors
    /// `Caller` if one is wrong.
    pub(crate) fn check(&self, open: &OpenOptions, folder: &Path) -> Result<()> {
        check_range("budget", self.budget, Duration::from_nanos(1)..=MAX_BUDGET)?;
        check_range("attempts", self.attempts, 1..=u64::MAX)?;
        self.max_execs.map_or(Ok(()), |n| check_range("max_execs", n, 1..=u64::MAX))?;
        Selection::parse(&self.operators)?;
        let may_be_simulated = open.device.admits(|executor| executor.checks.faults);
        if self.goal != Goal::Mutants && !may_be_simulated {
            let what = format!("kassay generate runs on the simulator, not on `{}`", open.device);
            return Err(Error::caller(what).help("leave --device out, or give --goal mutants, whose mutants run there"));
        }
        if folder.exists() && !folder.is_dir() {
            return Err(Error::caller(format!("cannot write into {}: it is no folder", folder.display()))
                .help("name a folder with -o"));
        }
        Ok(())
    }
}

/// One call of [`generate`].
struct Generating<'a, 'c> {
    opened: &'a Opened,
    parsed: &'a Parsed<'c>,
    under_test: &'a KernelUnderTest<'c>,
    options: &'a GenerateOptions,
    folder: &'a Path,
    started: Instant,
}

impl Generating<'_, '_> {
    fn run(&self) -> Result<GenerateResult> {
        let Generating { opened, parsed, under_test, options, folder, started } = *self;
        let deadline = started.checked_add(options.budget);
        check_launchable(&under_test.interface)?;
        under_test.fits_the_simulator()?;
        let (seed, jobs) = (opened.seed(), opened.options().jobs);
        // A child process generates the instrumented code meanwhile.
        let observing = observed::begin(under_test, deadline);
        let analysis_start = Instant::now();
        let mut model = match roles::infer_until(under_test, deadline) {
            Err(e) if e.is_late() => return self.unanalysed(&e),
            model => model?,
        };
        let analysis_time = analysis_start.elapsed();
        std::fs::create_dir_all(folder).map_err(|e| write::no_folder(folder, &e))?;
        let _claim = OutputLock::of_folder(folder)?;
        output_dir::check(folder)?;
        output_dir::check(&folder.join(OUTSIDE_INVARIANTS))?;
        let (mut wishes, interface_text) = self.read_or_write_wishes(&model)?;
        wishes.apply(&mut model);
        wishes.seeds = self.seeds(&model, &wishes);
        wishes.keeps_invariants = wishes.seeds.is_some();
        let output = folder.join("generate.json");
        let configuration = journal::configuration(under_test, &interface_text, &self.determining_options());
        if options.resume
            && let Some(result) = completed_result(&output, &configuration)?
        {
            return Ok(result);
        }
        let path = path_for(&output);
        let header = JournalHeader::new("generate", &under_test.entry, &configuration);
        let (journal, known) = match options.resume {
            true => Journal::resume::<Entry>(&path, &header)?,
            false => (Journal::create(&path, &header)?, Vec::new()),
        };
        let instrumented = observing.and_then(|observing| Instrumented::load(under_test, jobs as usize, observing));
        let instrumented = instrumented.map(|instrumented| instrumented.refusing_unwritten_reads(under_test));
        let min_launch_time = options.budget.mul_f64(MIN_LAUNCH_SHARE).min(MIN_LAUNCH_TIME);
        let all = Limits {
            // The preparation may have used up the budget; some launches are made nevertheless.
            end: (started + options.budget).max(Instant::now() + min_launch_time),
            max_execs: options.max_execs,
            attempts: if options.fuzz { options.attempts } else { 0 },
            launch: opened.options().timeout,
        };
        let limits = match options.goal {
            Goal::Branch | Goal::Mcdc => all.clone(),
            Goal::Mutants => mutants::branch_limits(&all),
        };
        let source = opened.source();
        let search_options = Options {
            seed,
            limits,
            solve: options.smt,
            tests: options.tests,
            started,
            source: source.clone(),
            analysis_time,
        };
        let (known_mutants, known) = known.into_iter().partition(Entry::is_of_mutants);
        let log = Log { journal: Some(&journal), known };
        let observer = opened.observer();
        let work = Work::begin(observer, "launches", None);
        let mut progress = |executions: u64, covered: usize, all: usize| {
            observer.progress(executions, &format!("{covered} of {all} outcomes covered"));
        };
        let (mut instrumented, mut generated) = match instrumented {
            Err(e) if e.is_late() => (None, campaign::without_launches(under_test, &source, started, &e)),
            instrumented => {
                let mut instrumented = instrumented?;
                let generated = campaign::generate(
                    under_test,
                    &model,
                    &wishes,
                    &search_options,
                    &mut instrumented,
                    &mut progress,
                    log,
                )?;
                (Some(instrumented), generated)
            }
        };
        drop(work);
        let arguments = opened.kernel_options().as_arguments();
        let spec = &opened.kernel_options().spec;
        let kernel = Kernel { path: opened.kernel_file(), options: &arguments, spec };
        let from = generated.from.take();
        self.write_outside(kernel, &generated.outside)?;
        let (generated, scores) = match (options.goal, &mut instrumented) {
            (Goal::Branch | Goal::Mcdc, _) | (_, None) => {
                campaign::write_suite(folder, kernel, under_test, &generated.tests)?;
                (generated, None)
            }
            (Goal::Mutants, Some(instrumented)) => {
                let job = Job {
                    under_test,
                    ast: parsed.loaded.ast.as_ref(),
                    sources: &opened.sources(),
                    model: &model,
                    constraints: &wishes,
                    options: &Options { limits: all, ..search_options },
                    selection: Selection::parse(&options.operators)?,
                    sample: options.sample,
                    jobs,
                    folder,
                    kernel,
                };
                let log = Log { journal: Some(&journal), known: known_mutants };
                self.kill_mutants(&job, generated, instrumented, log)?
            }
        };
        let result = GenerateResult { scores, from, ..self.result(generated, configuration) };
        store::write(&result, &output)?;
        // The result is complete: a journal that stays must not cost it.
        if let Err(e) = journal.remove() {
            observer.note(&e.to_string());
        }
        Ok(result)
    }

    /// Returns the launches of the suite that was opened, with what they have in common; `None` if it was a kernel.
    fn seeds(&self, model: &KernelModel, wishes: &UserConstraints) -> Option<Arc<Seeds>> {
        let suite = self.opened.suite_file()?;
        let tests = self.parsed.tests.iter().map(|test| (test.name.clone(), test.launch.clone()));
        let max_group = simulator::device().max_work_group_size;
        let suite = suite.display().to_string();
        Some(Arc::new(Seeds::learn(suite, tests, model, wishes.usual_items, max_group)))
    }

    /// Writes the tests that break likely invariants as a suite of their own; an earlier one is replaced even if there
    /// are none.
    fn write_outside(&self, kernel: Kernel<'_>, tests: &[TestInput]) -> Result<()> {
        let folder = self.folder.join(OUTSIDE_INVARIANTS);
        if tests.is_empty() && !folder.join("suite.toml").exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&folder).map_err(|e| write::no_folder(&folder, &e))?;
        campaign::write_suite(&folder, kernel, self.under_test, tests)
    }

    /// Writes an empty suite for a kernel whose analysis exceeded the budget.
    fn unanalysed(&self, late: &Error) -> Result<GenerateResult> {
        let Generating { opened, under_test, folder, started, .. } = *self;
        std::fs::create_dir_all(folder).map_err(|e| write::no_folder(folder, &e))?;
        output_dir::check(folder)?;
        let generated = campaign::without_launches(under_test, &opened.source(), started, late);
        let arguments = opened.kernel_options().as_arguments();
        let spec = &opened.kernel_options().spec;
        let kernel = Kernel { path: opened.kernel_file(), options: &arguments, spec };
        campaign::write_suite(folder, kernel, under_test, &[])?;
        // There is neither an interface file nor a journal to resume.
        let configuration = journal::configuration(under_test, "", &self.determining_options());
        let result = self.result(generated, configuration);
        store::write(&result, &folder.join("generate.json"))?;
        Ok(result)
    }

    /// Returns the options that determine goals and tests, except those that show in the compiled code.
    fn determining_options(&self) -> String {
        let GenerateOptions { goal, attempts, smt, fuzz, operators, sample, tests, .. } = self.options;
        let open = self.opened.options();
        let more = match goal {
            Goal::Branch | Goal::Mcdc => String::new(),
            Goal::Mutants => format!(" {operators} {sample:?} {}", open.device),
        };
        let (seed, timeout) = (self.opened.seed(), open.timeout.as_secs_f64());
        let tests = if *tests > 0 { format!(" {tests} tests") } else { String::new() };
        let launches: Vec<_> = self.parsed.tests.iter().map(|test| (&test.name, &test.launch)).collect();
        let from = match self.opened.is_suite() {
            true => format!(" from {}", hash::hex_digest(format!("{launches:?}").as_bytes())),
            false => String::new(),
        };
        format!("{goal:?} {seed} {attempts} {} {} {timeout}{more}{tests}{from}", !smt, !fuzz)
    }

    /// With [`Goal::Mutants`]: adds tests to the suite that covers the branches, and writes the mutation result of
    /// all tests.
    fn kill_mutants(
        &self,
        job: &Job<'_, '_>,
        branch: Generated,
        runs: &mut Instrumented<'_>,
        log: Log<'_>,
    ) -> Result<(Generated, Option<Scores>)> {
        let (opened, observer) = (self.opened, self.opened.observer());
        let work = Work::begin(observer, "inputs", None);
        let mut progress = |executions: u64, killed: usize, all: usize| {
            observer.progress(executions, &format!("{killed} of {all} mutants killed that were left"));
        };
        let mut is_said = false;
        let mut start_executors = || {
            let starting = opened.start(opened.options().jobs as usize)?;
            let started = executors::start_executors(opened, starting, &[])?;
            let Some(why) = executors::unfit_for(self.under_test, started[0].as_ref()) else { return Ok(started) };
            if !std::mem::replace(&mut is_said, true) {
                observer.note(&format!("mutants are judged on the simulator: {why}"));
            }
            executors::or_simulators(started, Some(&why))
        };
        let services = CampaignServices { executors: &mut start_executors, runner: runs, progress: &mut progress, log };
        let done = mutants::generate(job, branch, services)?;
        drop(work);
        if let Some(mutation) = &done.mutation {
            store::write(mutation, &self.folder.join("mutate.json"))?;
        }
        Ok((done.generated, Some(done.scores)))
    }

    /// Reads the interface file if it exists, otherwise writes it. Returns the wishes in it and its text, including
    /// the values of files that it names.
    fn read_or_write_wishes(&self, model: &KernelModel) -> Result<(UserConstraints, String)> {
        let under_test = self.under_test;
        let path = self.folder.join("interface.toml");
        if path.exists() {
            let sandbox = under_test.sandbox.as_ref().map(|_| Sandbox::around(&path)).transpose()?;
            let seed = self.opened.seed();
            let wishes = interface_file::read(&path, &under_test.interface, model.dims, seed, sandbox.as_ref())?;
            let text = std::fs::read_to_string(&path)
                .map_err(|e| Error::environment(format!("cannot read {}: {e}", path.display())))?;
            // The files that it names are part of the configuration.
            let values: Vec<_> = wishes.args.iter().filter_map(|a| a.value.as_ref()).collect();
            let text = if values.is_empty() { text } else { format!("{text}{values:?}") };
            return Ok((wishes, text));
        }
        let text = interface_file::text(model);
        store::write_text(&text, &path)?;
        self.opened
            .observer()
            .note(&format!("what kassay takes the arguments for is in {}; edit it and generate again", path.display()));
        Ok((UserConstraints::none(&under_test.interface), text))
    }

    /// Builds the result.
    fn result(&self, generated: Generated, configuration: String) -> GenerateResult {
        let tests = generated.rows();
        GenerateResult {
            header: Header::new(
                GenerateResult::SCHEMA,
                self.under_test.entry.clone(),
                self.opened.source(),
                Some(executors::device(&simulator::device())),
                self.opened.seed(),
            ),
            configuration,
            elapsed_s: self.started.elapsed().as_secs_f64(),
            coverage: generated.coverage,
            goals: generated.goals,
            tests,
            summary: generated.summary,
            scores: None,
            from: generated.from,
            solver: Some(solve::solver()),
            notes: generated.notes,
        }
    }
}

/// Returns the complete result of an earlier run with the same configuration, with which nothing is left to resume.
/// `None` if there is a journal to resume from, or no result.
///
/// # Errors
/// `Caller` if there is a result of another run, which `--resume` must not replace.
fn completed_result(output: &Path, configuration: &str) -> Result<Option<GenerateResult>> {
    if path_for(output).exists() {
        return Ok(None);
    }
    // Any other file is replaced, as without --resume.
    let Ok(Ok(result)) = store::read(output).map(AnyResult::one::<GenerateResult>) else { return Ok(None) };
    if result.configuration == configuration {
        return Ok(Some(result));
    }
    Err(Error::caller(format!(
        "{} is the result of another run: its configuration is `{}`, this run's is `{configuration}`",
        output.display(),
        result.configuration
    ))
    .help("resume with the kernel, interface file and options that it was begun with, or leave out --resume to begin anew"))
}

/// Rejects a kernel whose required work-group size exceeds the simulator's limit.
fn check_launchable(interface: &Interface) -> Result<()> {
    let max = simulator::device().max_work_group_size;
    let Some(required) = interface.required_local else { return Ok(()) };
    if required.iter().try_fold(1u64, |n, size| n.checked_mul(*size)).is_some_and(|n| n <= max) {
        return Ok(());
    }
    let [x, y, z] = required;
    let what =
        format!("the kernel requires work-groups of {x} x {y} x {z} work-items; the simulator takes up to {max}");
    Err(Error::caller(what).help("give reqd_work_group_size smaller sizes"))
}
