//! `kassay cover`: measures what the tests of a suite cover, or the launches of a host program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use kassay_base::error::{Error, Result};
use kassay_results::report::text;
use kassay_results::result::cover::{Coverage, METRICS, Metric, Need, TestOutcome, TestStatus};
use kassay_results::result::mcdc::Criterion;
use kassay_results::result::store;

use super::capture::{ProgramFlags, VerifyFlags};
use super::interrupt::interruptible;
use super::options::{ExecutionFlags, Format, KernelFlags, OF_COMPILING, OutputFlags};
use super::sandbox;
use super::several;
use super::terminal::complain;
use crate::api::{
    CoverOptions, CoverProgramOptions, OpenOptions, StartWorkers, cover, cover_all, cover_program, texts_beside,
};

/// Measure the coverage of the tests of suites, or of the launches of an unmodified host program
#[derive(Debug, Args)]
pub struct CoverArgs {
    /// Suite files, TOML or JSON, or folders with some in them
    #[arg(id = "suite", value_name = "SUITE", required_unless_present = "command", conflicts_with = "command")]
    pub suites: Vec<PathBuf>,
    /// Instead of a suite: a host program and its arguments, after `--`
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = FOR_SUITES.into_iter().chain(OF_COMPILING))]
    pub command: Vec<OsString>,
    /// Count work-items per outcome and report average statement coverage (slower)
    #[arg(long)]
    pub counts: bool,
    /// Measure MC/DC (slower): by masking, or by unique cause
    #[arg(long, value_enum, value_name = "CRITERION", num_args = 0..=1, default_missing_value = "masking")]
    pub mcdc: Option<McdcFlag>,
    /// Follow definitions of variables and memory to their uses, on the simulator, and report the pairs (slower)
    #[arg(long)]
    pub def_use: bool,
    /// Exit with 1 if a metric is below its percentage, such as branch=90,loop=50
    #[arg(long, value_name = "METRIC=PERCENT", value_delimiter = ',')]
    pub fail_under: Vec<Threshold>,
    /// Leave the source out of the text
    #[arg(long)]
    pub summary: bool,
    /// Runs of the original and of the instrumented kernel per test, for the overhead
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
    /// First run each test with the kernel as the driver compiles its text, too, and compare
    #[arg(long)]
    pub against_source: bool,
    #[command(flatten)]
    pub program: ProgramFlags,
    #[command(flatten)]
    pub verified: VerifyFlags,
    #[command(flatten)]
    pub of_program: CoveredProgramFlags,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Flags that say nothing about a host program, which has its own options, launches and device.
const FOR_SUITES: [&str; 9] =
    ["counts", "def_use", "repeats", "against_source", "device", "seed", "jobs", "timeout", "summary"];

/// Flags for covering a host program.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Program options")]
pub struct CoveredProgramFlags {
    /// Cover kernels only whose names match a shell pattern; repeatable
    #[arg(long = "kernel", value_name = "GLOB", conflicts_with = "suite", requires = "command")]
    pub kernels: Vec<String>,
    /// Unite programs whose texts differ in the macros that are defined in front, or in their options, alone: one row
    /// per kernel
    #[arg(long, conflicts_with = "suite", requires = "command")]
    pub unite: bool,
    /// Folder for texts of programs that no file below the working directory holds; FILE-texts beside -o FILE if left
    /// out
    #[arg(long, value_name = "DIR", conflicts_with = "suite", requires = "command")]
    pub keep: Option<PathBuf>,
}

/// Values of `--mcdc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum McdcFlag {
    /// Other conditions may change, too, as long as they do not mask the condition
    Masking,
    /// Nothing but the condition may change, of what both evaluations of the decision evaluate
    Unique,
}

impl From<McdcFlag> for Criterion {
    fn from(flag: McdcFlag) -> Criterion {
        match flag {
            McdcFlag::Masking => Criterion::Masking,
            McdcFlag::Unique => Criterion::Unique,
        }
    }
}

/// A metric of [`Coverage`] and the percentage that it must reach.
#[derive(Debug, Clone)]
pub struct Threshold {
    metric: &'static Metric,
    percent: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (metric, percent) = text.split_once('=').ok_or("not of the form METRIC=PERCENT")?;
        let Some(metric) = METRICS.iter().find(|m| m.key == metric) else {
            return Err(format!("`{metric}` is no metric; there are {}", METRICS.each_ref().map(|m| m.key).join(", ")));
        };
        match percent.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Threshold { metric, percent }),
            _ => Err(format!("`{percent}` is no percentage from 0 to 100")),
        }
    }
}

impl Threshold {
    /// Returns the metric's name.
    pub(super) fn key(&self) -> &'static str {
        self.metric.key
    }

    /// Returns whether the metric needs this to be measured.
    pub(super) fn needs(&self, what: Need) -> bool {
        self.metric.needs == Some(what)
    }

    /// Says what is reached if it is too low. A metric with nothing to cover is never too low.
    pub(super) fn complaint(&self, coverage: &Coverage) -> Option<String> {
        let reached = (self.metric.measure)(coverage).percent().filter(|reached| *reached < self.percent)?;
        Some(format!("{} coverage is {reached:.1} %, below {} %", self.metric.key, self.percent))
    }
}

