//! `kassay mutate`: measures how well a suite, or a host program, detects faults.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use kassay_base::error::{Error, Result};
use kassay_judge::mutation::catalogue::changed_lines::ChangedLines;
use kassay_results::report::text;
use kassay_results::result::mutate::{MutateResult, TestOutcome, TestStatus};
use kassay_results::result::shard::Shard;
use kassay_run::exec::kinds::DEVICE_HELP;

use super::capture::{ProgramFlags, VerifyFlags, size};
use super::interrupt::interruptible;
use super::options::{Format, KernelFlags, MutationLevelFlag, OF_COMPILING, OutputFlags};
use super::sandbox;
use super::several;
use super::terminal::complain;
use crate::api::{
    Baseline, Batching, MutateOptions, MutateProgramOptions, OpenOptions, Oracle, StartWorkers, Strategy,
    changes_since, mutate, mutate_all, mutate_program, roots_of_diffs, texts_beside,
};

/// Measure how well the tests of suites, or an unmodified host program, detect faults
#[derive(Debug, Args)]
pub struct MutateArgs {
    /// Suite files, TOML or JSON, or folders with some in them
    #[arg(id = "suite", value_name = "SUITE", required_unless_present = "command", conflicts_with = "command")]
    pub suites: Vec<PathBuf>,
    /// Instead of a suite: a host program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = FOR_SUITES.into_iter().chain(OF_COMPILING))]
    pub command: Vec<OsString>,
    /// Operators: all, peng, liu, mutgpu, or ids such as ROR,SYR
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// Order of mutants; 2 adds pairs of mutants
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub order: u32,
    /// Draw N mutants (with --order 2: pairs) instead of using all
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Mutate only lines that a unified diff adds or alters; - reads it from standard input
    #[arg(long, value_name = "FILE", conflicts_with = "since")]
    pub in_diff: Option<PathBuf>,
    /// Mutate only lines that have changed since a revision, as git knows it
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Take fates over from an earlier result where nothing that decides them has changed, and say which survivors are
    /// new
    #[arg(long, value_name = "RESULT")]
    pub baseline: Option<PathBuf>,
    /// Exit with 1 if a mutant survives that the baseline does not have, or has as detected
    #[arg(long, requires = "baseline")]
    pub fail_on_new_survivors: bool,
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
    /// What is mutated: constructs of the source, or instructions of the IR, at an optimisation level
    #[arg(long, value_name = "LEVEL", value_enum, ignore_case = true, default_value_t, conflicts_with = "ir_level")]
    pub level: MutationLevelFlag,
    /// The former spelling of `--level canonical:LEVEL`
    #[arg(long, value_name = "LEVEL", value_enum, ignore_case = true, hide = true)]
    pub ir_level: Option<IrLevelFlag>,
    /// Leave the lists of mutants out of the text
    #[arg(long)]
    pub summary: bool,
    /// Run every mutant on every test that reaches it, even if its value never differs from the original's
    #[arg(long)]
    pub no_prune: bool,
    /// Do not tell apart the survivors that no data could kill in launches of the tests' sizes
    #[arg(long)]
    pub no_launch_facts: bool,
    /// Whether a launch may combine runs of several mutants
    #[arg(long, value_enum, default_value_t)]
    pub batch: BatchFlag,
    #[command(flatten)]
    pub program: ProgramFlags,
    #[command(flatten)]
    pub verified: VerifyFlags,
    #[command(flatten)]
    pub of_program: MutatedProgramFlags,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: MutateExecution,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Flags that say nothing about a host program, which has its own options, launches and device.
const FOR_SUITES: [&str; 15] = [
    "in_diff",
    "since",
    "baseline",
    "fail_on_new_survivors",
    "order",
    "repeats",
    "full_matrix",
    "shard",
    "strategy",
    "ir_level",
    "level",
    "no_prune",
    "no_launch_facts",
    "batch",
    "device",
];

/// Flags for mutants of a host program's kernels.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Program options")]
pub struct MutatedProgramFlags {
    /// What tells a mutant from the original: exit, stdout, files:GLOB, outputs [default: exit]
    #[arg(long, value_name = "ORACLE", conflicts_with = "suite", requires = "command")]
    pub oracle: Option<Oracle>,
    /// Mutate kernels only whose names match a shell pattern; repeatable
    #[arg(long = "kernel", value_name = "GLOB", conflicts_with = "suite", requires = "command")]
    pub kernels: Vec<String>,
    /// Run the program for each mutant that might differ from the original, also for those that all launches leave
    /// alike
    #[arg(long, conflicts_with = "suite", requires = "command")]
    pub no_replay: bool,
    /// Copy at most so much of a working directory (files:GLOB), and keep so much data of launches, such as 500M or
    /// 2GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "suite", requires = "command")]
    pub max_bytes: Option<u64>,
    /// Folder for what was captured (outputs), else for texts of programs that no file below the working directory
    /// holds; for these FILE-texts beside -o FILE if left out
    #[arg(long, value_name = "DIR", conflicts_with = "suite", requires = "command")]
    pub keep: Option<PathBuf>,
}

/// The execution flags of other commands without `--timeout`, which is a factor here.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution options")]
pub struct MutateExecution {
    #[arg(long, value_name = "DEVICE", default_value = "auto", help = DEVICE_HELP)]
    pub device: kassay_run::exec::DeviceRequest,
    /// Seed for generated inputs and for samples
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of worker processes; of a host program, of its processes at a time
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

/// Values of `--ir-level`, a spelling of `--level` that is still read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IrLevelFlag {
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
    /// As many runs in a launch as suit the device
    #[default]
    Auto,
    /// A launch for each run
    Off,
    /// Thousands of runs of several tests in a launch, as on GPUs, on any OpenCL device
    Joint,
}

impl From<BatchFlag> for Batching {
    fn from(flag: BatchFlag) -> Batching {
        match flag {
            BatchFlag::Auto => Batching::Auto,
            BatchFlag::Off => Batching::Off,
            BatchFlag::Joint => Batching::Joint,
        }
    }
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

pub(super) fn percent(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=100.0).contains(&p) => Ok(p),
        Ok(_) => Err("not between 0 and 100".into()),
        Err(e) => Err(e.to_string()),
    }
}

