//! `kassay generate`: a suite for a kernel that has none.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use inkwell::context::Context;

use super::options::{ExecutionFlags, Format, KernelFlags, OutputFlags, note, shown, warn};
use super::session;
use crate::coverage::build::{self, KernelFile, KernelUnderTest};
use crate::error::{Error, Result};
use crate::exec::{DeviceRequest, StartingExecutors, WorkerOptions};
use crate::generate::campaign::{self, Generated, Instrumented, Kernel, Log, Options};
use crate::generate::interface_file::{self, Wishes};
use crate::generate::journal::{self, Entry};
use crate::generate::model::KernelModel;
use crate::generate::mutants::campaign::{self as mutants, Around, Job};
use crate::generate::output_dir;
use crate::generate::roles;
use crate::generate::search::Limits;
use crate::instrument::layout::Slots;
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

/// What launches are given of the budget in any case, and no more than that.
const LEAST_SHARE: f64 = 0.1;
const LEAST: Duration = Duration::from_secs(1);

/// Generate a suite that covers a kernel
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// A kernel (.cl, .ll, .bc, .spv)
    pub kernel_file: PathBuf,
    /// The folder for suite.toml, its data, interface.toml and generate.json; it is made if it is not there
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub folder: PathBuf,
    /// What to aim at
    #[arg(long, value_enum, default_value_t)]
    pub goal: GoalFlag,
    /// Goal mutants: operators, as of kassay mutate
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// Goal mutants: draw so many instead of all
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Seconds that it may take in all
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = budget)]
    pub budget: f64,
    /// Launches that may be made; with it equal seeds give equal suites, whatever the machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_execs: Option<u64>,
    /// Stop after so many attempts in a row that gained nothing; after a quarter of them once all goals are covered
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub attempts: u64,
    /// Do not solve for what fuzzing leaves uncovered
    #[arg(long)]
    pub no_smt: bool,
    /// Do not fuzz: only the first launches are made
    #[arg(long)]
    pub no_fuzz: bool,
    /// What standard output gets
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Go on from the journal of a search that was ended
    #[arg(long)]
    pub resume: bool,
    /// Print no progress, notes or text; what --format json asks for is printed
    #[arg(long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: every goal and test, and clang's warnings
    #[arg(short = 'v', long)]
    pub verbose: bool,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GoalFlag {
    /// Outcomes of branches
    #[default]
    Branch,
    /// Mutants that tests for the branches leave alive
    Mutants,
}

/// Seconds of a `--budget`.
pub(super) fn budget(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s <= 1e6 => Ok(s),
        Ok(_) => Err("not between 0 and 1000000".into()),
        Err(e) => Err(e.to_string()),
    }
}

