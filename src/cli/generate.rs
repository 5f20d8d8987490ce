//! `kassay generate`: generates a suite for a kernel.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use inkwell::context::Context;

use super::options::{ExecutionFlags, Format, KernelFlags, OutputFlags, note, shown, warn};
use super::session;
use crate::coverage::build::{self, KernelFile, KernelUnderTest};
use crate::coverage::observed;
use crate::error::{Error, Result};
use crate::exec::{StartingExecutors, WorkerOptions};
use crate::generate::campaign::{self, Generated, Instrumented, Kernel, Log, Options};
use crate::generate::interface_file::{self, UserConstraints};
use crate::generate::journal::{self, Entry};
use crate::generate::model::KernelModel;
use crate::generate::mutants::campaign::{self as mutants, CampaignServices, Job};
use crate::generate::output_dir;
use crate::generate::roles;
use crate::generate::search::Limits;
use crate::kernel::compile;
use crate::kernel::interface::Interface;
use crate::kernel::options::KernelOptions;
use crate::kernel::source::Sources;
use crate::mutation::Selection;
use crate::report::text;
use crate::result::Header;
use crate::result::generate::{GenerateResult, Scores};
use crate::result::journal::{Header as JournalHeader, Journal, path_for};
use crate::result::store::{self, AnyResult};
use crate::suite::write;

/// Share of the budget that launches get even if the preparation has used it up, limited by [`MIN_LAUNCH_TIME`].
const MIN_LAUNCH_SHARE: f64 = 0.1;
const MIN_LAUNCH_TIME: Duration = Duration::from_secs(1);

/// Generate a suite that covers a kernel
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A kernel (.cl, .ll, .bc, .spv)
    pub kernel_file: PathBuf,
    /// Folder for suite.toml, its data, interface.toml and generate.json; created if it does not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub folder: PathBuf,
    /// Goal of the search
    #[arg(long, value_enum, default_value_t)]
    pub goal: GoalFlag,
    /// With --goal mutants: operators, as for kassay mutate
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// With --goal mutants: draw N mutants instead of using all
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Time limit for the command in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = budget)]
    pub budget: f64,
    /// Limit on the number of launches; with it, equal seeds give equal suites on every machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_execs: Option<u64>,
    /// Stop after N attempts in a row without progress, or after a quarter of that once all goals are covered
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub attempts: u64,
    /// Do not use the solver for what fuzzing leaves uncovered
    #[arg(long)]
    pub no_smt: bool,
    /// Do not fuzz; only make the initial launches
    #[arg(long)]
    pub no_fuzz: bool,
    /// Format of the result on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Resume an interrupted search from its journal
    #[arg(long)]
    pub resume: bool,
    /// Print no progress, notes or text; with --format json the result is still printed
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: every goal and test, and clang's warnings
    #[arg(short = 'v', long)]
    pub verbose: bool,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
}

/// Values of `--goal`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GoalFlag {
    /// Outcomes of branches
    #[default]
    Branch,
    /// Mutants that survive the tests for the branches
    Mutants,
}