/// Runs the mutants and delivers the result. Returns the exit code: 1 if a test was dropped or the score is
/// below `--fail-under`.
///
/// # Errors
/// Errors of the suite, the kernel, the device and the journal.
pub fn run(args: &MutateArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let [suite, others @ ..] = &args.suites[..] else { return run_program(args) };
    args.verified.refuse()?;
    if args.program.shown_as_gpu {
        return Err(Error::caller("--as-gpu is for host programs").help("give one after `--`, or name a device"));
    }
    let options = args.options().changes(args.changes()?).baseline(args.baseline()?);
    let open = args.open();
    options.check(open.level)?;
    if !others.is_empty() || suite.is_dir() {
        return run_several(args, &open, &options);
    }
    let opened = open.open(suite)?;
    let result = mutate(&opened, &options)?;
    let (sources, view) = (opened.sources(), text::MutateView { summary_only: args.summary });
    args.output.show(&result, |style| text::mutate(&result, view, &|file| sources.text(file), style))?;
    Ok(u8::from(findings(&result)))
}

/// Makes mutants of the kernels of several suites. The threshold is that of all together.
fn run_several(args: &MutateArgs, open: &OpenOptions, options: &MutateOptions) -> Result<u8> {
    let help = args.output.output.as_ref().map(|file| {
        format!("what is decided is kept: the same command with --resume goes on, if `-o {}` stays", file.display())
    });
    let set = interruptible(help.as_deref(), || mutate_all(&args.suites, open, options))?;
    args.output.show(&set, |style| {
        let view = text::MutateView { summary_only: args.summary };
        text::mutate_set(&set, view, args.output.verbose, &several::source, style)
    })?;
    let dropped = |test: &TestOutcome| test.status == TestStatus::Dropped;
    let findings = set.kernels.iter().flat_map(|kernel| &kernel.result.tests).any(dropped);
    let complaints = set.kernels.iter().flat_map(|kernel| &kernel.result.complaints).chain(&set.complaints);
    let complaints: Vec<&String> = complaints.collect();
    complaints.iter().for_each(|text| complain(text));
    Ok(several::exit_code(&args.output, &set.failed, !complaints.is_empty() || findings))
}

/// Makes mutants of a host program's kernels, and delivers the result. Returns the exit code: 1 if the score is below
/// `--fail-under`.
fn run_program(args: &MutateArgs) -> Result<u8> {
    sandbox::refuse("host programs")?;
    let options = args.program_options();
    options.check()?;
    let open = args.kernel.open_options(args.output.terminal()).seed(args.execution.seed).jobs(args.execution.jobs);
    let result = mutate_program(&args.command, &open, &options)?;
    match args.output.format {
        Format::Json => args.output.show(&result, |_| String::new())?,
        Format::Text => args.output.show_on_stderr(|style| {
            let source = |file: &str| std::fs::read_to_string(file).ok();
            let view = text::MutateView { summary_only: args.summary };
            text::mutate_set(&result, view, args.output.verbose, &source, style)
        }),
    }
    several::exit_code_of_program(&result)
}