/// Measures coverage and delivers the result. Returns the exit code: 1 if a test did not complete or a metric is below
/// its threshold.
///
/// # Errors
/// Errors of the suite, the kernel and the device.
pub fn run(args: &CoverArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let [suite, others @ ..] = &args.suites[..] else { return run_program(args) };
    args.program.refuse()?;
    args.verified.refuse()?;
    let open = args.open();
    if !others.is_empty() || suite.is_dir() {
        return run_several(args, &open);
    }
    let opened = open.open(suite)?;
    let mut result = cover(&opened, &args.options())?;
    result.complaints.extend(missed(&args.fail_under, &result.coverage));
    let sources = opened.sources();
    args.output.deliver(&result, |style| {
        text::cover(&result, text::CoverOptions { summary_only: args.summary }, &|file| sources.text(file), style)
    })?;
    let ended_early = result.tests.iter().any(|t| t.status != TestStatus::Completed);
    Ok(u8::from(complains(&result.complaints) || ended_early))
}

/// Measures the coverage of several suites. The thresholds are those of all together.
fn run_several(args: &CoverArgs, open: &OpenOptions) -> Result<u8> {
    let mut set = interruptible(None, || cover_all(&args.suites, open, &args.options()))?;
    set.complaints = set.kernels.iter().flat_map(|kernel| kernel.result.complaints.iter().cloned()).collect();
    set.complaints.extend(missed(&args.fail_under, &set.total));
    several::deliver(&args.output, &set, |sources, style| text::cover_set(&set, args.output.verbose, sources, style))?;
    let ended_early = |test: &TestOutcome| test.status != TestStatus::Completed;
    let findings = set.kernels.iter().flat_map(|kernel| &kernel.result.tests).any(ended_early);
    Ok(several::exit_code(&args.output, &set.failed, complains(&set.complaints) || findings))
}

/// Runs a host program, and delivers what its launches cover. Returns the exit code: 1 if a metric is below its
/// threshold, however the program ended.
fn run_program(args: &CoverArgs) -> Result<u8> {
    sandbox::refuse("host programs")?;
    if let Some(threshold) = args.fail_under.iter().find(|t| t.needs(Need::Counts) || t.needs(Need::DefUse)) {
        let what = format!("{} coverage is not measured of host programs", threshold.key());
        return Err(Error::caller(what).help("capture a suite of it (`kassay capture`), and cover that"));
    }
    let open = args.kernel.open_options(args.output.terminal());
    let mut result = cover_program(&args.command, &open, &args.program_options())?;
    result.complaints.extend(missed(&args.fail_under, &result.total));
    if let Some(file) = &args.output.output {
        store::write(&result, file)?;
    }
    match args.output.format {
        Format::Json => args.output.show(&result, |_| String::new())?,
        Format::Text => args.output.show_on_stderr(|style| {
            let source = |file: &str| std::fs::read_to_string(Path::new(file)).ok();
            text::cover_set(&result, args.output.verbose, &source, style)
        }),
    }
    several::exit_code_of_program(&result)
}

/// Returns what to complain of: each metric that is below its threshold.
pub(super) fn missed(thresholds: &[Threshold], coverage: &Coverage) -> Vec<String> {
    thresholds.iter().filter_map(|threshold| threshold.complaint(coverage)).collect()
}

/// Complains. Returns whether there is something to complain of.
pub(super) fn complains(complaints: &[String]) -> bool {
    complaints.iter().for_each(|text| complain(text));
    !complaints.is_empty()
}

impl CoverArgs {
    pub(super) fn open(&self) -> OpenOptions {
        self.execution.apply(self.kernel.open_options(self.output.terminal())).start(StartWorkers::PerTest)
    }

    pub(super) fn program_options(&self) -> CoverProgramOptions {
        let texts = self.of_program.keep.clone().or(self.output.output.as_deref().map(texts_beside));
        CoverProgramOptions::new()
            .shown_as_gpu(self.program.shown_as_gpu)
            .verify(self.verified.which())
            .kernels(self.of_program.kernels.clone())
            .mcdc(self.options().mcdc)
            .unite(self.of_program.unite)
            .texts(texts)
    }

    pub(super) fn options(&self) -> CoverOptions {
        let needs = |what: Need| self.fail_under.iter().any(|threshold| threshold.needs(what));
        let by_default = needs(Need::Vectors).then(Criterion::default);
        let mcdc = self.mcdc.map(Criterion::from).or(by_default);
        CoverOptions::new()
            .counts(self.counts || needs(Need::Counts))
            .mcdc(mcdc)
            .def_use(self.def_use || needs(Need::DefUse))
            .repeats(self.repeats)
            .explain(self.output.verbose)
            .against_source(self.against_source)
    }
}