pub fn run(args: &GenerateArgs) -> Result<u8> {
    let begun = Instant::now();
    check(args)?;
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
    can_be_launched(&under_test.interface)?;
    under_test.fits_the_simulator()?;
    let seed = args.execution.seed.unwrap_or(0);
    // A child makes the code for launches meanwhile.
    let observing = under_test.begin_observed(Slots::Groups, deadline);
    let read = Instant::now();
    let mut model = match roles::infer_until(&under_test, deadline) {
        Err(e) if e.is_late() => return unread(args, &under_test, &options, &e, begun),
        model => model?,
    };
    let reading = read.elapsed();
    std::fs::create_dir_all(&args.folder).map_err(|e| write::no_folder(&args.folder, &e))?;
    output_dir::check(&args.folder)?;
    let (wishes, interface_text) = wishes(&args.folder, &under_test, &model, seed, args.quiet)?;
    wishes.apply(&mut model);
    let output = args.folder.join("generate.json");
    let configuration = journal::configuration(&under_test, &interface_text, &deciding(args, seed));
    let deliver = |result: &GenerateResult| deliver(args, result, &sources);
    if args.resume
        && let Some(result) = complete(&output, &configuration)?
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
    let lane = observing.and_then(|observing| Instrumented::of(&under_test, args.execution.jobs as usize, observing));
    let all = Limits {
        // What comes before the first launch may have taken all of it: the launch is made still.
        end: (begun + budget).max(Instant::now() + budget.mul_f64(LEAST_SHARE).min(LEAST)),
        max_execs: args.max_execs,
        attempts: if args.no_fuzz { 0 } else { args.attempts },
        launch: session::limit(&args.execution),
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
    let options_of = Options { seed, limits, solve: !args.no_smt, begun, source: source.clone(), reading };
    let (known_of_mutants, known) = known.into_iter().partition(Entry::is_of_mutants);
    let log = Log { journal: Some(&journal), known };
    let (mut lane, generated) = match lane {
        Err(e) if e.is_late() => (None, campaign::without_launches(&under_test, &source, begun, &e)),
        lane => {
            let mut lane = lane?;
            let generated =
                campaign::generate(&under_test, &model, &wishes, &options_of, &mut lane, &mut progress, log)?;
            (Some(lane), generated)
        }
    };
    bar.finish_and_clear();
    let arguments = options.as_arguments();
    let kernel = Kernel { path: &args.kernel_file, options: &arguments };
    let (generated, scores) = match (args.goal, &mut lane) {
        (GoalFlag::Branch, _) | (_, None) => {
            campaign::write_suite(&args.folder, kernel, &under_test, &generated.tests)?;
            (generated, None)
        }
        (GoalFlag::Mutants, Some(lane)) => {
            let job = Job {
                under_test: &under_test,
                ast: loaded.ast.as_ref(),
                sources: &sources,
                model: &model,
                wishes: &wishes,
                options: &Options { limits: all, ..options_of },
                selection: Selection::parse(&args.operators)?,
                sample: args.sample,
                jobs: args.execution.jobs,
                folder: &args.folder,
                kernel,
            };
            let log = Log { journal: Some(&journal), known: known_of_mutants };
            kill_mutants(args, &job, generated, lane, log)?
        }
    };
    let result = GenerateResult { scores, ..result(&under_test, generated, configuration, seed, source, begun) };
    store::write(&result, &output)?;
    journal.remove()?;
    deliver(&result)?;
    Ok(0)
}

/// What is said of a kernel for whose analysis there was no time.
fn unread(
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
    // There is no interface file either, nor a journal to go on with.
    let configuration = journal::configuration(under_test, "", &deciding(args, seed));
    let result = result(under_test, generated, configuration, seed, source, begun);
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

/// The options that goals and tests follow from, but for those that the code shows.
fn deciding(args: &GenerateArgs, seed: u64) -> String {
    let GenerateArgs { goal, attempts, no_smt, no_fuzz, operators, sample, .. } = args;
    let more = match goal {
        GoalFlag::Branch => String::new(),
        GoalFlag::Mutants => format!(" {operators} {sample:?} {}", args.execution.device),
    };
    format!("{goal:?} {seed} {attempts} {no_smt} {no_fuzz} {}{more}", args.execution.timeout)
}

/// The result that an earlier run with the same configuration left whole: there is nothing to go on with then. `None` if a journal says
/// that there is, or nothing is there.
///
/// # Errors
/// `Caller` if the result of another run is there, which a run that is only to go on must not replace.
fn complete(output: &Path, configuration: &str) -> Result<Option<GenerateResult>> {
    if path_for(output).exists() {
        return Ok(None);
    }
    // Whatever else is there is replaced, as without --resume.
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

/// Goal `mutants`: adds tests to the suite that covers the branches, and writes what mutation testing says of all.
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
    let mut lanes = || {
        let starting =
            StartingExecutors::start(&args.execution.device, &WorkerOptions::default(), args.execution.jobs as usize)?;
        session::ready(starting, &[], &job.under_test.interface, session::Keeps::Nothing)
    };
    let around = Around { lanes: &mut lanes, runs, progress: &mut progress, log };
    let done = mutants::generate(job, branch, around)?;
    bar.finish_and_clear();
    if let Some(mutation) = &done.mutation {
        store::write(mutation, &args.folder.join("mutate.json"))?;
    }
    Ok((done.generated, Some(done.scores)))
}

/// A kernel that no launch on the simulator fits is told at once.
fn can_be_launched(interface: &Interface) -> Result<()> {
    let most = crate::exec::simulator::device().max_work_group_size;
    let Some(required) = interface.required_local else { return Ok(()) };
    if required.iter().try_fold(1u64, |n, size| n.checked_mul(*size)).is_some_and(|n| n <= most) {
        return Ok(());
    }
    let [x, y, z] = required;
    let what =
        format!("the kernel requires work-groups of {x} x {y} x {z} work-items; the simulator takes up to {most}");
    Err(Error::caller(what).help("give reqd_work_group_size smaller sizes"))
}

/// What can be told before the work begins.
fn check(args: &GenerateArgs) -> Result<()> {
    Selection::parse(&args.operators)?;
    if args.goal == GoalFlag::Branch && !matches!(args.execution.device, DeviceRequest::Auto | DeviceRequest::Simulator)
    {
        let what = format!("kassay generate runs on the simulator, not on `{}`", args.execution.device);
        return Err(Error::caller(what).help("leave --device out"));
    }
    // A device that is not there should not come to light when half of the work is done.
    if !matches!(args.execution.device, DeviceRequest::Auto | DeviceRequest::Simulator) {
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

/// The interface file, with its text and that of what it names: read if it is there, else written.
fn wishes(
    folder: &Path,
    under_test: &KernelUnderTest<'_>,
    model: &KernelModel,
    seed: u64,
    quiet: bool,
) -> Result<(Wishes, String)> {
    let path = folder.join("interface.toml");
    if path.exists() {
        let wishes = interface_file::read(&path, &under_test.interface, model.dims, seed)?;
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Error::environment(format!("cannot read {}: {e}", path.display())))?;
        // Files that it names are a part of it.
        let values: Vec<_> = wishes.args.iter().filter_map(|a| a.value.as_ref()).collect();
        let text = if values.is_empty() { text } else { format!("{text}{values:?}") };
        return Ok((wishes, text));
    }
    let text = interface_file::text(model);
    store::write_text(&text, &path)?;
    if !quiet {
        note(&format!("what kassay takes the arguments for is in {}; edit it and generate again", path.display()));
    }
    Ok((Wishes::none(&under_test.interface), text))
}

fn result(
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
