//! `kassay mutate`: measures how well a suite detects faults.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use inkwell::context::Context;

use super::options::{ExecutionFlags, KernelFlags, OutputFlags, complain, shown, warn};
use super::session::{self, DeviceSchedules, Prepared};
use crate::coverage::build::{self, Level};
use crate::error::{Error, Result};
use crate::exec::kinds::DEVICE_HELP;
use crate::mutation::campaign::{self, CampaignContext, Entry, Request};
use crate::mutation::configuration::configuration;
use crate::mutation::engine::Strategy;
use crate::mutation::selection::Selection;
use crate::report::text;
use crate::result::journal::{self, Header, Journal};
use crate::result::mutate::{MutateResult, TestStatus};
use crate::result::shard::Shard;
use crate::result::store::{self, AnyResult};

/// Measure how well a suite's tests detect faults
#[derive(Debug, Args)]
pub struct MutateArgs {
    /// A suite file, TOML or JSON
    pub suite: PathBuf,
    /// Operators: all, peng, liu, or ids such as ROR,SYR
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// Order of mutants; 2 adds pairs of mutants
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub order: u32,
    /// Draw N mutants (with --order 2: pairs) instead of using all
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Runs of a mutant per test; default 1, or 3 for kernels with atomics, barriers or local memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Run every mutant on every test that reaches it, even after another test has killed it
    #[arg(long)]
    pub full_matrix: bool,
    /// Limit on a mutant's loop iterations and time, as a multiple of the original's
    #[arg(long = "timeout", value_name = "FACTOR", default_value_t = Factor(10.0))]
    pub factor: Factor,
    /// Run part K of N of the mutants; `kassay merge` combines the parts
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Resume an interrupted run (requires -o)
    #[arg(long)]
    pub resume: bool,
    /// Exit with 1 if the score is below this percentage
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_under: Option<f64>,
    /// Strategy for building mutants
    #[arg(long, value_enum, default_value_t)]
    pub strategy: StrategyFlag,
    /// Optimisation level of the IR in which mutants are made; O0 is clang's unoptimised output
    #[arg(long, value_name = "LEVEL", value_enum, ignore_case = true, default_value_t)]
    pub ir_level: LevelFlag,
    /// Leave the lists of mutants out of the text
    #[arg(long)]
    pub summary: bool,
    /// Run every mutant on every test that reaches it, even if its value never differs from the original's
    #[arg(long)]
    pub no_prune: bool,
    /// Whether a launch may combine runs of several mutants
    #[arg(long, value_enum, default_value_t)]
    pub batch: BatchFlag,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: MutateExecution,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// The execution flags of other commands without `--timeout`, which is a factor here.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution options")]
pub struct MutateExecution {
    #[arg(long, value_name = "DEVICE", default_value = "auto", help = DEVICE_HELP)]
    pub device: crate::exec::DeviceRequest,
    /// Seed for generated inputs and for samples
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of worker processes
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: u32,
}

/// Values of `--strategy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum StrategyFlag {
    /// Many mutants in one module, selected by number at run time
    #[default]
    Schemata,
    /// A module for each mutant
    Rebuild,
}

/// Values of `--ir-level`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelFlag {
    #[default]
    #[value(name = "O0")]
    O0,
    #[value(name = "O1")]
    O1,
    #[value(name = "O2")]
    O2,
}

/// Values of `--batch`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BatchFlag {
    /// Several runs in a launch if launches are small
    #[default]
    Auto,
    /// A launch for each run
    Off,
}

/// A factor of at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor(pub f64);

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.parse::<f64>() {
            Ok(f) if (1.0..=1e6).contains(&f) => Ok(Factor(f)),
            Ok(_) => Err("not between 1 and 1000000".into()),
            Err(e) => Err(e.to_string()),
        }
    }
}

impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=100.0).contains(&p) => Ok(p),
        Ok(_) => Err("not between 0 and 100".into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Environment variable that makes the solver examine killed mutants too, as a check of its proofs.
const DOUBT_VARIABLE: &str = "KASSAY_DOUBT_PROOFS";

/// Environment variable for the number of instructions that may be normalised before mutants run, instead
/// of [`campaign::MOST_BEFORE`].
const MOST_BEFORE_VARIABLE: &str = "KASSAY_MOST_BEFORE";

/// Time limit for a run of the original in seconds.
const ORIGINAL_TIMEOUT_S: f64 = 60.0;

/// Runs the mutants and delivers the result. Returns the exit code: 1 if a test was dropped or the score is
/// below `--fail-under`.
///
/// # Errors
/// Those of the suite, the kernel, the device and the journal.
pub fn run(args: &MutateArgs) -> Result<u8> {
    args.output.check()?;
    let selection = Selection::parse(&args.operators)?;
    if args.resume && args.output.output.is_none() {
        return Err(Error::caller("--resume needs the result file whose journal it goes on with")
            .help("name it with -o, as in the run that was ended"));
    }
    let most_before = match std::env::var(MOST_BEFORE_VARIABLE) {
        Ok(text) => text.parse().map_err(|_| {
            Error::caller(format!("`{text}` in the variable {MOST_BEFORE_VARIABLE} is no number of instructions"))
                .help(format!("give it a whole number, such as {}, or unset it", campaign::MOST_BEFORE))
        })?,
        Err(_) => campaign::MOST_BEFORE,
    };
    let context = Context::create();
    let level = match args.ir_level {
        LevelFlag::O0 => Level::Raw,
        LevelFlag::O1 => Level::O1,
        LevelFlag::O2 => Level::O2,
    };
    let execution = ExecutionFlags {
        device: args.execution.device.clone(),
        seed: args.execution.seed,
        jobs: args.execution.jobs,
        timeout: ORIGINAL_TIMEOUT_S,
    };
    let Prepared { under_test, loaded, mut tests, starting, seed, kernel } =
        Prepared::open(&context, &args.suite, &args.kernel, &execution, level, None)?;
    warn(&loaded, args.output.verbose, args.output.quiet);
    let executors = session::start_executors(starting, &tests, &under_test.interface, DeviceSchedules::GroupOrders)?;
    session::choose_local(&mut tests, &under_test, &executors);
    let sources = build::sources_of(&kernel);
    let campaign = CampaignContext {
        under_test: &under_test,
        ast: loaded.ast.as_ref().filter(|_| level == Level::Raw),
        sources: &sources,
        tests: &tests,
        source: shown(&kernel),
    };
    let request = Request {
        selection,
        order: args.order,
        sample: args.sample,
        repeats: args.repeats,
        full_matrix: args.full_matrix,
        factor: args.factor.0,
        strategy: match args.strategy {
            StrategyFlag::Schemata => Strategy::Schemata,
            StrategyFlag::Rebuild => Strategy::Rebuild,
        },
        ir_level: format!("{:?}", args.ir_level),
        shard: args.shard,
        seed,
        jobs: args.execution.jobs,
        timeout: session::timeout(&execution),
        prune: !args.no_prune,
        batch: args.batch == BatchFlag::Auto,
        end: None,
        doubt: std::env::var_os(DOUBT_VARIABLE).is_some(),
        most_before,
    };
    let deliver = |result: &MutateResult| {
        let view = text::MutateView { summary_only: args.summary };
        args.output.deliver(result, |style| text::mutate(result, view, &|file| sources.text(file), style))
    };
    let (journal, known) = match &args.output.output {
        Some(output) => {
            let path = journal::path_for(output);
            let shard = args.shard.map_or_else(String::new, |s| format!(" shard {s}"));
            let hash = configuration(&campaign, &request);
            if args.resume
                && !path.exists()
                && let Some(result) = completed_result(output, &hash, args.shard)?
            {
                deliver(&result)?;
                return Ok(u8::from(findings(args, &result)));
            }
            let header = Header::new("mutate", &under_test.entry, &(hash + &shard));
            let (journal, known) = match args.resume {
                true => Journal::resume::<Entry>(&path, &header)?,
                false => (Journal::create(&path, &header)?, Vec::new()),
            };
            (Some(journal), known)
        }
        None => (None, Vec::new()),
    };
    let result = campaign::run(&campaign, &request, executors, journal.as_ref(), known)?;
    deliver(&result)?;
    if let Some(journal) = journal {
        journal.remove()?;
    }
    Ok(u8::from(findings(args, &result)))
}

/// Returns the complete result of an earlier run with the same configuration, with which nothing is left to resume.
/// `None` if there is no result.
///
/// # Errors
/// `Caller` if there is a result of another run, which `--resume` must not replace.
fn completed_result(output: &Path, configuration: &str, shard: Option<Shard>) -> Result<Option<MutateResult>> {
    // Any other file is replaced, as without --resume.
    let Ok(AnyResult::Mutate(result)) = store::read(output) else { return Ok(None) };
    let help = "resume with the kernel, suite and options that it was begun with, or leave out --resume to begin anew";
    let shown = |shard: Option<&str>| shard.map_or_else(|| "all mutants".to_owned(), |s| format!("shard {s}"));
    let expected = shard.map(|s| s.to_string());
    let differing = [
        ("configuration", result.configuration.clone(), configuration.to_owned()),
        ("part", shown(result.shard.as_deref()), shown(expected.as_deref())),
    ];
    match differing.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(Error::caller(format!(
            "{} is the result of another run: its {what} is `{found}`, this run's is `{expected}`",
            output.display()
        ))
        .help(help)),
        None => Ok(Some(*result)),
    }
}

/// Returns whether there are findings: a dropped test or a score that is too low.
fn findings(args: &MutateArgs, result: &MutateResult) -> bool {
    let mut found = result.tests.iter().any(|t| t.status == TestStatus::Dropped);
    if let (Some(least), Some(score)) = (args.fail_under, result.summary.score)
        && score < least
    {
        complain(&format!("the mutation score is {score:.1} %, below {least} %"));
        found = true;
    }
    found
}