impl MutateArgs {
    pub(super) fn open(&self) -> OpenOptions {
        self.kernel
            .open_options(self.output.terminal())
            .device(self.execution.device.clone())
            .seed(self.execution.seed)
            .jobs(self.execution.jobs)
            .level(self.ir_level.map_or(self.level, IrLevelFlag::as_level).into())
            .start(StartWorkers::Jobs)
    }

    pub(super) fn program_options(&self) -> MutateProgramOptions {
        let new = MutateProgramOptions::new();
        let flags = &self.of_program;
        let (oracle, most) = (flags.oracle.clone().unwrap_or_default(), flags.max_bytes.unwrap_or(new.max_bytes));
        let texts = flags.keep.clone().or(self.output.output.as_deref().map(texts_beside));
        new.oracle(oracle)
            .shown_as_gpu(self.program.shown_as_gpu)
            .verify(self.verified.which())
            .kernels(flags.kernels.clone())
            .operators(self.operators.clone())
            .sample(self.sample)
            .fail_under(self.fail_under)
            .timeout_factor(self.factor.0)
            .replay(!flags.no_replay)
            .max_bytes(most)
            .texts(texts)
            .captured(flags.keep.clone())
            .output(self.output.output.clone())
            .resume(self.resume)
    }

    /// Reads what `--in-diff` or `--since` names.
    ///
    /// # Errors
    /// `Caller` if it is no diff or no revision; `Environment` if it cannot be read.
    pub(super) fn changes(&self) -> Result<Option<ChangedLines>> {
        let here =
            std::env::current_dir().map_err(|e| Error::environment(format!("there is no working directory: {e}")))?;
        if let Some(revision) = &self.since {
            return changes_since(revision, here).map(Some);
        }
        let Some(file) = &self.in_diff else { return Ok(None) };
        let (text, name) = match file.as_os_str() == "-" {
            true => (std::io::read_to_string(std::io::stdin()), "standard input".to_owned()),
            false => (std::fs::read_to_string(file), file.display().to_string()),
        };
        let text = text.map_err(|e| {
            Error::caller(format!("cannot read the diff {name}: {e}"))
                .help("name a file that `git diff` or `diff -u` wrote")
        })?;
        ChangedLines::of_diff(&text, &name, &roots_of_diffs(&here)).map(Some)
    }

    /// Reads what `--baseline` names.
    ///
    /// # Errors
    /// As [`Baseline::read`].
    pub(super) fn baseline(&self) -> Result<Option<Baseline>> {
        self.baseline.as_ref().map(Baseline::read).transpose()
    }

    pub(super) fn options(&self) -> MutateOptions {
        MutateOptions::new()
            .operators(self.operators.clone())
            .order(self.order)
            .sample(self.sample)
            .repeats(self.repeats)
            .full_matrix(self.full_matrix)
            .timeout_factor(self.factor.0)
            .shard(self.shard)
            .fail_under(self.fail_under)
            .fail_on_new_survivors(self.fail_on_new_survivors)
            .strategy(self.strategy.into())
            .prune(!self.no_prune)
            .launch_facts(!self.no_launch_facts)
            .batching(self.batch.into())
            .output(self.output.output.clone())
            .resume(self.resume)
    }
}

impl From<StrategyFlag> for Strategy {
    fn from(flag: StrategyFlag) -> Strategy {
        match flag {
            StrategyFlag::Schemata => Strategy::Schemata,
            StrategyFlag::Rebuild => Strategy::Rebuild,
        }
    }
}

impl IrLevelFlag {
    /// Returns the value of `--level` that means the same.
    fn as_level(self) -> MutationLevelFlag {
        match self {
            IrLevelFlag::O0 => MutationLevelFlag::Canonical,
            IrLevelFlag::O1 => MutationLevelFlag::CanonicalO1,
            IrLevelFlag::O2 => MutationLevelFlag::CanonicalO2,
        }
    }
}

/// Complains of what a result says is not as it was asked for. Returns whether there are findings: that, or a dropped
/// test.
pub(super) fn findings(result: &MutateResult) -> bool {
    result.complaints.iter().for_each(|text| complain(text));
    !result.complaints.is_empty() || result.tests.iter().any(|t| t.status == TestStatus::Dropped)
}
