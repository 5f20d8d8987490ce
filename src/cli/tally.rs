//! `kassay tally`: makes a coverage result of probe buffers that the user's own program read back, or a mutation result
//! of the outcomes that it wrote down.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use kassay_base::error::{Error, Result};
use kassay_ir::kernel::source::Sources;
use kassay_results::report::text;
use kassay_results::result::cover::Need;
use kassay_results::result::mcdc::Criterion;
use kassay_results::result::probe_map::{self, SlotsOf};

use super::cover::{McdcFlag, Threshold, complains, missed};
use super::mutate::{findings, percent};
use super::options::OutputFlags;
use super::sandbox;
use crate::api;

/// Make a result of what a host program of your own read back: coverage of probe buffers, or mutants of outcomes
#[derive(Debug, Args)]
pub struct TallyArgs {
    /// The map that `kassay lower --map` wrote
    pub map: PathBuf,
    /// Files with the contents of probe buffers, one for each launch; each counts as a test
    #[arg(required_unless_present = "outcomes", conflicts_with = "outcomes", value_name = "PROBE")]
    pub probes: Vec<PathBuf>,
    /// Files in which a program wrote what its tests showed of mutants
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub outcomes: Vec<PathBuf>,
    /// What shows the independent effect of a condition, of buffers with test vectors: masking, the default, or unique
    /// cause
    #[arg(long, value_enum, value_name = "CRITERION", conflicts_with = "outcomes")]
    pub mcdc: Option<McdcFlag>,
    /// Exit with 1 if a metric is below its percentage, such as branch=90,loop=50, or the score of mutants below one
    /// that is given alone
    #[arg(long, value_name = "[METRIC=]PERCENT", value_delimiter = ',')]
    pub fail_under: Vec<Least>,
    /// Leave the source, or the lists of mutants, out of the text
    #[arg(long)]
    pub summary: bool,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// A threshold of `--fail-under`.
#[derive(Debug, Clone)]
pub enum Least {
    /// Of a metric of coverage.
    Metric(Threshold),
    /// Of the mutation score, in percent.
    Score(f64),
}

impl FromStr for Least {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.parse::<f64>() {
            Ok(_) => percent(text).map(Least::Score),
            Err(_) => text.parse().map(Least::Metric),
        }
    }
}

/// Tallies buffers or outcomes and delivers the result. Returns the exit code: 1 if a metric or the score is below its
/// threshold, or if the original does not pass a test.
///
/// # Errors
/// As [`api::tally_by`] and [`api::tally_mutants`]; `Caller` if a threshold is of something that the files do not
/// tell.
pub fn run(args: &TallyArgs) -> Result<u8> {
    sandbox::refuse("the files that a map names")?;
    let _claim = args.output.claim()?;
    if args.outcomes.is_empty() { coverage(args) } else { mutants(args) }
}

fn coverage(args: &TallyArgs) -> Result<u8> {
    let mut thresholds = Vec::new();
    for least in &args.fail_under {
        match least {
            Least::Metric(threshold) => thresholds.push(threshold.clone()),
            Least::Score(percent) => {
                return Err(Error::caller(format!("--fail-under {percent}: probe buffers of coverage tell no score"))
                    .help("name a metric, such as branch=90, or outcomes of mutants with --outcomes"));
            }
        }
    }
    if let Some(threshold) = thresholds.iter().find(|threshold| threshold.needs(Need::Counts))
        && probe_map::read(&args.map)?.coverage.is_some_and(|coverage| coverage.slots != SlotsOf::WorkItems)
    {
        return Err(Error::caller(format!("--fail-under {}: these probe buffers hold no counts", threshold.key()))
            .help("lower the kernel with --coverage --counts"));
    }
    let needing = thresholds.iter().find(|threshold| threshold.needs(Need::Vectors));
    let flag = needing.map(|threshold| format!("--fail-under {}", threshold.key()));
    if let Some(flag) = flag.or(args.mcdc.map(|_| "--mcdc".to_owned()))
        && probe_map::read(&args.map)?.coverage.is_some_and(|coverage| coverage.decisions.is_none())
    {
        return Err(Error::caller(format!("{flag}: these probe buffers hold no test vectors"))
            .help("lower the kernel with --coverage --mcdc"));
    }
    if let Some(threshold) = thresholds.iter().find(|threshold| threshold.needs(Need::DefUse)) {
        return Err(Error::caller(format!("--fail-under {}: probe buffers tell no definitions", threshold.key()))
            .help("`kassay cover --def-use` measures it"));
    }
    let criterion = args.mcdc.map(Criterion::from).unwrap_or_default();
    let mut result = api::tally_by(&args.map, &args.probes, criterion)?;
    result.complaints = missed(&thresholds, &result.coverage);
    let sources = Sources::beside(result.header.source.as_ref());
    args.output.deliver(&result, |style| {
        text::cover(&result, text::CoverOptions { summary_only: args.summary }, &|file| sources.text(file), style)
    })?;
    Ok(u8::from(complains(&result.complaints)))
}

fn mutants(args: &TallyArgs) -> Result<u8> {
    let mut least = None;
    for threshold in &args.fail_under {
        match threshold {
            Least::Score(percent) => least = Some(*percent),
            Least::Metric(threshold) => {
                let what = format!("--fail-under {}=...: outcomes of mutants tell no coverage", threshold.key());
                return Err(Error::caller(what).help("give the least mutation score alone, such as 80"));
            }
        }
    }
    let mut result = api::tally_mutants(&args.map, &args.outcomes)?;
    result.complaints.extend(api::too_low(least, result.summary.score));
    let sources = Sources::beside(result.header.source.as_ref());
    let view = text::MutateView { summary_only: args.summary };
    args.output.deliver(&result, |style| text::mutate(&result, view, &|file| sources.text(file), style))?;
    Ok(u8::from(findings(&result)))
}