/// Parses the seconds of a `--budget`.
pub(super) fn budget(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 1e6 => Ok(s),
        Ok(_) => Err("not between 0 and 1000000".into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Generates a suite, writes it with the result, and prints the result. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel, the flags or the interface file are wrong; those of the device, the journal and the folder.
pub fn run(args: &GenerateArgs) -> Result<u8> {
    let begun = Instant::now();
    check_args(args)?;
    let context = Context::create();
    let budget = Duration::from_secs_f64(args.budget);
    let deadline = begun.checked_add(budget);
    let options = KernelOptions { deadline, ..args.kernel.kernel_options(Vec::new()) };
    let loaded = compile::load(&args.kernel_file, &options, true)?;
    warn(&loaded, args.verbose, args.quiet);
    let file = KernelFile::parse(&context, &loaded)?;
    let entry = file.choose(args.kernel.entry.as_deref())?;
    let sources = build::sources_of(&args.kernel_file);
    let under_test = file.under_test(&entry, &loaded, &sources)?;
    check_launchable(&under_test.interface)?;
    under_test.fits_the_simulator()?;
    let seed = args.execution.seed.unwrap_or(0);
    // A child process generates the instrumented code meanwhile.
    let observing = observed::begin(&under_test, deadline);
    let analysis_start = Instant::now();
    let mut model = match roles::infer_until(&under_test, deadline) {
        Err(e) if e.is_late() => return deliver_unanalysed(args, &under_test, &options, &e, begun),
        model => model?,
    };
    let reading = analysis_start.elapsed();
    std::fs::create_dir_all(&args.folder).map_err(|e| write::no_folder(&args.folder, &e))?;
    output_dir::check(&args.folder)?;
    let (wishes, interface_text) = read_or_write_wishes(&args.folder, &under_test, &model, seed, args.quiet)?;
    wishes.apply(&mut model);
    let output = args.folder.join("generate.json");
    let configuration = journal::configuration(&under_test, &interface_text, &determining_options(args, seed));
    let deliver = |result: &GenerateResult| deliver(args, result, &sources);
    if args.resume
        && let Some(result) = completed_result(&output, &configuration)?
    {
        deliver(&result)?;
        return Ok(0);
    }
    let path = path_for(&output);
    let header = JournalHeader::new("generate", &under_test.entry, &configuration);
    let (journal, known) = match args.resume {
        true => Journal::resume::<Entry>(&path, &header)?,
        false => (Journal::create(&path, &header)?, Vec::new()),
    };
    let instrumented =
        observing.and_then(|observing| Instrumented::load(&under_test, args.execution.jobs as usize, observing));
    let all = Limits {
        // The preparation may have used up the budget; some launches are made nevertheless.
        end: (begun + budget).max(Instant::now() + budget.mul_f64(MIN_LAUNCH_SHARE).min(MIN_LAUNCH_TIME)),
        max_execs: args.max_execs,
        attempts: if args.no_fuzz { 0 } else { args.attempts },
        launch: session::timeout(&args.execution),
    };
    let limits = match args.goal {
        GoalFlag::Branch => all.clone(),
        GoalFlag::Mutants => mutants::branch_limits(&all),
    };
    let source = shown(&args.kernel_file);
    let bar = session::counter("launches", args.quiet);
    let mut progress = |executions: u64, covered: usize, all: usize| {
        bar.set_position(executions);
        bar.set_message(format!("{covered} of {all} outcomes covered"));
    };
    let search_options =
        Options { seed, limits, solve: !args.no_smt, begun, source: source.clone(), analysis_time: reading };
    let (known_mutants, known) = known.into_iter().partition(Entry::is_of_mutants);
    let log = Log { journal: Some(&journal), known };
    let (mut instrumented, generated) = match instrumented {
        Err(e) if e.is_late() => (None, campaign::without_launches(&under_test, &source, begun, &e)),
        instrumented => {
            let mut instrumented = instrumented?;
            let generated = campaign::generate(
                &under_test,
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
    bar.finish_and_clear();
    let arguments = options.as_arguments();
    let kernel = Kernel { path: &args.kernel_file, options: &arguments };
    let (generated, scores) = match (args.goal, &mut instrumented) {
        (GoalFlag::Branch, _) | (_, None) => {
            campaign::write_suite(&args.folder, kernel, &under_test, &generated.tests)?;
            (generated, None)
        }
        (GoalFlag::Mutants, Some(instrumented)) => {
            let job = Job {
                under_test: &under_test,
                ast: loaded.ast.as_ref(),
                sources: &sources,
                model: &model,
                constraints: &wishes,
                options: &Options { limits: all, ..search_options },
                selection: Selection::parse(&args.operators)?,
                sample: args.sample,
                jobs: args.execution.jobs,
                folder: &args.folder,
                kernel,
            };
            let log = Log { journal: Some(&journal), known: known_mutants };
            kill_mutants(args, &job, generated, instrumented, log)?
        }
    };
    let result = GenerateResult { scores, ..build_result(&under_test, generated, configuration, seed, source, begun) };
    store::write(&result, &output)?;
    journal.remove()?;
    deliver(&result)?;
    Ok(0)
}

/// Writes and delivers the result for a kernel whose analysis exceeded the budget: an empty suite.
fn deliver_unanalysed(
    args: &GenerateArgs,
    under_test: &KernelUnderTest<'_>,
    options: &KernelOptions,
    late: &Error,
    begun: Instant,
) -> Result<u8> {
    std::fs::create_dir_all(&args.folder).map_err(|e| write::no_folder(&args.folder, &e))?;
    output_dir::check(&args.folder)?;
    let (seed, source) = (args.execution.seed.unwrap_or(0), shown(&args.kernel_file));
    let generated = campaign::without_launches(under_test, &source, begun, late);
    let arguments = options.as_arguments();
    campaign::write_suite(&args.folder, Kernel { path: &args.kernel_file, options: &arguments }, under_test, &[])?;
    // There is neither an interface file nor a journal to resume.
    let configuration = journal::configuration(under_test, "", &determining_options(args, seed));
    let result = build_result(under_test, generated, configuration, seed, source, begun);
    store::write(&result, &args.folder.join("generate.json"))?;
    deliver(args, &result, &build::sources_of(&args.kernel_file))?;
    Ok(0)
}

fn deliver(args: &GenerateArgs, result: &GenerateResult, sources: &Sources) -> Result<()> {
    let output = OutputFlags { output: None, format: args.format, quiet: args.quiet, verbose: args.verbose };
    let suite = args.folder.join("suite.toml");
    output.deliver(result, |style| {
        let view = text::GenerateView { verbose: args.verbose, suite: shown(&suite) };
        text::generate(result, &view, &|file| sources.text(file), style)
    })
}

/// Returns the options that determine goals and tests, except those that show in the compiled code.
fn determining_options(args: &GenerateArgs, seed: u64) -> String {
    let GenerateArgs { goal, attempts, no_smt, no_fuzz, operators, sample, .. } = args;
    let more = match goal {
        GoalFlag::Branch => String::new(),
        GoalFlag::Mutants => format!(" {operators} {sample:?} {}", args.execution.device),
    };
    format!("{goal:?} {seed} {attempts} {no_smt} {no_fuzz} {}{more}", args.execution.timeout)
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
    let Ok(AnyResult::Generate(result)) = store::read(output) else { return Ok(None) };
    if result.configuration == configuration {
        return Ok(Some(*result));
    }
    Err(Error::caller(format!(
        "{} is the result of another run: its configuration is `{}`, this run's is `{configuration}`",
        output.display(),
        result.configuration
    ))
    .help("resume with the kernel, interface file and options that it was begun with, or leave out --resume to begin anew"))
}

/// With `--goal mutants`: adds tests to the suite that covers the branches, and writes the mutation result of
/// all tests.
fn kill_mutants(
    args: &GenerateArgs,
    job: &Job<'_, '_>,
    branch: Generated,
    runs: &mut Instrumented<'_>,
    log: Log<'_>,
) -> Result<(Generated, Option<Scores>)> {
    let bar = session::counter("inputs", args.quiet);
    let mut progress = |executions: u64, killed: usize, all: usize| {
        bar.set_position(executions);
        bar.set_message(format!("{killed} of {all} mutants killed that were left"));
    };
    let mut start_executors = || {
        let starting =
            StartingExecutors::start(&args.execution.device, &WorkerOptions::default(), args.execution.jobs as usize)?;
        session::start_executors(starting, &[], &job.under_test.interface, session::DeviceSchedules::Natural)
    };
    let services = CampaignServices { executors: &mut start_executors, runner: runs, progress: &mut progress, log };
    let done = mutants::generate(job, branch, services)?;
    bar.finish_and_clear();
    if let Some(mutation) = &done.mutation {
        store::write(mutation, &args.folder.join("mutate.json"))?;
    }
    Ok((done.generated, Some(done.scores)))
}

/// Rejects a kernel whose required work-group size exceeds the simulator's limit.
fn check_launchable(interface: &Interface) -> Result<()> {
    let max = crate::exec::simulator::device().max_work_group_size;
    let Some(required) = interface.required_local else { return Ok(()) };
    if required.iter().try_fold(1u64, |n, size| n.checked_mul(*size)).is_some_and(|n| n <= max) {
        return Ok(());
    }
    let [x, y, z] = required;
    let what =
        format!("the kernel requires work-groups of {x} x {y} x {z} work-items; the simulator takes up to {max}");
    Err(Error::caller(what).help("give reqd_work_group_size smaller sizes"))
}

/// Rejects wrong arguments before any work is done.
fn check_args(args: &GenerateArgs) -> Result<()> {
    Selection::parse(&args.operators)?;
    let may_be_simulated = args.execution.device.admits(|executor| executor.checks.faults);
    if args.goal == GoalFlag::Branch && !may_be_simulated {
        let what = format!("kassay generate runs on the simulator, not on `{}`", args.execution.device);
        return Err(Error::caller(what).help("leave --device out"));
    }
    // Detects a missing device before the work starts instead of halfway through it.
    if !may_be_simulated {
        StartingExecutors::start(&args.execution.device, &WorkerOptions::default(), 1)?.ready()?;
    }
    let extension = args.kernel_file.extension().map(|e| e.to_ascii_lowercase());
    if extension.is_some_and(|e| e == "toml" || e == "json") {
        let what = format!("{} is a suite, but kassay generate takes a kernel", args.kernel_file.display());
        return Err(Error::caller(what).help("give the kernel's file (.cl, .ll, .bc or .spv)"));
    }
    if args.folder.exists() && !args.folder.is_dir() {
        return Err(Error::caller(format!("cannot write into {}: it is no folder", args.folder.display()))
            .help("name a folder with -o"));
    }
    Ok(())
}

/// Reads the interface file if it exists, otherwise writes it. Returns the wishes in it and its text, including the
/// values of files that it names.
fn read_or_write_wishes(
    folder: &Path,
    under_test: &KernelUnderTest<'_>,
    model: &KernelModel,
    seed: u64,
    quiet: bool,
) -> Result<(UserConstraints, String)> {
    let path = folder.join("interface.toml");
    if path.exists() {
        let wishes = interface_file::read(&path, &under_test.interface, model.dims, seed)?;
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Error::environment(format!("cannot read {}: {e}", path.display())))?;
        // The files that it names are part of the configuration.
        let values: Vec<_> = wishes.args.iter().filter_map(|a| a.value.as_ref()).collect();
        let text = if values.is_empty() { text } else { format!("{text}{values:?}") };
        return Ok((wishes, text));
    }
    let text = interface_file::text(model);
    store::write_text(&text, &path)?;
    if !quiet {
        note(&format!("what kassay takes the arguments for is in {}; edit it and generate again", path.display()));
    }
    Ok((UserConstraints::none(&under_test.interface), text))
}

/// Builds the result.
fn build_result(
    under_test: &KernelUnderTest<'_>,
    generated: Generated,
    configuration: String,
    seed: u64,
    source: String,
    begun: Instant,
) -> GenerateResult {
    let tests = generated.rows();
    GenerateResult {
        header: Header::new(
            GenerateResult::SCHEMA,
            under_test.entry.clone(),
            source,
            Some(session::device(&crate::exec::simulator::device())),
            seed,
        ),
        configuration,
        elapsed_s: begun.elapsed().as_secs_f64(),
        coverage: generated.coverage,
        goals: generated.goals,
        tests,
        summary: generated.summary,
        scores: None,
        notes: generated.notes,
    }
}
