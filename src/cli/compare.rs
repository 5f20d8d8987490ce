//! `kassay compare`: compares mutants of the source with mutants of the IR.

use std::path::PathBuf;

use clap::Args;
use kassay_base::error::{Error, Result};
use kassay_results::report::text;
use kassay_results::result::compare::CompareResult;
use kassay_results::result::shard::Shard;
use kassay_results::result::store;
use kassay_run::exec::kinds::DEVICE_HELP;
use kassay_study::csv;

use super::options::{KernelFlags, MutationLevelFlag, OutputFlags};
use crate::api::{CompareOptions, compare};

/// Compare mutants of different levels, judged by the same tests
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Suite files, TOML or JSON
    #[arg(required = true, value_name = "SUITE")]
    pub suites: Vec<PathBuf>,
    /// Levels, with commas between
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        ignore_case = true,
        default_values = ["source", "canonical", "ir:raw", "ir:O1", "ir:O2", "ir:O3"]
    )]
    pub levels: Vec<MutationLevelFlag>,
    /// Generate N tests in addition to each suite's
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub tests: u64,
    /// Hold scores and coverage against finding the faulty variants of the kernel in a folder
    #[arg(long, value_name = "DIR")]
    pub faults: Option<PathBuf>,
    /// Number of random suites that each estimate rests on
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub samples: u32,
    /// Runs of a mutant per test; default 1, or 3 for kernels with atomics, barriers or local memory
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Write tables for R or pandas into a folder, which is created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// Compare part K of N of the suites; `kassay merge` combines the parts
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Resume an interrupted run (requires -o)
    #[arg(long)]
    pub resume: bool,
    /// Show each concept of each level
    #[arg(long)]
    pub concepts: bool,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: CompareExecution,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// The execution flags of `mutate`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Execution options")]
pub struct CompareExecution {
    #[arg(long, value_name = "DEVICE", default_value = "auto", help = DEVICE_HELP)]
    pub device: kassay_run::exec::DeviceRequest,
    /// Seed for generated tests and for random suites
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of worker processes
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: u32,
}

/// Compares the levels and delivers the result and the tables. Returns the exit code: 1 if a suite of several failed.
///
/// # Errors
/// Errors of the suites, the kernels, the device and the files.
pub fn run(args: &CompareArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    if let Some(folder) = &args.csv {
        std::fs::create_dir_all(folder).map_err(|e| {
            Error::caller(format!("cannot make the folder {}: {e}", folder.display())).help("name a folder with --csv")
        })?;
    }
    let open = args
        .kernel
        .open_options(args.output.terminal())
        .device(args.execution.device.clone())
        .seed(args.execution.seed)
        .jobs(args.execution.jobs);
    let result = compare(&args.suites, &open, &args.options())?;
    if let Some(folder) = &args.csv {
        write_tables(&result, folder)?;
    }
    let view = text::CompareView { concepts: args.concepts };
    args.output.show(&result, |style| text::compare(&result, view, style))?;
    Ok(u8::from(!result.failed.is_empty()))
}

fn write_tables(result: &CompareResult, folder: &std::path::Path) -> Result<()> {
    csv::tables(result)
        .iter()
        .try_for_each(|table| store::write_text(&table.text()?, &folder.join(format!("{}.csv", table.name))))
}

impl CompareArgs {
    pub(super) fn options(&self) -> CompareOptions {
        CompareOptions::new()
            .levels(self.levels.iter().map(|level| (*level).into()).collect())
            .tests(self.tests)
            .samples(self.samples)
            .faults(self.faults.clone())
            .repeats(self.repeats)
            .shard(self.shard)
            .output(self.output.output.clone())
            .resume(self.resume)
    }
}
